/// \file
/// What stands behind the public solver classes: one abstract class each, one subclass per backend, and the factories
/// that the facades call. cuda_*.cu implement the CUDA ones; in a build without CUDA, cuda_absent.cpp does, and throws.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "taskdag/block_jacobi.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/sor.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {

class TriangularSolver::Impl {
 public:
  virtual ~Impl() = default;
  virtual void update_values(const double* values, MemorySpace space, Stream stream) = 0;
  virtual void solve(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
                     Stream stream) = 0;
  virtual SolveOutcome outcome() = 0;
  virtual SolveOutcome outcome(Stream stream) = 0;
  /// Before a call changes anything. @throws InvalidInput where the backend cannot take arrays in `space`
  virtual void check_space(MemorySpace space) const = 0;
  /// Before a call that needs the host. @throws Unsupported where `stream` is being captured
  virtual void refuse_capture(Stream stream, const char* what) const = 0;
  /// Whether update_values() needs the host even for device memory.
  [[nodiscard]] virtual bool looks_at_values() const { return false; }
  TriangularInfo info;
  /// What the facade notes.
  struct Facade {
    bool reads_values = false;  ///< whether any value takes part
    bool has_values = false;    ///< all of the last update's, not some
  };
  Facade facade;
};

class Factorization::Impl {
 public:
  virtual ~Impl() = default;
  virtual void set_pivoting(double shift_amount, double zero_pivot) = 0;
  virtual FactorStatus factor(const double* values, MemorySpace space, Stream stream) = 0;
  virtual void apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                     MemorySpace space, Stream stream) = 0;
  /// As the facade's. Forms that replays do not change need none.
  virtual bool prepare_replays(std::int64_t /*replays*/, Stream /*stream*/) { return false; }
  virtual double growth(const double* values, MemorySpace space, Stream stream) = 0;
  double growth_bound = std::numeric_limits<double>::infinity();  ///< kept by factor()
  virtual void solve_lower(const double* b, double* x, MemorySpace space, Stream stream) = 0;
  virtual void solve_upper(const double* b, double* x, MemorySpace space, Stream stream) = 0;
  virtual void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) = 0;
  virtual void pivots(double* e, MemorySpace space, Stream stream) const = 0;
  virtual void set_diagonal(const double* d, MemorySpace space, Stream stream, TransformScaling scaling) = 0;
  virtual void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) = 0;
  virtual SolveOutcome outcome() = 0;
  virtual SolveOutcome outcome(Stream stream) = 0;
  virtual void check_space(MemorySpace space) const = 0;  ///< this and the next: as above
  virtual void refuse_capture(Stream stream, const char* what) const = 0;
  virtual CsrMatrix copy_factor() const = 0;
  virtual std::vector<EngineRun> engine_runs() const = 0;
  /// Fills in the levels of `info`, where that has not been done yet.
  virtual void add_levels() {}
  FactorizationInfo info;
  /// What the facade notes.
  struct Facade {
    std::once_flag levels_counted;
    FactorKind kind = FactorKind::ilu;
    bool factored = false;  ///< by the last factor(), which has not thrown
    bool tried = false;     ///< factor() has been called
    bool one_order = true;  ///< of rows and columns
    /// set_diagonal() has been called since the last factor(), and what it has given is still in use.
    bool has_diagonal = false;
    bool always_double = true;  ///< Precision::in_double was asked for
  };
  Facade facade;
};

class Jacobi::Impl {
 public:
  virtual ~Impl() = default;
  virtual void set_outside(std::vector<double> outside) = 0;
  virtual void update_values(const CsrView& a, MemorySpace space, Stream stream) = 0;
  virtual void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) = 0;
  virtual void iterate(const double* b, double* x, MemorySpace space, Stream stream) = 0;
  virtual JacobiOutcome solve(const double* b, double* x, MemorySpace space, const JacobiStop& stop, Stream stream) = 0;
  virtual std::vector<EngineRun> engine_runs() = 0;
  virtual void check_space(MemorySpace space) const = 0;  ///< this and the next: as above
  virtual void refuse_capture(Stream stream, const char* what) const = 0;
  [[nodiscard]] virtual const double* diagonal() const = 0;
  JacobiForm form = JacobiForm::kernels;
  /// What the facade notes.
  struct Facade {
    Index size = 0;  ///< of a vector
    bool keeps_matrix = false;
    bool has_constant_weights = true;
    bool automatic = false;   ///< the form was chosen by the library
    bool has_values = false;  ///< all of the last update's, not some
  };
  Facade facade;
  Index zero_diagonals = 0;
  std::int64_t bytes = 0;
};

