/// \file
/// Launches adaptive tasks on several streams, which wait for each other by events.
#include <algorithm>
#include <array>
#include <utility>

#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "papers/helal/launches.hpp"

namespace taskdag::kernels {
namespace {

/// Tasks as launches. A task goes to a stream whose last task it waits for, else to the next stream in next; stream 0
/// is the caller's. A chain of tasks stays in the caller's stream without events.
class StreamLauncher final : public CoarseLauncher {
 public:
  StreamLauncher(Launches launches, const CoarseDag& coarse)
      : launches_(std::move(launches)), assignment_(at(launches_.size())) {
    assign(coarse);
    Index events = 0;
    for (Assignment& assignment : assignment_) {
      if (assignment.event != kNone) assignment.event = events++;
    }
    for (Index i = 0; i < events; ++i) event_.emplace_back(cuda::EventFor::order);
    for (int s = 1; s < kStreams; ++s) {
      if (last_[s] == kNone) continue;
      side_[s] = std::make_unique<cuda::UniqueStream>();
      side_end_[s] = std::make_unique<cuda::UniqueEvent>(cuda::EventFor::order);
      forks_ = true;
    }
  }

  void run(cudaStream_t caller) override {
    const auto stream = [&](int s) { return s == 0 ? caller : side_[s]->get(); };
    if (forks_) start_.record(caller);
    for (int s = 1; s < kStreams; ++s) {
      if (side_[s]) start_.delay(stream(s));
    }
    for (Index t = 0; t < launches_.size(); ++t) {
      const Assignment& assignment = assignment_[at(t)];
      for (const Index other : assignment.wait)
        event_[at(assignment_[at(other)].event)].delay(stream(assignment.stream));
      launches_.launch(t, stream(assignment.stream));
      if (assignment.event != kNone) event_[at(assignment.event)].record(stream(assignment.stream));
    }
    for (int s = 1; s < kStreams; ++s) {
      if (!side_[s]) continue;
      side_end_[s]->record(stream(s));
      side_end_[s]->delay(caller);
    }
  }

 private:
  static constexpr int kStreams = 4;
  static constexpr Index kNone = -1;
  struct Assignment {
    int stream = 0;
    Index event = kNone;      // recorded after the task; any other value in assign() only says that there is one
    std::vector<Index> wait;  // tasks in other streams
  };

  void assign(const CoarseDag& coarse) {
    last_.fill(kNone);
    std::array<std::array<Index, kStreams>, kStreams> heard{};  // heard[s][o]: last task of o that s has waited for
    for (auto& row : heard) row.fill(kNone);
    int next = 0;
    for (Index t = 0; t < launches_.size(); ++t) {
      const auto begin = coarse.predecessors.begin() + coarse.predecessor_offsets[at(t)];
      const auto end = coarse.predecessors.begin() + coarse.predecessor_offsets[at(t) + 1];
      Assignment& assignment = assignment_[at(t)];
      const auto tail = std::find_if(begin, end, [&](Index p) { return last_[assignment_[at(p)].stream] == p; });
      assignment.stream = tail != end ? assignment_[at(*tail)].stream : next;
      if (tail == end) next = (next + 1) % kStreams;
      for (auto p = begin; p != end; ++p) {
        Assignment& other = assignment_[at(*p)];
        if (other.stream == assignment.stream || heard[assignment.stream][other.stream] >= *p) continue;
        heard[assignment.stream][other.stream] = *p;
        other.event = 0;
        assignment.wait.push_back(*p);
      }
      last_[assignment.stream] = t;
    }
  }

  Launches launches_;
  std::vector<Assignment> assignment_;
  std::array<Index, kStreams> last_{};  // last task of each stream
  std::vector<cuda::UniqueEvent> event_;
  cuda::UniqueEvent start_{cuda::EventFor::order};
  bool forks_ = false;  // other streams than the caller's are used
  std::array<std::unique_ptr<cuda::UniqueStream>, kStreams> side_;
  std::array<std::unique_ptr<cuda::UniqueEvent>, kStreams> side_end_;
};

}  // namespace

std::unique_ptr<CoarseLauncher> make_stream_launcher(Launches launches, const CoarseDag& coarse) {
  return std::make_unique<StreamLauncher>(std::move(launches), coarse);
}

}  // namespace taskdag::kernels
