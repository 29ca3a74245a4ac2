/// \file
/// The system that a method solves, as its stages see it, and the stages that all methods have.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "krylov/column.hpp"
#include "krylov/control.hpp"
#include "krylov/number.hpp"
#include "krylov/row_sum.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/loop/ranks.hpp"
#include "taskdag/engine/loop/stage.hpp"

namespace taskdag::krylov {

/// How the preconditioner gets into the loop.
enum class Preconditioning : std::uint32_t { none, diagonal, call };
/// What of M⁻¹ = R⁻¹ L⁻¹ is applied: all, L⁻¹, or R⁻¹.
enum class Part : std::uint32_t { whole, left, right };

/// Orthonormal vectors that span the null space of the matrix, or what is known of it.
struct NullSpace {
  std::uint32_t count = 0;
  const double* const* vectors = nullptr;  ///< null among them: the constant vector
  double* dots = nullptr;                  ///< room for `count` numbers
  double constant = 0.0;                   ///< element of the constant vector

  [[nodiscard]] TASKDAG_TASK double element(std::uint32_t vector, std::uint32_t i) const {
    return vectors[vector] != nullptr ? vectors[vector][i] : constant;
  }
  [[nodiscard]] TASKDAG_TASK NullSpace at(const Column& column) const {
    return {count, vectors, column.of(dots, count), constant};
  }
};

/// What one of `size` workers has of the sum over entries [begin, end) of a row of complex numbers, real or imaginary
/// part; `column` counts numbers, of() parts.
template <class Of>
TASKDAG_TASK double sum_of_numbers(Offset begin, Offset end, const Index* column, const double* value, bool imaginary,
                                   int rank, int size, const Of& of) {
  double sum = 0.0;
  for (Offset e = begin + rank; e < end; e += size) {
    const double re = value[2 * static_cast<std::size_t>(e)];
    const double im = value[2 * static_cast<std::size_t>(e) + 1];
    const Index j = 2 * column[e];
    sum += (imaginary ? im : re) * of(j);
    sum += (imaginary ? re : -im) * of(j + 1);
  }
  return sum;
}

/// On several ranks: entries in columns that other ranks have, and how elements of the operand come and go. Of complex
/// numbers entries are those of numbers, elements their parts.
struct Halo {
  const Offset* begin = nullptr;       ///< null: there is one rank
  const std::uint32_t* any = nullptr;  ///< a bit a row: whether it has such entries
  const Index* column = nullptr;       ///< numbers of ghosts
  const double* value = nullptr;
  engine::RankSlot* slots = nullptr;  ///< of ghosts, [set][ghost]; behind those of products two sets for what is ahead
  std::uint32_t stride = 0;           ///< slots of a set, on all ranks
  std::uint32_t ghosts = 0;
  std::uint32_t sends = 0;                           ///< elements that other ranks need
  const Index* sent_rows = nullptr;                  ///< their rows here
  engine::RankSlot* const* targets = nullptr;        ///< where they go, in set 0
  const std::uint32_t* any_ahead = nullptr;          ///< a bit a row: whether other ranks need its element
  const Index* ahead_begin = nullptr;                ///< of each row: where its targets begin, and the end
  engine::RankSlot* const* ahead_targets = nullptr;  ///< in the first of the sets for what is ahead
  engine::RankLinks* links = nullptr;                ///< null: there is one rank