class BlockJacobi::Impl {
 public:
  virtual ~Impl() = default;
  virtual FactorStatus update_values(const CsrView& a, MemorySpace space, Stream stream) = 0;
  virtual void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) = 0;
  virtual void iterate(const double* b, double* x, MemorySpace space, Stream stream) = 0;
  virtual void check_space(MemorySpace space) const = 0;  ///< this and the next: as above
  virtual void refuse_capture(Stream stream, const char* what) const = 0;
  BlockJacobiInfo info;
  /// What the facade notes.
  struct Facade {
    bool keeps_matrix = false;
    bool has_values = false;  ///< all of the last update's, not some
    bool tried = false;       ///< update_values() has been called
  };
  Facade facade;
};

class Sor::Impl {
 public:
  virtual ~Impl() = default;
  virtual FactorStatus update_values(const double* values, MemorySpace space, Stream stream) = 0;
  virtual void iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
                       Stream stream) = 0;
  virtual void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) = 0;
  virtual void pivots(double* e, MemorySpace space, Stream stream) const = 0;
  virtual void set_diagonal(const double* d, MemorySpace space, Stream stream) = 0;
  virtual void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) = 0;
  virtual SolveOutcome outcome() = 0;
  virtual std::vector<EngineRun> engine_runs() const = 0;
  virtual void check_space(MemorySpace space) const = 0;  ///< this and the next: as above
  virtual void refuse_capture(Stream stream, const char* what) const = 0;
  SorInfo info;
  /// What the facade notes.
  struct Facade {
    bool has_values = false;    ///< all of the last update's
    bool tried = false;         ///< update_values() has been called
    bool has_diagonal = false;  ///< set_diagonal() has been called since the last update
  };
  Facade facade;
};

/// Tiles do not take rows in pieces. @throws Unsupported if there is a long row
void require_no_long_rows(std::span<const Offset> row_offsets, const JacobiOptions& options);

namespace host {
std::unique_ptr<TriangularSolver::Impl> make_triangular(const Context&, const CsrView&, const TriangularOptions&);
std::unique_ptr<Factorization::Impl> make_factorization(const Context&, const CsrPattern&, const FactorOptions&,
                                                        std::span<const Index> row_order,
                                                        std::span<const Index> col_order);
/// FactorOptions::block_size > 1; the pattern and the orders are those of blocks.
std::unique_ptr<Factorization::Impl> make_point_block_factorization(const Context&, const CsrPattern& blocks,
                                                                    const FactorOptions&,
                                                                    std::span<const Index> row_order,
                                                                    std::span<const Index> col_order);
std::unique_ptr<Jacobi::Impl> make_jacobi(const Context&, const CsrView&, const JacobiOptions&);
std::unique_ptr<BlockJacobi::Impl> make_block_jacobi(const Context&, const CsrPattern&, const JacobiBlocks&,
                                                     const BlockJacobiOptions&);
std::unique_ptr<Sor::Impl> make_sor(const Context&, const CsrPattern&, const SorOptions&, std::span<const Index> order);
/// SorOptions::block_size > 1; the pattern and the order are those of blocks.
std::unique_ptr<Sor::Impl> make_point_block_sor(const Context&, const CsrPattern& blocks, const SorOptions&,
                                                std::span<const Index> order);
}  // namespace host

namespace cuda {
std::unique_ptr<TriangularSolver::Impl> make_triangular(const Context&, const CsrView&, MemorySpace,
                                                        const TriangularOptions&, Stream);
std::unique_ptr<Factorization::Impl> make_factorization(const Context&, const CsrPattern&, MemorySpace,
                                                        const FactorOptions&, std::span<const Index> row_order,
                                                        std::span<const Index> col_order, Stream);
/// FactorOptions::one_block_rows; null where the matrix or the options are not for that. The symbolic and the numeric
/// phase are those of the host backend on one thread, an application is one launch.
std::unique_ptr<Factorization::Impl> make_one_block_factorization(const Context&, const CsrPattern&, MemorySpace,
                                                                  const FactorOptions&,
                                                                  std::span<const Index> row_order,
                                                                  std::span<const Index> col_order, Stream);
std::unique_ptr<Factorization::Impl> make_point_block_factorization(const Context&, const CsrPattern& blocks,
                                                                    MemorySpace, const FactorOptions&,
                                                                    std::span<const Index> row_order,
                                                                    std::span<const Index> col_order, Stream);
std::unique_ptr<Jacobi::Impl> make_jacobi(const Context&, const CsrView&, MemorySpace, const JacobiOptions&, Stream);
std::unique_ptr<BlockJacobi::Impl> make_block_jacobi(const Context&, const CsrPattern&, MemorySpace,
                                                     const JacobiBlocks&, const BlockJacobiOptions&, Stream);
std::unique_ptr<Sor::Impl> make_sor(const Context&, const CsrPattern&, MemorySpace, const SorOptions&,
                                    std::span<const Index> order, Stream);
std::unique_ptr<Sor::Impl> make_point_block_sor(const Context&, const CsrPattern& blocks, MemorySpace,
                                                const SorOptions&, std::span<const Index> order, Stream);
}  // namespace cuda

}  // namespace taskdag
