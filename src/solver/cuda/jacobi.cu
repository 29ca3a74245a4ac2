#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "csr/device_csr.hpp"
#include "csr/gather.hpp"
#include "kernels/jacobi/cuda.hpp"
#include "kernels/jacobi/program.hpp"
#include "kernels/jacobi/tiles_cuda.hpp"
#include "kernels/jacobi/weights.hpp"
#include "kernels/papers/papers.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/impl.hpp"
#include "solver/jacobi_tiles.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

/// Below this many sweeps, what tiles load first costs more than they save.
constexpr int kTileSweeps = 4;

/// An exchange between resident tiles takes about as long as so many sweeps.
constexpr double kExchangeOfResident = 3.0;

/// Whether all tiles may fit at the same time, before anybody looks at them.
bool may_be_resident(const kernels::TileRun& run, Index rows, Offset entries) {
  const kernels::TileRoom room = kernels::room_of_tile(run);
  const auto multiprocessors = static_cast<std::size_t>(device_limits().multiprocessors);
  const auto count = static_cast<std::size_t>(rows);
  return count <= multiprocessors * room.computed &&
         kernels::bytes_of_tile(room, static_cast<std::size_t>(entries), count, count) < multiprocessors * room.bytes;
}

/// What a sweep reads and writes: the matrix and four vectors.
std::size_t bytes_of_sweep(Index rows, Offset entries) {
  return static_cast<std::size_t>(entries) * (sizeof(double) + sizeof(Index)) +
         static_cast<std::size_t>(rows) * (4 * sizeof(double) + sizeof(Offset));
}

