// One mistake per value of MISTAKE, each of which the compiler must refuse with the sentence that CMakeLists.txt names;
// 0: none, must compile.
#include <string>

#include "taskdag/engine/queue/scan_queue.hpp"
#include "taskdag/engine/runner.hpp"

namespace {

namespace engine = taskdag::engine;

struct Data {
#if MISTAKE == 5
  std::string name;
#endif
};
struct Other {
  using Item = int;
  static constexpr bool waits = false;
  template <class Context>
  static void execute(Context& /*context*/, const int& /*item*/) {}
};
struct Task {
#if MISTAKE == 4
  using Item = std::string;
#elif MISTAKE == 6
  struct Item {
    int number;
  };
#else
  using Item = int;
#endif
#if MISTAKE == 3
  static constexpr engine::WorkerSize worker{48};
#endif
#if MISTAKE == 7
  static constexpr int fetch = 0;
#endif
#if MISTAKE == 11
  static constexpr int max_children = -1;
#endif
  template <class Context>
  static void execute(Context& context, const Item& /*item*/) {
#if MISTAKE == 8
    static engine::Dependency dependency;
    context.template enqueue_dependent<Other>(1, dependency, 1);
#else
    static_cast<void>(context);
#endif
  }
};

#if MISTAKE == 2
using Phases = engine::PhaseQueue<engine::Phaseless<>, engine::Phase<Task>, engine::Phase<Other, Task>>;
#elif MISTAKE == 9
using Phases = engine::PhaseQueue<engine::Phaseless<Task, Other>, engine::Phase<>>;
#elif MISTAKE == 10
using Phases = engine::PhaseQueue<engine::Phaseless<>>;
#elif MISTAKE == 1
using Phases = engine::PhaseQueue<engine::Phaseless<Task>>;
#else
using Phases = engine::PhaseQueue<engine::Phaseless<Task>, engine::Phase<Other>>;
#endif
#if MISTAKE == 6
using Program = engine::Program<Data, Phases, engine::ScanQueue>;
#else
using Program = engine::Program<Data, Phases>;
#endif

}  // namespace

int main() {
  const taskdag::Context context = taskdag::Context::create();
  engine::Runner<Program> runner(context);
  runner.enqueue<Other>(1);
  return runner.run(Data{}).finished() ? 0 : 1;
}
