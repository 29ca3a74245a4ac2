#include "pc/factor_type.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "boundary.hpp"
#include "matfactor/factor_bridge.hpp"
#include "matfactor/factor_options.hpp"
#include "option_checks.hpp"
#include "ordering/attached_blocks.hpp"
#include "ordering/orderings.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

struct FactorRows {
  OptionRow own_ordering{"-pc_taskdag_ordering", FactorSettings{}.ordering, "auto, any registered ordering",
                         "Ordering of the factor; auto takes " MATORDERINGTASKDAGBMC
                         " where a GPU would go through many levels, else natural"};
  OptionRow ordering{"-pc_factor_mat_ordering_type", "as -pc_taskdag_ordering",
                     "any registered ordering, also " + ordering_names(),
                     "PETSc's name for the same choice; -pc_taskdag_ordering counts where both are given"};
  OptionRow reuse_ordering{"-pc_factor_reuse_ordering", to_text(FactorSettings{}.reuse_ordering), "true, false",
                           "Keep the ordering when the pattern changes"};
  OptionRow shift_type{"-pc_factor_shift_type", "NONE for ilu, POSITIVE_DEFINITE for icc",
                       "NONE, NONZERO, POSITIVE_DEFINITE, INBLOCKS", "What to do at a zero pivot"};
  OptionRow shift_amount{"-pc_factor_shift_amount", number(FactorSettings{}.shift_amount), "0 or more",
                         "Amount of a shift"};
  OptionRow zero_pivot{"-pc_factor_zeropivot", number(FactorSettings{}.zero_pivot), "0 or more",
                       "A pivot up to this size counts as zero"};
  OptionRow levels{"-pc_factor_levels", std::to_string(FactorSettings{}.levels), "0 or more",
                   "Levels of fill of ILU and ICC"};
};

