/// \file
/// Sweeps by supersteps, a thread block for each core.
#include <algorithm>
#include <cuda/atomic>

#include "backends/cuda/cooperative.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/launch.hpp"
#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "dag/supersteps/portion_waits.hpp"
#include "kernels/sptrsv/schedules/blocks/layout_sweep.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.cuh"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"
#include "papers/boehnlein/cuda/cores.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using namespace supersteps;

constexpr int kThreads = 256;

/// A portion in the list of its core. A portion of the schedule that is too large for shared memory is several here:
/// the first one waits, the last one reports.
struct PortionRun {
  Index portion;
  Offset first_wait;
  Index waits;
  Index reports;  ///< supersteps that the core has done after it; 0: more portions of this superstep follow
};

struct Cores {
  const Index* first_run;  ///< of each core, and an end
  const PortionRun* run;
  const PortionWait* wait;
  unsigned long long* done;  ///< by core: supersteps, over all solves
};

/// A block a core. `before`: what every core had done before this solve.
template <int kRowEntries>
__global__ void __launch_bounds__(kThreads) run_cores(PortionArguments a, Cores cores, unsigned long long before) {
  using Done = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;
  extern __shared__ __align__(kLine) std::byte memory[];
  Staged staged;
  for (Index k = cores.first_run[blockIdx.x]; k < cores.first_run[blockIdx.x + 1]; ++k) {
    const PortionRun run = cores.run[k];
    const Portion portion = a.portion[run.portion];
    const SharedPortion<double> shared(memory, portion, a.pivot != nullptr, false);
    stage<kThreads, false>(a, portion, shared, staged);
    fetch_rhs<kThreads, false>(a, portion, shared);
    for (auto w = static_cast<Index>(threadIdx.x); w < run.waits; w += kThreads) {
      const PortionWait wait = cores.wait[run.first_wait + w];
      const Done done(cores.done[wait.core]);
      while (done.load(::cuda::memory_order_acquire) < before + static_cast<unsigned long long>(wait.superstep) + 1) {
        __nanosleep(20);
      }
    }
    wait_for_stage();
    __syncthreads();
    start<kThreads>(a, portion, shared);
    __syncthreads();
    if (threadIdx.x < kLanes) walk<kRowEntries>(portion, shared, a.pivot != nullptr);
    __syncthreads();
    write_results<kThreads, false>(a, portion, shared);
    __syncthreads();
    if (threadIdx.x == 0 && run.reports > 0) {
      // The barrier has ordered the block's results before this; the release hands all of them on.
      __threadfence();
      Done(cores.done[blockIdx.x])
          .store(before + static_cast<unsigned long long>(run.reports), ::cuda::memory_order_release);
    }
  }
}

using Kernel = void (*)(PortionArguments, Cores, unsigned long long);

Kernel kernel_for(Index row_entries) {
  return row_entries == 0 ? run_cores<0> : row_entries == 2 ? run_cores<2> : run_cores<3>;
}

/// The portions of a schedule, each core's in its order, cut where they have more than `most_rows` rows.
struct PortionsOfCores {
  Cover cover;
  std::vector<Index> first_run{0};
  std::vector<PortionRun> runs;
};

PortionsOfCores portions_of(const SuperstepSchedule& schedule, const PortionWaits& waits, Index most_rows) {
  PortionsOfCores result;
  std::vector<std::vector<PortionRun>> runs(static_cast<std::size_t>(schedule.cores));
  for (Index s = 0; s < schedule.supersteps; ++s) {
    // The pieces of a superstep's portions, first pieces first: what a piece needs of its own portion is in earlier
    // ones.
    Index longest = 0;
    for (int c = 0; c < schedule.cores; ++c) longest = std::max(longest, schedule.last(s, c) - schedule.first(s, c));
    for (Index piece = 0; piece * most_rows < longest; ++piece) {
      for (int c = 0; c < schedule.cores; ++c) {
        const Index first = schedule.first(s, c) + piece * most_rows;
        const Index last = schedule.last(s, c);
        if (first >= last) continue;
        const std::size_t portion = schedule.portion(s, c);
        PortionRun run{static_cast<Index>(result.cover.portions.size()), 0, 0, 0};
        if (piece == 0) {
          run.first_wait = waits.offsets[portion];
          run.waits = static_cast<Index>(waits.offsets[portion + 1] - waits.offsets[portion]);
        }
        if (first + most_rows >= last) run.reports = s + 1;
        runs[static_cast<std::size_t>(c)].push_back(run);
        result.cover.portions.push_back({first, std::min(most_rows, last - first)});
      }
      result.cover.superstep_offsets.push_back(static_cast<Index>(result.cover.portions.size()));
    }
  }
  for (const std::vector<PortionRun>& of_core : runs) {
    result.runs.insert(result.runs.end(), of_core.begin(), of_core.end());
    result.first_run.push_back(static_cast<Index>(result.runs.size()));
  }
  return result;
}

