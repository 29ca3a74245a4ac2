/// \file
/// The choices of the task progression study, and what a run gives back.
///
/// Source: Kartsaklis, Joubert, Hernandez, Eisenbach, Elwasif, Bernholdt, "CUDA Grid-Level Task Progression
/// Algorithms". Its listings are followed operation by operation; what differs:
/// - Thread 0 of a block does everything, the others leave. (Its listings do not say which thread does.)
/// - The atomics of a lock have an order, acquire and release, without which its queues would be races.
/// - Loops look at the clock now and then, so that a run ends whatever happens.
/// - A task has any number of successors and predecessors, and there may be several first tasks.
#pragma once

#include <cstdint>
#include <string>

#include "taskdag/engine/record.hpp"

namespace taskdag::progression {

enum class Algorithm : std::uint32_t {
  scanning,  ///< listing 2: no queue, each block scans the dependency counts
  single,    ///< listing 3: one queue behind one lock
  multi      ///< listing 4: a lock for each of several queues
};
const char* to_string(Algorithm algorithm);

/// Which of several queues a task goes to.
enum class Hash : std::uint32_t {
  a,     ///< the task's number modulo the queues
  b,     ///< 3 more for a task's first successor, 5 more for the second, and so on in turns
  mixed  ///< the number's bits are mixed before; not in the paper
};
const char* to_string(Hash hash);

enum class Form {
  time,  ///< tasks compute nothing, as in the paper
  count  ///< tasks compute values, for the check; operations are counted, but for those of the tasks themselves
};
const char* to_string(Form form);

struct Settings {
  Algorithm algorithm = Algorithm::multi;
  Hash hash = Hash::a;
  std::uint32_t rings_percent = 100;  ///< queues for each hundred blocks, of the algorithm multi
  Form form = Form::time;
  bool fifo = false;  ///< a queue gives its oldest task; else, as in the paper, its newest
  /// Who waits for a lock on a GPU pauses longer each time, and an empty queue is not locked; not in the paper.
  bool backoff = false;
  bool spread = false;  ///< locks and fill levels in cache lines of their own; else side by side, as in the paper
  std::uint32_t blocks = 220;  ///< of a GPU; on the host a block is a thread, and the context says how many
  std::uint32_t threads = 32;  ///< of a block
  double limit_seconds = 10;   ///< after which a run ends, whatever remains
  std::uint32_t capacity = 0;  ///< of a queue; 0: what is never too little
};

/// "multi a 100 %, fifo", "single", …
std::string describe(const Settings& settings);

enum class End {
  finished,
  time_limit,
  queue_full  ///< a task did not fit into its queue and was lost
};
const char* to_string(End end);

struct RunResult {
  End end = End::finished;
  double seconds = 0;  ///< of the kernel, or of the threads
  std::uint32_t blocks = 0;
  std::uint32_t rings = 0;         ///< 0: scanning
  std::uint32_t tasks = 0;         ///< that have ended
  engine::OperationCounts counts;  ///< Form::count
  std::string fault;               ///< what is wrong with the result of a finished run; empty: nothing is
};

}  // namespace taskdag::progression
