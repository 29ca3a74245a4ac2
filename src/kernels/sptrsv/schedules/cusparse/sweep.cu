/// \file
/// Sweeps by cuSPARSE's SpSV.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/cusparse/cusparse.hpp"
#include "kernels/sptrsv/schedules/cusparse/library.hpp"

namespace taskdag::kernels {
namespace {

constexpr double kOne = 1.0;
constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// Ends an object of cuSPARSE with the function that `Function` points to.
template <auto Function>
struct Destroy {
  template <class T>
  void operator()(T* object) const noexcept {
    (cusparse_functions().*Function)(object);
  }
};
using Handle = std::unique_ptr<cusparseContext, Destroy<&CusparseFunctions::destroy>>;
using Matrix = std::unique_ptr<cusparseSpMatDescr, Destroy<&CusparseFunctions::destroy_matrix>>;
using Vector = std::unique_ptr<cusparseDnVecDescr, Destroy<&CusparseFunctions::destroy_vector>>;
using Solve = std::unique_ptr<cusparseSpSVDescr, Destroy<&CusparseFunctions::destroy_solve>>;

/// Row lengths with the diagonal; one more element, for the sum.
__global__ void count_kernel(Index rows, const Index* strict, Offset* length) {
  const auto i = static_cast<Index>(cuda::element());
  if (i <= rows) length[i] = i < rows ? strict[i] + 1 : 0;
}

/// Strict entries and the diagonal in ascending columns. source: where a strict entry's value comes from; ~row for the
/// diagonal of a row.
__global__ void fill_kernel(DevicePattern pattern, const Offset* first, const Index* strict, bool lower,
                            const Offset* source_entry, const Offset* offsets, Index* column, Offset* source) {
  const auto i = static_cast<Index>(cuda::element());
  if (i >= pattern.rows) return;
  Offset to = offsets[i];
  const auto put_diagonal = [&] {
    column[to] = i;
    source[to++] = ~i;
  };
  if (!lower) put_diagonal();
  for (Offset e = first[i]; e < first[i] + strict[i]; ++e) {
    column[to] = pattern.col_indices[e];
    source[to++] = source_entry ? source_entry[e] : e;
  }
  if (lower) put_diagonal();
}

__global__ void load_kernel(Offset entries, const Offset* source, const double* values, const double* pivot,
                            double* value) {
  const auto e = static_cast<Offset>(cuda::element());
  if (e >= entries) return;
  const Offset from = source[e];
  if (from >= 0) {
    value[e] = values[from];
  } else {
    value[e] = pivot ? 1.0 / pivot[~from] : 1.0;
  }
}

/// Looks at the result and moves it to where it is wanted, if that is elsewhere.
__global__ void finish_kernel(Index rows, const double* y, const Index* x_index, double* x, int* non_finite) {
  const auto i = static_cast<Index>(cuda::element());
  if (i >= rows) return;
  const double value = y[i];
  if (!is_finite(value)) cuda::DeviceAtomic<int>(*non_finite).store(1, ::cuda::memory_order_relaxed);
  if (x) x[x_index ? x_index[i] : i] = value;
}

class CusparseSweep final : public Sweep {
 public:
  CusparseSweep(const SweepInput& input, cudaStream_t stream)
      : cusparse_(cusparse_functions()),
        rows_(input.pattern.rows),
        lower_(input.triangle == Triangle::lower),
        rhs_index_(cuda::copy_of(input.rhs_index, static_cast<std::size_t>(rows_), stream)),
        x_index_(cuda::copy_of(input.x_index, static_cast<std::size_t>(rows_), stream)) {
    if (rows_ == 0) return;
    const auto rows = static_cast<std::size_t>(rows_);
    for (auto& y : y_) y = {rows, stream};
    if (input.rhs_index) rhs_ = {rows, stream};
    copy_triangle(input, stream);
    describe(stream);
    cuda::synchronize(stream);
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    if (rows_ == 0) return;
    load_kernel<<<cuda::element_blocks(entries_), cuda::kElementBlock, 0, stream>>>(entries_, source_.data(), source,
                                                                                    pivot, value_.data());
    cuda::check_launch("load_kernel");
    check(cusparse_.set_stream(handle_.get(), stream), "cusparseSetStream");
    if (solve_ && unit_ == (pivot == nullptr)) {
      check(cusparse_.update(handle_.get(), solve_.get(), value_.data(), CUSPARSE_SPSV_UPDATE_GENERAL),
            "cusparseSpSV_updateMatrix");
    } else {
      unit_ = pivot == nullptr;
      analyse(stream);
    }
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if (rows_ == 0) return;
    if (rhs_index_.size() > 0) {
      gather(rows_, rhs, rhs_index_.data(), rhs_.data(), stream);
      rhs = rhs_.data();
    }
    current_ = 1 - current_;
    double* const y = y_[current_].data();
    check(cusparse_.set_stream(handle_.get(), stream), "cusparseSetStream");
    check(cusparse_.set_vector(b_.get(), const_cast<double*>(rhs)), "cusparseDnVecSetValues");  // only read
    check(cusparse_.set_vector(x_.get(), y), "cusparseDnVecSetValues");
    check(cusparse_.solve(handle_.get(), kPlain, &kOne, matrix_.get(), b_.get(), x_.get(), CUDA_R_64F,
                          CUSPARSE_SPSV_ALG_DEFAULT, solve_.get()),
          "cusparseSpSV_solve");
    finish_kernel<<<cuda::element_blocks(rows_), cuda::kElementBlock, 0, stream>>>(
        rows_, y, x_index_.size() > 0 ? x_index_.data() : nullptr, x, non_finite);
    cuda::check_launch("finish_kernel");
  }

