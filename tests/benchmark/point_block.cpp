#include "point_block.hpp"

#include <cstdio>
#include <exception>
#include <optional>

#include "session.hpp"
#include "taskdag/generators.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

struct Grid {
  Stencil stencil;
  Index nodes;  ///< in each direction
  Index unknowns;
};
constexpr Stencil kSeven = Stencil::seven_point;
constexpr Stencil kAll = Stencil::twenty_seven_point;
constexpr Grid kGrids[] = {{kAll, 36, 3},   {kAll, 64, 3},    {kAll, 30, 5},   {kAll, 50, 5},
                           {kSeven, 50, 3}, {kSeven, 100, 3}, {kSeven, 40, 5}, {kSeven, 80, 5}};
constexpr Grid kSmallGrids[] = {{kAll, 6, 3}, {kAll, 5, 5}, {kSeven, 6, 3}};

/// Rows are solved with the schedule that is chosen, and without supernodes, which are blocks found in the pattern.
constexpr const char* kRows = "rows";
constexpr const char* kPlainRows = "rows by cells";
constexpr const char* kBlocks = "blocks";

/// Between two right results of these matrices, which are diagonally dominant.
constexpr double kAcceptedError = 1e-10;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The matrix by dense blocks, of which it consists.
CsrMatrix by_blocks(const CsrMatrix& a, Index n) {
  CsrMatrix blocks;
  blocks.rows = blocks.cols = a.rows / n;
  for (Index i = 0; i < blocks.rows; ++i) {
    const auto row = [&](Index r) { return at(a.row_offsets[at(i * n + r)]); };
    for (std::size_t e = row(0); e < row(1); e += at(n)) {
      blocks.col_indices.push_back(a.col_indices[e] / n);
      for (Index c = 0; c < n; ++c) {
        for (Index r = 0; r < n; ++r) blocks.values.push_back(a.values[row(r) + (e - row(0)) + at(c)]);
      }
    }
    blocks.row_offsets.push_back(static_cast<Offset>(blocks.col_indices.size()));
  }
  return blocks;
}

class Forms {
 public:
  Forms(Session& session, const Grid& grid)
      : session_(session),
        grid_(grid),
        name_((grid.stencil == kAll ? "27-point " : "7-point ") + std::to_string(grid.unknowns) + " unknowns " +
              std::to_string(grid.nodes) + "^3"),
        rows_(make_stencil({.stencil = grid.stencil,
                            .nx = grid.nodes,
                            .ny = grid.nodes,
                            .nz = grid.nodes,
                            .unknowns_per_node = grid.unknowns})),
        blocks_(by_blocks(rows_, grid.unknowns)),
        device_rows_(rows_),
        device_blocks_(blocks_),
        b_(random_vector(at(rows_.rows), 7)),
        device_b_(b_.size(), nullptr),
        device_x_(b_.size(), nullptr) {
    cuda::copy_to_device(device_b_.data(), b_.data(), b_.size(), nullptr);
  }

