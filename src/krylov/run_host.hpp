/// \file
/// A method's loop on host threads.
#pragma once

#include <algorithm>
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
        work_(context_, input.system.rows, input.columns()),
        pages_(work_.make<Page>(1)),
        again_(work_.make<std::uint32_t>(1)),
        flow_(context_, cut_, input.system.halo.links),
        data_(Method::prepare(work_, input)),
        columns_(columns_of<Method>(input, work_, again_)) {
    const KrylovForm form = input.options.form;
    if (form != KrylovForm::automatic && form != KrylovForm::threads) {
      throw Unsupported(std::string("the form ") + to_string(form) + " is one of CUDA");
    }
    double* coefficients = nullptr;
    if (input.options.coefficients) coefficients = work_.make<double>(2 * static_cast<std::size_t>(most_norms));
    data_.loop = {&pages_->control, pages_->norms, coefficients, {again_, 0}};
  }

  void begin(const Start& start, std::int64_t pause_at, Stream /*stream*/) override {
    started_ = start.columns;
    const Control first = control_of(start, data_.norm, pause_at);
    for (std::uint32_t c = 0; c < columns_.count; ++c)
      pages_[c].control = control_of(first, c, started_, start.ldb, start.ldx);
    for_all_started();
    with_columns<Method>(flow_, columns_, [&](auto& flow) { Method::start(flow, data_, calls_, start); });
  }
  void go_on(std::int64_t pause_at, bool /*first*/, Stream /*stream*/) override { run_until(pause_at, flow_); }
  engine::Report trace(std::int64_t pause_at, Stream /*stream*/) override {
    engine::HostTrace trace(cut_.size() - 1);
    engine::HostFlow flow(context_, cut_, data_.system.halo.links, &trace);
    run_until(pause_at, flow);
    return trace.report();
  }
  void fetch(std::vector<ColumnState>& columns, Stream /*stream*/) override {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Page& page = pages_[c];
      columns[c].norms.assign(page.norms, page.norms + page.control.kept);
      page.control.kept = 0;
      columns[c].control = page.control;
    }
  }
  void fetch_coefficients(std::size_t count, KrylovOutcome& outcome, Stream /*stream*/) override {
    const auto copy = []<class T>(const T* from, std::size_t size) { return std::vector<T>(from, from + size); };
    add_coefficients<Method>(data_, count, copy, outcome);
  }
  void end(Stream /*stream*/) override {
    for_all_started();
    with_columns<Method>(flow_, columns_, [&](auto& flow) { Method::end(flow, data_, calls_); });
  }
  [[nodiscard]] KrylovInfo info() const override {
    KrylovInfo info = info_of<Method>(data_, entries_, work_, columns_.count);
    info.form = KrylovForm::threads;
    info.why = "the backend is host threads";
    return info;
  }

 private:
  /// Stages are those of all columns that the solve has, until it is tested which of them go on.
  void for_all_started() {
    for (std::uint32_t c = 0; c < columns_.count; ++c) again_[c] = c < started_ ? 1U : 0U;
  }
  void run_until(std::int64_t pause_at, engine::HostFlow& flow) {
    for (std::uint32_t c = 0; c < columns_.count; ++c) {
      Control& control = pages_[c].control;
      control.pause_at = pause_at;
      again_[c] = goes_on(control) ? 1U : 0U;
    }
    const auto any = [&] { return std::find(again_, again_ + columns_.count, 1U) != again_ + columns_.count; };
    with_columns<Method>(flow, columns_, [&](auto& all) {
      while (any()) Method::turn(all, data_, calls_);
    });
  }

  Context context_;
  Calls calls_;
  std::int64_t entries_;
  std::vector<std::uint32_t> cut_;
  Workspace work_;
  Page* pages_;           ///< a column each
  std::uint32_t* again_;  ///< the same
  engine::HostFlow flow_;
  typename Method::Data data_;
  RightHandSides columns_;
  std::uint32_t started_ = 1;  ///< columns of the solve
};

}  // namespace taskdag::krylov
