/// \file
/// A method's loop on host threads.
#pragma once

#include <string>
#include <vector>

#include "krylov/loop.hpp"
#include "krylov/method.hpp"
#include "taskdag/engine/loop/host.hpp"
#include "taskdag/engine/loop/trace.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

template <class Method>
class HostLoop final : public Loop {
 public:
  /// @throws Unsupported where a form of CUDA is asked for
  explicit HostLoop(const LoopInput& input)
      : context_(input.context),
        calls_(input.calls),
        entries_(input.entries),
        cut_(input.cut),
        work_(context_, input.system.rows),
        norms_(static_cast<std::size_t>(most_norms)),
        coefficients_(input.options.coefficients ? 2 * norms_.size() : 0),
        flow_(context_, cut_, input.system.halo.links),
        data_(Method::prepare(work_, input)) {
    const KrylovForm form = input.options.form;
    if (form != KrylovForm::automatic && form != KrylovForm::threads) {
      throw Unsupported(std::string("the form ") + to_string(form) + " is one of CUDA");
    }
    double* coefficients = input.options.coefficients ? coefficients_.data() : nullptr;
    data_.loop = {&control_, norms_.data(), coefficients, {&again_, 0}};
  }

  void begin(const Start& start, std::int64_t pause_at, Stream /*stream*/) override {
    control_ = control_of(start, data_.norm, pause_at);
    again_ = 0;
    Method::start(flow_, data_, calls_, start);
  }
  void go_on(std::int64_t pause_at, bool /*first*/, Stream /*stream*/) override { run_until(pause_at, flow_); }
  engine::Report trace(std::int64_t pause_at, Stream /*stream*/) override {
    engine::HostTrace trace(cut_.size() - 1);
    engine::HostFlow flow(context_, cut_, data_.system.halo.links, &trace);
    run_until(pause_at, flow);
    return trace.report();
  }
  Control fetch(std::vector<double>& norms, Stream /*stream*/) override {
    norms.assign(norms_.begin(), norms_.begin() + control_.kept);
    control_.kept = 0;
    return control_;
  }
  void fetch_coefficients(std::size_t count, KrylovOutcome& outcome, Stream /*stream*/) override {
    const auto copy = []<class T>(const T* from, std::size_t size) { return std::vector<T>(from, from + size); };
    add_coefficients<Method>(data_, count, copy, outcome);
  }
  void end(Stream /*stream*/) override { Method::end(flow_, data_, calls_); }
  [[nodiscard]] KrylovInfo info() const override {
    KrylovInfo info = info_of<Method>(data_, entries_, work_);
    info.form = KrylovForm::threads;
    info.why = "the backend is host threads";
    info.bytes += static_cast<std::int64_t>(norms_.size() * sizeof(double));
    return info;
  }

 private:
  void run_until(std::int64_t pause_at, engine::HostFlow& flow) {
    control_.pause_at = pause_at;
    again_ = control_.reason == 0 && control_.iterations < pause_at ? 1U : 0U;
    while (again_ != 0) Method::turn(flow, data_, calls_);
  }

  Context context_;
  Calls calls_;
  std::int64_t entries_;
  std::vector<std::uint32_t> cut_;
  Workspace work_;
  std::vector<double> norms_;
  std::vector<double> coefficients_;
  Control control_{};
  std::uint32_t again_ = 0;
  engine::HostFlow flow_;
  typename Method::Data data_;
};

}  // namespace taskdag::krylov
