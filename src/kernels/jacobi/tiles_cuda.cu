#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/cooperative.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/launch.hpp"
#include "base/first_number.hpp"
#include "base/index.hpp"
#include "base/macros.hpp"
#include "csr/gather.hpp"
#include "kernels/jacobi/tiles_cuda.hpp"

namespace taskdag::kernels {

namespace {

/// Lanes of the sum that one thread stands for: it keeps as many sums, and adds them up as the lanes would.
constexpr int kSums = 4;
TASKDAG_HD constexpr int threads_of_row(int lanes) { return lanes > kSums ? lanes / kSums : 1; }

/// Threads of a block. With rows in registers a thread has 128 of these, and with passes two blocks share a
/// multiprocessor, so that one loads while the other computes.
TASKDAG_HD constexpr int threads_of(TileForm form, bool registers) {
  if (form == TileForm::resident) return registers ? 512 : 1024;
  return registers ? 256 : 512;
}
/// Rows that a thread keeps in registers.
constexpr int kRowsOfThread = 4;
constexpr std::size_t kPassesPerMultiprocessor = 2;

struct Arguments {
  const JacobiTile* tile;
  const std::uint32_t* row;
  const std::uint16_t* offset;
  const std::uint16_t* operand;
  const double* values;
  const double* scale;
  const double* b;
  const double* from;  ///< null: scale · b, the iterate after the first sweep
  double* to;
  ulonglong2* slot;
  std::uint32_t* state;
  int sweeps;  ///< beyond the iterate to start from; of passes at most depth
  int depth;
};

/// A value and the number of its exchange, in two words that each have half of both: a reader that finds the number in
/// both has read all of the value, whatever the value is.
__device__ void give(ulonglong2* slot, double value, std::uint32_t number) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  const unsigned long long tag = static_cast<unsigned long long>(number) << 32U;
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(slot), "l"(tag | (bits & 0xFFFFFFFFU)),
               "l"(tag | (bits >> 32U))
               : "memory");
}
__device__ double take(const ulonglong2* slot, std::uint32_t number) {
  unsigned long long low;
  unsigned long long high;
  do {
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
  } while (static_cast<std::uint32_t>(low >> 32U) != number || static_cast<std::uint32_t>(high >> 32U) != number);
  return __longlong_as_double(static_cast<long long>((high << 32U) | (low & 0xFFFFFFFFU)));
}

/// The values of others that a tile needs: rows first, first + step, … below end.
__device__ void take_all(const Arguments& p, const std::uint32_t* number, int first, int end, int step,
                         std::uint32_t round, std::uint32_t exchange, double* x) {
  for (int h = first; h < end; h += step) {
    x[h] = take(p.slot + 2U * std::size_t{number[h]} + (round & 1U), exchange);
  }
}

/// The last block prepares the next run: all have read the state by then.
__device__ void end_run(const Arguments& p, std::uint32_t exchanges) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (atomicAdd(p.state + 1, 1U) + 1U == gridDim.x) {
    p.state[1] = 0;
    p.state[0] = exchanges;
  }
}

/// The sweeps of a tile, by a block of kThreads.
template <TileForm Form, int kThreads>
struct TileSweeps {
  static constexpr bool kExchanges = Form == TileForm::resident;
  const Arguments& p;
  int own;               ///< rows
  int rows;              ///< of the tile
  const int* level_end;  ///< in shared memory, as what follows
  double* iterate;       ///< two of them
  const std::uint32_t* number;
  std::uint32_t run;

