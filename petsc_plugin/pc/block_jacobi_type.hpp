/// \file
/// -pc_taskdag_type jacobi with -pc_taskdag_jacobi_type block: sweeps with the inverses of small dense blocks.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

/// Where the blocks come from.
enum class JacobiBlockSource {
  automatic,  ///< matrix where it has blocks and no size is asked for; else graph
  graph,      ///< compact blocks of the graph, those of taskdag_bmc
  matrix,     ///< those that PETSc's pbjacobi and vpbjacobi take
};

/// Sweeps, damping and weights are those of other Jacobi sweeps.
struct BlockJacobiSettings {
  bool used = false;  ///< -pc_taskdag_jacobi_type block
  JacobiBlockSource source = JacobiBlockSource::automatic;
  PetscInt block_size = 0;  ///< rows of a block of the graph; 0: the library's choice
  bool operator==(const BlockJacobiSettings&) const = default;
};

std::unique_ptr<Preconditioner> make_block_jacobi(const Settings& settings);

/// Its options: -pc_taskdag_jacobi_blocks, -pc_taskdag_jacobi_block_size.
std::vector<OptionRow> block_jacobi_rows();
PetscErrorCode read_block_jacobi(OptionItems items, Settings* settings);
/// As -pc_taskdag_jacobi_blocks names it.
const char* block_source_name(JacobiBlockSource source);
bool same_block_jacobi(const Settings& a, const Settings& b);

/// Settings of other Jacobi sweeps that it does not have are an error, in words.
PetscErrorCode check_block_jacobi(const Settings& settings);

}  // namespace taskdag::petsc
