/// \file
/// Sweeps by cells: set-up, values, launch.
#include <algorithm>
#include <climits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "kernels/sptrsv/schedules/cells/bands/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/run/slot_sets.hpp"
#include "kernels/sptrsv/schedules/cells/run/solve.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// A block a cell.
__global__ void make_targets(const cells::Cell* cell, const Index* row, const Index* outside_row_at,
                             const Index* rhs_index, const Index* x_index, cells::Target* target,
                             cells::OutsideRow* outside_row) {
  const cells::Cell mine = cell[blockIdx.x];
  const std::int64_t begin = std::int64_t{mine.first_step} * cells::kLanes;
  const std::int64_t end = begin + std::int64_t{mine.steps} * cells::kLanes;
  for (std::int64_t p = begin + threadIdx.x; p < end; p += blockDim.x) {
    const Index i = row[p];
    const Index rhs = i >= 0 && rhs_index ? rhs_index[i] : i;
    const Index e = outside_row_at[p];
    if (e >= 0) outside_row[e].rhs = rhs;
    target[p] = {e >= 0 ? cells::kOutsideRow : rhs, i >= 0 && x_index ? x_index[i] : i, 1.0};
  }
}

/// A block a cell: where its right-hand side lies, if that is not much more than it needs.
__global__ void find_rhs(const cells::Target* target, const cells::OutsideRow* outside_row, const Index* outside_row_at,
                         cells::Cell* cell) {
  constexpr Index kSlack = 4;
  __shared__ Index least;
  __shared__ Index most;
  __shared__ Index rows;
  if (threadIdx.x == 0) {
    least = INT_MAX;
    most = -1;
    rows = 0;
  }
  __syncthreads();
  const cells::Cell mine = cell[blockIdx.x];
  const std::int64_t begin = std::int64_t{mine.first_step} * cells::kLanes;
  const std::int64_t end = begin + std::int64_t{mine.steps} * cells::kLanes;
  for (std::int64_t p = begin + threadIdx.x; p < end; p += blockDim.x) {
    const Index entry = outside_row_at[p] >= 0 ? outside_row[outside_row_at[p]].rhs : target[p].rhs;
    if (entry < 0) continue;
    atomicMin(&least, entry);
    atomicMax(&most, entry);
    atomicAdd(&rows, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0 && rows > 0 && most - least < kSlack * rows) {
    cell[blockIdx.x].rhs_begin = least;
    cell[blockIdx.x].rhs_end = most + 1;
  }
}

class CellsSweep final : public Sweep, public SolvesReciprocals {
 public:
  CellsSweep(const SweepInput& input, const cells::Cut& cut, cudaStream_t stream)
      : layout_(cells::make_layout(input, cut, stream)),
        storage_(cells::pack(input, layout_, stream)),
        slot_sets_(layout_.positions() + 1, true, stream) {
    cells::prepare(layout_.ways);
    const std::size_t positions = layout_.positions();
    target_ = {positions, stream};
    const auto count = static_cast<std::int64_t>(positions);
    if (count > 0) {
      make_targets<<<layout_.cells, kElementBlock, 0, stream>>>(
          layout_.cell.data(), layout_.row.data(), layout_.outside_row_at.data(), input.rhs_index, input.x_index,
          target_.data(), layout_.outside_row.data());
      cuda::check_launch("make_targets");
      find_rhs<<<layout_.cells, kElementBlock, 0, stream>>>(target_.data(), layout_.outside_row.data(),
                                                            layout_.outside_row_at.data(), layout_.cell.data());
      cuda::check_launch("find_rhs");
    }
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    const bool stay = unit_pivots_ && pivot == nullptr;
    cells::load_values(layout_, storage_, source, pivot, stay ? nullptr : target_.data(), stream);
    unit_pivots_ = pivot == nullptr;
    slot_sets_.wait_for_values();
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    run(rhs, x, false, non_finite, stream);
  }

  void load_products(const ValueProducts& products, cudaStream_t stream) override {
    cells::load_products(layout_, storage_, products, stream);
    slot_sets_.wait_for_values();
  }

  void solve_reciprocals(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    run(rhs, x, true, non_finite, stream);
  }

  /// A recurrence needs rows of one lane each, and pivots that are 1, since load_products() leaves them as they are.
  Capabilities capabilities() override {
    return {.solves_reciprocals = layout_.ways == 1 && unit_pivots_ ? this : nullptr};
  }

  [[nodiscard]] const double* result() const override { return slot_sets_.last(); }
  [[nodiscard]] const Index* result_index() const override { return layout_.position.data(); }

  [[nodiscard]] std::int64_t bytes() const override {
    return layout_.bytes() + storage_.bytes() + target_.bytes() + slot_sets_.bytes();
  }

 private:
  void run(const double* rhs, double* x, bool reciprocal, int* non_finite, cudaStream_t stream) {
    if (layout_.steps == 0) return;
    const double idle_rhs = reciprocal ? 1.0 : 0.0;  // no reciprocal of zero where there is no row
    slot_sets_.take(stream, [&](const cells::SlotSets::ForSolve& sets) {
      return cells::solve({layout_.cell.data(), layout_.step.data(), layout_.batch.data(), layout_.outside_row.data(),
                           storage_.stream.data(), storage_.outside_position.data(), storage_.outside_value.data(),
                           layout_.cells, layout_.chunk_steps, layout_.ways, target_.data(), rhs, idle_rhs, x,
                           sets.slots, sets.next_slots, sets.ticket, sets.before, non_finite},
                          reciprocal, sets.overlaps, stream);
    });
  }

  cells::Layout layout_;
  cells::Storage storage_;
  cuda::DeviceArray<cells::Target> target_;
  cells::SlotSets slot_sets_;  ///< slots of positions, and one that is 0
  bool unit_pivots_ = true;    ///< those of positions and outside rows, from the start on
};

}  // namespace