  /// Calls compute(from, end, keep) for each sweep: it calls keep(r, result) for the rows r below `end`.
  template <class Compute>
  __device__ __forceinline__ void run_all(const Compute& compute) const {
    int parity = 0;
    std::uint32_t round = 0;
    for (int remaining = p.sweeps;;) {
      const int sweeps = min(remaining, p.depth);
      remaining -= sweeps;
      for (int sweep = 1; sweep <= sweeps; ++sweep) {
        // Behind it all have written the iterate before, and the one before that is not read any more.
        __syncthreads();
        const double* const from = iterate + parity * rows;
        double* const to = iterate + (1 - parity) * rows;
        parity = 1 - parity;
        compute(from, level_end[sweeps - sweep], [&](int r, double result) {
          to[r] = result;
          if (sweep < sweeps) return;
          const std::uint32_t marked = number[r];
          const std::uint32_t i = marked & ~JacobiTiles::kGiven;
          if (remaining == 0) {
            p.to[i] = result;
          } else if (kExchanges && (marked & JacobiTiles::kGiven) != 0U) {
            give(p.slot + 2U * std::size_t{i} + (round & 1U), result, run + round);
          }
        });
      }
      if (remaining == 0) break;
      if constexpr (kExchanges) {
        take_all(p, number, own + static_cast<int>(threadIdx.x), rows, kThreads, round, run + round,
                 iterate + parity * rows);
        ++round;
      }
    }
    if constexpr (kExchanges) end_run(p, run + round);
  }
};

/// Σ a_ij x_j of a row, by threads_of_row(Lanes) threads: the additions of `Lanes` lanes in their order.
template <int Lanes>
__device__ double row_sum(const double* value, const std::uint16_t* operand, int begin, int end, int rank,
                          const double* x) {
  constexpr int kThreadsOfRow = threads_of_row(Lanes);
  constexpr int kOwn = Lanes / kThreadsOfRow;
  double sum[kOwn] = {};
  for (int e = begin + rank; e < end; e += Lanes) {
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      const int entry = e + k * kThreadsOfRow;
      if (entry < end) sum[k] += value[entry] * x[operand[entry]];
    }
  }
#pragma unroll
  for (int offset = kOwn / 2; offset > 0; offset /= 2) {
#pragma unroll
    for (int k = 0; k < offset; ++k) sum[k] += sum[k + offset];
  }
#pragma unroll
  for (int offset = kThreadsOfRow / 2; offset > 0; offset /= 2) {
    sum[0] += __shfl_xor_sync(0xFFFFFFFFU, sum[0], offset);
  }
  return sum[0];
}

/// resident: all blocks run at the same time, and take values from each other between the rounds of `depth` sweeps.
template <int Lanes, TileForm Form>
__global__ void __launch_bounds__(threads_of(Form, false)) tile_kernel(Arguments p) {
  constexpr int kThreads = threads_of(Form, false);
  constexpr int kThreadsOfRow = threads_of_row(Lanes);
  constexpr bool kExchanges = Form == TileForm::resident;
  const JacobiTile& tile = p.tile[blockIdx.x];
  const auto thread = static_cast<int>(threadIdx.x);
  __shared__ int level_end[kMostDepth + 1];
  if (thread <= p.depth) level_end[thread] = tile.level_end[thread];
  const int own = tile.level_end[0];
  const int computed = tile.level_end[p.depth - 1];
  const int rows = tile.level_end[p.depth];
  const std::uint16_t* const offsets = p.offset + tile.offset_begin;
  const int entries = offsets[computed];

  extern __shared__ double shared[];
  double* const value = shared;
  double* const b = value + entries;
  double* const scale = b + computed;
  double* const iterate = scale + computed;  // two of them
  auto* const number = reinterpret_cast<std::uint32_t*>(iterate + 2 * rows);
  auto* const operand = reinterpret_cast<std::uint16_t*>(number + rows);
  std::uint16_t* const offset = operand + entries;

  const std::uint32_t run = kExchanges ? p.state[0] : 0U;
  for (int r = thread; r < rows; r += kThreads) {
    const std::uint32_t marked = p.row[tile.row_begin + static_cast<std::uint32_t>(r)];
    const std::uint32_t i = marked & ~JacobiTiles::kGiven;
    number[r] = marked;
    if (r < computed || p.from == nullptr) {
      const double row_b = p.b[i];
      const double row_scale = p.scale[i];
      if (r < computed) {
        b[r] = row_b;
        scale[r] = row_scale;
      }
      if (p.from == nullptr) iterate[r] = row_scale * row_b;
    }
    if (p.from != nullptr) iterate[r] = p.from[i];
  }
  for (int e = thread; e < entries; e += kThreads) {
    value[e] = p.values[tile.entry_begin + static_cast<std::uint32_t>(e)];
    operand[e] = p.operand[tile.entry_begin + static_cast<std::uint32_t>(e)];
  }
  for (int r = thread; r <= computed; r += kThreads) offset[r] = offsets[r];

  const int rank = thread % kThreadsOfRow;
  const TileSweeps<Form, kThreads> sweeps{p, own, rows, level_end, iterate, number, run};
  sweeps.run_all([&](const double* from, int end, const auto& keep) {
    // Whole warps take part in sums.
    for (int first = 0; first < end; first += kThreads / kThreadsOfRow) {
      const int r = first + thread / kThreadsOfRow;
      const bool inside = r < end;
      const double sum = row_sum<Lanes>(value, operand, inside ? offset[r] : 0, inside ? offset[r + 1] : 0, rank, from);
      if (!inside || rank != 0) continue;
      keep(r, from[r] + scale[r] * (b[r] - sum));
    }
  });
}

