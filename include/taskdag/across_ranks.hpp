/// \file
/// Incomplete factorisations and SOR of a matrix whose rows several ranks hold, in an order by colours over all of
/// them. Rows, or blocks of them, are independent where they have one colour, so the work goes colour after colour with
/// messages between them. Here is what a rank does between two messages; the messages are the caller's. All arrays are
/// in host memory, and the work is that of host threads.
///
/// A rank has its own rows, and ghosts: copies of other ranks' rows that its own are coupled to. A row's number in the
/// matrix is its global number; on a rank own rows have the numbers from 0 on, and ghosts those behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/krylov.hpp"
#include "taskdag/sor.hpp"
#include "taskdag/status.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {

/// First fit over ranks: vertices in ascending order of a priority, equal ones of a global number, and once more in the
/// reversed order of the colours found. The colours depend on the graph and the order alone, however it is dealt out to
/// ranks (Jones & Plassmann 1993). Protocol: { advance(), bring the ghosts' colours up to date } until no rank has a
/// vertex left; reverse(); the same again.
class TASKDAG_API RankColouring {
 public:
  /// `graph`: neighbours of the rank's own vertices, no loops; the columns from graph.rows on are ghosts. Each edge is
  /// known to the ranks of both ends. It is borrowed. `global`, `priority`: of own vertices, then of ghosts.
  /// @throws OutOfMemory; InvalidInput for spans that are not one for each column
  RankColouring(const CsrPattern& graph, std::span<const std::int64_t> global, std::span<const std::uint64_t> priority);

  /// The priority with which the colours are those of multicolour() for the whole graph. `degree`: neighbours.
  static std::uint64_t priority_of(std::int64_t global, Index degree);

  /// Colours the own vertices whose neighbours before them have colours. @returns how many are left
  Index advance();
  /// Begins the second colouring. `colours`: how many the first one took, on all ranks. @pre all have one, and those of
  /// ghosts are up to date. Nothing is thrown.
  void reverse(Index colours);

  /// Of own vertices, then of ghosts, which are the caller's to write; -1: none yet.
  [[nodiscard]] std::span<Index> colours() { return colours_; }

 private:
  struct Key {
    std::uint64_t first;
    std::int64_t global;
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] Index first_fit(Index vertex) const;
  void begin();

  CsrPattern graph_;
  std::vector<Key> keys_;
  std::vector<Index> colours_;
  std::vector<Index> waiting_;  ///< own vertices without a colour, in their order
};

/// The rows of a rank with the pattern that is worked on. Own rows are sorted by colour; of one colour, rows of one
/// block may be coupled and stand together, in their order. In a row come the columns of earlier rows, then the
/// diagonal, then those of later rows, on both sides in the order of all ranks' rows. With a row a block that makes
/// sums, and so all results, the same on any number of ranks.
struct RankRows {
  Index rows = 0;               ///< own
  Index ghosts = 0;             ///< a ghost's row begins with the diagonal, and has the columns that the rank knows
  std::vector<Offset> offsets;  ///< of own rows and ghosts, and the end
  std::vector<Index> columns;
  std::vector<Offset> diagonals;  ///< place of each row's
  std::vector<Index> blocks;      ///< where blocks of own rows begin, and the end; empty: each row is one

  [[nodiscard]] Index total() const { return rows + ghosts; }
  /// Entries of own rows, which come first.
  [[nodiscard]] Offset own_entries() const { return offsets[static_cast<std::size_t>(rows)]; }
};