  /// What one of `size` workers has of a row. Waits for the elements. of: what the product multiplies by; where it has
  /// of_ghost(ghost), that knows the element.
  template <class Of>
  [[nodiscard]] TASKDAG_TASK double part(std::uint32_t row, int rank, int size, const Of& of) const {
    double sum = 0.0;
    if (!has_outer(row)) return sum;
    const auto element = ghosts_of(of);
    const Offset end = begin[row + 1];
    for (Offset e = begin[row] + rank; e < end; e += size) sum += value[e] * element(column[e]);
    return sum;
  }
  /// The same of one of the two rows of a complex number.
  template <class Of>
  [[nodiscard]] TASKDAG_TASK double part_of_number(std::uint32_t row, int rank, int size, const Of& of) const {
    const std::uint32_t number = row / 2;
    if (!has_outer(number)) return 0.0;
    return sum_of_numbers(begin[number], begin[number + 1], column, value, row % 2 != 0, rank, size, ghosts_of(of));
  }
  /// Ahead of the stage that needs it: an element of this rank, to all that have it as a ghost, and one of a ghost.
  TASKDAG_TASK void send_ahead(std::uint32_t row, std::uint32_t set, double element) const {
    if ((any_ahead[row / 32U] >> (row % 32U) & 1U) == 0U) return;
    for (Index k = ahead_begin[row]; k < ahead_begin[row + 1]; ++k) ahead_targets[k][begin_of(set)].put(element);
  }
  TASKDAG_TASK void send_ahead(std::uint32_t number, std::uint32_t set, Complex element) const {
    send_ahead(2 * number, set, element.re);
    send_ahead(2 * number + 1, set, element.im);
  }
  /// What has come of a ghost's number, which is waited for.
  template <class Number>
  [[nodiscard]] TASKDAG_TASK Number ahead(Index ghost) const {
    if constexpr (is_complex<Number>)
      return {links->wait_for(ahead_slot(2 * ghost)), links->wait_for(ahead_slot(2 * ghost + 1))};
    else
      return links->wait_for(ahead_slot(ghost));
  }
  template <class Number>
  TASKDAG_TASK void clear_ahead(Index ghost) const {
    for (Index part = 0; part < parts_of<Number>; ++part) ahead_slot(parts_of<Number> * ghost + part).clear();
  }
  [[nodiscard]] TASKDAG_TASK engine::RankSlot& ahead_slot(Index ghost) const {
    return slots[begin_of(2U + links->ahead_set) + static_cast<std::size_t>(ghost)];
  }
  [[nodiscard]] TASKDAG_TASK bool exchanges() const { return sends + ghosts > 0; }
  /// Where a set of slots begins.
  [[nodiscard]] TASKDAG_TASK std::size_t begin_of(std::uint32_t set) const { return std::size_t{set} * stride; }

 private:
  /// The function of a ghost's element: that of `of`, where it has one, or what has arrived, which is waited for.
  template <class Of>
  [[nodiscard]] TASKDAG_TASK auto ghosts_of(const Of& of) const {
    if constexpr (requires { of.of_ghost(Index{}); }) {
      return [&of](Index ghost) { return of.of_ghost(ghost); };
    } else {
      return [links = links, arrived = slots + begin_of(links->send_set)](Index ghost) {
        return links->wait_for(arrived[ghost]);
      };
    }
  }
  /// Most rows have none: two offsets of each would take longer.
  [[nodiscard]] TASKDAG_TASK bool has_outer(std::uint32_t row) const {
    return (any[row / 32U] >> (row % 32U) & 1U) != 0U;
  }
};

/// Matrix and preconditioner; all arrays in memory of the backend.
struct System {
  std::uint32_t rows = 0;
  std::uint32_t block = 1;  ///< rows of a dense block; above 1 `begin` and `column` are those of blocks
  /// Of complex numbers, whose parts are rows of their own: real, imaginary, real, … `begin` and `column` are those of
  /// numbers then, and `value` and `diagonal` have two doubles for each.
  bool complex = false;
  const Offset* begin = nullptr;
  const Index* column = nullptr;
  const std::int16_t* distance = nullptr;  ///< Columns::distance; of rows alone
  std::uint32_t together = 1;  ///< so many rows each, one after the other, have the same columns; on one rank
  const double* value = nullptr;
  Preconditioning preconditioning = Preconditioning::none;
  const double* diagonal = nullptr;  ///< of the preconditioner, where it is one
  bool diagonal_of_parts = false;    ///< it is that of L⁻¹ and of R⁻¹
  NullSpace null_space{};            ///< is removed from what the preconditioner gives
  Halo halo{};

  /// Whether stages make elements of M⁻¹ r by themselves, where they need them: one is a product of two doubles.
  [[nodiscard]] TASKDAG_TASK bool fused() const {
    if (complex) return preconditioning == Preconditioning::none;
    return preconditioning != Preconditioning::call && null_space.count == 0;
  }

