// Numbers that go on from solve to solve, across 2^31 and 2^32: tickets, numbers of solves and exchanges, jobs of host
// threads, runs of static programs. They begin shortly before, and every solve gives the bits of the first one.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backend/problems.hpp"
#include "base/first_number.hpp"
#include "fault/subject.hpp"
#include "fault/watchdog.hpp"
#include "support/effort.hpp"
#include "taskdag/engine/static/memory.hpp"

namespace taskdag::test {
namespace {

/// Solves of an object: a solve takes up to some ten thousand tickets, of two counters in turn, and one number.
constexpr int kSolves = 12;
/// Even ones, as 0 is; and none that is followed by the 0 that flags hold at first.
constexpr std::uint32_t kStarts[] = {0xFFFFFFFE, 0xFFFFFC00, 0xFFFF8000, 0x7FFFFFFE, 0x7FFFFC00, 0x7FFF8000};

class Numbers {
 public:
  explicit Numbers(std::uint32_t first) {
    first_number = first;
    engine::detail::first_run = first;
  }
  ~Numbers() {
    first_number = 0;
    engine::detail::first_run = 0;
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
};

class WrapTest : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::host) return;
    if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
    device_ = make_device_stream();
  }
  void TearDown() override { watch(""); }

  [[nodiscard]] static Context make_context() { return Context::create({.backend = GetParam(), .threads = 3}); }
  [[nodiscard]] DeviceStream* device() const { return device_.get(); }
  [[nodiscard]] MemorySpace space() const { return device_ ? MemorySpace::device : MemorySpace::host; }
  [[nodiscard]] Stream stream() const { return device_ ? device_->stream() : Stream{}; }

  /// kSolves results, one after the other: solve(b, x), which does not wait.
  template <class Solve>
  std::vector<double> results(Index rows, const Solve& solve) const {
    Array<double> b(device(), right_hand_side(rows));
    Array<double> x(device(), std::vector<double>(static_cast<std::size_t>(kSolves) * static_cast<std::size_t>(rows)));
    for (int k = 0; k < kSolves; ++k) solve(b.data(), x.data() + static_cast<std::ptrdiff_t>(k) * rows);
    return x.read();
  }

  /// run(): results of an object that it makes.
  template <class Run>
  void expect_same_across(const std::string& name, const Run& run) {
    watch(name);
    const std::vector<double> all = run();
    const std::vector<double> one(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / kSolves));
    int number = first_++;
    for (const std::uint32_t start : kStarts) {
      if (kSanitized && number++ % 3 != 0) continue;  // each start still, not with each subject
      watch(name + " from " + std::to_string(start));
      const Numbers numbers(start);
      const std::vector<double> found = run();
      for (int k = 0; k < kSolves; ++k) {
        EXPECT_EQ(std::memcmp(found.data() + static_cast<std::size_t>(k) * one.size(), one.data(),
                              one.size() * sizeof(double)),
                  0)
            << name << ", from " << start << ", solve " << k;
      }
    }
  }

 private:
  std::unique_ptr<DeviceStream> device_;
  int first_ = 0;  ///< subject of expect_same_across()
};

TEST_P(WrapTest, SolvesOfEverySchedule) {
  for (const CsrMatrix& by_rows : {grid_matrix(40), random_matrix()}) {
    for (const Subject& subject : subjects(GetParam())) {
      if (subject.schedule == SolveSchedule::cusparse) continue;  // its numbers are its own
      const CsrMatrix a = subject.matrix(by_rows);
      expect_same_across(subject.name() + ", " + std::to_string(a.rows) + " rows", [&] {
        const Context context = make_context();
        const auto solver = make_solver(context, subject, a, stream());
        return results(subject.elements(a),
                       [&](const double* b, double* x) { solver->solve(b, x, space(), stream()); });
      });
    }
  }
}

TEST_P(WrapTest, JacobiSweeps) {
  const CsrMatrix a = grid_matrix(40);
  for (const JacobiForm form : {JacobiForm::kernels, JacobiForm::tiles, JacobiForm::resident}) {
    if (form == JacobiForm::tiles && GetParam() == Backend::host) continue;
    expect_same_across(std::string("Jacobi, ") + to_string(form), [&] {
      const Context context = make_context();
      MatrixArrays arrays(device(), a);
      Jacobi jacobi(context, arrays.view(), space(), {.sweeps = 7, .form = form}, stream());
      return results(a.rows, [&](const double* b, double* x) { jacobi.apply(b, x, space(), false, stream()); });
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, WrapTest, testing::Values(Backend::host, Backend::cuda),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

}  // namespace
}  // namespace taskdag::test
