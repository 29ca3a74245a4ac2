/// \file
/// Sparse triangular solves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "taskdag/context.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/export.hpp"
#include "taskdag/schedule.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

struct TriangularOptions {
  Triangle triangle = Triangle::lower;  ///< the triangle of A that is used; entries of the other one are ignored
  bool unit_diagonal = false;           ///< true: the diagonal is taken as 1, stored diagonal entries are ignored
  bool transposed = false;              ///< solve with the transpose of that triangle
  SolveSchedule schedule = SolveSchedule::automatic;  ///< one of solve_schedules(backend)
  engine::StaticOptions run{};                        ///< of the schedule engine
  AtaFlow ata_flow = AtaFlow::pull;                   ///< of the schedules ata_…
  AtaSize ata_size = AtaSize::equations;              ///< of the same schedules
  /// Of the schedules ata_… and level_…, which are CUDA's: short rows of one level share a warp; false: a warp a row,
  /// as self_scheduled has it. No other schedule looks at it.
  bool ata_rows_share_warps = true;
  /// Where `schedule` is automatic: time some solves of several schedules during the analysis and keep the fastest.
  bool tune = false;
  /// JSON file with such choices, by device and pattern. A choice that it holds is taken without trials; `tune` adds to
  /// it, or makes it. A file that is damaged or cannot be written is warned of on the standard error, and none then.
  /// Empty: none.
  std::string tune_file = {};
  /// Right-hand sides that solve_many() will mostly be given. More than 1: CUDA prepares the triangle for several
  /// columns too, where its estimate says that so many columns are faster in one pass (16 bytes an entry and up to 32 a
  /// row, counted in TriangularInfo::bytes). Host threads need no preparation. solve_many() takes any number in any
  /// case.
  Index columns = 1;
};

/// Sizes and counts of an analysed triangular system.
struct TriangularInfo {
  Index rows = 0;
  Offset entries = 0;  ///< strictly triangular entries
  Index levels = 0;
  Index widest_level = 0;
  std::int64_t bytes = 0;  ///< memory held (device memory on CUDA)
  /// Host threads that a solve runs on: fewer than the context's where the levels are too narrow to share. 1 on CUDA.
  int threads = 1;
  SolveSchedule schedule = SolveSchedule::automatic;  ///< the one in use
  double given_up_loss = 0.0;                         ///< as in FactorizationInfo
};

/// Solves T x = b, T a triangle of a square CSR matrix, again and again with the same pattern.
///
/// Rows are tasks that start as soon as the rows that they wait for have published their values. On the host backend
/// with one thread the rows run in order. The result is bitwise the same from run to run on one backend, but with
/// AtaFlow::push.
///
/// Streams (CUDA): calls may come on any streams, each works on what the ones before have left; going from one stream
/// to another needs no event. Calls with device memory may be captured into CUDA graphs, which may be replayed as often
/// as is wanted, and see the values of the last update; a replay is not ordered with what runs on other streams. After
/// a capture each solve takes some microseconds longer. What cannot be captured throws Unsupported and leaves the
/// capture intact: host memory, and the schedules level-graph and ata-… where they run as a graph themselves.
///
/// Exceptions: a call that throws InvalidInput or Unsupported has changed nothing. After any other exception of
/// update_values() solves throw InvalidInput until another one has succeeded; after one of solve() x holds anything,
/// and the next solve gives what it would have given.
class TASKDAG_API TriangularSolver {
 public:
  /// Analyses the pattern: levels, schedule, packed storage. `a.pattern` and `a.values` live in `space`; they are
  /// copied, nothing is kept. Synchronises `stream`.
  /// @throws InvalidInput (not square, missing diagonal without unit_diagonal, a schedule of the other backend),
  ///         `columns` < 1, DeviceError, OutOfMemory, Error for a tune file that cannot be read, ParseError
  ///         for what is none; a pattern in device memory is trusted to have ascending columns.
  TriangularSolver(const Context& context, const CsrView& a, MemorySpace space, const TriangularOptions& options,
                   Stream stream = {});
  ~TriangularSolver();
  TriangularSolver(TriangularSolver&&) noexcept;
  TriangularSolver& operator=(TriangularSolver&&) noexcept;

  /// Takes new values for the same pattern (one per entry of the original matrix). Asynchronous on `stream` for
  /// device memory, but where the schedule in use rewrites rows: then it waits for how much they let it lose, and
  /// cannot be captured. A zero on the diagonal gives infinities in x, reported by outcome().
  void update_values(const double* values, MemorySpace space, Stream stream = {});

  /// x = T⁻¹ b. b, x: `rows` doubles in `space`; they may be the same array. Asynchronous on `stream` if `space` is
  /// device memory; synchronous otherwise (host arrays are staged through pinned memory on CUDA).
  /// A NaN in b ends up in x; the call ends all the same.
  /// @throws InvalidInput for device memory on the host backend, and after a failed update_values(); DeviceError,
  ///         OutOfMemory; Unsupported for what cannot be captured
  void solve(const double* b, double* x, MemorySpace space, Stream stream = {});

  /// The same for `count` right-hand sides: column k is b + k·ldb and x + k·ldx, ldb and ldx in doubles and at least
  /// `rows` where there are several; x == b with ldx == ldb is allowed. Up to 32 columns (host threads: 8) go through
  /// the triangle together where that pays, on CUDA only where TriangularOptions::columns has prepared it; there memory
  /// for the vectors is taken at the first such call, and a column's last bits may differ from those of solve(). A NaN
  /// in one column leaves the others alone.
  /// @throws InvalidInput for a negative count, for ldb or ldx < rows; what solve() throws; OutOfMemory
  void solve_many(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
                  Stream stream = {});

  /// Whether any value computed since the last call was not finite. Synchronises the device.
  [[nodiscard]] SolveOutcome outcome();
  /// The same for all calls before, and for what `stream` was given before. Synchronises `stream` alone.
  [[nodiscard]] SolveOutcome outcome(Stream stream);

  [[nodiscard]] const TriangularInfo& info() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