  /// What one of `size` workers has of Σ_j a_ij of(j), a_ij being the entries of a row. `real`: of no complex numbers,
  /// whose code would take registers where of() has much to do.
  template <bool real = false, class Of>
  TASKDAG_TASK double product_part(std::uint32_t row, int rank, int size, const Of& of) const {
    if (block > 1) return row_of_blocks(row, rank, size, of);
    if constexpr (!real) {
      if (complex) return row_of_numbers(row, rank, size, of);
    }
    double sum =
        sum_of_row<2>(begin[row], begin[row + 1], {{column, distance}, static_cast<Index>(row)}, value, rank, size, of);
    if (halo.begin != nullptr) sum += halo.part(row, rank, size, of);
    return sum;
  }
  /// Of rows with the same columns.
  template <bool real = false, class Of>
  TASKDAG_TASK engine::GroupParts product_part(const engine::TaskGroup& group, int rank, int size, const Of& of) const {
    return sums_of_rows(begin, {column, distance}, value, group, rank, size, of);
  }
  /// On host threads whole rows at once, where there are blocks or such rows, and other sparse rows one by one.
  template <bool real = false, class Of>
  TASKDAG_TASK double product_part(const engine::TaskRun& run, int /*rank*/, int /*size*/, const Of& of) const {
    if (complex) return product_of_numbers(run, of);
    switch (block) {
      case 1:
        if (together > 1) return sums_of_run(begin, column, value, together, run, of);
        return engine::TaskRun::one_by_one;
      case 2:
        return product_of_blocks<2>(run, of);
      case 3:
        return product_of_blocks<3>(run, of);
      case 4:
        return product_of_blocks<4>(run, of);
      case 5:
        return product_of_blocks<5>(run, of);
      case 6:
        return product_of_blocks<6>(run, of);
      case 7:
        return product_of_blocks<7>(run, of);
      case 8:
        return product_of_blocks<8>(run, of);
      default:
        return product_of_rows(run, 0, run.count, of);
    }
  }
  template <bool real = false, class Of>
  TASKDAG_TASK double product_part(const engine::TaskOfRun& row, int rank, int size, const Of& of) const {
    return product_part<real>(row.task, rank, size, of);
  }
  /// Element i of M⁻¹ r, where that is no call.
  [[nodiscard]] TASKDAG_TASK double scaled(std::uint32_t i, double r) const {
    return preconditioning == Preconditioning::diagonal ? diagonal[i] * r : r;
  }
  /// Stages do so to complex numbers without a preconditioner alone.
  [[nodiscard]] TASKDAG_TASK static Complex scaled(std::uint32_t /*i*/, Complex r) { return r; }
  /// The same for a row of another vector than the one that it is written to.
  [[nodiscard]] TASKDAG_TASK double scaled_row(std::uint32_t row, const double* r) const {
    if (!complex || preconditioning != Preconditioning::diagonal) return scaled(row, r[row]);
    const std::uint32_t re = row & ~1U;
    const std::uint32_t im = row | 1U;
    return row == re ? diagonal[re] * r[re] - diagonal[im] * r[im] : diagonal[im] * r[re] + diagonal[re] * r[im];
  }