/// ILU(0), ICC(0), DILU, DIC: A ≈ L U, with the values of L, the inverse pivots and U in one array of the pattern's
/// entries. ICC has D U for U and Uᵀ for L.
/// Protocol of a numeric phase: begin(); { load(); of each colour factor(), then send entries of its rows from the
/// diagonal on to the ranks that have these as ghosts } while again(). Status and attempts are of all ranks.
class TASKDAG_API RankFactor {
 public:
  /// Looked at of the options: kind, diagonal_only, shift, shift_amount, zero_pivot.
  /// @throws InvalidInput for ICC and DIC of a pattern that is not symmetric; Unsupported on the CUDA backend;
  ///         OutOfMemory
  RankFactor(const Context& context, RankRows rows, const FactorOptions& options);
  ~RankFactor();
  RankFactor(RankFactor&&) noexcept;
  RankFactor& operator=(RankFactor&&) noexcept;

  /// Largest Σ|a_ij| − |a_ii| − a_ii of the own rows, at least 0; what ShiftType::positive_definite begins with is that
  /// of all.
  [[nodiscard]] double dominance(const double* values) const;
  /// `values`: of own rows, in the pattern's order; borrowed until the last attempt. The next two are of all ranks:
  /// the largest dominance(), and the diagonal entry of the first row, which is read for ShiftType::scaled.
  void begin(const double* values, double dominance, double first_diagonal);
  /// Other amounts than those of the options, from the next begin() on.
  void set_pivoting(double shift_amount, double zero_pivot);
  /// Begins an attempt.
  void load();
  /// Own rows [first, last) of one colour. Nothing is thrown.
  void factor(Index first, Index last);
  /// Of this rank's rows in this attempt, by their numbers here; the shift is that of all ranks.
  [[nodiscard]] FactorStatus status() const;
  /// Whether there is to be another attempt. zero_pivot: whether any rank has met one (FactorStatus::last_row).
  bool again(bool zero_pivot);

  /// What attempts go by: the options, what the next one adds to the diagonal, the diagonal entry of the first row.
  [[nodiscard]] const FactorOptions& options() const;
  [[nodiscard]] double shift_amount() const;
  [[nodiscard]] int shifts() const;  ///< attempts that a shift has made anew
  [[nodiscard]] double first_diagonal() const;
  /// ICC and DIC: for each entry (i, k) below the diagonal of an own row the place of (k, i); else empty.
  [[nodiscard]] std::span<const Offset> mirror() const;

  /// One value an entry, those of ghosts the caller's to write.
  [[nodiscard]] double* values();
  [[nodiscard]] const RankRows& pattern() const;

  /// In place, for own rows [first, last) of one colour of x: own rows, then ghosts. First x = L⁻¹ x, colours
  /// ascending, then x = U⁻¹ x, descending. Nothing is thrown.
  void solve_lower(Index first, Index last, double* x) const;
  void solve_upper(Index first, Index last, double* x) const;
  /// The same of Uᵀ, ascending, then of Lᵀ, descending. What rows add to ghosts the caller adds to the rows themselves,
  /// before their colour; ghosts are 0 at first.
  void solve_upper_transposed(Index first, Index last, double* x) const;
  void solve_lower_transposed(Index first, Index last, double* x) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Entries of ghosts' rows in the order of RankRows: the rank that has each of them in a row of its own, and its place
/// there.
struct GhostEntries {
  std::span<const int> rank;
  std::span<const Offset> entry;
};

/// What RankElimination takes beside the factor's pattern.
struct EliminationInput {
  std::span<const Offset> own;    ///< of the matrix' entries in columns of own rows, in its order: place in the pattern
  std::span<const Offset> outer;  ///< of those in other columns
  GhostEntries ghosts;
  double patience_s = 60.0;  ///< how long a rank waits for another one before it gives up
};

/// The numeric phase of RankFactor where the ranks reach each other's memory: they write entries of rows into it, so
/// that there is no message. In memory of the backend.
/// Protocol: take(); begin() of the factor, with null for the values; run() while again() of the factor.
class TASKDAG_API RankElimination {
 public:
  /// `colours`: RankOrder's. Collective. @throws InvalidInput; Unsupported where the ranks' memory cannot be reached
  RankElimination(const Context& context, const RankFactor& factor, std::span<const Index> colours,
                  const RankGroup& group, const EliminationInput& input);
  ~RankElimination();
  RankElimination(const RankElimination&) = delete;
  RankElimination& operator=(const RankElimination&) = delete;