/// Both names of an ordering are `auto` or a registered one.
PetscErrorCode check_orderings(OptionItems items, const FactorRows& rows, PetscFunctionList registered) {
  PetscFunctionBegin;
  const char** names = nullptr;
  int count = 0;
  std::vector<const char*> words;
  std::array<OptionRow, 2> options;
  PetscCall(PetscFunctionListGet(registered, &names, &count));
  const PetscErrorCode listed = guarded([&] {
    words.assign({ordering_auto});
    // Some releases count the null at the end, too.
    for (int k = 0; k < count && names[k]; ++k) words.push_back(names[k]);
    std::sort(words.begin() + 1, words.end(), [](const char* a, const char* b) { return std::string_view(a) < b; });
    options = {rows.own_ordering, rows.ordering};
    for (OptionRow& option : options) option.range = join(words);
  });
  PetscCall(PetscFree(names));
  PetscCall(listed);
  for (const OptionRow& option : options) PetscCall(check_word(items, option, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The shift in force: the chosen one, else none for ILU and positive definite for ICC, as PETSc's own.
MatFactorShiftType effective_shift(const FactorSettings& settings, FactorKind kind) {
  if (settings.shift) return *settings.shift;
  return kind == FactorKind::ic ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE;
}

/// What the settings mean for a factor: ICC for its type, ILU for all others.
FactorKind kind_of(const Settings& settings) {
  return settings.type == PC_TASKDAG_ICC ? FactorKind::ic : FactorKind::ilu;
}

class FactorPreconditioner final : public Preconditioner {
 public:
  FactorPreconditioner(FactorKind kind, const Settings& settings) : kind_(kind), settings_(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return failure_.error; }
  PetscErrorCode apply(Apply part, Vec b, Vec x) override { return factor_.apply(part, b, x); }
  PetscErrorCode apply(Apply part, Mat b, Mat x) override { return factor_.apply(part, b, x); }
  PetscErrorCode view(PetscViewer viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode order(Mat matrix);
  [[nodiscard]] FactorOptions options() const;
  [[nodiscard]] const FactorSettings& own() const { return settings_.factor; }

  FactorKind kind_;
  const Settings& settings_;
  FactorBridge factor_;
  FactorFailure failure_;
  IS row_ = nullptr;  ///< the ordering, held for -pc_factor_reuse_ordering
  IS col_ = nullptr;
  OrderingChoice ordering_;  ///< the ordering in use, and why, where it was chosen automatically
};

FactorOptions FactorPreconditioner::options() const {
  return factor_options(kind_, effective_shift(own(), kind_), own().shift_amount, own().zero_pivot, own().levels,
                        own().fill, settings_.sweeps);
}

PetscErrorCode FactorPreconditioner::order(Mat matrix) {
  PetscFunctionBegin;
  if (row_ && own().reuse_ordering) {
    PetscInt ordered = 0;
    PetscInt rows = 0;
    PetscCall(ISGetLocalSize(row_, &ordered));
    PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
    if (ordered == rows) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISDestroy(&row_));
  PetscCall(ISDestroy(&col_));
  if (own().ordering == ordering_auto)
    PetscCall(
        choose_ordering(matrix, own().fill == FillScope::blocks ? 0 : own().levels, settings_.backend, &ordering_));
  else
    PetscCall(guarded([&] { ordering_ = {own().ordering, ""}; }));
  // Both or none: a row's alone would be taken for an ordering that can be reused.
  IS row = nullptr;
  IS col = nullptr;
  PetscCall(make_ordering(matrix, ordering_.name, settings_.backend, &row, &col));
  row_ = row;
  col_ = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  FactorOptions wanted;
  PetscCall(guarded([&] { wanted = options(); }));
  PetscCall(order(matrix));
  PetscCall(factor_.analyse(matrix, row_, col_, wanted, settings_.backend));
  PetscCall(factor_.factor(matrix, wanted, error_if_failure, &failure_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  FactorOptions wanted;
  PetscCall(guarded([&] { wanted = options(); }));
  PetscCall(factor_.factor(matrix, wanted, error_if_failure, &failure_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::view(PetscViewer viewer) const {
  PetscFunctionBegin;
  std::string text;
  PetscCall(describe_blocks(row_, &text));
  PetscCall(guarded([&] {
    if (!text.empty()) text = ": " + text;
    text = (ordering_.name.empty() ? own().ordering : ordering_.name) + text;
    if (!ordering_.reason.empty()) text += " (" + ordering_.reason + ")";
  }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix ordering: %s%s\n", text.c_str(),
                                   own().reuse_ordering ? ", reused" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  shift: %s, amount %g; tolerance for zero pivot %g\n",
                                   MatFactorShiftTypes[effective_shift(own(), kind_)], own().shift_amount,
                                   own().zero_pivot));
  PetscCall(factor_.view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorPreconditioner::reset() {
  PetscFunctionBegin;
  PetscCall(factor_.reset());
  PetscCall(ISDestroy(&row_));
  PetscCall(ISDestroy(&col_));
  ordering_ = {};
  failure_ = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_ilu(const Settings& settings) {
  return std::make_unique<FactorPreconditioner>(FactorKind::ilu, settings);
}

std::unique_ptr<Preconditioner> make_icc(const Settings& settings) {
  return std::make_unique<FactorPreconditioner>(FactorKind::ic, settings);
}

std::vector<OptionRow> factor_rows() {
  const FactorRows rows;
  return {rows.own_ordering, rows.ordering,   rows.reuse_ordering, rows.shift_type,
          rows.shift_amount, rows.zero_pivot, rows.levels,         fill_row()};
}

PetscErrorCode read_factor(OptionItems PetscOptionsObject, Settings* settings) {
  PetscFunctionBegin;
  FactorSettings& factor = settings->factor;
  std::optional<FactorRows> rows;
  PetscCall(guarded([&] { rows.emplace(); }));
  std::array<char, 256> name{};
  PetscBool given = PETSC_FALSE;
  PetscFunctionList orderings = nullptr;
  PetscCall(MatGetOrderingList(&orderings));
  PetscCall(check_orderings(PetscOptionsObject, *rows, orderings));
  PetscCall(PetscOptionsFList(rows->ordering.name, rows->ordering.help.c_str(), "PCFactorSetMatOrderingType", orderings,
                              factor.ordering.c_str(), name.data(), name.size(), &given));
  if (given) PetscCall(guarded([&] { factor.ordering = name.data(); }));
  PetscCall(read_text(PetscOptionsObject, rows->own_ordering, &factor.ordering, &given));
  PetscCall(read_bool(PetscOptionsObject, rows->reuse_ordering, &factor.reuse_ordering));

  const OptionRow& shift = rows->shift_type;
  PetscCall(check_word(PetscOptionsObject, shift, std::span(MatFactorShiftTypes, MAT_SHIFT_INBLOCKS + 1)));
  MatFactorShiftType chosen = effective_shift(factor, kind_of(*settings));
  PetscCall(PetscOptionsEnum(shift.name, shift.help.c_str(), "PCFactorSetShiftType", MatFactorShiftTypes,
                             static_cast<PetscEnum>(chosen), reinterpret_cast<PetscEnum*>(&chosen), &given));
  if (given) factor.shift = chosen;
  PetscCall(read_tolerance(PetscOptionsObject, rows->shift_amount, &factor.shift_amount));
  PetscCall(read_tolerance(PetscOptionsObject, rows->zero_pivot, &factor.zero_pivot));
  PetscCall(read_int(PetscOptionsObject, rows->levels, 0, &factor.levels));
  PetscCall(read_fill(PetscOptionsObject, &factor.fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same_factor(const Settings& a, const Settings& b) {
  const auto shift = [](const Settings& s) { return effective_shift(s.factor, kind_of(s)); };
  const auto tied = [](const FactorSettings& s) {
    return std::tie(s.ordering, s.shift_amount, s.zero_pivot, s.levels, s.fill);
  };
  return shift(a) == shift(b) && tied(a.factor) == tied(b.factor);
}

}  // namespace taskdag::petsc
