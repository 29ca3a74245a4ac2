#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "context/state.hpp"
#include "dag/transpose.hpp"
#include "kernels/jacobi/host.hpp"
#include "kernels/jacobi/program.hpp"
#include "kernels/jacobi/resident_host.hpp"
#include "kernels/jacobi/tiles_host.hpp"
#include "kernels/jacobi/weights.hpp"
#include "kernels/papers/papers.hpp"
#include "solver/checks.hpp"
#include "solver/impl.hpp"
#include "solver/jacobi_tiles.hpp"
#include "taskdag/error.hpp"

namespace taskdag::host {

namespace {

class HostJacobi final : public Jacobi::Impl {
 public:
  HostJacobi(const Context& context, const CsrView& a, const JacobiOptions& options)
      : context_(context),
        state_(context.state()),
        options_(options),
        keeps_(options.sweeps > 1 || options.keep_matrix),
        scale_(static_cast<std::size_t>(a.pattern.rows)) {
    form = options.form == JacobiForm::automatic ? JacobiForm::kernels : options.form;
    update_values(a, MemorySpace::host, {});
    if (options.sweeps == 1 || a.pattern.rows == 0) return;
    if (form == JacobiForm::resident) {
      resident_.emplace(matrix_.pattern(), state_->pool->processors());
    } else if (form == JacobiForm::tiles) {
      make_tiles();
    } else if (is_program(form)) {
      program_ = make_program(options.sweeps, false, 2);
    }
    count_bytes();
  }

  void set_outside(std::vector<double> outside) override { options_.outside = std::move(outside); }

  void update_values(const CsrView& a, MemorySpace space, Stream) override {
    require_host_memory(space);
    zero_diagonals = kernels::host_jacobi_scale(a, options_, *state_->pool, scale_.data());
    count_bytes();
    if (!keeps_) return;
    const auto rows = static_cast<std::size_t>(a.pattern.rows);
    const Offset entries = a.pattern.entries();
    if (rows > 0) {
      matrix_ = {a.pattern.rows,
                 a.pattern.cols,
                 {a.pattern.row_offsets, a.pattern.row_offsets + rows + 1},
                 {a.pattern.col_indices, a.pattern.col_indices + entries},
                 {a.values, a.values + entries}};
    }
    if (tiles_) tiles_->load(matrix_.values.data());
    transposed_.reset();
    work_.resize(rows);
    count_bytes();
  }

  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}
  [[nodiscard]] const double* diagonal() const override {
    return options_.sweeps == 1 && weight(0) == 1.0 ? scale_.data() : nullptr;
  }

  void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream) override {
    require_host_memory(space);
    if (program_ && !transposed) {
      program_->enqueue(arrays(b, {work_.data(), x}, static_cast<std::uint32_t>(options_.sweeps + 1) & 1U, true), {});
      return;
    }
    if (tiles_ && !transposed) {
      tiles_->run(scale_.data(), b, x, work_.data(), options_.sweeps, *state_->pool);
      return;
    }
    // The sweeps alternate between two arrays; x must be the last one written.
    double* from = options_.sweeps % 2 == 1 ? x : work_.data();
    double* to = from == x ? work_.data() : x;
    for (std::size_t i = 0; i < scale_.size(); ++i) from[i] = weight(0) * scale_[i] * b[i];
    if (options_.sweeps == 1) return;
    const CsrView a = transposed ? transposed_matrix() : matrix_.view();
    // In a forked child threads come in turn, and cannot wait for each other.
    if (resident_ && !transposed && state_->pool->concurrent()) {
      resident_->run(a, scale_.data(), b, from, to, options_.sweeps - 1, cut(), *state_->pool);
      return;
    }
    for (int sweep = 1; sweep < options_.sweeps; ++sweep) {
      kernels::host_jacobi_sweep(a, scale_.data(), weight(sweep), b, from, to, cut(), turns(sweep), *state_->pool);
      std::swap(from, to);
    }
  }

  void iterate(const double* b, double* x, MemorySpace space, Stream) override {
    require_host_memory(space);
    double* from = x;
    double* to = work_.data();
    if (options_.sweeps % 2 == 1) {
      std::copy(x, x + work_.size(), work_.data());
      std::swap(from, to);
    }
    for (int sweep = 0; sweep < options_.sweeps; ++sweep) {
      kernels::host_jacobi_sweep(matrix_.view(), scale_.data(), weight(sweep), b, from, to, cut(), turns(sweep),
                                 *state_->pool);
      std::swap(from, to);
    }
  }

  JacobiOutcome solve(const double* b, double* x, MemorySpace space, const JacobiStop& stop, Stream stream) override {
    require_host_memory(space);
    if (is_program(form)) return solve_by_program(b, x, stop, stream);
    JacobiOutcome outcome{0, 0.0, false};
    double* from = x;
    double* to = work_.data();
    while (!outcome.converged && outcome.sweeps < stop.max_sweeps && std::isfinite(outcome.change)) {
      for (int k = 0; k < stop.check_every; ++k) {
        kernels::host_jacobi_sweep(matrix_.view(), scale_.data(), 1.0, b, from, to, cut(), turns(k), *state_->pool);
        std::swap(from, to);
      }
      outcome.sweeps += stop.check_every;
      outcome.change = 0.0;
      for (std::size_t i = 0; i < work_.size(); ++i) outcome.change += std::abs(from[i] - to[i]);
      outcome.converged = outcome.change <= stop.tolerance;
    }
    if (from != x) std::copy(from, from + work_.size(), x);
    return outcome;
  }

