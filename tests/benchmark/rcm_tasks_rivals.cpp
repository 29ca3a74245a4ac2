#include "rcm_tasks_rivals.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>

#include "rcm_device.hpp"
#include "rcm_rivals.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

struct Call {
  double total = 0.0;   ///< milliseconds, the graph left out
  OrderingTimes parts;  ///< seconds
};

/// One warm-up, then the calls whose median counts.
void time_calls(int repeats, const std::function<void(OrderingTimes&)>& action, TaskFormTime& result) {
  std::vector<Call> calls;
  for (int k = -1; k < repeats; ++k) {
    Call call;
    const auto start = std::chrono::steady_clock::now();
    action(call.parts);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    call.total = 1e3 * (spent.count() - call.parts.graph);
    if (k >= 0) calls.push_back(call);
  }
  std::sort(calls.begin(), calls.end(), [](const Call& left, const Call& right) { return left.total < right.total; });
  const Call& median = calls[calls.size() / 2];
  result.total = median.total;
  result.least = calls.front().total;
  result.most = calls.back().total;
  result.repeats = repeats;
  result.preparation = 1e3 * median.parts.graph;
  result.search = 1e3 * median.parts.search;
  result.permutation = 1e3 * median.parts.ordering;
}

}  // namespace

TaskFormTime time_walk(const Context& context, const CsrMatrix& a, const std::vector<Index>& expected, int repeats) {
  TaskFormTime result;
  result.form = "walk";
  try {
    std::vector<Index> order;
    if (context.backend() == Backend::cuda) {
      const std::unique_ptr<OnDevice> device = make_on_device(a);
      time_calls(
          repeats,
          [&](OrderingTimes& times) {
            reverse_cuthill_mckee(context, device->pattern(), MemorySpace::device, device->order(), MemorySpace::device,
                                  {.form = RcmForm::walk}, &times);
          },
          result);
      order = device->fetch();
    } else {
      time_calls(
          repeats,
          [&](OrderingTimes& times) {
            order = reverse_cuthill_mckee(context, a.pattern(), MemorySpace::host, {.form = RcmForm::walk}, &times);
          },
          result);
    }
    result.status = order == expected ? "ok" : "wrong";
  } catch (const std::exception& error) {
    result.status = error.what();
  }
  return result;
}

std::optional<TaskFormTime> time_cusolver(const CsrMatrix& a, int repeats) {
  TaskFormTime result;
  const std::unique_ptr<RcmRival> rival = make_cusolver_rcm(a, result.form);
  if (!rival) return std::nullopt;
  try {
    std::vector<Index> order;
    time_calls(
        repeats, [&](OrderingTimes&) { order = rival->order(); }, result);
    static_cast<void>(invert_permutation(order));  // throws where it is none
    result.status = std::ssize(order) == a.rows ? "ok" : "wrong";
  } catch (const std::exception& error) {
    result.status = error.what();
  }
  return result;
}

}  // namespace taskdag::benchmark
