#include "graph_forms.hpp"

#include <ostream>

#include "support/device_code.hpp"
#include "support/effort.hpp"

namespace taskdag::test {

using graph::Form;
using graph::Kind;

void PrintTo(const GraphPlace& place, std::ostream* out) {
  *out << (place.backend == Backend::cuda ? "cuda" : "host" + std::to_string(place.threads));
}

std::vector<GraphPlace> graph_places() {
  std::vector<GraphPlace> all = {{Backend::host, 1}, {Backend::host, 4}, {Backend::cuda, 0}};
  if (host_threads().front() > 1) all.erase(all.begin());
  return all;
}

std::vector<Form> graph_forms(Backend backend) {
  std::vector<Form> forms = {{.kind = Kind::bsp}};
  if (backend == Backend::cuda) {
    forms.push_back({.kind = Kind::bsp_graph});
    forms.push_back({.kind = Kind::bsp_ahead});
  }
  for (const graph::WorkerSize size : graph::worker_sizes()) {
    for (const int rounds : {1, 5}) {
      forms.push_back({.worker = size.lanes, .fetch = size.fetch, .rounds = rounds});
    }
  }
  for (const engine::Scheduler scheduler :
       test::built({engine::Scheduler::timesliced, engine::Scheduler::device_controller})) {
    forms.push_back({.scheduler = scheduler, .worker = 32, .fetch = 8, .rounds = 2});
  }
  forms.push_back({.worker = 128, .fetch = 32, .rounds = 3, .blocks = 2});
  for (const graph::WorkerSize size : graph::written_sizes()) {
    forms.push_back({.worker = size.lanes, .fetch = size.fetch, .written = true, .check = 4});
  }
  for (const engine::Scheduler scheduler :
       test::built({engine::Scheduler::timesliced, engine::Scheduler::device_controller})) {
    forms.push_back({.scheduler = scheduler, .worker = 32, .fetch = 1, .written = true, .check = 1});
    forms.push_back({.scheduler = scheduler, .worker = 256, .fetch = 64, .written = true, .check = 4});
  }
  return forms;
}

void GraphTest::SetUp() {
  if (GetParam().backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
}

Context GraphTest::context() const {
  return Context::create({.backend = GetParam().backend, .threads = GetParam().threads});
}

}  // namespace taskdag::test
