/// \file
/// A triangle in the storage of the schedule flat: columns renumbered to positions, values in the order in which a warp
/// consumes them, long rows in parts (parts.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <vector>

#include "backends/cuda/launch_graph.hpp"
#include "backends/cuda/memory.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/analysis/in_flight.hpp"
#include "kernels/sptrsv/product.hpp"

namespace taskdag::kernels {

/// How values are stored: real ones, or numbers of two doubles.
enum class StoredAs { in_double, in_single, complex };

/// One sweep of a solve; every array in device memory. With complex values each element is a number of two doubles.
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
  const void* value;  ///< as StoredAs says
  double* slots;
  int* counter;
  double* next_slots;  ///< reset to not_yet by position
  int* next_counter;   ///< reset to 0
  const Index* gate;
  Index rows;
  unsigned gate_pause_ns;
  ProductArguments
      product{};  ///< of kernels that end a product (JoinsProducts::finish_product()); places are positions
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
                 const Offset* source_entry, StoredAs stored, cudaStream_t stream);

  /// Adds the gathering of values (device array of the source). @pre they are stored in double
  void gather_values(GatherBatch& batch, const double* source);
  /// Takes values rounded to float. @pre is_single(). Asynchronous.
  void round_values(const double* source, cudaStream_t stream);
  /// Takes complex values. @pre is_complex(). Asynchronous.
  void take_numbers(const ComplexSource& source, cudaStream_t stream);
  /// Whether values are stored in single precision, and pivots scale right-hand sides: see SweepInput::precision.
  [[nodiscard]] bool is_single() const { return stored_ == StoredAs::in_single; }
  [[nodiscard]] bool is_complex() const { return stored_ == StoredAs::complex; }
  /// Doubles of a slot, a pivot, and a value that is not single.
  [[nodiscard]] int parts() const { return is_complex() ? 2 : 1; }

  /// Runs one sweep. Asynchronous; may be captured. Two sets of slots alternate: each run resets the other one, which
  /// saves a launch; but for a run that waits for nothing.
  void solve(const SolveArguments& arguments, cudaStream_t stream) { solve({arguments, nullptr}, stream); }
  /// The same, which ends a product: results go to product.y, at rhs_index, and arguments.x is null.
  void solve(const SolveArguments& arguments, const ProductArguments& product, cudaStream_t stream) {
    solve({arguments, &product}, stream);
  }
  /// What a solve reads before it has waited for the work before it has changed.
  void forget_overlap() { solved_ = false; }

  /// What the tasks of one sweep take, for kernels of other files; slots and counters are the caller's.
  [[nodiscard]] SolveParameters parameters(const SolveArguments& arguments) const;
  /// Of each place of the packed storage: see column_.
  [[nodiscard]] const cuda::DeviceArray<Index>& columns() const { return column_; }
  [[nodiscard]] bool has_parts() const { return has_parts_; }
  [[nodiscard]] const SolveTuning& tuning() const { return tuning_; }

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
  /// What is to be solved; product: null, or what it ends.
  struct Task {
    SolveArguments arguments;
    const ProductArguments* product = nullptr;
  };
  /// A solve by several launches as a graph: two, for the two sets of slots, and two more that end products.
  struct Graph {
    cuda::LaunchGraph<SolveParameters> launches;
    SolveArguments arguments;  ///< of its last launch; so is the next
    ProductArguments product;
  };
  void solve(const Task& task, cudaStream_t stream);
  void find_stretches();
  void arm(cudaStream_t stream);
  [[nodiscard]] bool is_one_launch() const;
  void launch_two_levels(const Task& task, cudaStream_t stream);
  [[nodiscard]] SolveParameters parameters(const Task& task, std::size_t stretch);
  void launch_overlapping(const Task& task, cudaStream_t stream);
  void launch_stretches(const Task& task, cudaStream_t stream);
  void launch_graph(const Task& task, cudaStream_t stream);

  TaskList tasks_;
  bool computes_operands_ = false;  ///< in place of waiting for them, where that pays: two levels at most
  bool has_parts_ = false;
  std::vector<Stretch> stretches_;
  bool overlaps_ = false;            ///< a launch may start before the one before it ends
  cuda::DeviceArray<Index> column_;  ///< position of the operand; rows() where the row has ended (slot always 0)
  StoredAs stored_ = StoredAs::in_double;
  cuda::DeviceArray<double> value_;  ///< this or the next one
  cuda::DeviceArray<float> single_value_;
  cuda::DeviceArray<Index> gate_;          ///< per position: see pack_kernel
  cuda::DeviceArray<Offset> source_;       ///< for GatherBatch: 0 where the row has ended, 1 for the sum of a part
  cuda::DeviceArray<double> slots_;        ///< of the next run: rows() + 1 numbers
  cuda::DeviceArray<int> counter_;         ///< by stretch
  cuda::DeviceArray<double> spare_slots_;  ///< of the last run
  cuda::DeviceArray<int> spare_counter_;
  std::array<Graph, 4> graph_;
  std::size_t parity_ = 0;  ///< of the next solve: which of two graphs is for the slots as they are
  int direct_solves_ = 0;
  std::array<unsigned, 2> taken_{};  ///< tickets that overlapping launches have taken of the two counters
  bool solved_ = false;              ///< since values were loaded and slots reset by a launch of its own
  SolveTuning tuning_;
  cuda::StartState start_;  ///< of slots and counters: not_yet and 0
};

}  // namespace taskdag::kernels
