/// \file
/// Triangular solves and incomplete factorisations against cuSPARSE, results checked in the same run.
///
/// usage: taskdag_bench [--smoke] [--only NAME]... [--csv FILE] [--repeat N]
/// Prints one line per problem; with --csv also one row per measurement with commit, GPU, driver and CUDA versions.
/// Exit status 1 if a result is wrong, 77 without a GPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "backends/cuda/stream.hpp"
#include "kernels/ic0/reference.hpp"
#include "kernels/ilu0/reference.hpp"
#include "kernels/sptrsv/reference.hpp"
#include "problems.hpp"
#include "rivals.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::benchmark {
namespace {

struct Timing {
  double median = 0.0;  ///< milliseconds
  double least = 0.0;
  double most = 0.0;
};

/// Times `action` on the default stream by events: three warm-ups, then `repeat` runs; `before` is not timed.
Timing time_it(
    int repeat, const std::function<void()>& action, const std::function<void()>& before = [] {}) {
  std::vector<double> times;
  const cuda::UniqueEvent start;
  const cuda::UniqueEvent end;
  for (int k = -3; k < repeat; ++k) {
    before();
    start.record(nullptr);
    action();
    end.record(nullptr);
    const double elapsed = static_cast<double>(end.milliseconds_since(start));
    if (k >= 0) times.push_back(elapsed);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

double relative_error(const std::vector<double>& x, const std::vector<double>& reference) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - reference[i]) <= 1e300)) return INFINITY;
    error = std::max(error, std::abs(x[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  return size > 0.0 ? error / size : error;
}

double wall_ms(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Options {
  bool smoke = false;
  int repeat = 11;
  std::vector<std::string> only;
  std::string csv;
};

struct Ratios {
  std::vector<std::pair<std::string, double>> of_table, of_all;
  void add(const Problem& problem, double ratio) {
    if (problem.in_table) of_table.emplace_back(problem.name, ratio);
    of_all.emplace_back(problem.name, ratio);
  }
  static void print(const char* what, const std::vector<std::pair<std::string, double>>& ratios) {
    if (ratios.empty()) return;
    double logs = 0.0;
    auto worst = ratios.front();
    for (const auto& r : ratios) {
      logs += std::log(r.second);
      if (r.second < worst.second) worst = r;
    }
    std::printf("%-28s geometric mean %.2f, least %.2f (%s), %zu matrices\n", what,
                std::exp(logs / static_cast<double>(ratios.size())), worst.second, worst.first.c_str(), ratios.size());
  }
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    check_cusparse(cusparseCreate(&handle_), "cusparseCreate");
    int driver = 0;
    int runtime = 0;
    cuda::check(cudaDriverGetVersion(&driver), "driver version");
    cuda::check(cudaRuntimeGetVersion(&runtime), "runtime version");
    const char* commit = std::getenv("TASKDAG_COMMIT");
    versions_ = std::string(commit ? commit : "unknown") + "," + context_.device_name() + "," + std::to_string(driver) +
                "," + std::to_string(runtime);
    if (!options.csv.empty()) {
      csv_.open(options.csv);
      csv_ << "problem,rows,entries,levels,what,milliseconds,least,most,error,commit,gpu,driver,cuda\n";
    }
  }
  ~Bench() { cusparseDestroy(handle_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void run(const Problem& problem) {
    bool repaired = false;
    const CsrMatrix a = make_problem(problem.name, repaired);
    if (a.rows != a.cols) {
      std::printf("%-26s not square, left out\n", problem.name.c_str());
      return;
    }
    const DeviceMatrix device_a(a);
    const auto n = static_cast<std::size_t>(a.rows);
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> b(n);
    for (auto& value : b) value = uniform(random);
    const cuda::DeviceArray<double> device_b(n, nullptr);
    const cuda::DeviceArray<double> device_x(n, nullptr);
    const cuda::DeviceArray<double> device_y(n, nullptr);
    cuda::copy_to_device(device_b.data(), b.data(), n, nullptr);
    problem_ = problem.name;
    rows_ = a.rows;
    entries_ = a.entries();

    // ILU(0): ours, checked with the serial reference; then csrilu02.
    FactorOptions factor_options;
    factor_options.zero_pivot = 0.0;
    std::unique_ptr<Factorization> factorization;
    const double symbolic_ms = wall_ms([&] {
      factorization =
          std::make_unique<Factorization>(context_, device_a.view().pattern, MemorySpace::device, factor_options);
    });
    levels_ = factorization->info().lower_levels;
    const Timing ilu =
        time_it(options_.repeat, [&] { factorization->factor(device_a.values.data(), MemorySpace::device); });
    CsrMatrix lu = factorization->copy_factor();
    FactorStatus reference_status;
    const CsrMatrix lu_reference = kernels::reference_ilu0(a.view(), factor_options, 0.0, reference_status);
    const double ilu_error = relative_error(lu.values, lu_reference.values);
    Csr02 rival_ilu(handle_, device_a, FactorKind::ilu0);
    const Timing csrilu02 = time_it(
        options_.repeat, [&] { rival_ilu.factor(); }, [&] { rival_ilu.reset(); });
    row("ilu0", ilu, ilu_error);
    row("csrilu02", csrilu02, 0.0);
    double worst_error = ilu_error;

    // Triangular solves with that factor.
    lu = lu_reference;
    const DeviceMatrix device_lu(lu);
    double ours[2];
    double theirs[2];
    double analysis_ms[2];
    double rival_analysis_ms[2];
    for (const bool lower : {true, false}) {
      const int at = lower ? 0 : 1;
      TriangularOptions t;
      t.triangle = lower ? Triangle::lower : Triangle::upper;
      t.unit_diagonal = lower;
      std::unique_ptr<TriangularSolver> solver;
      for (int warm = 0; warm < 2; ++warm) {
        solver.reset();
        analysis_ms[at] = wall_ms(
            [&] { solver = std::make_unique<TriangularSolver>(context_, device_lu.view(), MemorySpace::device, t); });
      }
      const Timing time =
          time_it(options_.repeat, [&] { solver->solve(device_b.data(), device_x.data(), MemorySpace::device); });
      std::vector<double> reference(n);
      kernels::reference_sptrsv(lu.view(), t, b.data(), reference.data());
      const double error = relative_error(cuda::fetch_array(device_x.data(), n, nullptr), reference);
      SpSV rival(handle_, device_lu, lower, lower, device_b.data(), device_y.data());
      const Timing spsv = time_it(options_.repeat, [&] { rival.solve(); });
      const double rival_error = relative_error(cuda::fetch_array(device_y.data(), n, nullptr), reference);
      row(lower ? "sptrsv lower" : "sptrsv upper", time, error);
      row(lower ? "SpSV lower" : "SpSV upper", spsv, rival_error);
      row(lower ? "analysis lower" : "analysis upper", {analysis_ms[at], analysis_ms[at], analysis_ms[at]}, 0.0);
      const auto rival_analysis = static_cast<double>(rival.analysis_ms());
      row(lower ? "SpSV analysis lower" : "SpSV analysis upper", {rival_analysis, rival_analysis, rival_analysis}, 0.0);
      ours[at] = time.median;
      theirs[at] = spsv.median;
      rival_analysis_ms[at] = static_cast<double>(rival.analysis_ms());
      // A factor that amplifies rounding by 1e4 or more cannot be compared to 1e-12: the rival's error is the measure.
      if (!(error <= std::max(1e-12, 10 * rival_error))) worst_error = INFINITY;
      (lower ? lower_ratios_ : upper_ratios_).add(problem, spsv.median / time.median);
    }
    const Timing apply = time_it(options_.repeat, [&] {
      factorization->apply(Apply::full, device_b.data(), device_x.data(), MemorySpace::device);
    });
    row("apply L and U", apply, 0.0);
    SpMV spmv(handle_, device_a, device_b.data(), device_y.data());
    const Timing product = time_it(options_.repeat, [&] { spmv.multiply(); });
    row("SpMV", product, 0.0);
    ilu_ratios_.add(problem, csrilu02.median / ilu.median);

    double ic_ratio = 0.0;
    if (problem.symmetric) {
      FactorOptions ic_options = factor_options;
      ic_options.kind = FactorKind::ic0;
      Factorization ic(context_, device_a.view().pattern, MemorySpace::device, ic_options);
      const Timing ours_ic = time_it(options_.repeat, [&] { ic.factor(device_a.values.data(), MemorySpace::device); });
      const CsrMatrix u = ic.copy_factor();
      const double error =
          relative_error(u.values, kernels::reference_ic0(a.view(), ic_options, 0.0, reference_status).values);
      Csr02 rival_ic(handle_, device_a, FactorKind::ic0);
      const Timing csric02 = time_it(
          options_.repeat, [&] { rival_ic.factor(); }, [&] { rival_ic.reset(); });
      row("ic0", ours_ic, error);
      row("csric02", csric02, 0.0);
      worst_error = std::max(worst_error, error);
      ic_ratio = csric02.median / ours_ic.median;
      ic_ratios_.add(problem, ic_ratio);
    }
    if (!(worst_error <= 1e-12)) failures_.push_back(problem.name);
    std::printf(
        "%-26s n %8d nnz %9d lev %6d | L %7.3f SpSV %7.3f x%5.2f | U %7.3f SpSV %7.3f x%5.2f | LU %7.3f | "
        "ilu %7.3f cs %7.3f x%5.2f | ic x%5.2f | anL %6.2f/%6.2f anU %6.2f sym %7.2f | spmv %6.3f | err %.0e%s\n",
        problem.name.c_str(), a.rows, a.entries(), levels_, ours[0], theirs[0], theirs[0] / ours[0], ours[1], theirs[1],
        theirs[1] / ours[1], apply.median, ilu.median, csrilu02.median, csrilu02.median / ilu.median, ic_ratio,
        analysis_ms[0], rival_analysis_ms[0], analysis_ms[1], symbolic_ms, product.median, worst_error,
        repaired ? " (diagonal repaired)" : "");
    std::fflush(stdout);
  }

  int finish() {
    Ratios::print("SpTRSV L, table", lower_ratios_.of_table);
    Ratios::print("SpTRSV L, all", lower_ratios_.of_all);
    Ratios::print("SpTRSV U, table", upper_ratios_.of_table);
    Ratios::print("SpTRSV U, all", upper_ratios_.of_all);
    Ratios::print("ILU(0), table", ilu_ratios_.of_table);
    Ratios::print("ILU(0), all", ilu_ratios_.of_all);
    Ratios::print("IC(0), all", ic_ratios_.of_all);
    for (const auto& name : failures_) std::printf("WRONG RESULT: %s\n", name.c_str());
    return failures_.empty() ? 0 : 1;
  }

 private:
  void row(const char* what, const Timing& time, double error) {
    if (csv_.is_open()) {
      csv_ << problem_ << ',' << rows_ << ',' << entries_ << ',' << levels_ << ',' << what << ',' << time.median << ','
           << time.least << ',' << time.most << ',' << error << ',' << versions_ << std::endl;
    }
  }

  Options options_;
  Context context_ = Context::create({Backend::cuda, 0, -1});
  cusparseHandle_t handle_ = nullptr;
  std::string versions_;
  std::ofstream csv_;
  std::string problem_;
  Index rows_ = 0;
  Offset entries_ = 0;
  Index levels_ = 0;
  Ratios lower_ratios_, upper_ratios_, ilu_ratios_, ic_ratios_;
  std::vector<std::string> failures_;
};

int main_of(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const auto value = [&]() -> std::string {
      if (k + 1 >= argc) throw InvalidInput(argument + " needs a value");
      return argv[++k];
    };
    if (argument == "--smoke") {
      options.smoke = true;
    } else if (argument == "--only") {
      options.only.push_back(value());
    } else if (argument == "--csv") {
      options.csv = value();
    } else if (argument == "--repeat") {
      options.repeat = std::stoi(value());
    } else {
      throw InvalidInput("unknown argument " + argument);
    }
  }
  if (probe_devices().devices == 0) {
    std::printf("skipped: %s\n", probe_devices().message.c_str());
    return 77;
  }
  Bench bench(options);
  for (const auto& problem : options.smoke ? list_smoke_problems() : list_problems()) {
    const bool wanted =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), problem.name) != options.only.end();
    if (wanted) bench.run(problem);
  }
  return bench.finish();
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    return taskdag::benchmark::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taskdag_bench: %s\n", error.what());
    return 1;
  }
}