  std::vector<EngineRun> engine_runs() override {
    std::vector<EngineRun> runs;
    if (program_) runs.push_back({"sweeps", program_->report({})});
    if (solver_) runs.push_back({"solve", solver_->report({})});
    std::erase_if(runs, [](const EngineRun& run) { return run.report.slices == 0; });
    return runs;
  }

 private:
  /// Whether sweep number k begins with the last rows.
  [[nodiscard]] bool turns(int k) const { return form == JacobiForm::turning && k % 2 == 1; }
  [[nodiscard]] double weight(int sweep) const {
    return kernels::jacobi_weight(options_.weights, options_.sweeps, sweep);
  }
  [[nodiscard]] kernels::RowCut cut() const { return {options_.part_entries, options_.long_row}; }

  void make_tiles() {
    const CsrPattern pattern = matrix_.pattern();
    require_no_long_rows(matrix_.row_offsets, options_);
    kernels::JacobiTiles tiles = best_tiles(context_, pattern, pattern, MemorySpace::host,
                                            {kernels::host_rows_of_tile(pattern.rows, pattern.entries()), 0,
                                             kernels::host_room_of_tile(), kernels::kMostDepth, 0.0},
                                            {});
    if (tiles.depth == 0) {
      throw Unsupported("Jacobi sweeps by tiles: rows need too many others for a tile to fit a processor's cache");
    }
    tiles_.emplace(std::move(tiles));
    tiles_->load(matrix_.values.data());
  }

  std::unique_ptr<kernels::JacobiProgram> make_program(int sweeps, bool checks, std::uint32_t ring_size) {
    const std::string wanted = std::string("the form ") + to_string(form) + " of Jacobi sweeps";
    return kernels::papers(wanted).jacobi(
        context_, matrix_.pattern(), {form, sweeps, checks, ring_size, 1, options_.part_entries, options_.long_row},
        options_.run);
  }

  [[nodiscard]] kernels::JacobiArrays arrays(const double* b, std::initializer_list<double*> ring, std::uint32_t first,
                                             bool from_zero) const {
    kernels::JacobiArrays arrays{matrix_.view(), scale_.data(), b,  {}, static_cast<std::uint32_t>(ring.size()),
                                 first,          from_zero,     0.0};
    std::copy(ring.begin(), ring.end(), arrays.ring);
    return arrays;
  }

  JacobiOutcome solve_by_program(const double* b, double* x, const JacobiStop& stop, Stream stream) {
    if (!solver_ || solver_sweeps_ != stop.check_every) {
      solver_ = make_program(stop.check_every, true, kernels::ring_of_solve(form));
      solver_sweeps_ = stop.check_every;
    }
    ring_.resize(2 * work_.size());
    count_bytes();
    kernels::JacobiArrays all = kernels::ring_of_solve(form) == 2
                                    ? arrays(b, {x, work_.data()}, 0, false)
                                    : arrays(b, {x, work_.data(), ring_.data(), ring_.data() + work_.size()}, 0, false);
    const JacobiOutcome outcome = run_to_tolerance(*solver_, all, stop, stream);
    const double* const last = all.ring[all.first];
    if (last != x) std::copy(last, last + work_.size(), x);
    return outcome;
  }

  void count_bytes() {
    const auto size_of = [](const auto& values) {
      return static_cast<std::int64_t>(values.size() * sizeof(*values.data()));
    };
    bytes = size_of(scale_) + size_of(work_) + size_of(ring_) + size_of(matrix_.row_offsets) +
            size_of(matrix_.col_indices) + size_of(matrix_.values) + (tiles_ ? tiles_->bytes() : 0) +
            (program_ ? program_->bytes() : 0) + (solver_ ? solver_->bytes() : 0);
  }

  CsrView transposed_matrix() {
    if (!transposed_) {
      Transposed pattern = transpose(matrix_.pattern());
      std::vector<double> values(pattern.source_entry.size());
      for (std::size_t e = 0; e < values.size(); ++e) {
        values[e] = matrix_.values[static_cast<std::size_t>(pattern.source_entry[e])];
      }
      transposed_ = CsrMatrix{pattern.rows, pattern.cols, std::move(pattern.row_offsets),
                              std::move(pattern.col_indices), std::move(values)};
    }
    return transposed_->view();
  }

  Context context_;
  std::shared_ptr<Context::State> state_;
  JacobiOptions options_;
  bool keeps_;
  std::vector<double> scale_;
  CsrMatrix matrix_;  // this and what follows: if keeps_
  std::optional<CsrMatrix> transposed_;
  std::vector<double> work_;
  std::vector<double> ring_;  // further iterates of solve()
  std::unique_ptr<kernels::JacobiProgram> program_;
  std::unique_ptr<kernels::JacobiProgram> solver_;
  int solver_sweeps_ = 0;
  std::optional<kernels::HostResident> resident_;
  std::optional<kernels::HostTiles> tiles_;
};

}  // namespace

std::unique_ptr<Jacobi::Impl> make_jacobi(const Context& context, const CsrView& a, const JacobiOptions& options) {
  return std::make_unique<HostJacobi>(context, a, options);
}

}  // namespace taskdag::host
