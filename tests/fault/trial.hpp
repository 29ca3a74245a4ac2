/// \file
/// One subject under trial on CUDA: its matrix and vectors in device memory, and the bits that its solves have to give.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "fault/subject.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {

class Trial {
 public:
  static constexpr int kSides = 3;
  static constexpr int kSets = 2;

  /// `a`: by rows, of which the subject makes its own.
  Trial(const Context& context, const Subject& subject, const CsrMatrix& a);

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const CsrMatrix& matrix() const { return a_; }
  /// Elements of a vector.
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(subject_.elements(a_)); }
  /// A fresh object with the first set of values.
  [[nodiscard]] std::unique_ptr<Solver> make() const { return make_solver(context_, subject_, a_, handle(0)); }

  /// Two streams that do not wait for the default stream.
  [[nodiscard]] cudaStream_t stream(int k) const { return streams_[static_cast<std::size_t>(k)].get(); }
  [[nodiscard]] Stream handle(int k) const { return {stream(k)}; }
  /// Right-hand side k modulo kSides, and a set of values, in device memory.
  [[nodiscard]] const double* side(int k) const { return sides_[static_cast<std::size_t>(k % kSides)].data(); }
  [[nodiscard]] const double* values(int set) const { return values_[static_cast<std::size_t>(set)].data(); }
  [[nodiscard]] std::size_t entries() const { return a_.values.size(); }
  /// Room for `count` solutions, NaN before.
  [[nodiscard]] cuda::DeviceArray<double> solutions(int count) const;

  /// Waits for the device and says where `x` is not, bit by bit, what a fresh object's first solve gives.
  void expect(const double* x, int side, int set, const std::string& what);
  /// That result. It is held against the serial reference.
  const std::vector<double>& expected(int side, int set);

 private:
  Context context_;
  Subject subject_;
  CsrMatrix a_;
  std::array<cuda::UniqueStream, 2> streams_;
  std::vector<cuda::DeviceArray<double>> sides_;
  std::vector<cuda::DeviceArray<double>> values_;
  std::map<std::pair<int, int>, std::vector<double>> expected_;
};

/// What was submitted while a stream was captured, as a graph that can be launched.
class CapturedGraph {
 public:
  /// Nothing where submit() has thrown Unsupported: the capture has to be intact then, which is checked.
  template <class Submit>
  static std::optional<CapturedGraph> of(cudaStream_t stream, const Submit& submit) {
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning to capture");
    bool refused = false;
    try {
      submit();
    } catch (const Unsupported&) {
      refused = true;
    }
    cudaGraph_t graph = nullptr;
    cuda::check(cudaStreamEndCapture(stream, &graph),
                refused ? "ending a capture after a refusal" : "ending a capture");
    CapturedGraph captured(graph);
    if (refused) return std::nullopt;
    return captured;
  }
  CapturedGraph(CapturedGraph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  CapturedGraph& operator=(CapturedGraph&&) = delete;
  ~CapturedGraph();
  void replay(cudaStream_t stream) const { cuda::check(cudaGraphLaunch(executable_, stream), "replaying"); }

 private:
  explicit CapturedGraph(cudaGraph_t graph);
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace taskdag::test
