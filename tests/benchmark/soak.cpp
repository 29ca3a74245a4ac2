#include "soak.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>

#include "count_differences.hpp"
#include "right_hand_sides.hpp"
#include "session.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

// Narrow and wide DAGs with short and with long rows, small enough for a reference solve per right-hand side.
const std::vector<std::string> kProblems = {"5-point 40^2", "27-point 2 unknowns 8^3", "5-point 250^2",
                                            "Erdos-Renyi 100k 1M", "narrow band p.14 b10"};
constexpr int kPool = 2 * kRhsKinds;  // right-hand sides in use at a time
constexpr int kUses = 8;              // solves with each before they are replaced

/// One triangular system under one schedule.
class SoakSystem {
 public:
  SoakSystem(Session& session, const CsrMatrix& lu, const DeviceMatrix& device_lu, const TriangularOptions& options)
      : lu_(lu),
        options_(options),
        solver_(session.context, device_lu.view(), MemorySpace::device, options),
        rows_(static_cast<std::size_t>(lu.rows)),
        b_(rows_ * kPool, nullptr),
        expected_(rows_ * kPool, nullptr),
        x_(rows_, nullptr),
        differences_(1, nullptr) {}

  struct Result {
    std::int64_t solves = 0;
    std::int64_t right_hand_sides = 0;
    std::int64_t wrong = 0;       // against the reference
    std::int64_t unreported = 0;  // outcome() against what the result holds
    unsigned long long differences = 0;
    std::string first_wrong;
  };

  /// A new pool, its solutions checked, then solves in random order. At most `most` solves.
  void round(std::int64_t most, std::mt19937_64& random, Result& result) {
    const int pool = static_cast<int>(std::min<std::int64_t>(kPool, most));
    for (int k = 0; k < pool; ++k) check_new(k, random, result);
    cuda::check(cudaMemsetAsync(differences_.data(), 0, sizeof(unsigned long long), nullptr), "clearing a counter");
    const auto more = std::min<std::int64_t>(most - pool, std::int64_t{pool} * (kUses - 1));
    for (std::int64_t k = 0; k < more; ++k) {
      const std::size_t first = random() % static_cast<std::size_t>(pool) * rows_;
      const double* b = b_.data() + first;
      if (random() % 4 == 0) {  // in place
        cuda::copy_on_device(x_.data(), b, rows_, nullptr);
        b = x_.data();
      }
      solver_.solve(b, x_.data(), MemorySpace::device);
      count_differences(rows_, x_.data(), expected_.data() + first, differences_.data());
    }
    result.differences += cuda::fetch(differences_.data(), nullptr);
    result.solves += pool + more;
    static_cast<void>(solver_.outcome());
  }

  [[nodiscard]] SolveSchedule chosen() const { return solver_.info().schedule; }

 private:
  void check_new(int k, std::mt19937_64& random, Result& result) {
    const int kind = k % kRhsKinds;
    const std::vector<double> b = make_rhs(kind, rows_, random);
    double* const device_b = b_.data() + static_cast<std::size_t>(k) * rows_;
    double* const device_x = expected_.data() + static_cast<std::size_t>(k) * rows_;
    cuda::copy_to_device(device_b, b.data(), rows_, nullptr);
    cuda::check(cudaMemsetAsync(device_x, 0, rows_ * sizeof(double), nullptr), "clearing x");
    solver_.solve(device_b, device_x, MemorySpace::device);
    const bool reported = solver_.outcome() == SolveOutcome::non_finite;
    const std::vector<double> x = cuda::fetch_array(device_x, rows_, nullptr);
    ++result.right_hand_sides;
    if (reported == all_finite(x)) ++result.unreported;
    const bool rewrites = solve_schedule_catalogue()[static_cast<std::size_t>(chosen())].rewrites_rows;
    if (same_solution(x, reference_solutions(lu_, options_, b), rewrites ? NotFinite::any : NotFinite::same)) return;
    if (result.wrong++ == 0) result.first_wrong = rhs_kind_name(kind);
  }

  const CsrMatrix& lu_;
  TriangularOptions options_;
  TriangularSolver solver_;
  std::size_t rows_;
  cuda::DeviceArray<double> b_;
  cuda::DeviceArray<double> expected_;
  cuda::DeviceArray<double> x_;
  cuda::DeviceArray<unsigned long long> differences_;
};

void soak(Session& session, const std::string& problem, const CsrMatrix& lu, const DeviceMatrix& device_lu,
          const TriangularOptions& options, std::int64_t solves, std::mt19937_64& random) {
  const std::string what = problem + (options.triangle == Triangle::lower ? " lower" : " upper") +
                           (options.transposed ? " transposed " : " ") + to_string(options.schedule);
  Row row = {{"program", "soak"},
             {"problem", problem},
             {"triangle", options.triangle == Triangle::lower ? "lower" : "upper"},
             {"transposed", options.transposed},
             {"schedule", to_string(options.schedule)},
             {"chosen", nullptr},
             {"solves", nullptr},
             {"right_hand_sides", nullptr},
             {"wrong", nullptr},
             {"differences", nullptr},
             {"unreported", nullptr},
             {"seconds", nullptr},
             {"status", "ok"}};
  SoakSystem::Result result;
  try {
    session.step(what, row);
    SoakSystem system(session, lu, device_lu, options);
    row["chosen"] = to_string(system.chosen());
    const double seconds = 1e-3 * wall_ms([&] {
                             while (result.solves < solves) {
                               session.step(what, row);
                               system.round(solves - result.solves, random, result);
                             }
                           });
    row["solves"] = result.solves;
    row["right_hand_sides"] = result.right_hand_sides;
    row["wrong"] = result.wrong;
    row["differences"] = result.differences;
    row["unreported"] = result.unreported;
    row["seconds"] = seconds;
    std::printf(
        "%-50s %-16s %7lld solves, %6lld right-hand sides, %lld wrong, %llu differences, %lld unreported, %.1f s\n",
        what.c_str(), to_string(system.chosen()), static_cast<long long>(result.solves),
        static_cast<long long>(result.right_hand_sides), static_cast<long long>(result.wrong), result.differences,
        static_cast<long long>(result.unreported), seconds);
    if (result.wrong > 0) session.fail(what + ": wrong, first with " + result.first_wrong);
    if (result.differences > 0) session.fail(what + ": a solve differs from the first with the same right-hand side");
    if (result.unreported > 0) session.fail(what + ": outcome() does not say what the result holds");
    if (result.wrong > 0 || result.differences > 0 || result.unreported > 0) row["status"] = "wrong result";
  } catch (const std::exception& error) {
    row["status"] = error.what();
    session.fail(what + ": " + error.what());
  }
  session.rows.add(row);
}

}  // namespace

int run_soak(const Options& given) {
  Options options = given;
  if (!options.smoke && options.only.empty()) options.only = kProblems;
  Session session(options, {"problem", "triangle", "transposed", "schedule"});
  std::mt19937_64 random(options.seed);
  const std::size_t problems = options.smoke ? list_smoke_problems().size() : options.only.size();
  const auto systems = static_cast<std::int64_t>(4 * problems * options.schedules.size());
  const std::int64_t solves = (options.solves + systems - 1) / systems;
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) {
    const CsrMatrix lu = make_factor(a);
    const DeviceMatrix device_lu(lu);
    for (const SolveSchedule schedule : options.schedules) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        for (const bool transposed : {false, true}) {
          soak(session, problem.name, lu, device_lu, {triangle, triangle == Triangle::lower, transposed, schedule},
               solves, random);
        }
      }
    }
  });
  return session.finish();
}

}  // namespace taskdag::benchmark
