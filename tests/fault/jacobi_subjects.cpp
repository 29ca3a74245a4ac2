// Jacobi and block Jacobi: their new values come with the pattern, wherever these are.
#include "fault/subject_solvers.hpp"
#include "reference/block_jacobi.hpp"
#include "reference/jacobi.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::test {
namespace {

/// A pattern in host memory, and in that of the context's device, which need not be the current one.
class Patterns {
 public:
  Patterns(const Context& context, const CsrMatrix& a)
      : a_(a), offsets_(context, a.row_offsets), columns_(context, a.col_indices) {}
  [[nodiscard]] CsrPattern in(MemorySpace space) const {
    if (space == MemorySpace::host) return a_.pattern();
    return {a_.rows, a_.cols, offsets_.data(), columns_.data()};
  }
  [[nodiscard]] CsrMatrix with(const std::vector<double>& values) const {
    CsrMatrix a = a_;
    a.values = values;
    return a;
  }

 private:
  CsrMatrix a_;
  engine::Array<Offset> offsets_;
  engine::Array<Index> columns_;
};

class JacobiSolver final : public Solver {
 public:
  JacobiSolver(const Context& context, const CsrMatrix& a, Stream stream)
      : patterns_(context, a), jacobi_(context, a.view(), MemorySpace::host, kOptions, stream) {}

  void solve(const double* b, double* x, MemorySpace space, Stream stream) override {
    jacobi_.apply(b, x, space, false, stream);
  }
  void load(const double* values, MemorySpace space, Stream stream) override {
    jacobi_.update_values({patterns_.in(space), values}, space, stream);
  }
  [[nodiscard]] bool has_outcome() const override { return false; }
  [[nodiscard]] std::vector<double> reference(const std::vector<double>& values,
                                              const std::vector<double>& b) const override {
    return kernels::reference_jacobi(patterns_.with(values).view(), kOptions, b, false);
  }

 private:
  static inline const JacobiOptions kOptions{.sweeps = 3, .damping = 0.7};
  Patterns patterns_;
  Jacobi jacobi_;
};

class BlockJacobiSolver final : public Solver {
 public:
  BlockJacobiSolver(const Context& context, const CsrMatrix& a, Stream stream)
      : patterns_(context, a),
        blocks_(consecutive_blocks(a.rows, kRows)),
        jacobi_(context, a.pattern(), MemorySpace::host, blocks_, kOptions, stream) {
    load(a.values.data(), MemorySpace::host, stream);
  }

  void solve(const double* b, double* x, MemorySpace space, Stream stream) override {
    jacobi_.apply(b, x, space, false, stream);
  }
  void load(const double* values, MemorySpace space, Stream stream) override {
    static_cast<void>(jacobi_.update_values({patterns_.in(space), values}, space, stream));
  }
  [[nodiscard]] bool has_outcome() const override { return false; }
  [[nodiscard]] std::vector<double> reference(const std::vector<double>& values,
                                              const std::vector<double>& b) const override {
    const CsrMatrix a = patterns_.with(values);
    const CsrMatrix inside = only(a, 1, [](Index row, Index column) { return row / kRows == column / kRows; });
    BlockJacobiOptions options = kOptions;
    options.sweeps = 1;
    const std::vector<double> first = kernels::reference_block_jacobi(inside.view(), blocks_, options, b, false);
    options.sweeps = kOptions.sweeps - 1;
    return kernels::reference_block_jacobi(a.view(), blocks_, options, b, false, first);
  }

 private:
  static constexpr Index kRows = 8;  ///< of a block
  static constexpr BlockJacobiOptions kOptions{.sweeps = 2, .damping = 0.7};
  Patterns patterns_;
  JacobiBlocks blocks_;
  BlockJacobi jacobi_;
};

}  // namespace

std::unique_ptr<Solver> make_jacobi(const Context& context, const CsrMatrix& a, Stream stream) {
  return std::make_unique<JacobiSolver>(context, a, stream);
}
std::unique_ptr<Solver> make_block_jacobi(const Context& context, const CsrMatrix& a, Stream stream) {
  return std::make_unique<BlockJacobiSolver>(context, a, stream);
}

}  // namespace taskdag::test
