// Device memory of ILU(0) beside its time: what a factorisation holds once it is set up and what it takes at most, by
// the library's own count, over the factor's values and columns; and the most that the device had less meanwhile.
// usage: taskdag_memory [--smoke]     rows to the standard output, as CSV; exit status 77 where there is no GPU
#include "backends/cuda/memory.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/stream.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/taskdag.hpp"

namespace {

using namespace taskdag;

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

/// Looks every millisecond how much memory the device has left.
class LeastFree {
 public:
  LeastFree() : least_(free_bytes()), looks_([this] { look(); }) {}
  ~LeastFree() {
    if (looks_.joinable()) end();
  }
  LeastFree(const LeastFree&) = delete;
  LeastFree& operator=(const LeastFree&) = delete;
  std::size_t end() {
    ended_ = true;
    looks_.join();
    return least_;
  }

 private:
  void look() {
    while (!ended_) {
      least_ = std::min(least_.load(), free_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::atomic<bool> ended_{false};
  std::atomic<std::size_t> least_;
  std::thread looks_;
};

template <class Work>
double milliseconds(const Work& work) {
  cuda::check(cudaDeviceSynchronize(), "waiting for the device");
  const auto begin = std::chrono::steady_clock::now();
  work();
  cuda::check(cudaDeviceSynchronize(), "waiting for the device");
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

struct Case {
  std::string problem;
  bool in_blocks;
  Precision precision;
};

void measure(const Case& c, const CsrMatrix& a, const Context& context) {
  const cuda::UniqueStream own;
  const cudaStream_t s = own.get();
  const Stream stream{s};
  const auto offsets = cuda::upload(a.row_offsets, s);
  const auto columns = cuda::upload(a.col_indices, s);
  const auto values = cuda::upload(a.values, s);
  const cuda::DeviceArray<double> x(static_cast<std::size_t>(a.rows), s);
  const CsrPattern pattern{a.rows, a.cols, offsets.data(), columns.data()};
  std::unique_ptr<Factorization> f;
  const auto set_up = [&] {
    FactorOptions options;
    options.precision = c.precision;
    if (c.in_blocks) {
      BlockOrdering ordering = block_multicolour(context, pattern, MemorySpace::device, {.on_device = true}, stream);
      options.device_order = std::move(ordering.device_order);
      options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
    }
    f = std::make_unique<Factorization>(context, pattern, MemorySpace::device, options, std::span<const Index>{},
                                        std::span<const Index>{}, stream);
  };
  const auto factor = [&] { f->factor(values.data(), MemorySpace::device, stream); };
  const auto apply = [&] { f->apply(Apply::full, x.data(), x.data(), MemorySpace::device, stream); };
  cuda::check(cudaMemsetAsync(x.data(), 0, static_cast<std::size_t>(x.bytes()), s), "clearing a vector");
  const std::int64_t before = cuda::device_bytes().live;
  const std::size_t free_before = free_bytes();
  static_cast<void>(cuda::most_device_bytes());
  LeastFree least;
  const double set_up_ms = milliseconds([&] {
    set_up();
    factor();
  });
  apply();
  const double later_ms = milliseconds(factor);
  const double apply_ms = milliseconds(apply);
  const std::size_t least_free = least.end();
  const std::size_t value = f->info().precision == Precision::in_single ? sizeof(float) : sizeof(double);
  const double factor_bytes = static_cast<double>((value + sizeof(Index)) * a.values.size());
  const auto held = static_cast<double>(cuda::device_bytes().live - before);
  const auto most = static_cast<double>(cuda::device_bytes().peak - before);
  constexpr double kMb = 1e-6;
  std::printf("%s,%s,%s,%s,%d,%zu,%.1f,%.1f,%.2f,%.1f,%.2f,%.1f,%.2f,%.2f,%.3f\n", c.problem.c_str(),
              c.in_blocks ? "blocks" : "natural", to_string(f->info().precision), to_string(f->info().lower_schedule),
              a.rows, a.values.size(), kMb * factor_bytes, kMb * held, held / factor_bytes, kMb * most,
              most / factor_bytes, kMb * static_cast<double>(free_before - least_free), set_up_ms, later_ms, apply_ms);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (probe_devices().devices == 0) {
    std::fprintf(stderr, "%s\n", probe_devices().message.c_str());
    return 77;
  }
  const bool smoke = argc > 1 && std::string(argv[1]) == "--smoke";
  const Context context = Context::create({.backend = Backend::cuda});
  std::puts(
      "problem,order,precision,schedule,rows,entries,factor_mb,held_mb,held_ratio,peak_mb,peak_ratio,device_peak_mb,"
      "set_up_ms,later_factor_ms,apply_ms");
  const Index side = smoke ? 40 : 200;
  const Index line = smoke ? 100 : 2000;
  const std::pair<std::string, StencilSpec> problems[] = {
      {"7-point " + std::to_string(side),
       {.stencil = Stencil::seven_point, .nx = side, .ny = side, .nz = side, .wind = 0.5}},
      {"5-point " + std::to_string(line), {.stencil = Stencil::five_point, .nx = line, .ny = line, .wind = 0.5}}};
  for (const auto& [name, stencil] : problems) {
    const CsrMatrix a = make_stencil(stencil);
    for (const bool in_blocks : {false, true}) {
      for (const Precision precision : {Precision::in_double, Precision::in_single}) {
        measure({name, in_blocks, precision}, a, context);
      }
    }
  }
  return 0;
}
