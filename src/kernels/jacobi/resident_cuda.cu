#include <algorithm>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "base/macros.hpp"
#include "kernels/jacobi/resident_cuda.hpp"

namespace taskdag::kernels {

namespace {

constexpr int kThreads = 1024;
/// Lanes of the sum that one thread stands for: it keeps as many sums, and adds them up as the lanes would.
constexpr int kSums = 4;
TASKDAG_HD constexpr int threads_of_row(int lanes) { return lanes > kSums ? lanes / kSums : 1; }

struct Arguments {
  const ResidentBlock* block;
  const Offset* row_offsets;
  const std::uint16_t* place;
  const std::uint32_t* halo;
  const std::uint16_t* row_of_slot;
  const double* values;
  const double* scale;
  const double* b;
  double* x;
  ulonglong2* slot;
  std::uint32_t* state;
  std::uint32_t sweeps;
};

constexpr std::uint16_t kNoSlot = 0xFFFF;

/// A value and the number of its sweep, in two words that each have half of both: whoever reads the number twice has
/// read all of the value, whatever the value is.
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

/// Σ a_ij x_j of a row, by threads_of_row(Lanes) threads: the additions of `Lanes` lanes in their order.
template <int Lanes>
__device__ double row_sum(const double* value, const std::uint16_t* place, int begin, int end, int rank,
                          const double* x) {
  constexpr int kThreadsOfRow = threads_of_row(Lanes);
  constexpr int kOwn = Lanes / kThreadsOfRow;
  double sum[kOwn] = {};
  for (int e = begin + rank; e < end; e += Lanes) {
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      const int entry = e + k * kThreadsOfRow;
      if (entry < end) sum[k] += value[entry] * x[place[entry]];
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

/// All blocks run at the same time. A sweep: take the neighbours' values of the iterate before; one barrier; rows.
template <int Lanes>
__global__ void __launch_bounds__(kThreads) resident_kernel(Arguments p) {
  constexpr int kThreadsOfRow = threads_of_row(Lanes);
  const ResidentBlock block = p.block[blockIdx.x];
  const auto thread = static_cast<int>(threadIdx.x);
  const int halo = static_cast<int>(block.halo_end - block.halo_begin);
  const int places = block.rows + halo;

  extern __shared__ double shared[];
  double* const value = shared;
  double* const b = value + block.entries;
  double* const scale = b + block.rows;
  double* const iterate[2] = {scale + block.rows, scale + block.rows + places};
  auto* const place = reinterpret_cast<std::uint16_t*>(iterate[1] + places);
  std::uint16_t* const offset = place + block.entries;
  std::uint16_t* const slot_of_row = offset + block.rows + 1;

  const std::uint32_t run = p.state[0];
  for (int e = thread; e < block.entries; e += kThreads) {
    value[e] = p.values[block.first_entry + e];
    place[e] = p.place[block.first_entry + e];
  }
  for (int r = thread; r <= block.rows; r += kThreads) {
    offset[r] = static_cast<std::uint16_t>(p.row_offsets[block.first_row + r] - block.first_entry);
  }
  for (int r = thread; r < block.rows; r += kThreads) {
    const double row_b = p.b[block.first_row + r];
    const double row_scale = p.scale[block.first_row + r];
    b[r] = row_b;
    scale[r] = row_scale;
    iterate[0][r] = row_scale * row_b;
    slot_of_row[r] = kNoSlot;
  }
  __syncthreads();
  for (std::uint32_t s = block.slot_begin + threadIdx.x; s < block.slot_end; s += kThreads) {
    const std::uint16_t row = p.row_of_slot[s];
    slot_of_row[row] = static_cast<std::uint16_t>(s - block.slot_begin);
    give(p.slot + 2U * s, iterate[0][row], run);
  }

  for (std::uint32_t sweep = 1; sweep < p.sweeps; ++sweep) {
    double* const from = iterate[(sweep - 1U) & 1U];
    double* const to = iterate[sweep & 1U];
    const std::uint32_t before = run + sweep - 1U;
    for (int h = thread; h < halo; h += kThreads) {
      from[block.rows + h] =
          take(p.slot + 2U * p.halo[block.halo_begin + static_cast<std::uint32_t>(h)] + ((sweep - 1U) & 1U), before);
    }
    // Behind it nobody reads `to` any more: those are the values of the sweep before the last one.
    __syncthreads();
    const bool last = sweep + 1U == p.sweeps;
    const int rank = thread % kThreadsOfRow;
    // Whole warps take part in sums.
    for (int first = 0; first < block.rows; first += kThreads / kThreadsOfRow) {
      const int r = first + thread / kThreadsOfRow;
      const bool inside = r < block.rows;
      const double sum = row_sum<Lanes>(value, place, inside ? offset[r] : 0, inside ? offset[r + 1] : 0, rank, from);
      if (!inside || rank != 0) continue;
      const double result = from[r] + scale[r] * (b[r] - sum);
      if (last) {
        p.x[block.first_row + r] = result;
        continue;
      }
      to[r] = result;
      const std::uint16_t slot = slot_of_row[r];
      if (slot != kNoSlot) give(p.slot + 2U * (block.slot_begin + slot) + (sweep & 1U), result, before + 1U);
    }
  }

  // The last block prepares the next run: all have read the state by then.
  __syncthreads();
  if (thread != 0) return;
  if (atomicAdd(p.state + 1, 1U) + 1U == gridDim.x) {
    p.state[1] = 0;
    p.state[0] = run + p.sweeps;
  }
}

/// Calls found(kernel) with the one for so many lanes.
template <class Found>
void with_kernel(int lanes, const Found& found) {
  switch (lanes) {
    case 1:
      return found(resident_kernel<1>);
    case 2:
      return found(resident_kernel<2>);
    case 4:
      return found(resident_kernel<4>);
    case 8:
      return found(resident_kernel<8>);
    case 16:
      return found(resident_kernel<16>);
    default:
      return found(resident_kernel<32>);
  }
}

void allow_shared(void (*kernel)(Arguments), std::size_t bytes) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
              "asking for shared memory");
}

}  // namespace

Index resident_blocks(Index rows, int lanes) {
  const Index of_block = kThreads / threads_of_row(lanes);
  return std::clamp<Index>(pieces_of(rows, of_block), 1, cuda::device_limits().multiprocessors);
}

bool CudaResident::can_run(const ResidentLayout& layout, int lanes) {
  if (!layout.fits() || layout.shared_bytes() > cuda::most_shared_bytes()) return false;
  int blocks = 0;
  with_kernel(lanes, [&](void (*kernel)(Arguments)) {
    allow_shared(kernel, layout.shared_bytes());
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, layout.shared_bytes()),
                "looking up how many blocks fit");
  });
  return layout.block.size() <= static_cast<std::size_t>(blocks) * at(cuda::device_limits().multiprocessors);
}

