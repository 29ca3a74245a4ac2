#include "study.hpp"

namespace wavefront {

void run_stealing(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  if (settings.tile > 1) {
    study_tiles<engine::StealingQueue>(context, settings, sink);
  } else {
    study<engine::StealingQueue>(context, settings, sink);
  }
}

}  // namespace wavefront
