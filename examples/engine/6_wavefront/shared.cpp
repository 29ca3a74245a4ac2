#include "study.hpp"

namespace wavefront {

void run_shared(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  if (settings.tile > 1) {
    study_tiles<engine::SharedCounterQueue>(context, settings, sink);
  } else {
    study<engine::SharedCounterQueue>(context, settings, sink);
  }
}

}  // namespace wavefront
