#include "pc/block_jacobi_type.hpp"

#include <optional>
#include <string>

#include "fresh_number.hpp"
#include "options.hpp"
#include "pc/jacobi_sweeps.hpp"
#include "pc/types.hpp"
#include "taskdag/block_jacobi.hpp"

namespace taskdag::petsc {
namespace {

class BlockJacobiPreconditioner final : public JacobiSweeps<BlockJacobi> {
 public:
  explicit BlockJacobiPreconditioner(const Settings& settings) : JacobiSweeps(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return error_; }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode find_own_blocks(std::optional<JacobiBlocks>* blocks);
  [[nodiscard]] PetscLogDouble flops_of_residual() const { return 2.0 * static_cast<double>(entries_); }
  [[nodiscard]] PetscLogDouble flops_of_correction() const {
    constexpr double reals = reals_per_scalar * reals_per_scalar;
    return jacobi_ ? 2.0 / reals * static_cast<double>(jacobi_->info().block_entries) : 0.0;
  }
  [[nodiscard]] PetscLogDouble flops() const override {
    return settings_.jacobi.sweeps * flops_of_correction() + (settings_.jacobi.sweeps - 1) * flops_of_residual();
  }
  [[nodiscard]] PetscLogDouble flops_of_sweep() const override { return flops_of_residual() + flops_of_correction(); }

  std::string origin_;  ///< of the blocks, in words
  MatFactorError error_ = MAT_FACTOR_NOERROR;
};

/// The blocks of PETSc's vpbjacobi, else those of pbjacobi. Leaves `blocks` empty where those of the graph are wanted.
PetscErrorCode BlockJacobiPreconditioner::find_own_blocks(std::optional<JacobiBlocks>* blocks) {
  PetscFunctionBegin;
  const BlockJacobiSettings& wanted = settings_.block_jacobi;
  if (wanted.source == JacobiBlockSource::graph) PetscFunctionReturn(PETSC_SUCCESS);
  constexpr Index scale = reals_per_scalar;
  const bool either = wanted.source == JacobiBlockSource::automatic;
  if (either && wanted.block_size > 0 && !complex_scalars) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt count = 0;
  const PetscInt* sizes = nullptr;
  PetscInt size = 1;
  PetscCall(MatGetVariableBlockSizes(whole_, &count, &sizes));
  PetscCall(MatGetBlockSize(whole_, &size));
  if (count == 0 && size == 1 && either && !complex_scalars) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] {
    if (count == 0) {
      *blocks = consecutive_blocks(scale * static_cast<Index>(rows()), scale * static_cast<Index>(size));
      origin_ = "the matrix' own, of " + std::to_string(size) + " rows";
      return;
    }
    blocks->emplace();
    for (PetscInt k = 0; k < count; ++k)
      (*blocks)->offsets.push_back(static_cast<Index>((*blocks)->offsets.back() + scale * sizes[k]));
    origin_ = "the matrix' own, of several sizes";
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobiPreconditioner::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  source_.lend_complex(ComplexAs::rows);
  PetscCall(prepare(matrix, false, settings_.backend));
  std::optional<JacobiBlocks> blocks;
  PetscCall(find_own_blocks(&blocks));
  if (rows() > 0) {
    MatInfo sizes;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
    entries_ = static_cast<Offset>(sizes.nz_used);
    PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
      const JacobiOptions& wanted = settings_.jacobi;
      if (!blocks) {
        const auto size = static_cast<Index>(settings_.block_jacobi.block_size);
        blocks = blocks_of_graph(backend_->context, view.pattern, space, size, stream);
        origin_ = "of the graph, of about " + std::to_string(size > 0 ? size : kDefaultRowsOfJacobiBlock) + " rows";
      }
      const BlockJacobiOptions options{
          .sweeps = wanted.sweeps, .damping = wanted.damping, .weights = wanted.weights, .long_row = wanted.long_row};
      jacobi_.emplace(backend_->context, view.pattern, space, *blocks, options, stream);
      launches_ = fresh_number();
    }));
  }
  PetscCall(update(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobiPreconditioner::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  error_ = MAT_FACTOR_NOERROR;
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  FactorStatus status;
  PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    status = jacobi_->update_values(view, space, stream);
    status.first_row = in_scalars(status.first_row);
  }));
  if (status.ok()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool singular = status.outcome == FactorOutcome::zero_pivot;
  const char* const fault = singular ? "is singular" : "or its inverse has a number that is not finite";
  PetscCheck(!error_if_failure, PETSC_COMM_SELF, singular ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP,
             "the block of block Jacobi with row %d %s", static_cast<int>(status.first_row), fault);
  error_ = singular ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_OTHER;
  PetscCall(PetscInfo(matrix, "The block of block Jacobi with row %d %s\n", static_cast<int>(status.first_row), fault));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobiPreconditioner::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  const std::string title = "sizes: ";
  std::string text;
  std::vector<RankNumber> numbers;
  bool each = false;
  PetscCall(view_sweeps(viewer, "block Jacobi"));
  if (!backend_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(guarded(viewer.comm, [&] {
    const BlockJacobiInfo info = jacobi_ ? jacobi_->info() : BlockJacobiInfo{};
    constexpr double reals_of_entry = reals_per_scalar * reals_per_scalar;
    numbers = {{"rows", static_cast<double>(rows()), true},
               {"blocks", static_cast<double>(info.blocks), true},
               {"rows in the largest one", static_cast<double>(in_scalars(info.largest_block)), false},
               {"entries of inverses", static_cast<double>(info.block_entries) / reals_of_entry, true},
               {"MB", static_cast<double>(info.bytes) / 1.0e6, true}};
    text = jacobi_ ? "blocks: " + origin_ + '\n' : "";
    if (each) text += number_text(title, numbers) + '\n';
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockJacobiPreconditioner::reset() {
  PetscFunctionBegin;
  error_ = MAT_FACTOR_NOERROR;
  PetscCall(reset_sweeps());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_block_jacobi(const Settings& settings) {
  return std::make_unique<BlockJacobiPreconditioner>(settings);
}

PetscErrorCode check_block_jacobi(const Settings& settings) {
  PetscFunctionBegin;
  if (!settings.block_jacobi.used) PetscFunctionReturn(PETSC_SUCCESS);
  const JacobiForm form = settings.jacobi.form;
  PetscCheck(form == JacobiForm::automatic || form == JacobiForm::kernels, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_taskdag_jacobi_type block has the forms auto and kernels, not -pc_taskdag_jacobi_form %s",
             to_string(form));
  PetscCheck(!settings.jacobi.absolute, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_taskdag_jacobi_abs is for diagonals: -pc_taskdag_jacobi_type block has none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