/// The entries of a row, in registers. Σ a_ij x_j by one thread: the additions of `Lanes` lanes in their order.
template <int Longest, int Lanes>
struct RegisterRow {
  double value[Longest];
  std::uint32_t operands[(Longest + 1) / 2];  ///< two each
  int entries = 0;
  double b = 0.0;
  double scale = 0.0;

  __device__ double sum(const double* x) const {
    double sum[Lanes] = {};
#pragma unroll
    for (int e = 0; e < Longest; ++e) {
      const std::uint32_t operand = e % 2 == 0 ? operands[e / 2] & 0xFFFFU : operands[e / 2] >> 16U;
      if (e < entries) sum[e % Lanes] += value[e] * x[operand];
    }
#pragma unroll
    for (int offset = Lanes / 2; offset > 0; offset /= 2) {
#pragma unroll
      for (int k = 0; k < offset; ++k) sum[k] += sum[k + offset];
    }
    return sum[0];
  }
};

/// As tile_kernel(), for rows of at most `Longest` entries: row r belongs to thread r modulo their number for good.
template <int Longest, int Lanes, TileForm Form>
__global__ void __launch_bounds__(threads_of(Form, true), Form == TileForm::resident ? 1 : 2)
    register_tile_kernel(Arguments p) {
  constexpr int kThreads = threads_of(Form, true);
  constexpr bool kExchanges = Form == TileForm::resident;
  const JacobiTile& tile = p.tile[blockIdx.x];
  const auto thread = static_cast<int>(threadIdx.x);
  __shared__ int level_end[kMostDepth + 1];
  if (thread <= p.depth) level_end[thread] = tile.level_end[thread];
  const int own = tile.level_end[0];
  const int computed = tile.level_end[p.depth - 1];
  const int rows = tile.level_end[p.depth];

  extern __shared__ double shared[];
  double* const iterate = shared;  // two of them
  auto* const number = reinterpret_cast<std::uint32_t*>(shared + 2 * rows);

  const std::uint32_t run = kExchanges ? p.state[0] : 0U;
  RegisterRow<Longest, Lanes> row[kRowsOfThread];
#pragma unroll
  for (int k = 0; k < kRowsOfThread; ++k) {
    const int r = thread + k * kThreads;
    if (r >= computed) continue;
    const std::uint16_t* const offset = p.offset + tile.offset_begin + r;
    const std::uint32_t begin = tile.entry_begin + offset[0];
    row[k].entries = offset[1] - offset[0];
#pragma unroll
    for (int e = 0; e < Longest; ++e) {
      const bool there = e < row[k].entries;
      row[k].value[e] = there ? p.values[begin + static_cast<std::uint32_t>(e)] : 0.0;
      const std::uint32_t operand = there ? p.operand[begin + static_cast<std::uint32_t>(e)] : 0U;
      if (e % 2 == 0) {
        row[k].operands[e / 2] = operand;
      } else {
        row[k].operands[e / 2] |= operand << 16U;
      }
    }
  }
  for (int r = thread; r < rows; r += kThreads) {
    const std::uint32_t marked = p.row[tile.row_begin + static_cast<std::uint32_t>(r)];
    const std::uint32_t i = marked & ~JacobiTiles::kGiven;
    number[r] = marked;
    iterate[r] = p.from != nullptr ? p.from[i] : p.scale[i] * p.b[i];
  }
#pragma unroll
  for (int k = 0; k < kRowsOfThread; ++k) {
    const int r = thread + k * kThreads;
    if (r >= computed) continue;
    const std::uint32_t i = number[r] & ~JacobiTiles::kGiven;  // this thread's own
    row[k].b = p.b[i];
    row[k].scale = p.scale[i];
  }

  const TileSweeps<Form, kThreads> sweeps{p, own, rows, level_end, iterate, number, run};
  sweeps.run_all([&](const double* from, int end, const auto& keep) {
#pragma unroll
    for (int k = 0; k < kRowsOfThread; ++k) {
      const int r = thread + k * kThreads;
      if (r >= end) continue;
      keep(r, from[r] + row[k].scale * (row[k].b - row[k].sum(from)));
    }
  });
}

