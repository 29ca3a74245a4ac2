/// \file
/// Triangular solves on CUDA: analysis on the device, packed storage by schedule, the self-scheduled solve.
///
/// From a CSR pattern in device memory:
///   find_triangle      where each row's strictly triangular entries lie
///   compute_levels     the level of each row
///   measure_features   what a schedule is chosen by
///   build_tasks        rows in level order, grouped into warp tasks of rows that do not depend on each other
///   cut_long_rows      parts of long rows (parts.hpp)
///   PackedTriangle     columns renumbered to positions, values stored in the order in which a warp consumes them
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <vector>

#include "backends/cuda/launch_graph.hpp"
#include "backends/cuda/memory.hpp"
#include "kernels/gather.hpp"
#include "kernels/sptrsv/features.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels {

/// A square CSR pattern in device memory, somebody else's.
struct DevicePattern {
  Index rows = 0;
  Offset entries = 0;
  const Offset* row_offsets = nullptr;
  const Index* col_indices = nullptr;
};

/// The strictly triangular entries of each row: [first[i], first[i] + count[i]). Device arrays of `rows`.
struct TriangleRanges {
  cuda::ScratchArray<Offset> first;
  cuda::ScratchArray<Index> count;
};

/// Finds the ranges by bisection (columns ascend). Asynchronous on `stream`.
TriangleRanges find_triangle(const DevicePattern& pattern, Triangle triangle, cudaStream_t stream);

/// Levels of the rows, a device array; `levels` their number. Synchronises `stream` (the number is needed).
/// Each warp takes 32 consecutive rows, waits for levels from other warps and settles dependencies between its own rows
/// by shuffles: a hop inside the warp costs nanoseconds, and in a natural order most hops are.
struct RowLevels {
  cuda::ScratchArray<Index> level;
  Index levels = 0;
};
RowLevels compute_levels(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle,
                         cudaStream_t stream);
/// How many levels there are, or `most` (at least 1), if there are more: then the analysis ends early. Synchronises
/// `stream`.
Index count_levels_up_to(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle, Index most,
                         cudaStream_t stream);

/// Passes over the rows, not over their entries. What the cells estimate of themselves is not asked for here.
/// Synchronises `stream`.
TriangleFeatures measure_features(const DevicePattern& pattern, const TriangleRanges& ranges, const RowLevels& levels,
                                  cudaStream_t stream);

/// Of the positions of the triangle's entries, for files that outlive a run. One pass. Synchronises `stream`.
std::uint64_t hash_triangle(const DevicePattern& pattern, const TriangleRanges& ranges, cudaStream_t stream);

/// A warp task: `rows` consecutive positions from `first`, 2^log2_lanes lanes a row, `width` entries a lane, its
/// entries at 32 · `offset` in the packed arrays, interleaved by lane.
struct alignas(16) WarpTask {
  Index first;
  std::uint16_t rows;
  std::uint16_t log2_lanes;
  Index width;
  Index offset;
};

/// Triangles with more levels have no wide ones worth a launch.
inline constexpr Index kMostLevelsListed = 64;

/// Rows in level order, cut into warp tasks. Tasks are numbered by level, so a task waits only for smaller numbers.
struct TaskList {
  Index rows = 0;
  Index levels = 0;
  Index widest_level = 0;  ///< in rows
  Offset entries = 0;      ///< sum of the counts
  Index tasks = 0;
  Index slots = 0;                    ///< packed storage: 32 · slots entries
  cuda::DeviceArray<Index> order;     ///< position → row
  cuda::DeviceArray<Index> position;  ///< row → position
  cuda::DeviceArray<WarpTask> task;
  /// First task of each level, and their number; empty for more than kMostLevelsListed levels.
  std::vector<Index> level_begin;
  [[nodiscard]] std::int64_t bytes() const { return order.bytes() + position.bytes() + task.bytes(); }

  /// What kernels take by value.
  struct View {
    Index rows;
    Index tasks;
    const Index* order;
    const Index* position;
    const WarpTask* task;
  };
  [[nodiscard]] View view() const { return {rows, tasks, order.data(), position.data(), task.data()}; }
};

/// A lane of a solve gets at most this many entries of a row, as long as a row gets at most 32 lanes.
inline constexpr int kEntriesPerLane = 4;

/// `entries_per_lane`: a row gets the fewest lanes (1, 2, … 32) with which no lane has more than that many of its
/// `count` entries. Inside a level rows with equally many lanes are neighbours. kind (0, 1 or 2 by row; null: all 0):
/// rows of different kinds share no task. Synchronises `stream`.
TaskList build_tasks(const RowLevels& levels, const Index* count, Triangle triangle, int entries_per_lane,
                     cudaStream_t stream, const Index* kind = nullptr);

/// How many warps a self-scheduled kernel keeps in flight: enough for some average levels, so that rows are fetched
/// before they are needed, and no more, because each waiting warp polls the L2 cache. Rows with several lanes have more
/// operands to poll and are fetched more slowly apart. Values measured on an H200, see docs/performance.md.
struct SolveTuning {
  int lookahead_levels = 16;            ///< where rows have one lane
  int lookahead_levels_many_lanes = 8;  ///< where they have more on average
  int warps_per_multiprocessor = 4;     ///< at least so many
  int gate_pause_ns = 20;               ///< pause between two looks at the gate of a row
  /// With more, launches do not overlap: the kernel that can is a little slower row by row.
  int most_overlapping_levels = 16;
  /// Of two levels: with more in the first one operands are not computed by whoever needs them, since a right-hand side
  /// and a pivot from anywhere take longer to fetch than a slot.
  int most_tasks_of_operands = 128;
  int wide_tasks_per_multiprocessor = 4;  ///< a level of at least so many is a launch of its own, where nobody waits
};

