/// \file
/// Graph algorithms as the benchmarks and tests see them: a form is chosen, memory is made once, runs are repeated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::graph {

/// How an algorithm runs.
enum class Kind {
  bsp,           ///< bulk synchronous: kernels per iteration, the host looks at each frontier (CUDA), or threads that
                 ///< meet after each (host)
  bsp_graph,     ///< the same kernels in the loop of a CUDA graph, the host does not look; CUDA only
  bsp_ahead,     ///< the same kernels, launched some iterations ahead between two looks; CUDA only
  asynchronous,  ///< tasks of the engine
};
const char* to_string(Kind kind);

struct Form {
  Kind kind = Kind::asynchronous;
  // For asynchronous:
  engine::Scheduler scheduler = engine::Scheduler::megakernel;
  int worker = 256;   ///< lanes; one of worker_sizes()
  int fetch = 64;     ///< items at a time; with `worker` one of worker_sizes()
  int rounds = 1;     ///< iterations that a worker may run by itself before others see its new items
  int blocks = 0;     ///< of the persistent kernel; 0: all that are resident
  bool idle = false;  ///< PageRank, worker 32-8: idle workers look for work by themselves
  /// The paper's algorithms 2, 4 and 6: items are vertices, a round only, load-balancing search inside a worker;
  /// `worker` and `fetch` are of written_sizes().
  bool written = false;
  int check = -1;  ///< PageRank as written: vertices that a worker looks at for each that it took, 0 to 16
};
/// "bsp", "bsp graph", "megakernel 256-64 x16", "megakernel 256-64 as written, check 4".
std::string describe(const Form& form);

struct WorkerSize {
  int lanes;
  int fetch;
};
/// The pairs that programs are compiled for.
const std::vector<WorkerSize>& worker_sizes();
const std::vector<WorkerSize>& written_sizes();

struct Run {
  double seconds = 0;                   ///< from the first launch to the end; without preparing memory
  std::uint64_t work = 0;               ///< edges (BFS, PageRank) or vertices (colouring) that were processed
  std::uint64_t iterations = 0;         ///< of a BSP form
  engine::Report report;                ///< of an asynchronous form; of a bulk synchronous one its kernels alone
  std::vector<std::uint32_t> timeline;  ///< work by bin, where one was asked for
};

/// An algorithm on one graph in one form. One thread at a time.
template <class Value>
class Algorithm {
 public:
  Algorithm() = default;
  Algorithm(const Algorithm&) = delete;
  Algorithm& operator=(const Algorithm&) = delete;
  virtual ~Algorithm() = default;
  /// From the beginning. `bin_ns`: width of the timeline's bins, 0: none.
  /// @throws Error if the engine's run did not finish; DeviceError
  virtual Run run(std::uint32_t bin_ns = 0) = 0;
  /// A value per vertex, of the last run.
  [[nodiscard]] virtual std::vector<Value> result() const = 0;
};

}  // namespace taskdag::graph
