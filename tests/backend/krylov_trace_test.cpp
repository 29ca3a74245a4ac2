// A recorded iteration of a Krylov method: what its trace has in it, and that nothing else is another one for it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "krylov_ranks.hpp"
#include "problems.hpp"
#include "support/effort.hpp"
#include "taskdag/engine/trace.hpp"
#include "unit/scratch_file.hpp"

namespace taskdag {
namespace {

using engine::Report;
using engine::TraceEvent;
using test::With;

constexpr With kPreconditioners[] = {With::nothing, With::diagonal, With::factor};
constexpr const char* kPreconditioner = "preconditioner";

bool is_finish(const std::string& name) { return name.ends_with(": finish"); }

class KrylovTrace : public test::KrylovFixture {
 protected:
  struct Traced {
    Solved solved;
    Report report;
  };
  /// A solve whose iteration `before` + 1 is recorded.
  Traced traced(Krylov& k, const std::vector<double>& b, const KrylovTolerances& tolerances,
                std::int64_t before = 0) const {
    Traced result;
    test::Array<double> rhs = place(b);
    test::Array<double> x = place(std::vector<double>(b.size(), std::nan("")));
    KrylovOutcome outcome = k.begin(rhs.data(), x.data(), false, tolerances, stream());
    if (before > 0) outcome = k.go_on(before, stream());
    EXPECT_EQ(outcome.reason, KrylovReason::iterating);
    outcome = k.trace_iteration(result.report, stream());
    EXPECT_EQ(outcome.iterations, before + 1);
    if (outcome.reason == KrylovReason::iterating) outcome = k.go_on(tolerances.iterations, stream());
    k.end(stream());
    result.solved = {std::move(outcome), x.read()};
    return result;
  }
  static bool on_host() { return GetParam().backend == Backend::host; }
  /// The spans of the thread that calls, or of the device, in the order of their starts.
  static std::vector<TraceEvent> spans_of_first(const Report& report) {
    std::vector<TraceEvent> spans;
    std::ranges::copy_if(report.events, std::back_inserter(spans), [](const TraceEvent& e) { return e.worker == 0; });
    std::ranges::sort(spans, {}, &TraceEvent::start);
    return spans;
  }
  static std::vector<std::string> names_of_first(const Report& report) {
    std::vector<std::string> names;
    for (const TraceEvent& span : spans_of_first(report)) names.push_back(report.types.at(span.type).name);
    return names;
  }
  /// Of what runs on all threads, one for each; of all else one. What comes next begins when all have ended.
  static void expect_order(const Report& report, std::size_t threads) {
    std::map<std::uint64_t, std::vector<TraceEvent>> by_beginning;
    for (const TraceEvent& span : report.events) by_beginning[span.created].push_back(span);
    std::uint64_t ended = 0;
    for (const auto& [beginning, spans] : by_beginning) {
      const std::string& name = report.types.at(spans.front().type).name;
      EXPECT_GE(beginning, ended) << name;
      std::set<std::uint32_t> workers;
      for (const TraceEvent& span : spans) {
        EXPECT_EQ(span.type, spans.front().type) << name;
        EXPECT_LE(span.created, span.start) << name;
        EXPECT_LE(span.start, span.end) << name;
        workers.insert(span.worker);
        ended = std::max(ended, span.end);
      }
      const bool by_all = name != kPreconditioner && !is_finish(name);
      EXPECT_EQ(spans.size(), by_all ? threads : 1U) << name;
      EXPECT_EQ(workers.size(), spans.size()) << name;
    }
  }
  static std::size_t count(const std::vector<std::string>& names, bool of_stages) {
    return static_cast<std::size_t>(std::ranges::count_if(names, [&](const std::string& name) {
      return of_stages ? name != kPreconditioner && !is_finish(name) : name == kPreconditioner;
    }));
  }
  /// What write_chrome_trace() makes of it: each span with its name, in the order of their starts.
  static void expect_file(const Report& report) {
    const test::ScratchFile file("iteration.json");
    engine::write_chrome_trace(report, GetParam().backend, file.path());
    std::vector<std::string> names;
    std::set<std::string> tracks;
    double before = 0.0;
    const nlohmann::json trace = nlohmann::json::parse(file.content());
    for (const nlohmann::json& e : trace.at("traceEvents")) {
      if (e.at("name") == "thread_name") tracks.insert(e.at("args").at("name").get<std::string>());
      if (e.at("ph") != "X") continue;
      names.push_back(e.at("name").get<std::string>());
      EXPECT_GE(e.at("ts").get<double>(), before);
      EXPECT_GE(e.at("dur").get<double>(), 0.0);
      before = e.at("ts").get<double>();
    }
    std::vector<std::string> expected;
    for (const TraceEvent& span : report.events) expected.push_back(report.types.at(span.type).name);
    std::ranges::sort(names);
    std::ranges::sort(expected);
    EXPECT_EQ(names, expected);
    EXPECT_TRUE(tracks.contains(on_host() ? "host thread 0" : "all SMs"));
  }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovTrace, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

void expect_same(const KrylovOutcome& outcome, const KrylovOutcome& expected) {
  EXPECT_EQ(outcome.reason, expected.reason);
  EXPECT_EQ(outcome.iterations, expected.iterations);
  EXPECT_EQ(outcome.norm, expected.norm);
  EXPECT_EQ(outcome.norms, expected.norms);
  EXPECT_EQ(outcome.alpha, expected.alpha);
  EXPECT_EQ(outcome.beta, expected.beta);
  EXPECT_EQ(outcome.hessenberg, expected.hessenberg);
}

std::string text_of(const KrylovOptions& options, With with, KrylovForm form) {
  return std::string(to_string(options.method)) + ", side " + std::to_string(static_cast<int>(options.side)) +
         ", norm " + std::to_string(static_cast<int>(options.norm)) + ", " + test::name_of(with) + ", " +
         to_string(form);
}

TEST_P(KrylovTrace, EveryMethodHasItsStagesAndTheBitsOfASolveWithout) {
  const CsrMatrix a = test::grid(60);  // enough for eight threads
  const std::vector<double> b = test::right_hand_side(a.rows);
  const KrylovTolerances tolerances{.relative = 1e-7, .iterations = test::kSanitized ? 10 : 30};
  for (const KrylovOptions& method : test::all_methods()) {
    for (const With with : kPreconditioners) {
      auto s = system(a, with);
      for (const KrylovForm form : forms(with, method.method)) {
        SCOPED_TRACE(text_of(method, with, form));
        KrylovOptions options = method;
        options.form = form;
        Krylov k = krylov(*s, options);
        const Solved expected = solve(k, b, tolerances);
        const Traced run = traced(k, b, tolerances);
        expect_same(run.solved.outcome, expected.outcome);
        EXPECT_EQ(run.solved.x, expected.x);

        const std::vector<std::string> names = names_of_first(run.report);
        const bool varies = options.orthogonalisation == KrylovOrthogonalisation::modified ||
                            options.refinement == KrylovRefinement::if_needed;
        if (varies) {
          EXPECT_GE(count(names, true), 2U);
        } else {
          EXPECT_EQ(count(names, true), static_cast<std::size_t>(k.info().stages));
        }
        const std::size_t applications = options.method == KrylovMethod::bicgstab ? 2 : 1;
        EXPECT_EQ(count(names, false), with == With::factor ? applications : 0U);
        EXPECT_TRUE(run.report.finished());
        EXPECT_EQ(run.report.dropped_events, 0U);
        EXPECT_GT(run.report.seconds, 0.0);
        expect_order(run.report, on_host() ? static_cast<std::size_t>(GetParam().threads) : 1U);
        expect_file(run.report);
        // After it a solve is what it was.
        EXPECT_EQ(solve(k, b, tolerances).x, expected.x);
      }
    }
  }
}

TEST_P(KrylovTrace, StagesStandInTheirOrderWithTheirTasks) {
  const CsrMatrix a = test::grid(60);
  auto s = system(a, With::factor);
  Krylov k = krylov(*s, {});
  const Report report = traced(k, test::right_hand_side(a.rows), {}).report;
  const std::vector<std::string> host = {"cg direction",   "cg product", "cg product: finish", "cg step",
                                         "preconditioner", "cg sums",    "cg sums: finish"};
  const std::vector<std::string> cuda = {"cg direction and product", "cg step", "preconditioner", "cg sums"};
  EXPECT_EQ(names_of_first(report), on_host() ? host : cuda);
  for (const engine::TypeReport& type : report.types) {
    const bool alone = type.name == kPreconditioner || is_finish(type.name);
    EXPECT_EQ(type.executed, alone ? 1U : static_cast<std::uint64_t>(a.rows)) << type.name;
  }
}

/// Where a cycle ends, in the middle of one, and where parts of an iteration depend on the numbers.
TEST_P(KrylovTrace, AnyIterationMayBeRecorded) {
  const CsrMatrix a = test::grid(60, 0.5);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const KrylovTolerances tolerances{.relative = 1e-12, .iterations = 20};
  auto s = system(a, With::factor, FactorKind::ilu);
  for (const KrylovForm form : forms(With::factor)) {
    for (const auto& [orthogonalisation, refinement] :
         {std::pair{KrylovOrthogonalisation::classical, KrylovRefinement::if_needed},
          std::pair{KrylovOrthogonalisation::classical, KrylovRefinement::always},
          std::pair{KrylovOrthogonalisation::modified, KrylovRefinement::never}}) {
      Krylov k = krylov(*s, {.method = KrylovMethod::gmres,
                             .form = form,
                             .restart = 3,
                             .orthogonalisation = orthogonalisation,
                             .refinement = refinement});
      const Solved expected = solve(k, b, tolerances);
      for (const std::int64_t before : {0, 1, 2, 3}) {
        SCOPED_TRACE(std::string(to_string(form)) + ", " + std::to_string(before));
        const Traced run = traced(k, b, tolerances, before);
        expect_same(run.solved.outcome, expected.outcome);
        EXPECT_EQ(run.solved.x, expected.x);
        const std::vector<std::string> names = names_of_first(run.report);
        EXPECT_EQ(std::ranges::count(names, "gmres correction"), before == 2 ? 1 : 0);
        EXPECT_EQ(std::ranges::count(names, "gmres product"), 1);
        const bool modified = orthogonalisation == KrylovOrthogonalisation::modified;
        EXPECT_EQ(std::ranges::count(names, "gmres step"), modified ? before % 3 + 1 : 0);
        expect_order(run.report, on_host() ? static_cast<std::size_t>(GetParam().threads) : 1U);
      }
    }
  }
}

TEST_P(KrylovTrace, ThereIsNoneOutsideASolve) {
  const CsrMatrix a = test::grid(20);
  const std::vector<double> b = test::right_hand_side(a.rows);
  auto s = system(a, With::diagonal);
  Krylov k = krylov(*s, {});
  Report report;
  EXPECT_THROW(k.trace_iteration(report, stream()), InvalidInput);
  test::Array<double> rhs = place(b);
  test::Array<double> x = place(b);
  static_cast<void>(k.begin(rhs.data(), x.data(), false, {}, stream()));
  const KrylovOutcome ended = k.go_on(10000, stream());
  ASSERT_TRUE(ended.converged());
  report.events.resize(1);
  expect_same(k.trace_iteration(report, stream()), ended);
  EXPECT_TRUE(report.events.empty());
  k.end(stream());
  EXPECT_THROW(k.trace_iteration(report, stream()), InvalidInput);
}

TEST_P(KrylovTrace, AnErrorOfThePreconditionerIsThatOfTheIteration) {
  const CsrMatrix a = test::grid(20);
  const std::vector<double> b = test::right_hand_side(a.rows);
  auto s = system(a, With::factor);
  bool fails = false;
  const auto apply = [&](const double* x, double* y, Stream on) {
    if (fails) throw std::runtime_error("has failed");
    s->map->apply(x, y, on);
  };
  FunctionMap map(apply);
  for (const KrylovForm form : forms(With::factor)) {
    Krylov k(context(), s->matrix.view(), &map, {.form = form}, stream());
    const Solved expected = solve(k, b, {});
    test::Array<double> rhs = place(b);
    test::Array<double> x = place(b);
    static_cast<void>(k.begin(rhs.data(), x.data(), false, {}, stream()));
    fails = true;
    Report report;
    EXPECT_THROW(k.trace_iteration(report, stream()), std::runtime_error);
    fails = false;
    EXPECT_EQ(solve(k, b, {}).x, expected.x);
  }
}

}  // namespace
}  // namespace taskdag
