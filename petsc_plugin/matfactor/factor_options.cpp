#include "matfactor/factor_options.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "boundary.hpp"
#include "mat/indices.hpp"
#include "mat/with_pattern.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

// In the order of the enumeration.
constexpr std::array<const char*, 2> fill_names = {"all", "blocks"};
constexpr std::array<const char*, 3> point_block_names = {"auto", "on", "off"};

std::array<const char*, 3> precision_names() {
  return {to_string(Precision::automatic), to_string(Precision::in_double), to_string(Precision::in_single)};
}

}  // namespace

FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, Precision precision, const SweepSettings& sweeps) {
  FactorOptions options;
  options.kind = kind;
  options.levels = static_cast<Index>(levels);  // as large as any at most, see read_int()
  options.fill = fill;
  options.precision = precision;
  options.schedule = sweeps.schedule;
  options.factor_schedule = sweeps.factor_schedule;
  options.run = sweeps.run;
  options.ata_flow = sweeps.ata_flow;
  options.ata_size = sweeps.ata_size;
  options.ata_rows_share_warps = sweeps.ata_rows_share_warps;
  options.one_block_rows = sweeps.chosen_one_block_rows();
  options.tune = sweeps.tune;
  options.tune_file = sweeps.tune_file;
  options.shift_amount = amount;
  options.zero_pivot = zero_pivot;
  switch (shift) {
    case MAT_SHIFT_NONZERO:
      options.shift = ShiftType::nonzero;
      break;
    case MAT_SHIFT_POSITIVE_DEFINITE:
      options.shift = ShiftType::positive_definite;
      break;
    case MAT_SHIFT_INBLOCKS:
      options.shift = ShiftType::inblocks;
      break;
    case MAT_SHIFT_NONE:
      options.shift = ShiftType::none;
      break;
  }
  return options;
}

PetscErrorCode check_pivoting(const FactorOptions& options) {
  PetscFunctionBegin;
  PetscCheck(std::isfinite(options.shift_amount), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_factor_shift_amount must be finite, not %g", options.shift_amount);
  PetscCheck(std::isfinite(options.zero_pivot) && options.zero_pivot >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_factor_zeropivot must be 0 or more, not %g", options.zero_pivot);
  PetscFunctionReturn(PETSC_SUCCESS);
}

OptionRow point_block_row() {
  return {"-pc_taskdag_point_block", point_block_names[0], join(point_block_names),
          "Take dense blocks of rows as one in ilu, icc and sor: auto those of BAIJ and SBAIJ matrices, on also those "
          "of AIJ "
          "with a block size"};
}

const char* point_block_name(PointBlock choice) { return point_block_names.at(static_cast<std::size_t>(choice)); }

PetscErrorCode read_point_block(OptionItems items, PointBlock* choice) {
  PetscFunctionBegin;
  std::optional<OptionRow> option;
  PetscCall(guarded([&] { option = point_block_row(); }));
  auto value = static_cast<PetscInt>(*choice);
  PetscCall(read_list(items, *option, point_block_names, &value));
  *choice = static_cast<PointBlock>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode wanted_block_size(Mat matrix, PointBlock choice, PetscInt* rows) {
  PetscFunctionBegin;
  *rows = 1;
  if (choice == PointBlock::automatic) PetscCall(stored_block_size(matrix, rows));
  if (choice == PointBlock::on) PetscCall(MatGetBlockSize(matrix, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fills_blocks_up(Mat matrix, PetscInt block, bool* fills) {
  PetscFunctionBegin;
  PetscInt stored = 1;
  PetscCall(stored_block_size(matrix, &stored));
  *fills = block > 1 && block != stored;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string reason_against_blocks(const std::vector<Index>& order, PetscInt block) {
  if (block > largest_point_block) return "blocks have at most " + std::to_string(largest_point_block) + " rows";
  if (!order_of_blocks(order, static_cast<Index>(block))) return "the ordering takes blocks apart";
  return "";
}

PetscErrorCode check_point_block(PointBlock choice, const std::string& reason) {
  PetscFunctionBegin;
  PetscCheck(reason.empty() || choice != PointBlock::on, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_taskdag_point_block on, but %s", reason.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

OptionRow fill_row() {
  return {"-pc_taskdag_fill", fill_names[static_cast<std::size_t>(FactorOptions{}.fill)], join(fill_names),
          "Where levels of fill may be: anywhere, or inside the blocks of the ordering " MATORDERINGTASKDAGBMC
          " alone"};
}

const char* fill_name(FillScope fill) { return fill_names.at(static_cast<std::size_t>(fill)); }

PetscErrorCode read_fill(OptionItems items, FillScope* fill) {
  PetscFunctionBegin;
  std::optional<OptionRow> option;
  PetscCall(guarded([&] { option = fill_row(); }));
  auto value = static_cast<PetscInt>(*fill);
  PetscCall(read_list(items, *option, fill_names, &value));
  *fill = static_cast<FillScope>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

OptionRow precision_row() {
  return {"-pc_taskdag_precision", to_string(FactorOptions{}.precision), join(precision_names()),
          "With ilu, icc, dilu, dic: how the values are stored that an application reads; vectors and sums are double; "
          "auto takes single for large factors on a GPU in the order taskdag_bmc"};
}

PetscErrorCode read_precision(OptionItems items, Precision* precision) {
  PetscFunctionBegin;
  std::optional<OptionRow> option;
  PetscCall(guarded([&] { option = precision_row(); }));
  auto value = static_cast<PetscInt>(*precision);
  PetscCall(read_list(items, *option, precision_names(), &value));
  *precision = static_cast<Precision>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
