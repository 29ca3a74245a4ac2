#include "rival.hpp"

#include "../shared_library.hpp"

namespace taskdag::benchmark {

Rival::Rival(const std::string& file) {
  const SharedLibrary library(file);
  library.find("taskdag_rival_name", name);
  library.find("taskdag_rival_schedule", schedule);
  library.find("taskdag_rival_pack", pack);
  library.find("taskdag_rival_solve", solve);
  library.find("taskdag_rival_free", free);
}

}  // namespace taskdag::benchmark
