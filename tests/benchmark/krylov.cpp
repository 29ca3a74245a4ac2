// taskdag_krylov: microseconds of an iteration of our Krylov methods on a GPU, by method, preconditioner and form.
//
// An iteration's time is the difference of two solves of K and 2 K iterations, the least of some repetitions, over K;
// no norm ends them. All forms must give the same norms, bit by bit; rows to standard output as CSV.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "csv_text.hpp"
#include "machine.hpp"
#include "taskdag/error.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::benchmark {
namespace {

struct Asked {
  std::vector<Index> flat{45, 100, 250, 500, 1000, 2000};
  std::vector<Index> cubes{30, 60, 100, 160};
  std::vector<std::string> methods{"cg"};
  std::vector<std::string> preconditioners{"none", "jacobi", "factor"};
  int iterations = 100;
  int repeat = 5;
};

struct Problem {
  std::string name;
  CsrMatrix a;
};

/// A matrix on the device and its preconditioners.
struct Device {
  explicit Device(const CsrMatrix& a)
      : offsets(cuda::upload(a.row_offsets, nullptr)),
        columns(cuda::upload(a.col_indices, nullptr)),
        values(cuda::upload(a.values, nullptr)),
        b(cuda::upload(std::vector<double>(static_cast<std::size_t>(a.rows), 1.0), nullptr)),
        x(static_cast<std::size_t>(a.rows), nullptr),
        view{{a.rows, a.cols, offsets.data(), columns.data()}, values.data()} {}
  cuda::DeviceArray<Offset> offsets;
  cuda::DeviceArray<Index> columns;
  cuda::DeviceArray<double> values;
  cuda::DeviceArray<double> b;
  cuda::DeviceArray<double> x;
  CsrView view;
};

KrylovMethod method_from(const std::string& name) {
  for (const KrylovMethod m : {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::fgmres,
                               KrylovMethod::minres, KrylovMethod::richardson, KrylovMethod::chebyshev}) {
    if (name == to_string(m)) return m;
  }
  throw InvalidInput("there is no method " + name);
}

class Bench {
 public:
  explicit Bench(const Asked& asked)
      : asked_(asked), machine_(describe_machine()), context_(Context::create({.backend = Backend::cuda})) {
    std::printf(
        "problem,rows,entries,method,preconditioner,form,iterations,us_per_iteration,us_of_bytes,bits,commit,gpu,"
        "driver,cuda\n");
  }
  void run(const Problem& problem) {
    Device d(problem.a);
    for (const std::string& pc : asked_.preconditioners) {
      const std::unique_ptr<LinearMap> map = preconditioner(pc, problem.a, d);
      for (const std::string& method : asked_.methods) {
        norms_.clear();
        for (const KrylovForm form : {KrylovForm::graph, KrylovForm::one_block, KrylovForm::host_driven}) {
          const bool in_one_block =
              problem.a.rows <= 300000 && (method == "cg" || method == "bcgs" || method == "minres");
          if (form == KrylovForm::one_block && !in_one_block) continue;
          one(problem, d, pc, map.get(), method, form);
        }
      }
    }
  }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  std::unique_ptr<LinearMap> preconditioner(const std::string& name, const CsrMatrix& a, Device& d) {
    if (name == "none") return nullptr;
    if (name == "jacobi") {
      std::vector<double> inverse(static_cast<std::size_t>(a.rows));
      for (std::size_t i = 0; i < inverse.size(); ++i) {
        for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]);
             ++e) {
          if (a.col_indices[e] == static_cast<Index>(i)) inverse[i] = 1.0 / a.values[e];
        }
      }
      diagonal_ = cuda::upload(inverse, nullptr);
      return std::make_unique<DiagonalMap>(diagonal_.data());
    }
    factor_ = std::make_unique<Factorization>(context_, d.view.pattern, MemorySpace::device, FactorOptions{});
    factor_->factor(d.view.values, MemorySpace::device);
    const auto apply = [f = factor_.get()](const double* x, double* y, Stream stream) {
      f->apply(Apply::full, x, y, MemorySpace::device, stream);
    };
    return std::make_unique<FunctionMap<decltype(apply)>>(apply);
  }
  double seconds(Krylov& k, Device& d, int iterations, KrylovOutcome& outcome) {
    const KrylovTolerances tolerances{.relative = 0.0,
                                      .absolute = 0.0,
                                      .divergence = 1e300,
                                      .iterations = iterations,
                                      .least_iterations = iterations};
    double least = 1e300;
    for (int r = 0; r < asked_.repeat; ++r) {
      const auto begin = std::chrono::steady_clock::now();
      outcome = k.solve(d.b.data(), d.x.data(), false, tolerances);
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return least;
  }
  void one(const Problem& problem, Device& d, const std::string& pc, LinearMap* map, const std::string& method,
           KrylovForm form) try {
    KrylovOptions options;
    options.method = method_from(method);
    options.form = form;
    options.smallest = 0.1;
    options.largest = 1.1;
    Krylov k(context_, d.view, map, options);
    KrylovOutcome outcome;
    const double once = seconds(k, d, asked_.iterations, outcome);
    const double twice = seconds(k, d, 2 * asked_.iterations, outcome);
    if (norms_.empty()) norms_ = outcome.norms;
    const bool same = norms_ == outcome.norms;
    if (!same) ++failures_;
    std::printf("%s\n",
                csv_line({problem.name, std::to_string(problem.a.rows), std::to_string(problem.a.entries()), method, pc,
                          to_string(form), std::to_string(outcome.iterations),
                          std::to_string(1e6 * (twice - once) / asked_.iterations),
                          std::to_string(1e3 * k.info().bytes_of_iteration / machine_.bytes_per_ms),
                          same ? "same" : "differ", machine_.commit, machine_.gpu, machine_.driver, machine_.cuda})
                    .c_str());
    static_cast<void>(std::fflush(stdout));
  } catch (const Unsupported& error) {
    std::fprintf(stderr, "%s, %s, %s, %s: %s\n", problem.name.c_str(), method.c_str(), pc.c_str(), to_string(form),
                 error.what());
  }

  const Asked& asked_;
  Machine machine_;
  Context context_;
  cuda::DeviceArray<double> diagonal_;
  std::unique_ptr<Factorization> factor_;
  std::vector<double> norms_;
  int failures_ = 0;
};