using Kernel = void (*)(Arguments);

template <TileForm Form>
Kernel kernel_of(int lanes) {
  switch (lanes) {
    case 1:
      return tile_kernel<1, Form>;
    case 2:
      return tile_kernel<2, Form>;
    case 4:
      return tile_kernel<4, Form>;
    case 8:
      return tile_kernel<8, Form>;
    case 16:
      return tile_kernel<16, Form>;
    default:
      return tile_kernel<32, Form>;
  }
}
/// Null where there is none for rows of these lanes in registers.
template <TileForm Form>
Kernel register_kernel_of(int lanes, int longest) {
  if (lanes == 2 && longest == 3) return register_tile_kernel<3, 2, Form>;
  if (lanes == 4 && longest == 5) return register_tile_kernel<5, 4, Form>;
  if (lanes == 4 && longest == 7) return register_tile_kernel<7, 4, Form>;
  return nullptr;
}
template <TileForm Form>
Kernel kernel_of(const TileRun& run) {
  return run.longest > 0 ? register_kernel_of<Form>(run.lanes, run.longest) : kernel_of<Form>(run.lanes);
}
Kernel kernel_of(const TileRun& run) {
  return run.form == TileForm::resident ? kernel_of<TileForm::resident>(run) : kernel_of<TileForm::passes>(run);
}
int threads_of(const TileRun& run) { return threads_of(run.form, run.longest > 0); }

void allow_shared(Kernel kernel, std::size_t bytes) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
              "asking for shared memory");
}

}  // namespace

TileRun tile_run(TileForm form, int lanes, Offset longest_row) {
  for (const int longest : {3, 5, 7}) {
    if (longest_row <= longest && register_kernel_of<TileForm::resident>(lanes, longest) != nullptr) {
      return {form, lanes, longest};
    }
  }
  return {form, lanes, 0};
}

TileRoom room_of_tile(const TileRun& run) {
  // A block takes a kilobyte for itself.
  const std::size_t bytes = run.form == TileForm::resident
                                ? cuda::most_shared_bytes()
                                : (cuda::most_shared_bytes() + 1024) / kPassesPerMultiprocessor - 1024;
  const bool registers = run.longest > 0;
  return {bytes, !registers, registers ? static_cast<std::size_t>(threads_of(run)) * kRowsOfThread : 0xFFFFU};
}

