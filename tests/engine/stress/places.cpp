#include "places.hpp"

namespace taskdag::test {

std::string name_of(const Place& place) {
  return place.backend == Backend::cuda ? "cuda" : "host" + std::to_string(place.threads);
}

void PrintTo(const Place& place, std::ostream* out) { *out << name_of(place); }

std::vector<Place> all_places() {
  return {{Backend::host, 1}, {Backend::host, 2}, {Backend::host, 7}, {Backend::cuda, 0}};
}
std::vector<Place> one_place_per_backend() { return {{Backend::host, 2}, {Backend::cuda, 0}}; }
std::vector<Place> concurrent_places() { return {{Backend::host, 2}, {Backend::host, 7}, {Backend::cuda, 0}}; }

void EngineTest::SetUp() {
  const Place& place = GetParam();
  if (place.backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  context_ = std::make_unique<Context>(Context::create({.backend = place.backend, .threads = place.threads}));
}

}  // namespace taskdag::test
