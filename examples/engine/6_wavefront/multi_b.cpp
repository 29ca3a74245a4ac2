#include "study.hpp"

namespace wavefront {

void run_multi_b(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  study<engine::MultiQueueB>(context, settings, sink);
}

}  // namespace wavefront
