#include "jacobi.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/stream.hpp"
#include "count_differences.hpp"
#include "session.hpp"
#include "taskdag/error.hpp"
#include "taskdag/jacobi.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

constexpr int kSweeps[] = {1, 2, 5, 10, 20, 50};
/// Of solves: all of them are done, since no change is small enough.
constexpr int kSolveSweeps = 50;

/// A captured application.
class Graph {
 public:
  explicit Graph(const std::function<void(cudaStream_t)>& submit) {
    const cuda::UniqueStream stream;
    cuda::check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "beginning to capture");
    submit(stream.get());
    cudaGraph_t graph = nullptr;
    cuda::check(cudaStreamEndCapture(stream.get(), &graph), "capturing sweeps");
    const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    cuda::check(made, "making a graph of sweeps");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { static_cast<void>(cudaGraphExecDestroy(exec_)); }
  void launch() const { cuda::check(cudaGraphLaunch(exec_, nullptr), "launching a graph of sweeps"); }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

class JacobiForms {
 public:
  JacobiForms(Session& session, const Problem& problem, const CsrMatrix& a)
      : session_(session),
        problem_(problem),
        rows_(static_cast<std::size_t>(a.rows)),
        entries_(a.entries()),
        matrix_(a),
        b_(rows_, nullptr),
        x_(rows_, nullptr),
        expected_(rows_, nullptr),
        differences_(1, nullptr) {
    for (std::size_t i = 0; i < rows_; ++i) longest_ = std::max(longest_, a.row_offsets[i + 1] - a.row_offsets[i]);
    const std::vector<double> b = random_vector(rows_, 5);
    cuda::copy_to_device(b_.data(), b.data(), rows_, nullptr);
    cuda::synchronize(nullptr);
  }

  void run() {
    if (session_.options.jacobi_solves) {
      solves();
      return;
    }
    for (const int sweeps : kSweeps) {
      cut(sweeps, true);
      if (longest_ > JacobiOptions{}.long_row) cut(sweeps, false);
    }
    if (session_.options.forms.empty()) solves();
  }

 private:
  using Scheduler = engine::Scheduler;

  [[nodiscard]] JacobiOptions base(int sweeps, bool split) const {
    JacobiOptions options{.sweeps = sweeps, .damping = 0.8, .keep_matrix = true, .form = JacobiForm::kernels};
    if (!split) options.long_row = 0;
    return options;
  }

  std::unique_ptr<Jacobi> make(const JacobiOptions& options) {
    return std::make_unique<Jacobi>(session_.context, matrix_.view(), MemorySpace::device, options);
  }

  /// Applications of a number of sweeps, long rows in pieces or not.
  void cut(int sweeps, bool split) {
    JacobiOptions options = base(sweeps, split);
    const std::unique_ptr<Jacobi> plain = make(options);
    plain->apply(b_.data(), expected_.data(), MemorySpace::device);
    cuda::synchronize(nullptr);
    graph_time_.reset();
    plain->apply(b_.data(), x_.data(), MemorySpace::device);  // what it makes on first use is not captured
    const Graph graph(
        [&](cudaStream_t stream) { plain->apply(b_.data(), x_.data(), MemorySpace::device, false, {stream}); });
    graph_time_ = measure("kernels in a graph", "", sweeps, split, [&] { graph.launch(); });
    measure("kernels", "", sweeps, split, [&] { plain->apply(b_.data(), x_.data(), MemorySpace::device); });
    if (sweeps == 1) return;
    for (const JacobiForm form :
         {JacobiForm::stages_phases, JacobiForm::stages, JacobiForm::checkpoints, JacobiForm::autonomous}) {
      if (!wanted(form)) continue;
      for (const Scheduler scheduler : {Scheduler::megakernel, Scheduler::timesliced, Scheduler::device_controller}) {
        // Long rows that are whole, the slower schedulers: one comparison is enough.
        if (scheduler != Scheduler::megakernel && (!split || sweeps % 10 != 0)) continue;
        options.form = form;
        options.run.scheduler = scheduler;
        measure_application(options, sweeps, split);
      }
    }
    options.run.scheduler = Scheduler::automatic;
    for (const JacobiForm form : {JacobiForm::turning, JacobiForm::tiles, JacobiForm::resident}) {
      options.form = form;
      if (wanted(form)) measure_application(options, sweeps, split);
    }
  }

