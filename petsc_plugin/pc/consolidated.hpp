/// \file
/// Blocks of several ranks as one: ranks that share a GPU let one of them work for all, with fewer and larger blocks.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

/// Which ranks' blocks are put together.
enum class Consolidate {
  off,
  automatic,  ///< of ranks that share a GPU
  on          ///< the same; on host threads, of the ranks of a node
};

struct ConsolidateSettings {
  Consolidate mode = Consolidate::off;
  PetscInt ranks = 0;  ///< at most so many; 0: all that share
  bool operator==(const ConsolidateSettings&) const = default;
};

/// "off", "auto", "on".
const char* consolidate_name(Consolidate mode);

/// -pc_taskdag_consolidate and what belongs to it.
std::vector<OptionRow> consolidate_rows();
PetscErrorCode read_consolidate(OptionItems items, Settings* settings);
bool same_consolidate(const Settings& a, const Settings& b);
/// Types and options that do not go together with it are an error.
PetscErrorCode check_consolidate(const Settings& settings);

/// `inner`, which works on one block for each group of ranks. The settings outlive what is made. May throw.
std::unique_ptr<Preconditioner> consolidate(std::unique_ptr<Preconditioner> inner, const Settings& settings);

}  // namespace taskdag::petsc