 private:
  /// Of the part of a number that the row is.
  template <class Of>
  TASKDAG_TASK double row_of_numbers(std::uint32_t row, int rank, int size, const Of& of) const {
    const std::uint32_t number = row / 2;
    const double sum = sum_of_numbers(begin[number], begin[number + 1], column, value, row % 2 != 0, rank, size, of);
    return halo.begin == nullptr ? sum : sum + halo.part_of_number(row, rank, size, of);
  }
  /// Both parts of a number at once; a run may begin or end between them.
  template <class Of>
  TASKDAG_TASK double product_of_numbers(const engine::TaskRun& run, const Of& of) const {
    std::uint32_t k = 0;
    const auto part = [&] { run.parts[k] = row_of_numbers(run.first + k, 0, 1, of); };
    for (; k < run.count && (run.first + k) % 2 != 0; ++k) part();
    for (; k + 2 <= run.count; k += 2) {
      const std::uint32_t number = (run.first + k) / 2;
      Complex sum = 0.0;
      for (Offset e = begin[number]; e < begin[number + 1]; ++e) {
        const double* const a = value + 2 * static_cast<std::size_t>(e);
        sum += Complex(a[0], a[1]) * Complex(of(2 * column[e]), of(2 * column[e] + 1));
      }
      run.parts[k] = sum.re;
      run.parts[k + 1] = sum.im;
      if (halo.begin == nullptr) continue;
      run.parts[k] += halo.part_of_number(run.first + k, 0, 1, of);
      run.parts[k + 1] += halo.part_of_number(run.first + k + 1, 0, 1, of);
    }
    for (; k < run.count; ++k) part();
    return engine::TaskRun::done;
  }
  /// Blocks stand column by column, so neighbouring rows read neighbouring numbers. Workers share the blocks out.
  template <class Of>
  TASKDAG_TASK double row_of_blocks(std::uint32_t row, int rank, int size, const Of& of) const {
    const std::uint32_t block_row = row / block;
    double sum = 0.0;
    for (Offset e = begin[block_row] + rank; e < begin[block_row + 1]; e += size) {
      const double* element = value + static_cast<std::size_t>(e) * block * block + (row - block_row * block);
      const auto first = static_cast<Index>(static_cast<std::uint32_t>(column[e]) * block);
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // in the same kernels, sparse rows need the registers
#endif
      for (std::uint32_t c = 0; c < block; ++c, element += block) sum += *element * of(first + static_cast<Index>(c));
    }
    return sum;
  }
  template <class Of>
  TASKDAG_TASK double product_of_rows(const engine::TaskRun& run, std::uint32_t first, std::uint32_t end,
                                      const Of& of) const {
    for (std::uint32_t k = first; k < end; ++k) run.parts[k] = row_of_blocks(run.first + k, 0, 1, of);
    return engine::TaskRun::done;
  }
  /// A run may begin or end within a block.
  template <std::uint32_t size, class Of>
  TASKDAG_TASK double product_of_blocks(const engine::TaskRun& run, const Of& of) const {
    const std::uint32_t whole = (size - run.first % size) % size;
    std::uint32_t k = whole < run.count ? whole : run.count;
    product_of_rows(run, 0, k, of);
    for (; k + size <= run.count; k += size) {
      double sum[size] = {};
      const std::uint32_t row = (run.first + k) / size;
      for (Offset e = begin[row]; e < begin[row + 1]; ++e) {
        const double* element = value + static_cast<std::size_t>(e) * size * size;
        const Index first = column[e] * static_cast<Index>(size);
        for (std::uint32_t c = 0; c < size; ++c, element += size) {
          const double x = of(first + static_cast<Index>(c));
          for (std::uint32_t r = 0; r < size; ++r) sum[r] += element[r] * x;
        }
      }
      for (std::uint32_t r = 0; r < size; ++r) run.parts[k + r] = sum[r];
    }
    return product_of_rows(run, k, run.count, of);
  }
};

/// Tasks of a stage that goes through vectors of such numbers.
template <class Number>
TASKDAG_TASK std::uint32_t elements_of(const System& system) {
  return system.rows / parts_of<Number>;
}

/// Whether a flow is one of several right-hand sides (columns.hpp).
template <class Flow>
inline constexpr bool of_several = requires {
  Flow::several;
};

/// Whether rows with the same columns are done together.
template <class Flow>
inline constexpr bool has_groups = requires {
  Flow::groups;
};

/// Whether loops by such a flow have stages that make the operand of a product on the way: see operand_apart().
template <class Flow, class Number>
inline constexpr bool has_operands_on_the_way = !is_complex<Number> && !of_several<Flow> && !requires {
  Flow::on_host;
};

/// Whether host threads ask for parts of such rows: of a TaskRun, of a TaskOfRun.
template <class Rows>
inline constexpr bool rows_on_host = std::is_same_v<Rows, engine::TaskRun> || std::is_same_v<Rows, engine::TaskOfRun>;

/// The operand of a product that is an array.
struct Elements {
  const double* x;
  template <class Place>
  [[nodiscard]] TASKDAG_TASK double operator()(Place i) const {
    return x[i];
  }
};

/// A product whose operand other ranks have elements of. Before its rows the elements that they need of this rank are
/// sent, and the slots of the product before are emptied. Product: a stage whose worker has operand(), the function of
/// an element that it multiplies by.
template <class Product>
struct Exchange {
  static constexpr const char* name = Product::name;
  static constexpr int sums = engine::stage_sums<Product>();
  Product product;
  Halo halo;
  TASKDAG_TASK void before(std::uint32_t first, std::uint32_t stride) const {
    const auto& worker = engine::worker_of(product);
    const auto operand = worker.operand();
    engine::RankSlot* const old = halo.slots + halo.begin_of(1U - halo.links->send_set);
    const std::size_t next = halo.begin_of(halo.links->send_set);
    for (std::uint32_t k = first; k < halo.sends; k += stride) halo.targets[k][next].put(operand(halo.sent_rows[k]));
    for (std::uint32_t k = first; k < halo.ghosts; k += stride) old[k].clear();
  }
  [[nodiscard]] TASKDAG_TASK decltype(auto) worker() const { return engine::worker_of(product); }
  TASKDAG_TASK void finish(const double* sum) const {
    if constexpr (engine::stage_finishes<Product>) product.finish(sum);
    halo.links->send_set = 1U - halo.links->send_set;
  }
};

/// A stage that multiplies by the matrix, and whose operand needs nothing of other ranks that has not been sent.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow, class Product>
TASKDAG_TASK void multiply_here(Flow& flow, const System& system, const Product& product) {
  if constexpr (has_groups<Flow>) {
    if (system.together > 1) return flow.stage_of_groups(product, system.rows, system.together);
  }
  flow.stage(product, system.rows);
}
/// A stage that multiplies by the matrix.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow, class Product>
TASKDAG_TASK void multiply(Flow& flow, const System& system, const Product& product) {
  if constexpr (Flow::ranks) {
    if (system.halo.exchanges()) return flow.stage(Exchange<Product>{product, system.halo}, system.rows);
  }
  multiply_here(flow, system, product);
}

/// y = A x
struct Product {
  static constexpr const char* name = "product";
  System system;
  const double* x;
  double* y;
  [[nodiscard]] TASKDAG_TASK Product at(const Column& column) const { return {system, column.of(x), column.of(y)}; }
  [[nodiscard]] TASKDAG_TASK Elements operand() const { return {x}; }
  template <class Rows>
  TASKDAG_TASK auto part(Rows row, int rank, int size) const {
    return system.product_part(row, rank, size, operand());
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const { y[row] = product; }
};

/// x = 0 and r = b
struct BeginAtZero {
  static constexpr const char* name = "begin at zero";
  LoopState loop;
  double* r;
  [[nodiscard]] TASKDAG_TASK BeginAtZero at(const Column& column) const { return {loop.at(column), column.of(r)}; }
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    loop.control->x[i] = 0.0;
    r[i] = loop.control->b[i];
  }
};

/// r = b, where that is read as a work vector.
struct RightHandSide {
  static constexpr const char* name = "right-hand side";
  LoopState loop;
  double* r;
  [[nodiscard]] TASKDAG_TASK RightHandSide at(const Column& column) const { return {loop.at(column), column.of(r)}; }
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { r[i] = loop.control->b[i]; }
};

/// r = b − A x
struct Residual {
  static constexpr const char* name = "residual";
  LoopState loop;
  System system;
  double* r;
  [[nodiscard]] TASKDAG_TASK Residual at(const Column& column) const { return {loop.at(column), system, column.of(r)}; }
  [[nodiscard]] TASKDAG_TASK Elements operand() const { return {loop.control->x}; }
  template <class Rows>
  TASKDAG_TASK auto part(Rows row, int rank, int size) const {
    return system.product_part(row, rank, size, operand());
  }
  TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
    r[row] = loop.control->b[row] - product;
  }
};