  [[nodiscard]] const double* result() const override { return y_[current_].data(); }
  [[nodiscard]] const Index* result_index() const override { return nullptr; }

  [[nodiscard]] std::int64_t bytes() const override {
    return offsets_.bytes() + column_.bytes() + source_.bytes() + value_.bytes() + rhs_index_.bytes() +
           x_index_.bytes() + rhs_.bytes() + y_[0].bytes() + y_[1].bytes() + buffer_.bytes();
  }

 private:
  void copy_triangle(const SweepInput& input, cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(rows_) + 1;
    // Patterns that store no diagonal get one here.
    static_cast<void>(checked_offset(std::int64_t{input.pattern.entries} + rows_, "the triangle with its diagonal"));
    offsets_ = {size, stream};
    const cuda::ScratchArray<Offset> length(size, stream);
    count_kernel<<<cuda::element_blocks(rows_ + std::int64_t{1}), cuda::kElementBlock, 0, stream>>>(
        rows_, input.ranges->count.data(), length.data());
    cuda::check_launch("count_kernel");
    cuda::exclusive_sum(length.data(), offsets_.data(), rows_ + 1, stream);
    entries_ = cuda::fetch(offsets_.data() + rows_, stream);
    const auto entries = static_cast<std::size_t>(entries_);
    column_ = {entries, stream};
    source_ = {entries, stream};
    value_ = {entries, stream};
    fill_kernel<<<cuda::element_blocks(rows_), cuda::kElementBlock, 0, stream>>>(
        input.pattern, input.ranges->first.data(), input.ranges->count.data(), lower_, input.source_entry,
        offsets_.data(), column_.data(), source_.data());
    cuda::check_launch("fill_kernel");
  }

  void describe(cudaStream_t stream) {
    cusparseHandle_t handle = nullptr;
    check(cusparse_.create(&handle), "cusparseCreate");
    handle_.reset(handle);
    check(cusparse_.set_stream(handle, stream), "cusparseSetStream");
    cusparseSpMatDescr_t matrix = nullptr;
    check(cusparse_.create_csr(&matrix, rows_, rows_, entries_, offsets_.data(), column_.data(), value_.data(),
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
    matrix_.reset(matrix);
    cusparseFillMode_t fill = lower_ ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    check(cusparse_.set_attribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "cusparseSpMatSetAttribute");
    b_ = vector_of(y_[0].data());
    x_ = vector_of(y_[1].data());
  }

  [[nodiscard]] Vector vector_of(double* values) const {
    cusparseDnVecDescr_t vector = nullptr;
    check(cusparse_.create_vector(&vector, rows_, values, CUDA_R_64F), "cusparseCreateDnVec");
    return Vector(vector);
  }

  void analyse(cudaStream_t stream) {
    solve_.reset();  // there is none until this one is analysed
    cusparseDiagType_t diagonal = unit_ ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparse_.set_attribute(matrix_.get(), CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal),
          "cusparseSpMatSetAttribute");
    // Vectors of an earlier solve may be gone.
    check(cusparse_.set_vector(b_.get(), y_[0].data()), "cusparseDnVecSetValues");
    check(cusparse_.set_vector(x_.get(), y_[1].data()), "cusparseDnVecSetValues");
    cusparseSpSVDescr_t solve = nullptr;
    check(cusparse_.create_solve(&solve), "cusparseSpSV_createDescr");
    Solve made(solve);
    std::size_t bytes = 0;
    check(cusparse_.buffer_size(handle_.get(), kPlain, &kOne, matrix_.get(), b_.get(), x_.get(), CUDA_R_64F,
                                CUSPARSE_SPSV_ALG_DEFAULT, solve, &bytes),
          "cusparseSpSV_bufferSize");
    buffer_ = {bytes, stream};
    check(cusparse_.analysis(handle_.get(), kPlain, &kOne, matrix_.get(), b_.get(), x_.get(), CUDA_R_64F,
                             CUSPARSE_SPSV_ALG_DEFAULT, solve, buffer_.data()),
          "cusparseSpSV_analysis");
    solve_ = std::move(made);
  }

  const CusparseFunctions& cusparse_;
  Index rows_;
  bool lower_;
  bool unit_ = false;
  Offset entries_ = 0;  ///< diagonal included
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> column_;
  cuda::DeviceArray<Offset> source_;
  cuda::DeviceArray<double> value_;
  cuda::DeviceArray<Index> rhs_index_;  ///< empty: the identity
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<double> rhs_;  ///< gathered; empty where the right-hand side is taken as it is
  cuda::DeviceArray<double> y_[2];
  int current_ = 0;
  cuda::DeviceArray<char> buffer_;
  Handle handle_;
  Matrix matrix_;
  Vector b_;
  Vector x_;
  Solve solve_;
};

}  // namespace

std::unique_ptr<Sweep> make_cusparse_sweep(const SweepInput& input, cudaStream_t stream) {
  return std::make_unique<CusparseSweep>(input, stream);
}

}  // namespace taskdag::kernels
