/// \file
/// Orderings of square patterns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// Bandwidth and profile of a pattern under an ordering (MHive, definition 8.1).
struct OrderingQuality {
  Index bandwidth = 0;       ///< max |i − j| over the entries
  std::int64_t profile = 0;  ///< sum over the rows of i − (smallest column <= i)
};

/// Reverse Cuthill–McKee ordering of the graph of A + Aᵀ, serial.
///
/// Each connected component, taken in the order of its smallest row, starts at a pseudo-peripheral node found from
/// that component's row of least degree (George & Liu 1979: repeat a breadth-first search from a node of least degree
/// in the last level until the eccentricity stops growing). Neighbours are visited by ascending degree, ties by
/// ascending index; the whole sequence is reversed at the end.
/// @returns order with order[new] = old. @throws InvalidInput unless the pattern is square and valid.
/// Source: Cuthill & McKee 1969; George & Liu 1979, doi:10.1145/355841.355845; MHive, chapter 7.3.
TASKDAG_API std::vector<Index> reverse_cuthill_mckee(const CsrPattern& pattern);

/// How reverse Cuthill–McKee is carried out. The permutation is the same in every form.
enum class RcmForm {
  automatic,  ///< the walk
  walk,       ///< the library's own: kernels that walk levels of all components (CUDA), threads (host)
  tasks,      ///< by the task engine: the six task types of MHive, section 7.3.2
};
/// Who sorts the levels in the form `tasks`.
enum class RcmSort {
  bitonic,  ///< all by tasks: six types, the sort is a bitonic network (MHive, section 7.3.2 and appendix A)
  cub,      ///< the first three types as tasks; sorted by CUB's radix sort (host: by std::sort on the calling thread)
  cpu_gpu,  ///< made by the calling thread, sorted by CUB's radix sort (MHive, section 7.3.3; host: std::stable_sort)
};
/// How one step follows another in the form `tasks`. For bitonic and cub.
enum class RcmSteps {
  phases,        ///< MHive: each type has a phase of its own
  dependencies,  ///< the task that comes next waits for the tasks of the step; no worker ends in between
};
/// "auto", "walk", "tasks".
TASKDAG_API const char* to_string(RcmForm form);
/// "bitonic", "cub", "cpu-gpu".
TASKDAG_API const char* to_string(RcmSort sort);
/// "phases", "dependencies".
TASKDAG_API const char* to_string(RcmSteps steps);

/// What is chosen of an ordering. All but `form` count for the form `tasks` alone.
struct OrderingOptions {
  RcmForm form = RcmForm::automatic;
  RcmSort sort = RcmSort::bitonic;
  /// With phases, MHive's program: each level looks through all nodes. With dependencies, ours: through the nodes that
  /// were found, and one worker makes a level of at most 256 nodes.
  RcmSteps steps = RcmSteps::dependencies;
  engine::Scheduler scheduler = engine::Scheduler::automatic;
};

/// Where the time of an ordering went, in seconds.
struct OrderingTimes {
  double graph = 0.0;     ///< the graph of A + Aᵀ, with the copy of a pattern that the backend has to move
  double search = 0.0;    ///< start nodes: every breadth-first search that is not the last one of its component
  double ordering = 0.0;  ///< the rest; a component's last search is its ordering at the same time
  /// CUDA: the graph has so few nodes a level that one host thread is faster; the pattern went there.
  bool handed_to_host = false;
  RcmForm form = RcmForm::walk;  ///< that ran; never automatic
};

/// The same ordering on the backend of `context`: equal to the serial one, entry by entry, for every pattern.
///
/// `pattern` is in `space`; in device memory (CUDA backend only) it is read where it is, columns must be in range and
/// ascend, and that is not checked. `order`, an array of pattern.rows in `order_space`, receives order[new] = old.
/// `times`, unless null, is filled in. Synchronous: `order` is complete on return.
/// @throws InvalidInput unless the pattern is square and, in host memory, valid; for device memory on the host backend
/// @throws OutOfMemory, DeviceError
TASKDAG_API void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                       Index* order, MemorySpace order_space, OrderingTimes* times = nullptr,
                                       Stream stream = {});

/// The same, in a form that is chosen. The form `tasks` makes its graph on the host: a pattern in device memory is
/// copied there. In `times`, its memory and queues count as `graph`, its levels as `ordering`.
/// @throws also Unsupported for the scheduler device_controller on CUDA, where the library was built without device
/// linking; Error if a run of the engine does not finish
TASKDAG_API void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                       Index* order, MemorySpace order_space, const OrderingOptions& options,
                                       OrderingTimes* times = nullptr, Stream stream = {});

/// Both, to a vector in host memory.
TASKDAG_API std::vector<Index> reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern,
                                                     MemorySpace space = MemorySpace::host,
                                                     OrderingTimes* times = nullptr, Stream stream = {});
TASKDAG_API std::vector<Index> reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern,
                                                     MemorySpace space, const OrderingOptions& options,
                                                     OrderingTimes* times = nullptr, Stream stream = {});

/// Bandwidth and profile of `pattern` renumbered by order[new] = old (empty: as it is).
TASKDAG_API OrderingQuality ordering_quality(const CsrPattern& pattern, std::span<const Index> order = {});

/// inverse[order[p]] = p. @throws InvalidInput if `order` is not a permutation of 0 … n−1.
TASKDAG_API std::vector<Index> invert_permutation(std::span<const Index> order);

}  // namespace taskdag