Index rows_of_tile(const TileRun& run, Index rows, Offset entries) {
  const TileRoom room = room_of_tile(run);
  if (run.form == TileForm::passes) {
    // What leaves room for what lies around.
    if (!room.entries) return static_cast<Index>(room.computed * 5 / 8);
    return static_cast<Index>(room.bytes / bytes_of_tile(room, at(entries / std::max(rows, 1)) + 1, 1, 1) / 2);
  }
  // Each thread a row, or as many tiles as run at the same time.
  const int threads = run.longest > 0 ? threads_of(run) : threads_of(run) / threads_of_row(run.lanes);
  return std::max(threads, pieces_of(rows, cuda::device_limits().multiprocessors));
}

bool CudaTiles::can_run(const JacobiTiles& tiles, const TileRun& run) {
  if (tiles.depth == 0 || tiles.shared_bytes > room_of_tile(run).bytes) return false;
  if (run.form == TileForm::passes) return true;
  int blocks = 0;
  const Kernel kernel = kernel_of(run);
  allow_shared(kernel, tiles.shared_bytes);
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads_of(run), tiles.shared_bytes),
              "looking up how many blocks fit");
  return tiles.tile.size() <= static_cast<std::size_t>(blocks) * at(cuda::device_limits().multiprocessors);
}

CudaTiles::CudaTiles(const JacobiTiles& tiles, const TileRun& run, Index rows, cudaStream_t stream)
    : run_(run),
      depth_(tiles.depth),
      shared_bytes_(tiles.shared_bytes),
      tile_(cuda::upload(tiles.tile, stream)),
      row_(cuda::upload(tiles.row, stream)),
      offset_(cuda::upload(tiles.offset, stream)),
      operand_(cuda::upload(tiles.operand, stream)),
      source_(cuda::upload(tiles.source, stream)),
      values_(tiles.source.size(), stream) {
  if (run.form != TileForm::resident) return;
  slot_ = {2 * at(rows), stream};
  cuda::check(cudaMemsetAsync(slot_.data(), 0, slot_.size() * sizeof(ulonglong2), stream), "clearing slots");
  // No slot holds the number of the first exchange.
  state_ = cuda::upload(std::vector<std::uint32_t>{first_number + 1U, 0}, stream);
}

void CudaTiles::load(const double* values, cudaStream_t stream) {
  gather(static_cast<Offset>(source_.size()), values, source_.data(), values_.data(), stream);
}

bool CudaTiles::enqueue(const double* scale, const double* b, double* x, double* work, int sweeps,
                        cudaStream_t stream) {
  Arguments arguments{tile_.data(), row_.data(), offset_.data(), operand_.data(), values_.data(), scale, b,
                      nullptr,      x,           slot_.data(),   state_.data(),   sweeps - 1,     depth_};
  const Kernel kernel = kernel_of(run_);
  // The attribute is the kernel's: another object may have asked for less since.
  allow_shared(kernel, shared_bytes_);
  cuda::Launch launch(static_cast<std::int64_t>(tile_.size()), threads_of(run_), shared_bytes_, stream);
  if (run_.form == TileForm::resident) {
    const cudaError_t error = launch.cooperative().attempt(kernel, arguments);
    if (cuda::does_not_fit(error)) return false;
    cuda::check(error, "starting resident Jacobi sweeps");
    return true;
  }
  // Passes alternate between two arrays; x is the last one written.
  const int passes = pieces_of(sweeps - 1, depth_);
  int remaining = sweeps - 1;
  for (int pass = 0; pass < passes; ++pass) {
    arguments.sweeps = std::min(remaining, depth_);
    arguments.to = (passes - pass) % 2 == 1 ? x : work;
    launch.run("starting Jacobi sweeps by tiles", kernel, arguments);
    arguments.from = arguments.to;
    remaining -= arguments.sweeps;
  }
  return true;
}

std::int64_t CudaTiles::bytes() const {
  return tile_.bytes() + row_.bytes() + offset_.bytes() + operand_.bytes() + source_.bytes() + values_.bytes() +
         slot_.bytes() + state_.bytes();
}

}  // namespace taskdag::kernels
