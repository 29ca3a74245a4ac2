#include <vector>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/one_block/run.hpp"
#include "kernels/sptrsv/schedules/one_block/sweep.hpp"

namespace taskdag::kernels::one_block {
namespace {

/// The plan of a triangle in device memory. Synchronises `stream`.
Plan plan_of(const SweepInput& input, cudaStream_t stream) {
  const std::size_t rows = at(input.pattern.rows);
  const std::vector<Offset> begin = cuda::fetch_array(input.ranges->first.data(), rows, stream);
  const std::vector<Index> count = cuda::fetch_array(input.ranges->count.data(), rows, stream);
  const std::vector<Index> columns = cuda::fetch_array(input.pattern.col_indices, at(input.pattern.entries), stream);
  std::vector<Offset> end(rows);
  for (std::size_t i = 0; i < rows; ++i) end[i] = begin[i] + count[i];
  Plan plan = make_plan({{input.pattern.rows, begin.data(), end.data(), columns.data(), input.triangle}});
  if (input.source_entry == nullptr) return plan;
  const std::vector<Offset> source = cuda::fetch_array(input.source_entry, columns.size(), stream);
  for (Offset& entry : plan.source) {
    if (entry >= 0) entry = source[at(entry)];
  }
  return plan;
}

class OneBlockSweep final : public Sweep, public GathersValues {
 public:
  OneBlockSweep(const SweepInput& input, const Plan& plan, cudaStream_t stream)
      : program_(plan, input.pattern.rows, stream),
        source_(cuda::upload(plan.source, stream)),
        row_(cuda::upload(plan.row, stream)),
        rhs_index_(cuda::copy_of(input.rhs_index, at(input.pattern.rows), stream)),
        x_index_(cuda::copy_of(input.x_index, at(input.pattern.rows), stream)),
        result_(at(input.pattern.rows), stream) {
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    GatherBatch batch;
    gather_values(batch, source, pivot, stream);
    batch.run(stream);
  }

  void gather_values(GatherBatch& batch, const double* source, const double* pivot, cudaStream_t /*stream*/) override {
    unit_pivots_ = pivot == nullptr;
    batch.add(program_.entries(), source, source_.data(), program_.values());
    if (!unit_pivots_) batch.add(program_.places(), pivot, row_.data(), program_.pivots());
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    Vectors vectors;
    vectors.rhs = rhs;
    vectors.rhs_index = rhs_index_.data();
    vectors.x = x != nullptr ? x : result_.data();
    vectors.x_index = x != nullptr ? x_index_.data() : nullptr;
    program_.run(vectors, unit_pivots_, non_finite, stream);
  }

  [[nodiscard]] const double* result() const override { return result_.data(); }
  [[nodiscard]] const Index* result_index() const override { return nullptr; }

  [[nodiscard]] std::int64_t bytes() const override {
    return program_.bytes() + source_.bytes() + row_.bytes() + rhs_index_.bytes() + x_index_.bytes() + result_.bytes();
  }

  Capabilities capabilities() override { return {.gathers_values = this}; }

 private:
  Program program_;
  cuda::DeviceArray<Offset> source_;  ///< of the entries of the plan: what load_values() takes; −1: padding
  cuda::DeviceArray<Index> row_;      ///< of the plan's rows; −1: padding
  cuda::DeviceArray<Index> rhs_index_;
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<double> result_;
  bool unit_pivots_ = true;
};

}  // namespace

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  return std::make_unique<OneBlockSweep>(input, plan_of(input, selection.stream), selection.stream);
}

}  // namespace taskdag::kernels::one_block