  /// Copies the matrix' values, arrays in memory of the backend. Waits for it.
  void take(const double* own, const double* outer, Stream stream);
  /// Some of those in the pattern's order, to host memory.
  void copy_taken(Offset first, std::span<double> to) const;
  /// An attempt by all ranks, as the factor's options and its shift are now. Waits for it.
  /// @returns RankFactor::status() but for amount and number of its shifts. @throws RankLost
  FactorStatus run(const RankFactor& factor, Stream stream);
  /// Of own rows' entries, in memory of the backend; to host memory.
  [[nodiscard]] const double* values() const;
  void copy_values(std::span<double> to) const;
  /// Called where this rank leaves the numeric phase by an error, so that the others need not wait for it.
  void lose() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The order of a rank's rows by colours.
struct RankOrder {
  std::span<const Index> colours;  ///< place of each colour's first row, and the end; as many colours on all ranks
  std::span<const Index> row_at;   ///< of each place: the row, as vectors have it
};

/// Applies the factor of RankFactor where the ranks reach each other's memory: they write elements of vectors into it,
/// as the loops of Krylov methods do, so that there is no message and no wait of the host. A preconditioner for Krylov
/// on several ranks.
class TASKDAG_API RankSweeps final : public LinearMap {
 public:
  /// `rows`: RankFactor::pattern(), read here alone. Of `ranks` the group, the ghosts, in the order of their rows, and
  /// the rest but for `outer`. Collective. @throws InvalidInput; Unsupported where the ranks' memory cannot be reached
  RankSweeps(const Context& context, const RankRows& rows, const RankOrder& order, const KrylovRanks& ranks);
  ~RankSweeps() override;

  /// Values of own rows, from the inverse pivots on those of the upper factor: RankElimination::values(), or such an
  /// array in host memory. Waits for the device. @pre no application is at work
  void load(const double* values, MemorySpace space, Stream stream);
  /// y = U⁻¹ L⁻¹ x for the rank's own rows, arrays in memory of the backend. All ranks apply it, or none. Asynchronous
  /// on CUDA. Where another rank is waited for in vain it gives NaN.
  void apply(const double* x, double* y, Stream stream) override;
  [[nodiscard]] bool has_lost_rank() const override;
  void lose() noexcept override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a pass of SOR starts from.
enum class PassStart {
  zero,     ///< x = 0, whatever is there
  given,    ///< x, ghosts up to date
  reversed  ///< what the last pass has left, which was one the other way round with the same b
};

/// SOR: in a pass each row is relaxed once.
class TASKDAG_API RankSor {
 public:
  /// Ghosts need no rows. @throws Unsupported on the CUDA backend; OutOfMemory
  RankSor(const Context& context, RankRows rows, double omega, double shift);
  ~RankSor();
  RankSor(RankSor&&) noexcept;
  RankSor& operator=(RankSor&&) noexcept;

  /// Values of own rows in the pattern's order, copied. @returns as Sor::update_values(), rows by their numbers here
  FactorStatus load(const double* values);
  /// Own rows [first, last) of one colour in a pass: Triangle::lower through ascending colours, upper descending ones.
  /// b: own rows; x: own rows, then ghosts. Nothing is thrown.
  void pass(Triangle direction, PassStart start, Index first, Index last, const double* b, double* x);

  /// Two passes, forwards from zero and backwards after it, are a factor for RankSweeps: (E + L)(E + U) but for a
  /// diagonal. First 1 / E of own rows, which ghosts need, too; then the factor's values in the pattern's order.
  void inverse_diagonals(double* inverse) const;
  void symmetric_factor(const double* inverse, double* values) const;

  [[nodiscard]] const RankRows& pattern() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
