#include "study.hpp"

namespace wavefront {

void run_multi_a(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  study<engine::MultiQueueA>(context, settings, sink);
}

}  // namespace wavefront
