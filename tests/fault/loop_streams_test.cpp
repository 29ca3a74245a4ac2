// Streams, captures and ends of lives with what has no schedule: cycles, sweeps over all ranks, Krylov methods.
#include <functional>

#include "backend/device_fixture.hpp"
#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "fault/loops.hpp"
#include "fault/trial.hpp"

namespace taskdag::test {
namespace {

using cuda::DeviceArray;

constexpr int kTimes = 20;

class LoopStreams : public OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    context_.emplace(Context::create({.backend = Backend::cuda}));
    device_ = make_device_stream();
    loops_ = std::make_unique<Loops>(*context_, device_.get(), 40);
  }
  [[nodiscard]] Loops& loops() const { return *loops_; }
  [[nodiscard]] Stream handle() const { return {stream()}; }
  [[nodiscard]] std::vector<double> side(int k) const { return numbered_side(loops_->rows(), k); }
  [[nodiscard]] DeviceArray<double> device_side(int k) const { return cuda::upload(side(k), stream()); }
  [[nodiscard]] std::vector<double> host(const DeviceArray<double>& x) const {
    return cuda::fetch_array(x.data(), x.size(), stream());
  }
  /// The objects that are applied, made anew.
  [[nodiscard]] std::vector<std::function<std::unique_ptr<LinearMap>()>> makers() const {
    return {[this] { return std::unique_ptr<LinearMap>(loops_->make_cycle()); },
            [this] { return std::unique_ptr<LinearMap>(loops_->make_sweeps()); }};
  }

 private:
  std::optional<Context> context_;
  std::unique_ptr<DeviceStream> device_;
  std::unique_ptr<Loops> loops_;
};

TEST_F(LoopStreams, CapturedApplicationsMayBeReplayed) {
  for (const auto& make : makers()) {
    const std::unique_ptr<LinearMap> captured = make();
    const std::unique_ptr<LinearMap> direct = make();
    const DeviceArray<double> b = device_side(0);
    const DeviceArray<double> x = device_side(0);
    const DeviceArray<double> expected = device_side(0);
    const auto graph = CapturedGraph::of(stream(), [&] { captured->apply(b.data(), x.data(), handle()); });
    ASSERT_TRUE(graph.has_value());
    for (int k = 0; k < kTimes; ++k) {
      const std::vector<double> bk = side(k);
      cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
      graph->replay(stream());
      direct->apply(b.data(), expected.data(), handle());
      ASSERT_TRUE(same_bits(host(x), host(expected))) << "replay " << k;
      captured->apply(b.data(), x.data(), handle());
      ASSERT_TRUE(same_bits(host(x), host(expected))) << "after replay " << k;
    }
    EXPECT_FALSE(direct->has_lost_rank());
  }
}

TEST_F(LoopStreams, AnObjectMayGoWhileItWorks) {
  for (const auto& make : makers()) {
    const DeviceArray<double> b = device_side(0);
    const DeviceArray<double> x = device_side(0);
    const std::unique_ptr<LinearMap> stays = make();
    stays->apply(b.data(), x.data(), handle());
    const std::vector<double> expected = host(x);
    const std::vector<double> other = side(1);
    cuda::copy_to_device(x.data(), other.data(), other.size(), stream());
    {
      const std::unique_ptr<LinearMap> goes = make();
      for (int k = 0; k < kTimes; ++k) goes->apply(b.data(), x.data(), handle());
    }
    EXPECT_TRUE(same_bits(host(x), expected));
  }
}

TEST_F(LoopStreams, SolvesOnTwoStreamsInTurnGiveTheSameBits) {
  const cuda::UniqueStream other;
  const std::unique_ptr<Cycle> cycle = loops().make_cycle();
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::gmres}) {
    for (LinearMap* const map : {&loops().diagonal(), static_cast<LinearMap*>(cycle.get())}) {
      const std::unique_ptr<Krylov> krylov = loops().make_krylov({.method = method}, map);
      const DeviceArray<double> b = device_side(0);
      const DeviceArray<double> x = device_side(0);
      std::vector<double> first;
      for (int k = 0; k < kTimes; ++k) {
        const Stream s{k % 2 == 0 ? stream() : other.get()};
        EXPECT_TRUE(krylov->solve(b.data(), x.data(), false, {}, s).converged());
        cuda::check(cudaDeviceSynchronize(), "waiting for the device");  // of the solution solve() does not wait for
        const std::vector<double> found = host(x);
        if (k == 0) first = found;
        ASSERT_TRUE(same_bits(found, first)) << to_string(method) << ", solve " << k;
      }
    }
  }
}

TEST_F(LoopStreams, ASolveRefusesToBeCaptured) {
  const std::unique_ptr<Krylov> krylov = loops().make_krylov({}, &loops().diagonal());
  const DeviceArray<double> b = device_side(0);
  const DeviceArray<double> x = device_side(0);
  const auto graph = CapturedGraph::of(stream(), [&] {
    EXPECT_THROW(krylov->solve(b.data(), x.data(), false, {}, handle()), InvalidInput);
    EXPECT_THROW(krylov->begin(b.data(), x.data(), false, {}, handle()), InvalidInput);
  });
  EXPECT_TRUE(graph.has_value()) << "the capture is intact";
  EXPECT_TRUE(krylov->solve(b.data(), x.data(), false, {}, handle()).converged());
}

}  // namespace
}  // namespace taskdag::test