  void run() {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      FactorOptions options;
      options.kind = kind;
      find_expected(options);
      const std::optional<Times> rows = measure(options, kRows, device_rows_, nullptr);
      options.schedule = SolveSchedule::cells;
      static_cast<void>(measure(options, kPlainRows, device_rows_, rows ? &*rows : nullptr));
      options.schedule = SolveSchedule::automatic;
      options.block_size = grid_.unknowns;
      static_cast<void>(measure(options, kBlocks, device_blocks_, rows ? &*rows : nullptr));
    }
  }

 private:
  struct Times {
    double factor = 0.0;
    double full = 0.0;
    double transposed = 0.0;
  };

  [[nodiscard]] Row row_of(FactorKind kind, const char* what, const char* form) const {
    return {{"program", "point_block"},
            {"problem", name_},
            {"rows", rows_.rows},
            {"entries", rows_.entries()},
            {"block_size", grid_.unknowns},
            {"kind", kind == FactorKind::ilu ? "ilu0" : "ic0"},
            {"what", what},
            {"solver", "TaskDAG"},
            {"form", form},
            {"levels", nullptr},
            {"chosen", nullptr},
            {"milliseconds", nullptr},
            {"least", nullptr},
            {"most", nullptr},
            {"repeats", nullptr},
            {"analysis_ms", nullptr},
            {"first_ms", nullptr},
            {"bytes", nullptr},
            {"error", nullptr},
            {"status", "ok"},
            {"speedup", nullptr}};
  }

  /// What the host's factorisation by blocks makes of b_, which its tests hold against the serial reference.
  void find_expected(FactorOptions options) {
    session_.step(name_ + " on the host", row_of(options.kind, "", "blocks"));
    options.block_size = grid_.unknowns;
    const Context host = Context::create({.backend = Backend::host});
    Factorization factorization(host, blocks_.pattern(), MemorySpace::host, options);
    factorization.factor(blocks_.values.data(), MemorySpace::host);
    full_.resize(b_.size());
    transposed_.resize(b_.size());
    factorization.apply(Apply::full, b_.data(), full_.data(), MemorySpace::host);
    factorization.apply(Apply::transposed, b_.data(), transposed_.data(), MemorySpace::host);
  }

  std::optional<Times> measure(const FactorOptions& options, const char* form, const DeviceMatrix& a,
                               const Times* rows) {
    const std::string what = name_ + (options.kind == FactorKind::ilu ? " ilu0 by " : " ic0 by ") + form;
    session_.step(what, row_of(options.kind, "factor", form));
    try {
      return measure_form(options, form, what, a, rows);
    } catch (const std::exception& error) {
      Row row = row_of(options.kind, "factor", form);
      row["status"] = error.what();
      session_.rows.add(row);
      session_.fail(what + ": " + error.what());
      return std::nullopt;
    }
  }

  Times measure_form(const FactorOptions& options, const char* form, const std::string& what, const DeviceMatrix& a,
                     const Times* rows) {
    std::optional<Factorization> factorization;
    const auto make = [&] { factorization.emplace(session_.context, a.view().pattern, MemorySpace::device, options); };
    const auto factor = [&] { factorization->factor(a.values.data(), MemorySpace::device); };
    make();
    factorization.reset();  // what only a process's first call costs is not part of the symbolic phase
    Times times;
    Row common = row_of(options.kind, "factor", form);
    common["analysis_ms"] = wall_ms(make);
    common["first_ms"] = wall_ms(factor);
    common["levels"] = factorization->info().lower_levels;
    common["chosen"] = std::string(to_string(factorization->info().lower_schedule)) + "+" +
                       to_string(factorization->info().upper_schedule);
    Row row = common;
    times.factor = add(row, what + " factor", time_on_device(session_.options.timing, factor),
                       rows != nullptr ? rows->factor : 0.0, std::nullopt, *factorization);
    for (const bool transposed : {false, true}) {
      const auto apply = [&] {
        factorization->apply(transposed ? Apply::transposed : Apply::full, device_b_.data(), device_x_.data(),
                             MemorySpace::device);
      };
      apply();
      const double error =
          relative_error(cuda::fetch_array(device_x_.data(), b_.size(), nullptr), transposed ? transposed_ : full_);
      row = common;
      row["what"] = transposed ? "transposed" : "apply";
      const double before = rows == nullptr ? 0.0 : transposed ? rows->transposed : rows->full;
      const double time = add(row, what + (transposed ? " transposed" : " apply"),
                              time_on_device(session_.options.timing, apply), before, error, *factorization);
      (transposed ? times.transposed : times.full) = time;
    }
    return times;
  }

  /// Completes and writes a row. `before`: the time of the form by rows, 0 for that itself. @returns the time
  double add(Row& row, const std::string& what, const Timing& time, double before, std::optional<double> error,
             const Factorization& factorization) {
    row["milliseconds"] = time.median;
    row["least"] = time.least;
    row["most"] = time.most;
    row["repeats"] = time.repeats;
    row["bytes"] = factorization.info().bytes;
    if (before > 0.0) row["speedup"] = before / time.median;
    if (error) row["error"] = *error;
    if (error && !(*error <= kAcceptedError)) {
      row["status"] = "wrong result";
      session_.fail(what + ": wrong result");
    }
    session_.rows.add(row);
    std::printf("%-60s %9.4f ms (%.4f .. %.4f)  x%.2f  error %.0e\n", what.c_str(), time.median, time.least, time.most,
                before / time.median, error.value_or(0.0));
    return time.median;
  }

  Session& session_;
  Grid grid_;
  std::string name_;
  CsrMatrix rows_;
  CsrMatrix blocks_;
  DeviceMatrix device_rows_;
  DeviceMatrix device_blocks_;
  std::vector<double> b_;
  cuda::DeviceArray<double> device_b_;
  cuda::DeviceArray<double> device_x_;
  std::vector<double> full_;
  std::vector<double> transposed_;
};

}  // namespace

int run_point_block(const Options& options) {
  Session session(options, {"problem", "kind", "what", "form"});
  const std::span<const Grid> grids =
      options.smoke ? std::span<const Grid>(kSmallGrids) : std::span<const Grid>(kGrids);
  for (const Grid& grid : grids) {
    session.step("making a grid", nullptr);
    try {
      Forms(session, grid).run();
    } catch (const std::exception& error) {
      session.fail(std::to_string(grid.nodes) + "^3: " + error.what());
    }
  }
  return session.finish();
}

}  // namespace taskdag::benchmark