class CudaJacobi final : public Jacobi::Impl {
 public:
  CudaJacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options, Stream stream)
      : closing_(context.device()),
        context_(context),
        options_(options),
        keeps_(options.sweeps > 1 || options.keep_matrix),
        size_(static_cast<std::size_t>(a.pattern.rows)),
        scale_(size_ + 1, native(stream)) {
    const cudaStream_t s = native(stream);
    const CudaPatternInput input(a.pattern, space, s, counts());
    form = options.form == JacobiForm::automatic ? JacobiForm::kernels : options.form;
    if (keeps_) {
      lanes_ = kernels::cuda_jacobi_lanes(a.pattern.rows, input.pattern().entries);
      pattern_ = kernels::copy_pattern(input.pattern(), s);
      values_ = {static_cast<std::size_t>(input.pattern().entries), s};
      work_ = {size_, s};
      if (size_ > 0) choose_form(stream);
    }
    take_values(input.pattern(), a.values, space, s);
  }
  ~CudaJacobi() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }
  [[nodiscard]] const double* diagonal() const override {
    return options_.sweeps == 1 && weight(0) == 1.0 ? scale_.data() : nullptr;
  }

  void set_outside(std::vector<double> outside) override { options_.outside = std::move(outside); }

  void update_values(const CsrView& a, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(context_.device());
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (keeps_) {
      take_values(pattern_.pattern(), a.values, space, s);
    } else {
      const CudaPatternInput input(a.pattern, space, s, counts());
      take_values(input.pattern(), a.values, space, s);
    }
    call.waited();
  }

  void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) override {
    const DeviceGuard guard(context_.device());
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (transposed && options_.sweeps > 1 && !has_transposed_) {
      cuda::refuse_capture(s, "the first transposed application of Jacobi");
      make_transposed(s);
    }
    with_device_vectors(staging_, vectors_, size_, b, x, space == MemorySpace::device, s,
                        [&](const double* device_b, double* device_x) { sweep(device_b, device_x, transposed, s); });
    if (space == MemorySpace::host) call.waited();
  }

  void iterate(const double* b, double* x, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(context_.device());
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (space == MemorySpace::device) {
      iterate_on_device(b, x, s);
      return;
    }
    vectors_.reserve(size_, s);
    staging_.upload(vectors_.in(), b, size_, s);
    staging_.upload(vectors_.out(), x, size_, s);
    iterate_on_device(vectors_.in(), vectors_.out(), s);
    staging_.download(x, vectors_.out(), size_, s);
    synchronize(s);
    call.waited();
  }

  JacobiOutcome solve(const double* b, double* x, MemorySpace space, const JacobiStop& stop, Stream stream) override {
    const DeviceGuard guard(context_.device());
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    JacobiOutcome outcome{};
    if (space == MemorySpace::device) {
      outcome = solve_on_device(b, x, stop, stream);
    } else {
      vectors_.reserve(size_, s);
      staging_.upload(vectors_.in(), b, size_, s);
      staging_.upload(vectors_.out(), x, size_, s);
      outcome = solve_on_device(vectors_.in(), vectors_.out(), stop, stream);
      staging_.download(x, vectors_.out(), size_, s);
    }
    synchronize(s);
    call.waited();
    return outcome;
  }

  std::vector<EngineRun> engine_runs() override {
    const DeviceGuard guard(context_.device());
    check(cudaDeviceSynchronize(), "waiting for Jacobi sweeps");
    std::vector<EngineRun> runs;
    if (program_) runs.push_back({"sweeps", program_->report({})});
    if (solver_) runs.push_back({"solve", solver_->report({})});
    std::erase_if(runs, [](const EngineRun& run) { return run.report.slices == 0; });
    return runs;
  }

 private:
  /// Whichever of the forms it is, with what it needs. Synchronises.
  void choose_form(Stream stream) {
    const cudaStream_t s = native(stream);
    const bool several = options_.sweeps > 1;
    const std::vector<Offset> offsets = fetch_array(pattern_.pattern().row_offsets, size_ + 1, s);
    const auto rows = static_cast<Index>(size_);
    Offset longest = 0;
    for (std::size_t i = 0; i < size_; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
    const bool long_rows = options_.long_row > 0 && longest > options_.long_row;
    const bool asked = form == JacobiForm::resident || form == JacobiForm::tiles;
    const kernels::TileRun run = kernels::tile_run(
        form == JacobiForm::tiles ? kernels::TileForm::passes : kernels::TileForm::resident, lanes_, longest);
    const bool try_tiles = asked || (options_.form == JacobiForm::automatic && options_.sweeps >= kTileSweeps &&
                                     options_.weights == JacobiWeights::constant && !long_rows &&
                                     may_be_resident(run, rows, offsets.back()));
    if (asked) require_no_long_rows(offsets, options_);
    const bool programs = is_program(form);
    if (several && (try_tiles || programs)) {
      const std::vector<Index> columns = fetch_array(pattern_.pattern().col_indices, values_.size(), s);
      const CsrPattern pattern{rows, rows, offsets.data(), columns.data()};
      if (try_tiles) make_tiles(pattern, run, stream);
      if (programs) program_ = make_program(options_.sweeps, false, 2, pattern);
    }
    if (several && options_.form == JacobiForm::automatic && form == JacobiForm::kernels &&
        bytes_of_sweep(rows, offsets.back()) > static_cast<std::size_t>(device_limits().cache_bytes)) {
      form = JacobiForm::turning;
    }
    if ((form == JacobiForm::kernels || form == JacobiForm::turning) && long_rows) {
      const auto parts = kernels::cut_into_parts(offsets.data(), rows, options_.part_entries, options_.long_row);
      part_ = upload(parts, s);
      sums_ = {parts.size(), s};
      arrived_ = upload(std::vector<std::uint32_t>(parts.size()), s);
    }
  }

  /// Where tiles were not named and do not fit, the form stays. @throws Unsupported where they were named
  void make_tiles(const CsrPattern& pattern, const kernels::TileRun& run, Stream stream) {
    const bool resident = run.form == kernels::TileForm::resident;
    const kernels::JacobiTiles tiles = best_tiles(
        context_, pattern, pattern_view(), MemorySpace::device,
        {kernels::rows_of_tile(run, pattern.rows, pattern.entries()), resident ? device_limits().multiprocessors : 0,
         kernels::room_of_tile(run), std::min(kernels::kMostDepth, options_.sweeps - 1),
         resident ? kExchangeOfResident : 0.0, options_.form == JacobiForm::automatic},
        stream);
    if (kernels::CudaTiles::can_run(tiles, run)) {
      tiles_.emplace(tiles, run, pattern.rows, native(stream));
      form = resident ? JacobiForm::resident : JacobiForm::tiles;
    } else if (form == JacobiForm::resident || form == JacobiForm::tiles) {
      throw Unsupported(std::string("Jacobi sweeps of the form ") + to_string(form) + ": tiles of " +
                        std::to_string(pattern.rows) + " rows with " + std::to_string(pattern.entries()) +
                        " entries, and what they need around them, do not fit the device's shared memory");
    }
  }

  std::unique_ptr<kernels::JacobiProgram> make_program(int sweeps, bool checks, std::uint32_t ring_size,
                                                       const CsrPattern& pattern) {
    const std::string wanted = std::string("the form ") + to_string(form) + " of Jacobi sweeps";
    return kernels::papers(wanted).jacobi(
        context_, pattern, {form, sweeps, checks, ring_size, lanes_, options_.part_entries, options_.long_row},
        options_.run);
  }

  /// Whether it matters how many entries there are, which takes a wait where the matrix is in device memory. It does
  /// not where one sweep reads the diagonal and nothing else.
  [[nodiscard]] bool counts() const { return keeps_ || options_.diagonal != JacobiDiagonal::diagonal; }

  /// Synchronises.
  void take_values(const kernels::DevicePattern& pattern, const double* values, MemorySpace space, cudaStream_t s) {
    const auto entries = static_cast<std::size_t>(pattern.entries);
    const bool staged = space == MemorySpace::host && !keeps_;
    const ScratchArray<double> scratch(staged ? entries : 0, s);
    if (space == MemorySpace::host) {
      double* const device_values = staged ? scratch.data() : values_.data();
      staging_.upload(device_values, values, entries, s);
      values = device_values;
    } else if (keeps_) {
      copy_on_device(values_.data(), values, entries, s);
    }
    const ScratchArray<double> outside(options_.outside.size(), s);
    if (!options_.outside.empty()) staging_.upload(outside.data(), options_.outside.data(), options_.outside.size(), s);
    auto* const zeros = reinterpret_cast<Index*>(scale_.data() + size_);
    kernels::cuda_jacobi_scale(pattern, values, options_, options_.outside.empty() ? nullptr : outside.data(),
                               scale_.data(), zeros, s);
    if (tiles_) tiles_->load(values_.data(), s);
    if (has_transposed_) load_transposed(s);
    zero_diagonals = fetch(zeros, s);
    count_bytes();
  }

  void make_transposed(cudaStream_t s) {
    transposed_ = kernels::transpose_pattern(pattern_.pattern(), s);
    transposed_values_ = {values_.size(), s};
    load_transposed(s);
    has_transposed_ = true;
    count_bytes();
  }

  void load_transposed(cudaStream_t s) {
    kernels::gather(pattern_.entries, values_.data(), transposed_.source.data(), transposed_values_.data(), s);
  }

  /// The kept matrix.
  [[nodiscard]] CsrPattern pattern_view() const {
    const kernels::DevicePattern p = pattern_.pattern();
    return {p.rows, p.rows, p.row_offsets, p.col_indices};
  }
  [[nodiscard]] CsrView view() const { return {pattern_view(), values_.data()}; }

  void sweep(const double* b, double* x, bool transposed, cudaStream_t s) {
    if (size_ == 0) return;
    if (tiles_ && !transposed && sweep_by_tiles(b, x, s)) return;
    if (program_ && !transposed) {
      // The last iterate, number first + sweeps, goes to x.
      program_->enqueue({view(),
                         scale_.data(),
                         b,
                         {work_.data(), x},
                         2,
                         static_cast<std::uint32_t>(options_.sweeps + 1) & 1U,
                         true,
                         0.0},
                        {s});
      return;
    }
    // The sweeps alternate between two arrays; x must be the last one written.
    double* from = options_.sweeps % 2 == 1 ? x : work_.data();
    double* to = from == x ? work_.data() : x;
    kernels::cuda_jacobi_first_sweep(static_cast<Index>(size_), scale_.data(), weight(0), b, from, s);
    for (int done = 1; done < options_.sweeps; ++done) {
      if (transposed) {
        kernels::cuda_jacobi_sweep(transposed_.pattern(), transposed_values_.data(), scale_.data(), weight(done), b,
                                   from, to, turns(done), s);
      } else {
        sweep_once(weight(done), b, from, to, turns(done), s);
      }
      std::swap(from, to);
    }
  }

  /// @returns false where the tiles do not fit the stream's share of the device and were not named: other sweeps
  /// give the same bits
  bool sweep_by_tiles(const double* b, double* x, cudaStream_t s) {
    if (tiles_->enqueue(scale_.data(), b, x, work_.data(), options_.sweeps, s)) return true;
    if (options_.form == JacobiForm::automatic) return false;
    throw DeviceError(
        "Jacobi sweeps of the form resident: the stream has a share of the GPU, and not all tiles run at " +
        std::string("the same time there"));
  }

  void iterate_on_device(const double* b, double* x, cudaStream_t s) {
    if (size_ == 0) return;
    double* from = x;
    double* to = work_.data();
    if (options_.sweeps % 2 == 1) {
      copy_on_device(work_.data(), x, size_, s);
      std::swap(from, to);
    }
    for (int done = 0; done < options_.sweeps; ++done) {
      sweep_once(weight(done), b, from, to, turns(done), s);
      std::swap(from, to);
    }
  }

  [[nodiscard]] double weight(int sweep) const {
    return kernels::jacobi_weight(options_.weights, options_.sweeps, sweep);
  }

  /// Whether sweep number k begins with the last rows.
  [[nodiscard]] bool turns(int k) const { return form == JacobiForm::turning && k % 2 == 1; }

  void sweep_once(double weight, const double* b, const double* from, double* to, bool backward, cudaStream_t s) {
    if (part_.size() > 0) {
      kernels::cuda_jacobi_sweep_parts(
          {view(), scale_.data(), b, from, to, sums_.data(), arrived_.data(), lanes_, weight}, part_.data(),
          static_cast<std::uint32_t>(part_.size()), backward, s);
    } else {
      kernels::cuda_jacobi_sweep(pattern_.pattern(), values_.data(), scale_.data(), weight, b, from, to, backward, s);
    }
  }

  JacobiOutcome solve_on_device(const double* b, double* x, const JacobiStop& stop, Stream stream) {
    const cudaStream_t s = native(stream);
    if (is_program(form)) return solve_by_program(b, x, stop, stream);
    // Tiles that the library has chosen are for a fixed number of sweeps, too.
    if (change_.size() == 0) change_ = {1, s};
    JacobiOutcome outcome{0, 0.0, false};
    double* from = x;
    double* to = work_.data();
    while (!outcome.converged && outcome.sweeps < stop.max_sweeps && std::isfinite(outcome.change)) {
      for (int k = 0; k < stop.check_every; ++k) {
        sweep_once(1.0, b, from, to, turns(k), s);
        std::swap(from, to);
      }
      outcome.sweeps += stop.check_every;
      kernels::cuda_jacobi_change(static_cast<Index>(size_), from, to, change_.data(), s);
      outcome.change = fetch(change_.data(), s);
      outcome.converged = outcome.change <= stop.tolerance;
    }
    if (from != x) copy_on_device(x, from, size_, s);
    return outcome;
  }

  JacobiOutcome solve_by_program(const double* b, double* x, const JacobiStop& stop, Stream stream) {
    const cudaStream_t s = native(stream);
    const std::uint32_t ring_size = kernels::ring_of_solve(form);
    if (!solver_ || solver_sweeps_ != stop.check_every) {
      const std::vector<Offset> offsets = fetch_array(pattern_.pattern().row_offsets, size_ + 1, s);
      const std::vector<Index> columns = fetch_array(pattern_.pattern().col_indices, values_.size(), s);
      const auto rows = static_cast<Index>(size_);
      solver_ = make_program(stop.check_every, true, ring_size, {rows, rows, offsets.data(), columns.data()});
      solver_sweeps_ = stop.check_every;
    }
    if (ring_size > 2 && ring_.size() == 0) ring_ = {2 * size_, s};
    kernels::JacobiArrays arrays{
        view(), scale_.data(), b, {x, work_.data(), ring_.data(), ring_.data() + size_}, ring_size, 0, false, 0.0};
    const JacobiOutcome outcome = run_to_tolerance(*solver_, arrays, stop, stream);
    if (arrays.ring[arrays.first] != x) copy_on_device(x, arrays.ring[arrays.first], size_, s);
    count_bytes();
    return outcome;
  }

  void count_bytes() {
    bytes = scale_.bytes() + pattern_.bytes() + values_.bytes() + work_.bytes() + transposed_.bytes() +
            transposed_values_.bytes() + part_.bytes() + sums_.bytes() + arrived_.bytes() + ring_.bytes() +
            change_.bytes() + (tiles_ ? tiles_->bytes() : 0) + (program_ ? program_->bytes() : 0) +
            (solver_ ? solver_->bytes() : 0);
  }

  Closing closing_;
  Context context_;
  JacobiOptions options_;
  bool keeps_;
  int lanes_ = 1;
  std::size_t size_;
  DeviceArray<double> scale_;   ///< damping / d; behind them, as the last element, how many d are 0
  kernels::DeviceCsr pattern_;  ///< this and what follows: if keeps_
  DeviceArray<double> values_;
  DeviceArray<double> work_;
  kernels::DeviceCsr transposed_;  ///< from the first transposed application on
  DeviceArray<double> transposed_values_;
  bool has_transposed_ = false;
  std::optional<kernels::CudaTiles> tiles_;
  std::unique_ptr<kernels::JacobiProgram> program_;
  std::unique_ptr<kernels::JacobiProgram> solver_;
  int solver_sweeps_ = 0;
  DeviceArray<double> ring_;  ///< further iterates of solve()
  DeviceArray<double> change_;
  DeviceArray<kernels::JacobiPart> part_;  ///< this and the next two: of kernels and turning, with long rows
  DeviceArray<double> sums_;
  DeviceArray<std::uint32_t> arrived_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_;
};

}  // namespace

std::unique_ptr<Jacobi::Impl> make_jacobi(const Context& context, const CsrView& a, MemorySpace space,
                                          const JacobiOptions& options, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaJacobi>(context, a, space, options, stream);
}

}  // namespace taskdag::cuda
