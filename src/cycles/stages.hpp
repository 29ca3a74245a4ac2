/// \file
/// The stages that cycles of multigrid are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "krylov/row_sum.hpp"
#include "krylov/system.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/loop/stage.hpp"

namespace taskdag::cycles {

/// What a part is asked for of: a row, or several, which may have the same columns.
template <class Row>
concept RowOrRows = std::is_same_v<Row, std::uint32_t> || std::is_same_v<Row, engine::TaskGroup> ||
    std::is_same_v<Row, engine::TaskRun> || std::is_same_v<Row, engine::TaskOfRun>;

/// A sparse matrix in memory of the backend, as tasks read it: a task is a row.
struct Rows {
  static constexpr bool exchanges = false;
  const Offset* begin = nullptr;
  krylov::Columns columns;
  const double* value = nullptr;
  std::uint32_t together = 1;  ///< so many rows each, one after the other, have the same columns

  /// What one of `size` workers has of Σ_j a_ij of(j).
  template <class Of>
  [[nodiscard]] TASKDAG_TASK double part_of(std::uint32_t row, int rank, int size, const Of& of) const {
    return krylov::sum_of_row<4>(begin[row], begin[row + 1], {columns, static_cast<Index>(row)}, value, rank, size, of);
  }
  /// The same of rows with the same columns.
  template <class Of>
  [[nodiscard]] TASKDAG_TASK engine::GroupParts part_of(const engine::TaskGroup& rows, int rank, int size,
                                                        const Of& of) const {
    return krylov::sums_of_rows(begin, columns, value, rows, rank, size, of);
  }
  /// On host threads.
  template <class Of>
  [[nodiscard]] TASKDAG_TASK double part_of(const engine::TaskRun& run, int /*rank*/, int /*size*/,
                                            const Of& of) const {
    if (together == 1) return engine::TaskRun::one_by_one;
    return krylov::sums_of_run(begin, columns.column, value, together, run, of);
  }
  template <class Of>
  [[nodiscard]] TASKDAG_TASK double part_of(const engine::TaskOfRun& row, int rank, int size, const Of& of) const {
    return part_of(row.task, rank, size, of);
  }
  /// Of row · x.
  template <RowOrRows Row>
  [[nodiscard]] TASKDAG_TASK auto part(const Row& row, int rank, int size, const double* x) const {
    return part_of(row, rank, size, [x](Index i) { return x[i]; });
  }
};

/// The same where rows are dealt out to ranks: entries in columns of other ranks stand apart, and the operand's
/// elements there come from these.
struct DealtRows {
  static constexpr bool exchanges = true;
  Rows own;
  /// With the slots of this product, of which an application has none twice: its products are known beforehand, and a
  /// rank may be ahead of another by several. Without entries, where the rank has all columns.
  krylov::Halo halo{};
  std::size_t at = 0;  ///< where these slots begin in a set, on all ranks

  [[nodiscard]] TASKDAG_TASK double part(std::uint32_t row, int rank, int size, const double* x) const {
    double sum = own.part(row, rank, size, x);
    if (halo.begin != nullptr) sum += halo.part(row, rank, size, x);
    return sum;
  }
  [[nodiscard]] TASKDAG_TASK double part(const engine::TaskRun& /*run*/, int, int, const double* /*x*/) const {
    return engine::TaskRun::one_by_one;
  }
  [[nodiscard]] TASKDAG_TASK double part(const engine::TaskOfRun& row, int rank, int size, const double* x) const {
    return part(row.task, rank, size, x);
  }
  /// What other ranks need of x. Empties the slots of this product in the application before.
  TASKDAG_TASK void send(const double* x, std::uint32_t first, std::uint32_t stride) const {
    if (halo.begin == nullptr) return;
    const std::uint32_t set = halo.links->send_set;
    engine::RankSlot* const old = halo.slots + halo.begin_of(1U - set);
    const std::size_t next = halo.begin_of(set) + at;
    for (std::uint32_t k = first; k < halo.sends; k += stride) halo.targets[k][next].put(x[halo.sent_rows[k]]);
    for (std::uint32_t k = first; k < halo.ghosts; k += stride) old[k].clear();
  }
};

/// A step of a smoother on an element. M is a diagonal or the identity.
struct Step {
  double step = 1.0;
  double momentum = 0.0;
  const double* diagonal = nullptr;  ///< of M⁻¹; null: the identity

