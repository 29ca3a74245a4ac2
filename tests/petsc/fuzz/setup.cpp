#include "setup.hpp"

#include <algorithm>
#include <sstream>

namespace taskdag::test {
namespace {

/// PETSc joins rows of one pattern and looks at their pivots in another way; rows are compared with rows.
constexpr const char* no_nodes = "-mat_no_inode ";

/// `complete`: none is left to what it was before.
std::string factor_options(Random& random, Kind kind, bool complete) {
  std::ostringstream text;
  text.precision(17);
  if (complete)
    text << " -pc_factor_levels 0 -pc_factor_shift_amount 1e-13 -pc_factor_zeropivot 1e-14 -pc_factor_shift_type "
         << (kind == Kind::icc ? "positive_definite" : "none");
  if (random.chance(0.4)) text << " -pc_factor_levels " << random.one_of({1, 1, 2, 3, 7, 2147483647});
  if (random.chance(kind == Kind::icc ? 0.7 : 0.4))
    text << " -pc_factor_shift_type " << random.one_of({"none", "nonzero", "positive_definite", "inblocks"});
  if (random.chance(0.7)) text << " -pc_factor_shift_amount " << random.one_of({1e-12, 1e-3, 0.5, 10.0});
  if (random.chance(0.3)) text << " -pc_factor_zeropivot " << random.one_of({0.0, 1e-10, 1e-2});
  return text.str();
}

/// The word behind the last `name`, which is the one that counts; empty where there is none.
std::string last(const std::string& options, const std::string& name) {
  const std::size_t at = options.rfind(name);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size();
  return options.substr(begin, options.find(' ', begin) - begin);
}

std::string type_name(Kind kind) {
  switch (kind) {
    case Kind::ilu:
      return "ilu";
    case Kind::icc:
      return "icc";
    case Kind::jacobi:
      return "jacobi";
    case Kind::sor:
      return "sor";
    case Kind::dilu:
      return "dilu";
    case Kind::dic:
      return "dic";
  }
  return {};
}

/// `complete`: as above.
std::string sor_options(Random& random, bool complete) {
  std::ostringstream text;
  text.precision(17);
  if (complete) text << " -SOR_omega 1 -SOR_its 1 -SOR_lits 1 -SOR_diagonal_shift 0 -SOR_local_symmetric";
  if (random.chance(0.5)) text << " -SOR_omega " << random.one_of({0.5, 0.8, 1.2, 1.7});
  if (random.chance(0.5)) text << " -SOR_its " << random.whole(1, 4);
  if (random.chance(0.2)) text << " -SOR_lits " << random.whole(1, 3);
  if (random.chance(0.3)) text << " -SOR_diagonal_shift " << random.one_of({1e-3, 0.5, -0.25, 10.0});
  if (!complete && random.chance(0.6))
    text << " -SOR_" << random.one_of<std::string>({"forward", "backward", "symmetric"});
  return text.str();
}

std::string with_prefix(std::string options, const std::string& prefix) {
  const std::string place = "-SOR_";
  for (std::size_t at = 0; (at = options.find(place, at)) != std::string::npos;)
    options.replace(at, place.size(), prefix);
  return options;
}

/// PETSc divides by the diagonal, or stops the program where it cannot.
bool has_diagonal(const RandomMatrix& matrix, const std::string& options) {
  const std::string shift = last(options, "diagonal_shift ");
  std::vector<double> diagonal(static_cast<std::size_t>(matrix.rows), 0.0);
  for (const auto& [i, j, v] : matrix.entries) {
    if (i == j) diagonal[static_cast<std::size_t>(i)] += v;
  }
  const double amount = shift.empty() ? 0.0 : std::stod(shift);
  return std::all_of(diagonal.begin(), diagonal.end(), [&](double d) { return d != 0.0 && d + amount != 0.0; });
}

constexpr const char* plain_program =
    " -pc_taskdag_engine_scheduler megakernel -pc_taskdag_engine_dependencies ordered -pc_taskdag_factor_schedule auto";

}  // namespace

std::string Setup::ours() const {
  std::ostringstream text;
  text.precision(17);
  text << no_nodes << "-pc_taskdag_backend host -pc_taskdag_threads " << threads;
  if (package) {
    text << " -pc_type " << type_name(kind) << " -pc_factor_mat_solver_type taskdag";
  } else {
    text << " -pc_type taskdag -pc_taskdag_type " << type_name(kind);
    // The default of this type is a shift that PETSc does not have, and could not be compared with.
    if (kind == Kind::icc || kind == Kind::dic) text << " -pc_taskdag_icc_shift petsc";
  }
  text << " -pc_taskdag_precision " << (kind == Kind::jacobi || kind == Kind::sor ? "double" : precision);
  if (kind == Kind::jacobi) {
    text << " -pc_taskdag_jacobi_type " << diagonal << " -pc_taskdag_jacobi_abs " << absolute
         << " -pc_taskdag_jacobi_sweeps " << sweeps << " -pc_taskdag_jacobi_damping " << damping
         << " -pc_taskdag_jacobi_form " << form << " -pc_taskdag_jacobi_part_entries " << part_entries
         << " -pc_taskdag_jacobi_long_row " << long_row;
  } else {
    text << (own_name ? " -pc_taskdag_ordering " : " -pc_factor_mat_ordering_type ") << ordering
         << " -pc_taskdag_schedule " << schedule << factor;
    text << " -pc_taskdag_fill " << (fill_in_blocks ? "blocks" : "all") << " -pc_taskdag_point_block " << point_block;
  }
  if (kind == Kind::sor) text << with_prefix(sor, "-pc_taskdag_sor_");
  text << program;
  return text.str();
}

std::string Setup::serial() const {
  Setup other = *this;
  other.threads = 1;
  if (!by_blocks() || kind == Kind::sor) {  // schedules of a factor that are chosen are of rows
    other.schedule = "serial";
    other.program = plain_program;
  }
  other.form = "kernels";
  return other.ours();
}

std::string Setup::theirs() const {
  std::ostringstream text;
  text << no_nodes << "-pc_type " << type_name(kind);
  if (kind == Kind::jacobi)
    text << " -pc_jacobi_type " << (diagonal) << " -pc_jacobi_abs " << absolute;
  else if (kind == Kind::sor)
    text << with_prefix(sor, "-pc_sor_");
  else
    text << " -pc_factor_mat_solver_type petsc -pc_factor_mat_ordering_type " << ordering << factor;
  return text.str();
}

bool Setup::has_theirs(const RandomMatrix& matrix) const {
  // A sum that is zero but for rounding depends on its order; not every release of PETSc has rowl1.
  if (kind == Kind::jacobi) return diagonal != "rowsum" && diagonal != "rowl1";
  // PETSc's are given the rows.
  if (kind == Kind::sor && by_blocks()) return false;
  if (kind == Kind::sor) return ordering == "natural" && !matrix.extreme && has_diagonal(matrix, sor);
  // PETSc's are of rows, in double.
  if (kind == Kind::dilu || kind == Kind::dic || by_blocks() || precision == "single") return false;
  // An ordering of blocks is another one than that of rows.
  if (fill_in_blocks || moves_columns() || (block > 1 && ordering != "natural")) return false;
  const std::string shift = last(factor, "shift_type ");
  // PETSc's PCILU takes inblocks in its place for all types but AIJ.
  if (package && type != "aij" && shift == "nonzero") return false;
  const bool positive_definite = shift == "positive_definite" || (shift.empty() && kind == Kind::icc);
  if (positive_definite) return !matrix.extreme && (matrix.symmetric || kind == Kind::ilu) && lacks_dominance(matrix);
  return !matrix.extreme || shift != "nonzero";
}

bool Setup::moves_columns() const { return factor.find("nonzeros_along") != std::string::npos; }

bool Setup::has_tiny_shift() const {
  const std::string shift = last(factor, "shift_type ");
  const std::string amount = last(factor, "shift_amount ");
  return (shift == "nonzero" || shift == "inblocks") && (amount.empty() || std::stod(amount) < 1e-6);
}

Setup random_setup(Random& random, const RandomMatrix& matrix, bool complete) {
  Setup setup;
  setup.kind =
      random.one_of({Kind::ilu, Kind::ilu, Kind::icc, Kind::icc, Kind::jacobi, Kind::sor, Kind::dilu, Kind::dic});
  setup.threads = random.one_of({1, 1, 2, 3});
  setup.package = (setup.kind == Kind::ilu || setup.kind == Kind::icc) && random.chance(0.4);
  setup.ordering = random.one_of({"natural", "natural", "taskdag_rcm", "taskdag_color", "taskdag_bmc"});
  if (matrix.rows > 0 && random.chance(0.3)) setup.ordering = random.one_of({"rcm", "nd", "1wd", "qmd"});
  setup.own_name = !setup.package && random.chance(0.5);
  const bool blocks = setup.ordering == "taskdag_color" || setup.ordering == "taskdag_bmc";
  setup.factor = factor_options(random, setup.kind, complete);
  setup.sor = sor_options(random, complete);
  if (setup.package && setup.kind == Kind::ilu && random.chance(0.1))
    setup.factor += " -pc_factor_nonzeros_along_diagonal";
  const std::string filled = last(setup.factor, "levels ");
  const bool levels = !filled.empty() && filled != "0";
  setup.schedule = random.one_of({"auto", "auto", "locking", "pivotal-path", "hdagg", "plan", "p2p", "level-set"});
  setup.program = plain_program;
  if (random.chance(0.3)) {
    if (random.chance(0.7)) setup.schedule = "engine";
    setup.program =
        " -pc_taskdag_engine_scheduler " + random.one_of<std::string>({"megakernel", "controller", "timesliced"}) +
        " -pc_taskdag_engine_dependencies " + random.one_of<std::string>({"ordered", "individual", "phases"}) +
        " -pc_taskdag_factor_schedule " + random.one_of<std::string>({"auto", "lists", "engine"});
  }
  if (blocks && !levels && !setup.moves_columns() && random.chance(0.5)) setup.schedule = "blocks";
  setup.fill_in_blocks = blocks && levels && !setup.moves_columns() && random.chance(0.5);
  setup.diagonal = random.one_of({"diagonal", "diagonal", "rowmax", "rowsum", "rowl1"});
  setup.absolute = random.chance(0.3);
  if (random.chance(0.5)) {
    setup.sweeps = random.whole(1, 5);
    setup.damping = random.one_of({1.0, 0.7, -0.5, 1e-3});
  }
  setup.form = random.one_of(
      {"auto", "kernels", "turning", "stages-phases", "stages", "checkpoints", "autonomous", "tiles", "resident"});
  setup.part_entries = random.one_of({1, 7, 64, 1024});
  // Tiles do not take rows in pieces.
  setup.long_row = setup.form == "tiles" ? 0 : random.one_of({0, 1, 10, 4096});
  if (!setup.moves_columns() && random.chance(0.2)) setup.type = "baij";
  if (matrix.symmetric && setup.kind == Kind::icc && random.chance(0.3)) setup.type = "sbaij";
  // PETSc's symmetric format has no other ordering.
  if (setup.type == "sbaij" && setup.package) {
    setup.ordering = "natural";
    setup.fill_in_blocks = false;
    if (setup.schedule == "blocks") setup.schedule = "auto";
  }
  if (setup.type != "aij" && random.chance(0.6)) setup.block = random.one_of({2, 3, 4});
  if (random.chance(0.5)) setup.point_block = "off";
  setup.precision = random.one_of({"double", "double", "auto", "single"});
  return setup;
}

}  // namespace taskdag::test