  void measure_application(const JacobiOptions& options, int sweeps, bool split) {
    std::unique_ptr<Jacobi> j;
    try {
      j = make(options);
    } catch (const Unsupported&) {
      return;  // rows or tiles are too large
    }
    const char* const scheduler =
        options.run.scheduler == Scheduler::automatic ? "" : engine::to_string(options.run.scheduler);
    measure(to_string(options.form), scheduler, sweeps, split,
            [&] { j->apply(b_.data(), x_.data(), MemorySpace::device); });
    if (options.run.scheduler != Scheduler::automatic) return;
    const Graph graph(
        [&](cudaStream_t stream) { j->apply(b_.data(), x_.data(), MemorySpace::device, false, {stream}); });
    measure(std::string(to_string(options.form)) + " in a graph", scheduler, sweeps, split, [&] { graph.launch(); });
  }

  [[nodiscard]] bool wanted(JacobiForm form) const {
    const auto& forms = session_.options.forms;
    return forms.empty() || std::find(forms.begin(), forms.end(), form) != forms.end();
  }

  /// Solves that look at the change, which is never small enough.
  void solves() {
    {
      const std::unique_ptr<Jacobi> plain = make(base(kSolveSweeps, true));
      plain->apply(b_.data(), expected_.data(), MemorySpace::device);
      cuda::synchronize(nullptr);
    }
    graph_time_.reset();
    counts_memory_ = true;
    const auto solve = [&](JacobiForm form, Scheduler scheduler, int every) {
      JacobiOptions options = base(kSolveSweeps, true);
      options.form = form;
      options.run.scheduler = scheduler;
      static_cast<void>(cuda::most_device_bytes());
      used_before_ = cuda::most_device_bytes();
      const std::unique_ptr<Jacobi> j = make(options);
      const std::string name = std::string(to_string(form)) + ", checked every " + std::to_string(every);
      const auto time = measure(
          name, form == JacobiForm::kernels ? "" : engine::to_string(scheduler), kSolveSweeps, true,
          [&] {
            static_cast<void>(j->solve(b_.data(), x_.data(), MemorySpace::device,
                                       {.tolerance = 0.0, .max_sweeps = kSolveSweeps, .check_every = every}));
          },
          [&] { cuda::check(cudaMemsetAsync(x_.data(), 0, rows_ * sizeof(double), nullptr), "clearing x"); });
      if (form == JacobiForm::kernels && every == 1) graph_time_ = time;
    };
    solve(JacobiForm::kernels, Scheduler::automatic, 1);
    solve(JacobiForm::kernels, Scheduler::automatic, 10);
    for (const Scheduler scheduler : {Scheduler::megakernel, Scheduler::timesliced, Scheduler::device_controller}) {
      solve(JacobiForm::stages_phases, scheduler, kSolveSweeps);
      solve(JacobiForm::stages, scheduler, kSolveSweeps);
      solve(JacobiForm::checkpoints, scheduler, 10);
      solve(JacobiForm::autonomous, scheduler, kSolveSweeps);
    }
    counts_memory_ = false;
  }