/// Blocks of `block` threads for a persistent kernel over these tasks, on the current device.
int persistent_blocks(const TaskList& tasks, const SolveTuning& tuning, int block);

/// One sweep of a solve; every array in device memory.
struct SolveArguments {
  const double* rhs = nullptr;       ///< right-hand side
  const Index* rhs_index = nullptr;  ///< per position; −1: a part of a row
  const double* pivot = nullptr;     ///< inverse pivot per position, or null for 1; any number for a part
  double* x = nullptr;               ///< result; null: it stays in the slots
  const Index* x_index = nullptr;    ///< per position
  int* non_finite = nullptr;         ///< set to 1 where a result is a NaN or an infinity
  bool operator==(const SolveArguments&) const = default;
};

/// What the kernels of a sweep take.
struct SolveParameters {
  SolveArguments a;
  const WarpTask* task;
  Index first_task;
  Index end_task;
  const Index* column;
  const double* value;
  double* slots;
  int* counter;
  double* next_slots;  ///< reset to not_yet by position
  int* next_counter;   ///< reset to 0
  const Index* gate;
  Index rows;
  unsigned gate_pause_ns;
};

/// A strict triangle in the storage that the solve streams through, and the slots through which rows hand over values.
/// The rows of its tasks, and so positions, are those of the triangle and the parts of long ones (parts.hpp): `order`
/// has −1 for a part, `position` the parts behind the rows.
///
/// Where there are two levels at most, operands are rows without entries. A solve that does not overwrite its
/// right-hand side computes them wherever they are needed, and waits for parts alone.
class PackedTriangle {
 public:
  PackedTriangle() = default;
  /// `source_entry` (device, may be null for the identity) maps an entry of `pattern` to the value array that
  /// load_values() will read. Synchronises `stream`.
  PackedTriangle(const DevicePattern& pattern, Triangle triangle, const TriangleRanges& ranges, const RowLevels& levels,
                 const Offset* source_entry, cudaStream_t stream);

  /// Adds the gathering of values (device array of the source).
  void gather_values(GatherBatch& batch, const double* source);

  /// Runs one sweep. Asynchronous. Two sets of slots alternate: each run resets the other one, which saves a launch;
  /// but for a run that waits for nothing.
  void solve(const SolveArguments& arguments, cudaStream_t stream);

  /// The result of the last run by position, until the next one.
  [[nodiscard]] const double* result() const { return spare_slots_.data(); }

  [[nodiscard]] const TaskList& tasks() const { return tasks_; }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  /// Levels that are run by one launch: a wide one, or all between two wide ones.
  struct Stretch {
    Index first;  ///< task
    Index end;
    bool wide;
  };
  /// A solve by several launches as a graph: two, for the two sets of slots.
  struct Graph {
    cuda::LaunchGraph<SolveParameters> launches;
    SolveArguments arguments;  ///< of its last launch
  };
  void find_stretches();
  void arm(cudaStream_t stream);
  [[nodiscard]] bool is_one_launch() const;
  void launch_two_levels(const SolveArguments& arguments, cudaStream_t stream);
  [[nodiscard]] SolveParameters parameters(const SolveArguments& arguments, std::size_t stretch);
  void launch_overlapping(const SolveArguments& arguments, cudaStream_t stream);
  void launch_stretches(const SolveArguments& arguments, cudaStream_t stream);
  void launch_graph(const SolveArguments& arguments, cudaStream_t stream);

  TaskList tasks_;
  bool computes_operands_ = false;  ///< in place of waiting for them, where that pays: two levels at most
  bool has_parts_ = false;
  std::vector<Stretch> stretches_;
  bool overlaps_ = false;            ///< a launch may start before the one before it ends
  cuda::DeviceArray<Index> column_;  ///< position of the operand; rows() where the row has ended (slot always 0)
  cuda::DeviceArray<double> value_;
  cuda::DeviceArray<Index> gate_;          ///< per position: see pack_kernel
  cuda::DeviceArray<Offset> source_;       ///< for GatherBatch: 0 where the row has ended, 1 for the sum of a part
  cuda::DeviceArray<double> slots_;        ///< of the next run: rows() + 1
  cuda::DeviceArray<int> counter_;         ///< by stretch
  cuda::DeviceArray<double> spare_slots_;  ///< of the last run
  cuda::DeviceArray<int> spare_counter_;
  std::array<Graph, 2> graph_;
  std::size_t turn_ = 0;  ///< which of the graphs is for the slots as they are
  int direct_solves_ = 0;
  std::array<unsigned, 2> taken_{};  ///< tickets that overlapping launches have taken of the two counters
  bool solved_ = false;              ///< since values were loaded and slots reset by a launch of its own
  SolveTuning tuning_;
  bool armed_ = false;  ///< slots are not_yet and the counters are 0
};

}  // namespace taskdag::kernels
