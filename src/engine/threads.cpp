#include "taskdag/engine/threads.hpp"

#include "context/state.hpp"
#include "taskdag/error.hpp"

namespace taskdag::engine {

void run_on_threads(const Context& context, void (*body)(void*, int), void* target) {
  if (!context.state()->pool) throw InvalidInput("a CUDA context has no host threads to run tasks on");
  context.state()->pool->run([body, target](int thread) { body(target, thread); });
}

bool threads_are_concurrent(const Context& context) {
  return context.state()->pool && context.state()->pool->concurrent();
}

}  // namespace taskdag::engine