/// y = M⁻¹ x for a diagonal or none.
struct Scale {
  static constexpr const char* name = "scale";
  System system;
  const double* x;
  double* y;
  [[nodiscard]] TASKDAG_TASK Scale at(const Column& column) const { return {system, column.of(x), column.of(y)}; }
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const { y[i] = system.scaled_row(i, x); }
};

/// The norm of the right-hand side that a solve with a guess is relative to. z: M⁻¹ b, where the norm needs it.
template <class Number>
struct Reference {
  static constexpr const char* name = "norm of the right-hand side";
  static constexpr int sums = parts_of<Number>;
  LoopState loop;
  const Number* z;
  [[nodiscard]] TASKDAG_TASK Reference at(const Column& column) const { return {loop.at(column), column.of(z)}; }
  TASKDAG_TASK void execute(std::uint32_t row, double* sum) const {
    const double b = loop.control->b[row];
    switch (static_cast<KrylovNorm>(loop.control->norm)) {
      case KrylovNorm::preconditioned:
        sum[0] += square(reals(z)[row]);
        break;
      case KrylovNorm::natural:
        add_product(sum, z, row, b);
        break;
      default:
        sum[0] += b * b;
    }
  }
  TASKDAG_TASK void finish(const double* sum) const {
    loop.control->reference = sqrt(magnitude(number_from<Number>(sum)));
  }
};