  std::optional<Timing> measure(
      const std::string& form, const std::string& scheduler, int sweeps, bool split,
      const std::function<void()>& action, const std::function<void()>& before = [] {}) {
    const std::string what = problem_.name + ", " + form + " " + scheduler + ", " + std::to_string(sweeps) +
                             (sweeps == 1 ? " sweep" : " sweeps") + (split ? "" : ", long rows whole");
    Row row{{"program", "jacobi"},
            {"problem", problem_.name},
            {"set", to_string(problem_.set)},
            {"rows", rows_},
            {"entries", entries_},
            {"longest_row", longest_},
            {"sweeps", sweeps},
            {"form", form},
            {"scheduler", scheduler.empty() ? Row() : Row(scheduler)},
            {"long_rows", split ? "in pieces" : "whole"},
            {"milliseconds", nullptr},
            {"least", nullptr},
            {"most", nullptr},
            {"repeats", nullptr},
            {"us_per_sweep", nullptr},
            {"baseline_over_this", nullptr},
            {"device_mb", nullptr},
            {"status", "ok"}};
    session_.step(what, row);
    std::optional<Timing> result;
    try {
      const Timing time = time_on_device(session_.options.timing, action, before);
      if (counts_memory_)
        row["device_mb"] = 1e-6 * (static_cast<double>(cuda::most_device_bytes() - used_before_) + lent());
      cuda::check(cudaMemsetAsync(differences_.data(), 0, sizeof(unsigned long long), nullptr), "clearing a counter");
      count_differences(rows_, x_.data(), expected_.data(), differences_.data());
      const unsigned long long different = cuda::fetch(differences_.data(), nullptr);
      row["milliseconds"] = time.median;
      row["least"] = time.least;
      row["most"] = time.most;
      row["repeats"] = time.repeats;
      row["us_per_sweep"] = 1e3 * time.median / sweeps;
      if (graph_time_) row["baseline_over_this"] = graph_time_->median / time.median;
      if (different != 0) {
        row["status"] = "wrong result";
        session_.fail(what + ": " + std::to_string(different) + " values differ");
      } else if (graph_time_) {
        session_.ratios.add("graph to " + form + (scheduler.empty() ? "" : " " + scheduler) + ", " +
                                std::to_string(sweeps) + (split ? "" : ", whole"),
                            problem_, graph_time_->median / time.median);
      }
      std::printf("%-24s %2d %-32s %-10s %-6s %9.4f ms, %7.2f us a sweep", problem_.name.c_str(), sweeps, form.c_str(),
                  scheduler.c_str(), split ? "" : "whole", time.median, 1e3 * time.median / sweeps);
      if (graph_time_) std::printf("  baseline x%.2f", graph_time_->median / time.median);
      std::printf("\n");
      result = time;
    } catch (const std::exception& error) {
      row["status"] = error.what();
      session_.fail(what + ": " + error.what());
    }
    session_.rows.add(row);
    return result;
  }

  /// Bytes of the matrix and of both vectors, which were there before the solver.
  [[nodiscard]] double lent() const {
    return static_cast<double>(rows_ * (sizeof(Offset) + 2 * sizeof(double)) + sizeof(Offset)) +
           static_cast<double>(entries_) * (sizeof(Index) + sizeof(double));
  }

  Session& session_;
  const Problem& problem_;
  std::size_t rows_;
  Offset entries_;
  Offset longest_ = 0;
  DeviceMatrix matrix_;
  cuda::DeviceArray<double> b_;
  cuda::DeviceArray<double> x_;
  cuda::DeviceArray<double> expected_;
  cuda::DeviceArray<unsigned long long> differences_;
  bool counts_memory_ = false;        ///< of the solver that was made last, with its matrix and vectors
  std::uint64_t used_before_ = 0;     ///< device memory, before that solver
  std::optional<Timing> graph_time_;  ///< what others are compared with: kernels in a graph; of solves: checked kernels
};

}  // namespace

int run_jacobi(const Options& options) {
  Session session(options, {"problem", "sweeps", "form", "scheduler", "long_rows"});
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) { JacobiForms(session, problem, a).run(); });
  return session.finish();
}

}  // namespace taskdag::benchmark