  /// What x_i grows by. before: what it grew by in the step before, which counts where there is a momentum.
  [[nodiscard]] TASKDAG_TASK double of(std::uint32_t i, double before, double residual) const {
    const double d = step * (diagonal != nullptr ? diagonal[i] * residual : residual);
    return momentum != 0.0 ? d + momentum * before : d;
  }
};

/// The solution of a step, and that of the step before, which is overwritten by the next one: their difference is what
/// a momentum goes on with, so that it need not be kept.
struct Solutions {
  const double* x;
  double* next;
  bool first;  ///< of a smoother that begins at zero: before x was zero
  [[nodiscard]] TASKDAG_TASK double grown(std::uint32_t i) const { return first ? x[i] : x[i] - next[i]; }
  TASKDAG_TASK void take(const Step& step, std::uint32_t i, double residual) const {
    next[i] = x[i] + step.of(i, step.momentum != 0.0 ? grown(i) : 0.0, residual);
  }
  TASKDAG_TASK void shift(std::size_t by) {
    x += by;
    next += by;
  }
};

// What levels from one on do for several right-hand sides is done with vectors for each of these, which lie a stride
// apart: shift() moves all vectors of a stage on.

/// The first step of a smoother from x = 0, where the residual is b.
struct FirstStep {
  static constexpr const char* name = "first step from zero";
  static constexpr int vectors = 3;  ///< read or written, elements of a row
  Step step;
  const double* b;
  double* x;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { x[i] = step.of(i, 0.0, b[i]); }
  TASKDAG_TASK void shift(std::size_t by) {
    b += by;
    x += by;
  }
};

/// The first two steps of a smoother from x = 0. Rows make the first step's elements by themselves where they multiply
/// by them, so that these are not written.
struct FirstTwoSteps {
  static constexpr const char* name = "first two steps from zero";
  static constexpr int vectors = 4;
  Rows a;
  double first;  ///< step of the first one
  Step second;
  const double* b;
  double* x;
  double* x_before;  ///< gets what the first step gives; null: no third one asks for it
  /// What the first step gives.
  struct Begun {
    double step;
    const double* diagonal;
    const double* b;
    [[nodiscard]] TASKDAG_TASK double operator()(Index i) const {
      return step * (diagonal != nullptr ? diagonal[i] * b[i] : b[i]);
    }
  };
  [[nodiscard]] TASKDAG_TASK Begun begun() const { return {first, second.diagonal, b}; }
  template <RowOrRows Row>
  [[nodiscard]] TASKDAG_TASK auto part(const Row& row, int rank, int size) const {
    return a.part_of(row, rank, size, begun());
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
    const double before = begun()(static_cast<Index>(row));
    x[row] = before + second.of(row, before, b[row] - product);
    if (x_before != nullptr) x_before[row] = before;
  }
  TASKDAG_TASK void shift(std::size_t by) {
    b += by;
    x += by;
    if (x_before != nullptr) x_before += by;
  }
};

/// A step of a smoother. Rows read elements of x that other rows are to change, so the sum goes into another array.
template <class Matrix>
struct SmootherStage {
  static constexpr const char* name = "step of a smoother";
  static constexpr int vectors = 5;
  Matrix a;
  Step step;
  const double* b;
  Solutions solutions;
  TASKDAG_TASK void before(std::uint32_t first, std::uint32_t stride) const requires Matrix::exchanges {
    a.send(solutions.x, first, stride);
  }
  template <RowOrRows Row>
  [[nodiscard]] TASKDAG_TASK auto part(const Row& row, int rank, int size) const {
    return a.part(row, rank, size, solutions.x);
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
    solutions.take(step, row, b[row] - product);
  }
  TASKDAG_TASK void shift(std::size_t by) {
    b += by;
    solutions.shift(by);
  }
};

/// r = b − A x
template <class Matrix>
struct Residual {
  static constexpr const char* name = "residual";
  static constexpr int vectors = 3;
  Matrix a;
  const double* b;
  const double* x;
  double* r;
  TASKDAG_TASK void before(std::uint32_t first, std::uint32_t stride) const requires Matrix::exchanges {
    a.send(x, first, stride);
  }
  template <RowOrRows Row>
  [[nodiscard]] TASKDAG_TASK auto part(const Row& row, int rank, int size) const {
    return a.part(row, rank, size, x);
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const { r[row] = b[row] - product; }
  TASKDAG_TASK void shift(std::size_t by) {
    b += by;
    x += by;
    r += by;
  }
};

/// z = M⁻¹ r, where M is a diagonal or the identity and the step is apart.
struct Scaling {
  static constexpr const char* name = "scaling";
  static constexpr int vectors = 3;
  const double* diagonal;  ///< of M⁻¹; null: the identity
  const double* r;
  double* z;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    z[i] = diagonal != nullptr ? diagonal[i] * r[i] : r[i];
  }
};

/// A step of a smoother where z = M⁻¹ r has been made apart.
struct Update {
  static constexpr const char* name = "update";
  static constexpr int vectors = 4;
  Step step;  ///< without a diagonal
  const double* z;
  Solutions solutions;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { solutions.take(step, i, z[i]); }
};

/// b of the coarser level: R r. With it the first step of the smoother there, where it begins at zero.
template <class Matrix>
struct Restriction {
  static constexpr const char* name = "restriction";
  static constexpr int vectors = 3;
  Matrix restriction;
  const double* r;
  double* b;
  Step step;
  double* x;  ///< null: without the step
  TASKDAG_TASK void before(std::uint32_t first, std::uint32_t stride) const requires Matrix::exchanges {
    restriction.send(r, first, stride);
  }
  template <RowOrRows Row>
  [[nodiscard]] TASKDAG_TASK auto part(const Row& row, int rank, int size) const {
    return restriction.part(row, rank, size, r);
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
    b[row] = product;
    if (x != nullptr) x[row] = step.of(row, 0.0, product);
  }
  TASKDAG_TASK void shift(std::size_t by) {
    r += by;
    b += by;
    if (x != nullptr) x += by;
  }
};

/// All of a level's right-hand side on each rank, which has made the elements of its rows, with the first step of the
/// smoother as Restriction has it. A task is an element, then a rank: each says that it is here, also one that makes no
/// element, so that all have taken what was sent to them in the application before once one is past this.
struct Gather {
  static constexpr const char* name = "gathering a level";
  static constexpr int vectors = 2;
  static constexpr Index is_here = -1;  ///< in Halo::sent_rows
  krylov::Halo halo;                    ///< slots: one for each task
  std::size_t at;
  const double* own;
  std::uint32_t first;  ///< of the rank's elements
  std::uint32_t end;
  std::uint32_t rows;
  double* b;
  Step step;
  double* x;      ///< null: without the step
  bool ends_set;  ///< what is sent from now on goes into the other set of slots: once in an application