int run(const Asked& asked) {
  if (probe_devices().devices == 0) {
    std::printf("skipped: %s\n", probe_devices().message.c_str());
    return 77;
  }
  Bench bench(asked);
  for (const Index n : asked.flat) {
    bench.run(
        {"5-point " + std::to_string(n) + "^2", make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n})});
  }
  for (const Index n : asked.cubes) {
    bench.run({"7-point " + std::to_string(n) + "^3",
               make_stencil({.stencil = Stencil::seven_point, .nx = n, .ny = n, .nz = n})});
  }
  return bench.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  taskdag::benchmark::Asked asked;
  CLI::App app{"Microseconds of an iteration of Krylov methods on a GPU"};
  app.add_option("--flat", asked.flat, "sides of 5-point grids")->expected(0, -1)->capture_default_str();
  app.add_option("--cubes", asked.cubes, "sides of 7-point grids")->expected(0, -1)->capture_default_str();
  app.add_option("--methods", asked.methods, "PETSc's names")->expected(1, -1)->capture_default_str();
  app.add_option("--preconditioners", asked.preconditioners, "none, jacobi, factor")
      ->expected(1, -1)
      ->capture_default_str();
  app.add_option("--iterations", asked.iterations, "K")->capture_default_str();
  app.add_option("--repeat", asked.repeat, "solves of each length")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return taskdag::benchmark::run(asked);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
