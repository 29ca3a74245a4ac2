#include "ilu0.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "dag/transpose.hpp"
#include "reference/ic.hpp"
#include "reference/ilu.hpp"
#include "rounded_factor.hpp"
#include "session.hpp"
#include "taskdag/block_ordering.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

const char* to_string(FactorKind kind) { return kind == FactorKind::ilu ? "ilu0" : "ic0"; }

bool is_symmetric(const CsrMatrix& a) {
  const Transposed t = transpose(a.pattern());
  if (t.row_offsets != a.row_offsets || t.col_indices != a.col_indices) return false;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    if (a.values[e] != a.values[static_cast<std::size_t>(t.source_entry[e])]) return false;
  }
  return true;
}

/// csric02 needs positive pivots; a factor with others is left out of the comparison.
bool has_positive_pivots(const CsrMatrix& ic) {
  for (Index i = 0; i < ic.rows; ++i) {  // a row of the upper triangle starts with its diagonal
    const auto row = static_cast<std::size_t>(i);
    if (!(ic.values[static_cast<std::size_t>(ic.row_offsets[row])] > 0.0)) return false;
  }
  return true;
}

/// What csric02 leaves in the lower triangle, from the reference A ≈ Uᵀ D U: L = Uᵀ D^½, row by row.
std::vector<double> lower_cholesky(const CsrMatrix& ic) {
  const Transposed t = transpose(ic.pattern());
  std::vector<double> values;
  values.reserve(ic.values.size());
  for (std::size_t e = 0; e < ic.values.size(); ++e) {
    const auto diagonal = static_cast<std::size_t>(ic.row_offsets[static_cast<std::size_t>(t.col_indices[e])]);
    const auto source = static_cast<std::size_t>(t.source_entry[e]);
    const double root = std::sqrt(ic.values[diagonal]);
    values.push_back(source == diagonal ? root : ic.values[source] * root);
  }
  return values;
}

/// A matrix in the order of its blocks.
struct Ordered {
  CsrMatrix a;
  std::shared_ptr<const RowBlocks> blocks;
};

Ordered in_block_order(const CsrMatrix& a) {
  BlockOrdering ordering =
      block_multicolour(Context::create({Backend::host, 0, -1}), a.pattern(), MemorySpace::host, {});
  const MappedPattern moved = permute_pattern(a.pattern(), ordering.order, ordering.order);
  Ordered result;
  result.a = {a.rows, a.cols, moved.row_offsets, moved.col_indices, {}};
  result.a.values.reserve(moved.source_entry.size());
  for (const Offset e : moved.source_entry) result.a.values.push_back(a.values[static_cast<std::size_t>(e)]);
  result.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  return result;
}

std::vector<double> lower_entries(const CsrMatrix& a, const std::vector<double>& values) {
  std::vector<double> lower;
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]); e < static_cast<std::size_t>(a.row_offsets[row + 1]);
         ++e) {
      if (a.col_indices[e] <= i) lower.push_back(values[e]);
    }
  }
  return lower;
}

/// A rival's numeric phase.
struct RivalFactor {
  Timing time;
  double analysis_ms = 0.0;
  double error = 0.0;  // against the reference
};

class Factors {
 public:
  Factors(Session& session, const Problem& problem, const CsrMatrix& a, std::shared_ptr<const RowBlocks> blocks)
      : session_(session), problem_(problem), a_(a), device_a_(a) {
    options_.zero_pivot = 0.0;
    options_.blocks = std::move(blocks);
  }

  void run() {
    run_kind(FactorKind::ilu);
    if (is_symmetric(a_)) run_kind(FactorKind::ic);
  }

