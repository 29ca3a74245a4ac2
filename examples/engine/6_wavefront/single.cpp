#include "study.hpp"

namespace wavefront {

void run_single(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  study<engine::LockedQueue>(context, settings, sink);
}

}  // namespace wavefront