/// The caller's preconditioner, where it is a call; host side.
struct Calls {
  LinearMap* preconditioner = nullptr;
};
/// One application of it.
struct Application {
  static constexpr const char* name = "preconditioner";
  LinearMap* map;
  const double* x;
  double* y;
  Part part;
  void operator()(Stream stream) const {
    switch (part) {
      case Part::whole:
        return map->apply(x, y, stream);
      case Part::left:
        return map->apply_left(x, y, stream);
      case Part::right:
        return map->apply_right(x, y, stream);
    }
  }
};

/// Of y with a few vectors of the null space, from `first` on.
struct NullSpaceDots {
  static constexpr const char* name = "null space dots";
  static constexpr int sums = 8;
  NullSpace space;
  const double* y;
  std::uint32_t first;
  [[nodiscard]] TASKDAG_TASK NullSpaceDots at(const Column& column) const {
    return {space.at(column), column.of(y), first};
  }
  TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
    for (std::uint32_t k = 0; k < sums; ++k) {
      if (first + k < space.count) sum[k] += space.element(first + k, i) * y[i];
    }
  }
  TASKDAG_TASK void finish(const double* sum) const {
    for (std::uint32_t k = 0; k < sums; ++k) {
      if (first + k < space.count) space.dots[first + k] = sum[k];
    }
  }
};
/// y = x without them, where x is y or what the dots are of.
struct NullSpaceRemoval {
  static constexpr const char* name = "null space removal";
  NullSpace space;
  const double* x;
  double* y;
  std::uint32_t first;
  [[nodiscard]] TASKDAG_TASK NullSpaceRemoval at(const Column& column) const {
    return {space.at(column), column.of(x), column.of(y), first};
  }
  TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
    double rest = x[i];
    for (std::uint32_t k = first; k < space.count && k < first + NullSpaceDots::sums; ++k) {
      rest -= space.dots[k] * space.element(k, i);
    }
    y[i] = rest;
  }
};

/// y = M⁻¹ x, or a part of that, whatever M is, without its part in the null space. Two arrays.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow>
TASKDAG_TASK void precondition(Flow& flow, const System& system, const Calls& calls, const double* x, double* y,
                               Part part = Part::whole) {
  bool called = false;
  if constexpr (Flow::calls) {
    called = system.preconditioning == Preconditioning::call;
    if (called) flow.call(Application{calls.preconditioner, x, y, part});
  }
  if (!called) flow.stage(Scale{system, x, y}, system.rows);
  if (!called && system.diagonal_of_parts && part == Part::whole) flow.stage(Scale{system, y, y}, system.rows);
  for (std::uint32_t first = 0; first < system.null_space.count; first += NullSpaceDots::sums) {
    flow.stage(NullSpaceDots{system.null_space, y, first}, system.rows);
    flow.stage(NullSpaceRemoval{system.null_space, y, y, first}, system.rows);
  }
}

/// In a start without an application: the first one to several columns takes memory, and so cannot be captured.
TASKDAG_ENGINE_ANY_SIDE
template <class Flow>
TASKDAG_TASK void ready_for_capture(Flow& flow, const System& system, const Calls& calls, const double* x, double* y) {
  if constexpr (of_several<Flow>) {
    if (system.preconditioning == Preconditioning::call) precondition(flow, system, calls, x, y);
  }
}

/// r = b − A x, or b and x = 0 without a guess; with one also the reference norm, for which `z` is room.
TASKDAG_ENGINE_ANY_SIDE
template <class Number = double, class Flow>
TASKDAG_TASK void first_residual(Flow& flow, const LoopState& loop, const System& system, const Calls& calls,
                                 bool guess, const double* b, KrylovNorm norm, double* r, double* z) {
  if (!guess) {
    flow.stage(BeginAtZero{loop, r}, system.rows);
    return;
  }
  if (norm == KrylovNorm::preconditioned || norm == KrylovNorm::natural) {
    if constexpr (of_several<Flow>) flow.stage(RightHandSide{loop, r}, system.rows);  // b is no work vector
    precondition(flow, system, calls, of_several<Flow> ? r : b, z);
  }
  if (norm != KrylovNorm::none) flow.stage(Reference<Number>{loop, numbers<const Number>(z)}, system.rows);
  multiply(flow, system, Residual{loop, system, r});
}

}  // namespace taskdag::krylov