/// Waits that are barriers: for all other cores' last portion before the superstep.
PortionWaits all_waits(const SuperstepSchedule& schedule) {
  PortionWaits result;
  std::vector<Index> done(static_cast<std::size_t>(schedule.cores), -1);
  for (Index s = 0; s < schedule.supersteps; ++s) {
    for (int c = 0; c < schedule.cores; ++c) {
      for (int other = 0; other < schedule.cores; ++other) {
        const Index last = done[static_cast<std::size_t>(other)];
        if (other != c && last >= 0) result.waits.push_back({static_cast<Index>(other), last});
      }
      result.offsets.push_back(static_cast<Offset>(result.waits.size()));
    }
    for (int c = 0; c < schedule.cores; ++c) {
      if (schedule.first(s, c) < schedule.last(s, c)) done[static_cast<std::size_t>(c)] = s;
    }
  }
  return result;
}

/// A schedule and its layout, as it is made.
struct Prepared {
  Layout layout;
  PortionsOfCores portions;
  PortionWaits waits;
  Index supersteps;
};

Prepared prepare(SolveSchedule kind, const SweepInput& input, int cores, bool barriers, cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(input.pattern.rows);
  const std::vector<Offset> offsets = cuda::fetch_array(input.pattern.row_offsets, rows + 1, stream);
  const std::vector<Index> columns =
      cuda::fetch_array(input.pattern.col_indices, static_cast<std::size_t>(input.pattern.entries), stream);
  const CsrPattern pattern{input.pattern.rows, input.pattern.rows, offsets.data(), columns.data()};
  const SuperstepSchedule schedule = make_superstep_schedule(kind, pattern, input.triangle, cores);
  Prepared result;
  result.waits = barriers ? all_waits(schedule) : find_portion_waits(schedule, pattern, input.triangle);
  result.supersteps = schedule.supersteps;
  const auto order = cuda::upload(schedule.order, stream);
  const std::size_t limit = cuda::most_shared_bytes() - kOwnBytes;
  for (Index most = kMostPortionRows;; most /= 2) {
    result.portions = portions_of(schedule, result.waits, most);
    result.layout = measure(input, result.portions.cover, order.data(), stream);
    if (result.layout.shared_pivots_bytes <= limit) break;
  }
  fill(input, result.layout, stream);
  return result;
}

class CoresSweep final : public LayoutSweep {
 public:
  CoresSweep(Prepared prepared, const SweepInput& input, int cores, cudaStream_t stream)
      : LayoutSweep(std::move(prepared.layout), input, stream),
        kernel_(kernel_for(layout().row_entries)),
        cores_(cores),
        supersteps_(static_cast<unsigned long long>(prepared.supersteps)),
        first_run_(cuda::upload(prepared.portions.first_run, stream)),
        run_(cuda::upload(prepared.portions.runs, stream)),
        wait_(cuda::upload(prepared.waits.waits, stream)),
        done_(static_cast<std::size_t>(cores), stream) {
    cuda::check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(cuda::most_shared_bytes() - kOwnBytes)),
                "asking for shared memory");
    int resident = 0;
    cuda::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_, kThreads, layout().shared_pivots_bytes),
        "asking for occupancy");
    if (resident * cuda::device_limits().multiprocessors < cores) {
      throw DeviceError("this device cannot hold " + std::to_string(cores) + " thread blocks at once");
    }
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if (layout().portions() == 0) return;
    if (start_.must_reset(stream)) {
      set_bytes(done_, 0, stream);
      before_ = 0;
    }
    const PortionArguments a = arguments(rhs, x, non_finite, stream);
    const Cores cores{first_run_.data(), run_.data(), wait_.data(), done_.data()};
    const cudaError_t error =
        cuda::Launch(cores_, kThreads, shared_bytes(), stream).cooperative().attempt(kernel_, a, cores, before_);
    // A core's portions are its own, and others wait for them: fewer blocks cannot run them.
    if (cuda::does_not_fit(error)) {
      throw DeviceError("the schedule needs " + std::to_string(cores_) +
                        " thread blocks at once, more than run on the stream's share of the GPU");
    }
    cuda::check(error, "launching cores");
    before_ += supersteps_;
    start_.launched();
  }

  [[nodiscard]] std::int64_t bytes() const override {
    return LayoutSweep::bytes() + first_run_.bytes() + run_.bytes() + wait_.bytes() + done_.bytes();
  }

 private:
  Kernel kernel_;
  int cores_;
  unsigned long long supersteps_;
  unsigned long long before_ = 0;
  cuda::StartState start_;  ///< of done_
  cuda::DeviceArray<Index> first_run_;
  cuda::DeviceArray<PortionRun> run_;
  cuda::DeviceArray<PortionWait> wait_;
  cuda::DeviceArray<unsigned long long> done_;
};

}  // namespace

std::unique_ptr<Sweep> make_cores_sweep(SolveSchedule schedule, const SweepInput& input, const CoresOptions& options,
                                        cudaStream_t stream) {
  const int cores = options.cores > 0 ? options.cores : cuda::device_limits().multiprocessors;
  return std::make_unique<CoresSweep>(prepare(schedule, input, cores, options.barriers, stream), input, cores, stream);
}

}  // namespace taskdag::kernels
