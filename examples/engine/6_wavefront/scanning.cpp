#include "study.hpp"

namespace wavefront {

void run_scanning(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  study<engine::ScanQueue>(context, settings, sink);
}

}  // namespace wavefront