 private:
  [[nodiscard]] Row row_of(const char* what, const std::string& solver, const std::string& schedule) const {
    return {{"program", "ilu0"},
            {"problem", problem_.name},
            {"set", to_string(problem_.set)},
            {"rows", a_.rows},
            {"entries", a_.entries()},
            {"levels", levels_ > 0 ? Row(levels_) : Row()},
            {"entries_per_row", static_cast<double>(a_.entries()) / a_.rows},
            {"what", what},
            {"solver", solver},
            {"schedule", schedule},
            {"precision", nullptr},
            {"ordering", options_.blocks ? "taskdag_bmc" : "natural"},
            {"chosen", nullptr},
            {"value_bytes", nullptr},
            {"milliseconds", nullptr},
            {"least", nullptr},
            {"most", nullptr},
            {"repeats", nullptr},
            {"analysis_ms", nullptr},
            {"first_ms", nullptr},
            {"error", nullptr},
            {"status", "ok"},
            {"ns_per_level", nullptr},
            {"speedup", nullptr},
            {"break_even", nullptr}};
  }

  void fill(Row& row, const Timing& time) const {
    row["milliseconds"] = time.median;
    row["least"] = time.least;
    row["most"] = time.most;
    row["repeats"] = time.repeats;
    if (levels_ > 0) row["ns_per_level"] = time.median * 1e6 / levels_;
  }

  void run_kind(FactorKind kind) {
    FactorOptions options = options_;
    options.kind = kind;
    const std::string what = problem_.name + " " + to_string(kind);
    session_.step(what + " serial reference", row_of(to_string(kind), "serial reference", ""));
    FactorStatus status;
    const CsrMatrix reference = kind == FactorKind::ilu ? kernels::reference_ilu(a_.view(), options, 0.0, status)
                                                        : kernels::reference_ic(a_.view(), options, 0.0, status);
    if (kind == FactorKind::ic && !has_positive_pivots(reference)) {
      std::printf("%s: not positive definite enough for IC(0), left out\n", problem_.name.c_str());
      return;
    }
    const std::optional<RivalFactor> rival = measure_rival(kind, what, reference);
    const bool by_engine =
        std::ranges::find(session_.options.schedules, SolveSchedule::engine) != session_.options.schedules.end();
    for (const FactorSchedule schedule : {FactorSchedule::automatic, FactorSchedule::lists, FactorSchedule::engine}) {
      if (schedule != FactorSchedule::automatic && !by_engine) continue;
      options.factor_schedule = schedule;
      options.run = session_.options.run;
      Row row = row_of(to_string(kind), "TaskDAG", name_of(options));
      session_.step(what, row);
      try {
        run_ours(options, what, reference, rival, row);
      } catch (const std::exception& error) {
        row["status"] = error.what();
        session_.fail(what + ": " + error.what());
        session_.rows.add(row);
      }
    }
  }

  /// Of a numeric factorisation: "" for the library's own.
  [[nodiscard]] std::string name_of(const FactorOptions& options) const {
    std::string name;
    if (options.factor_schedule == FactorSchedule::lists) name = to_string(options.factor_schedule);
    if (options.factor_schedule == FactorSchedule::engine) name = session_.options.name_of(SolveSchedule::engine);
    return name;
  }

  std::optional<RivalFactor> measure_rival(FactorKind kind, const std::string& what, const CsrMatrix& reference) {
    const char* name = kind == FactorKind::ilu ? "csrilu02" : "csric02";
    Row row = row_of(to_string(kind), name, "");
    session_.step(what + " " + name, row);
    std::optional<RivalFactor> result;
    try {
      std::unique_ptr<Csr02> rival;
      const double analysis_ms = wall_ms([&] { rival = std::make_unique<Csr02>(session_.cusparse, device_a_, kind); });
      const Timing time = time_on_device(
          session_.options.timing, [&] { rival->factor(); }, [&] { rival->reset(); });
      const std::vector<double> values = cuda::fetch_array(rival->values(), a_.values.size(), nullptr);
      const double error = kind == FactorKind::ilu
                               ? relative_error(values, reference.values)
                               : relative_error(lower_entries(a_, values), lower_cholesky(reference));
      result = {time, analysis_ms, error};
      row["error"] = error;
      fill(row, time);
      row["analysis_ms"] = analysis_ms;
    } catch (const std::exception& error) {
      row["status"] = error.what();
      std::printf("%s: %s: %s\n", what.c_str(), name, error.what());
    }
    session_.rows.add(row);
    return result;
  }