bool cells_supported() { return cells::supported(); }

std::unique_ptr<Sweep> make_cells_sweep(const SweepInput& input, const CellsOptions& options, cudaStream_t stream) {
  if (options.ways != 1 && options.ways != 2 && options.ways != 4) throw InvalidInput("a row has 1, 2 or 4 lanes");
  if (options.tile.lines > 0 || options.tile.planes > 0) {
    if (std::min(options.tile.lines, options.tile.planes) < 1)
      throw InvalidInput("a tile has a line and a plane at least");
    const auto lines = cells::find_lines(input, stream);
    if (!lines) throw Unsupported("cells can be tiles only where rows are numbered by lines, as on a structured grid");
    auto tiling = cells::make_tiling(*lines, options.tile, options.ways, cuda::device_limits().multiprocessors,
                                     cuda::device_rates());
    return make_sweep_of_cells(input, cells::cut_of(*lines, std::move(tiling)), stream);
  }
  if (options.cells > 0)
    return make_sweep_of_cells(input, cells::Cut{options.cells, {}, options.ways, nullptr}, stream);
  return make_sweep_of_cells(input, cells::estimate(input, stream).cut, stream);
}

std::unique_ptr<Sweep> make_sweep_of_cells(const SweepInput& input, const cells::Cut& cut, cudaStream_t stream) {
  if (!cells_supported()) {
    throw DeviceError(
        "the schedule cells needs a GPU of compute capability 9.0 or newer with 227 KiB of shared memory for a block, "
        "and a library built for such a one");
  }
  if (cut.bands) return cells::make_bands_sweep(input, *cut.bands, stream);
  if (cut.pencils_of_7) return cells::make_pencils_sweep(input, *cut.pencils_of_7, stream);
  if (cut.pencils_of_27) return cells::make_pencils_sweep(input, *cut.pencils_of_27, stream);
  if (cut.pencils_of_three) return cells::make_pencils_sweep(input, *cut.pencils_of_three, stream);
  if (!cut.has(input.precision)) {
    throw Unsupported(
        "in single precision the schedule cells runs grids of 5, 7 or 27 points in their natural order alone");
  }
  SweepInput sorted = input;
  if (cut.late) sorted.levels = cut.late.get();
  return std::make_unique<CellsSweep>(sorted, cut, stream);
}

}  // namespace taskdag::kernels