  TASKDAG_TASK void before(std::uint32_t begin, std::uint32_t stride) const {
    const std::size_t next = halo.begin_of(halo.links->send_set) + at;
    for (std::uint32_t k = begin; k < halo.sends; k += stride) {
      const Index row = halo.sent_rows[k];
      halo.targets[k][next].put(row == is_here ? 0.0 : own[row]);
    }
  }
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    const bool is_own = (i >= first && i < end) || i == rows + halo.links->rank;
    double element = is_own && i < rows ? own[i - first] : 0.0;
    if (!is_own) {
      engine::RankSlot& slot = halo.slots[halo.begin_of(halo.links->send_set) + i];
      element = halo.links->wait_for(slot);
      slot.clear();
    }
    if (i >= rows) return;
    b[i] = element;
    if (x != nullptr) x[i] = step.of(i, 0.0, element);
  }
  TASKDAG_TASK void finish(const double* /*sum*/) const {
    if (ends_set) halo.links->send_set = 1U - halo.links->send_set;
  }
};

/// x + P x_coarse, or P x_coarse where x is zero.
template <class Matrix>
struct Interpolation {
  static constexpr const char* name = "interpolation";
  static constexpr int vectors = 2;
  Matrix interpolation;
  const double* coarse;
  double* x;
  bool zero;
  TASKDAG_TASK void before(std::uint32_t first, std::uint32_t stride) const requires Matrix::exchanges {
    interpolation.send(coarse, first, stride);
  }
  template <RowOrRows Row>
  [[nodiscard]] TASKDAG_TASK auto part(const Row& row, int rank, int size) const {
    return interpolation.part(row, rank, size, coarse);
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
    x[row] = zero ? product : x[row] + product;
  }
  TASKDAG_TASK void shift(std::size_t by) {
    coarse += by;
    x += by;
  }
};

/// x = A⁻¹ b with a dense inverse, row by row.
struct DenseProduct {
  static constexpr const char* name = "coarsest level";
  static constexpr int vectors = 2;
  const double* inverse;
  std::uint32_t rows;
  const double* b;
  double* x;
  [[nodiscard]] TASKDAG_TASK double part(std::uint32_t row, int rank, int size) const {
    double sum = 0.0;
    const double* const entry = inverse + static_cast<std::size_t>(row) * rows;
    for (std::uint32_t k = static_cast<std::uint32_t>(rank); k < rows; k += static_cast<std::uint32_t>(size))
      sum += entry[k] * b[k];
    return sum;
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const { x[row] = product; }
  TASKDAG_TASK void shift(std::size_t by) {
    b += by;
    x += by;
  }
};

/// x = 0, where a smoother has no steps.
struct Zero {
  static constexpr const char* name = "zero";
  static constexpr int vectors = 1;
  double* x;
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { x[i] = 0.0; }
  TASKDAG_TASK void shift(std::size_t by) { x += by; }
};

/// Whether a stage may do rows with the same columns together.
template <class S>
inline constexpr bool takes_rows_together = false;
template <>
inline constexpr bool takes_rows_together<FirstTwoSteps> = true;
template <>
inline constexpr bool takes_rows_together<SmootherStage<Rows>> = true;
template <>
inline constexpr bool takes_rows_together<Residual<Rows>> = true;
template <>
inline constexpr bool takes_rows_together<Restriction<Rows>> = true;
template <>
inline constexpr bool takes_rows_together<Interpolation<Rows>> = true;

}  // namespace taskdag::cycles