  void run_ours(const FactorOptions& options, const std::string& what, const CsrMatrix& reference,
                const std::optional<RivalFactor>& rival, Row& row) {
    std::unique_ptr<Factorization> factorization;
    const auto make = [&] {
      factorization =
          std::make_unique<Factorization>(session_.context, device_a_.view().pattern, MemorySpace::device, options);
    };
    const auto factor = [&] { factorization->factor(device_a_.values.data(), MemorySpace::device); };
    make();
    factorization.reset();  // what only a process's first call costs is not part of the symbolic phase
    const double symbolic_ms = wall_ms(make);
    levels_ = factorization->info().lower_levels;
    const double first_ms = wall_ms(factor);
    const Timing time = time_on_device(session_.options.timing, factor);
    const double error = relative_error(factorization->copy_factor().values, reference.values);
    row = row_of(to_string(options.kind), "TaskDAG", name_of(options));
    fill(row, time);
    row["analysis_ms"] = symbolic_ms;
    row["first_ms"] = first_ms;
    row["error"] = error;
    const bool right = error <= accepted_error(rival ? rival->error : 0.0);
    if (!right) {
      row["status"] = "wrong result";
      session_.fail(what + ": wrong result");
    }
    if (rival) {
      const double speedup = rival->time.median / time.median;
      row["speedup"] = speedup;
      if (right)
        session_.ratios.add(std::string(to_string(options.kind)).append(" ").append(name_of(options)), problem_,
                            speedup);
    }
    session_.rows.add(row);
    std::printf(
        "%-26s %-4s %s rows %d entries %d levels %d | again %.3f ms (%.3f .. %.3f), first %.3f, symbolic %.2f | "
        "cuSPARSE %.3f ms x%.2f, analysis %.2f | error %.0e\n",
        problem_.name.c_str(), to_string(options.kind), name_of(options).c_str(), a_.rows, a_.entries(), levels_,
        time.median, time.least, time.most, first_ms, symbolic_ms, rival ? rival->time.median : 0.0,
        rival ? rival->time.median / time.median : 0.0, rival ? rival->analysis_ms : 0.0, error);
    if (options.kind == FactorKind::ilu && options.factor_schedule == FactorSchedule::automatic) {
      for (const SolveSchedule schedule : session_.options.schedules) {
        for (const Precision precision : session_.options.precisions) {
          const bool there = precision != Precision::in_single || has_single(schedule);
          if (there) run_apply(options, schedule, precision, reference);
        }
      }
    }
  }

