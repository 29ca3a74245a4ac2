/// \file
/// One random way to set a preconditioner up, in options for the plugin and for PETSc's own.
#pragma once

#include <string>

#include "matrices.hpp"
#include "random.hpp"

namespace taskdag::test {

enum class Kind { ilu, icc, jacobi, sor, dilu, dic };

struct Setup {
  Kind kind = Kind::ilu;
  bool package = false;  ///< PETSc's own preconditioner with our factorisation
  bool fill_in_blocks = false;
  std::string ordering = "natural";
  bool own_name = false;  ///< -pc_taskdag_ordering, not PETSc's name for the same
  std::string schedule = "auto";
  std::string program;  ///< -pc_taskdag_engine_… and who runs the rows of a factorisation
  int threads = 1;
  std::string factor;  ///< -pc_factor_… of both, but the ordering
  std::string diagonal = "diagonal";
  bool absolute = false;
  int sweeps = 1;
  std::string form = "auto";  ///< of Jacobi sweeps
  int part_entries = 1024;
  int long_row = 4096;
  std::string point_block = "auto";  ///< auto or off
  std::string precision = "double";  ///< of a factor
  double damping = 1.0;
  std::string sor;           ///< -SOR_… of both, SOR standing for what the prefix is
  std::string type = "aij";  ///< of the matrix that the plugin gets
  int block = 1;             ///< rows of its blocks, where its type keeps such

  [[nodiscard]] std::string ours() const;
  /// Whether blocks may be taken as one.
  [[nodiscard]] bool by_blocks() const {
    return type != "aij" && block > 1 && point_block == "auto" && (kind == Kind::sor || precision != "single");
  }
  /// The same with one thread and the rows in their order: the same bits.
  [[nodiscard]] std::string serial() const;
  /// PETSc's own; one sweep without damping.
  [[nodiscard]] std::string theirs() const;
  /// Whether PETSc has the like. It looks for a shift without end where the shift that it takes for large enough is
  /// not: for extreme values; with a shift to a positive definite matrix also for ICC of another matrix than its
  /// transpose, and where no row lacks dominance.
  [[nodiscard]] bool has_theirs(const RandomMatrix& matrix) const;
  /// Whether the ordering depends on the values. PETSc's own factorisation ends the program for some of these.
  [[nodiscard]] bool moves_columns() const;
  /// Whether a pivot may be all shift and so small that results are rounding errors, however stable they look.
  [[nodiscard]] bool has_tiny_shift() const;
};

/// For a matrix. `complete`: says all options, for a preconditioner that has been given others before.
Setup random_setup(Random& random, const RandomMatrix& matrix, bool complete);

}  // namespace taskdag::test
