#include <type_traits>

#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/cells/bands/load.hpp"
#include "kernels/sptrsv/schedules/cells/pack/values.cuh"

namespace taskdag::kernels::cells {
namespace {

constexpr int kThreads = 256;
constexpr int kPositions = kChunk * kLanes;

template <class Value>
using Pair = std::conditional_t<sizeof(Value) == sizeof(double), double2, float2>;

/// A block a chunk. Read column by column of a line, written lane by lane of a step.
template <class Value, class Values>
__global__ void load_chunk(Bands bands, Index chunks, SweepOrder order, BandValues<Value> target, Values values,
                           const double* pivot) {
  __shared__ Pair<Value> entry[kChunk][kLanes + 1];
  const Index band = static_cast<Index>(blockIdx.x) / chunks;
  const Index first_step = static_cast<Index>(blockIdx.x) % chunks * kChunk;
  for (int k = static_cast<int>(threadIdx.x); k < kPositions; k += kThreads) {
    const int lane = k / kChunk;
    const int step = k % kChunk;
    const Index column = first_step + step - lane;
    const Index line = band * kLanes + lane;
    Pair<Value> mine{0, 0};
    if (column >= 0 && column < bands.columns && line < bands.lines) {
      const Index r = line * bands.columns + column;
      const Index row = order(r);
      const double scale = pivot ? __ldg(pivot + row) : 1.0;
      const auto value = [&](int number, Index distance) {
        const Offset e = source_of(target.sources, order, r, number, distance);
        return e >= 0 ? stored_value<Value>(values.of_entry(e, row, order(r - distance)), scale) : Value{0};
      };
      mine = {value(0, 1), value(1, bands.columns)};
      if (target.pivot != nullptr) target.pivot[row] = scale;
      if (lane == 0) {
        target.edge[std::int64_t{band} * bands.columns + column] = mine.y;
        mine.x = mine.y = mine.x / 2;
      }
    }
    entry[step][lane] = mine;
  }
  __syncthreads();
  auto* const out = reinterpret_cast<Pair<Value>*>(target.entry) + std::int64_t{blockIdx.x} * kPositions;
  for (int k = static_cast<int>(threadIdx.x); k < kPositions; k += kThreads) out[k] = entry[k / kLanes][k % kLanes];
}

/// A block a chunk, as load_chunk.
template <class Value>
__global__ void return_chunk(Bands bands, Index chunks, SweepOrder order, BandValues<Value> from, const double* pivot,
                             double* entries) {
  const Index band = static_cast<Index>(blockIdx.x) / chunks;
  const Index first_step = static_cast<Index>(blockIdx.x) % chunks * kChunk;
  const auto* const in = reinterpret_cast<const Pair<Value>*>(from.entry) + std::int64_t{blockIdx.x} * kPositions;
  for (int k = static_cast<int>(threadIdx.x); k < kPositions; k += kThreads) {
    const int lane = k / kChunk;
    const int step = k % kChunk;
    const Index column = first_step + step - lane;
    const Index line = band * kLanes + lane;
    if (column < 0 || column >= bands.columns || line >= bands.lines) continue;
    const Index r = line * bands.columns + column;
    const double scale = pivot ? pivot[order(r)] : 1.0;
    Pair<Value> mine = in[step * kLanes + lane];
    if (lane == 0) {  // its entry before is halved, the other one stands by itself
      mine.x *= 2;
      mine.y = from.edge[std::int64_t{band} * bands.columns + column];
    }
    if (const Offset e = source_of(from.sources, order, r, 0, 1); e >= 0) entries[e] = returned_value(mine.x, scale);
    if (const Offset e = source_of(from.sources, order, r, 1, bands.columns); e >= 0)
      entries[e] = returned_value(mine.y, scale);
  }
}

template <class Value, class Values>
void load(const Bands& bands, SweepOrder order, const BandValues<Value>& target, const Values& values,
          const double* pivot, cudaStream_t stream) {
  const Index chunks = chunks_of(bands);
  load_chunk<<<static_cast<unsigned>(bands.bands() * chunks), kThreads, 0, stream>>>(bands, chunks, order, target,
                                                                                     values, pivot);
  cuda::check_launch("load_chunk");
}

}  // namespace

template <class Value>
void load_values(const Bands& bands, SweepOrder order, const BandValues<Value>& target, const double* source,
                 const double* pivot, cudaStream_t stream) {
  load(bands, order, target, PlainValues{source}, pivot, stream);
}
template void load_values(const Bands&, SweepOrder, const BandValues<double>&, const double*, const double*,
                          cudaStream_t);
template void load_values(const Bands&, SweepOrder, const BandValues<float>&, const double*, const double*,
                          cudaStream_t);

template <class Value>
void return_values(const Bands& bands, SweepOrder order, const BandValues<Value>& from, const double* pivot,
                   double* entries, cudaStream_t stream) {
  const Index chunks = chunks_of(bands);
  return_chunk<<<static_cast<unsigned>(bands.bands() * chunks), kThreads, 0, stream>>>(bands, chunks, order, from,
                                                                                       pivot, entries);
  cuda::check_launch("return_chunk");
}
template void return_values(const Bands&, SweepOrder, const BandValues<double>&, const double*, double*, cudaStream_t);
template void return_values(const Bands&, SweepOrder, const BandValues<float>&, const double*, double*, cudaStream_t);

void load_products(const Bands& bands, SweepOrder order, const BandValues<double>& target,
                   const ValueProducts& products, cudaStream_t stream) {
  load(bands, order, target, Products{products}, nullptr, stream);
}

}  // namespace taskdag::kernels::cells