  /// One application, both sweeps, against the two solves of cuSPARSE.
  void run_apply(FactorOptions options, SolveSchedule schedule, Precision precision, const CsrMatrix& lu) {
    const std::string name = session_.options.name_of(schedule);
    const std::string what = problem_.name + " apply " + name + " " + taskdag::to_string(precision);
    options.schedule = schedule;
    options.precision = precision;
    options.run = session_.options.run;
    Row row = row_of("apply", "TaskDAG", name);
    row["precision"] = taskdag::to_string(precision);
    session_.step(what, row);
    try {
      if (!rival_apply_) measure_rival_apply(lu);
      Factorization factorization(session_.context, device_a_.view().pattern, MemorySpace::device, options);
      factorization.factor(device_a_.values.data(), MemorySpace::device);
      const cuda::DeviceArray<double> x(b_.size(), nullptr);
      const Timing time = time_on_device(session_.options.timing, [&] {
        factorization.apply(Apply::full, device_b_.data(), x.data(), MemorySpace::device);
      });
      // With the factor that was applied: small pivots amplify the rounding in which two right factors differ, and each
      // factor has been held against the reference by itself.
      const double error =
          relative_error(cuda::fetch_array(x.data(), b_.size(), nullptr), reference_application(factorization, b_));
      fill(row, time);
      row["value_bytes"] = factorization.info().value_bytes;
      row["chosen"] = describe_sweeps(factorization.info());
      row["error"] = error;
      row["speedup"] = rival_apply_->median / time.median;
      const bool right = error <= accepted_error(rival_error_);
      if (!right) {
        row["status"] = "wrong result";
        session_.fail(what + ": wrong result");
      } else {
        const std::string suffix =
            precision == Precision::in_double ? "" : std::string(" ") + taskdag::to_string(precision);
        session_.ratios.add("apply " + name + suffix, problem_, rival_apply_->median / time.median);
      }
      std::printf("%-26s apply %-16s %-6s %.4f ms (%.4f .. %.4f)  cuSPARSE %.4f ms x%.2f  error %.0e\n",
                  problem_.name.c_str(), name.c_str(), taskdag::to_string(precision), time.median, time.least,
                  time.most, rival_apply_->median, rival_apply_->median / time.median, error);
    } catch (const std::exception& error) {
      if (lacks_single(error, precision)) return;
      row["status"] = error.what();
      session_.fail(what + ": " + error.what());
    }
    session_.rows.add(row);
  }

  inline static const TriangularOptions kLower{.triangle = Triangle::lower, .unit_diagonal = true};
  inline static const TriangularOptions kUpper{.triangle = Triangle::upper};

  void measure_rival_apply(const CsrMatrix& lu) {
    b_ = random_vector(static_cast<std::size_t>(a_.rows), 7);
    device_b_ = {b_.size(), nullptr};
    cuda::copy_to_device(device_b_.data(), b_.data(), b_.size(), nullptr);
    const DeviceMatrix device_lu(lu);
    const cuda::DeviceArray<double> between(b_.size(), nullptr);
    const cuda::DeviceArray<double> x(b_.size(), nullptr);
    CusparseSolve first(session_.cusparse, device_lu, kLower, device_b_.data(), between.data(), 1);
    CusparseSolve second(session_.cusparse, device_lu, kUpper, between.data(), x.data(), 1);
    rival_apply_ = time_on_device(session_.options.timing, [&] {
      first.solve();
      second.solve();
    });
    rival_error_ = relative_error(cuda::fetch_array(x.data(), b_.size(), nullptr), reference_application(lu, b_));
    Row row = row_of("apply", "cuSPARSE", "");
    fill(row, *rival_apply_);
    row["error"] = rival_error_;
    session_.rows.add(row);
    SpMV spmv(session_.cusparse, device_a_, device_b_.data(), x.data());
    Row product = row_of("SpMV", "cuSPARSE", "");
    fill(product, time_on_device(session_.options.timing, [&] { spmv.multiply(); }));
    session_.rows.add(product);
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix& a_;
  DeviceMatrix device_a_;
  FactorOptions options_;
  Index levels_ = 0;  // of the forward solve; 0: not known yet
  std::vector<double> b_;
  cuda::DeviceArray<double> device_b_;
  std::optional<Timing> rival_apply_;
  double rival_error_ = 0.0;
};

}  // namespace

int run_ilu0(const Options& options) {
  Session session(options, {"problem", "what", "solver", "schedule", "precision"});
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) {
    const bool known = session.rows.contains(
        {{"problem", problem.name}, {"what", "ilu0"}, {"solver", "TaskDAG"}, {"schedule", ""}, {"precision", nullptr}});
    if (known) return;
    if (!options.block_order) {
      Factors(session, problem, a, nullptr).run();
      return;
    }
    const Ordered ordered = in_block_order(a);
    Factors(session, problem, ordered.a, ordered.blocks).run();
  });
  return session.finish();
}

}  // namespace taskdag::benchmark