CudaResident::CudaResident(const ResidentLayout& layout, cudaStream_t stream)
    : shared_bytes_(layout.shared_bytes()),
      block_(cuda::upload(layout.block, stream)),
      place_(cuda::upload(layout.place, stream)),
      halo_(cuda::upload(layout.halo, stream)),
      row_of_slot_(cuda::upload(layout.row_of_slot, stream)),
      slot_(2 * layout.row_of_slot.size(), stream),
      // No slot holds the number of the first sweep.
      state_(cuda::upload(std::vector<std::uint32_t>{1, 0}, stream)) {
  if (slot_.size() > 0) {
    cuda::check(cudaMemsetAsync(slot_.data(), 0, slot_.size() * sizeof(ulonglong2), stream), "clearing slots");
  }
}

void CudaResident::enqueue(const DevicePattern& pattern, const double* values, const double* scale, const double* b,
                           double* x, int sweeps, int lanes, cudaStream_t stream) {
  const Arguments arguments{block_.data(),
                            pattern.row_offsets,
                            place_.data(),
                            halo_.data(),
                            row_of_slot_.data(),
                            values,
                            scale,
                            b,
                            x,
                            slot_.data(),
                            state_.data(),
                            static_cast<std::uint32_t>(sweeps)};
  with_kernel(lanes, [&](void (*kernel)(Arguments)) {
    // The attribute is the kernel's: another object may have asked for less since.
    allow_shared(kernel, shared_bytes_);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(block_.size()));
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = shared_bytes_;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, kernel, arguments), "starting resident Jacobi sweeps");
  });
}

std::int64_t CudaResident::bytes() const {
  return block_.bytes() + place_.bytes() + halo_.bytes() + row_of_slot_.bytes() + slot_.bytes() + state_.bytes();
}

}  // namespace taskdag::kernels
