#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/cells/pack/values.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/load.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {
namespace {

constexpr int kPencilLoadThreads = 256;

/// A block a chunk of a plane. Read column by column of a line, written lane by lane of a step.
template <class Values>
__global__ void load_pencils(Pencils pencils, Index chunks, SweepOrder order, PencilValues target, Values values,
                             const double* pivot) {
  __shared__ double entry[3][kPencilChunk][kLanes + 1];
  const Index block = static_cast<Index>(blockIdx.x);
  const Index plane = block % kPencilPlanes;
  const Index chunk = block / kPencilPlanes % chunks;
  const Index pencil = block / kPencilPlanes / chunks;
  const PencilPlace at(pencils, pencil);
  for (int k = static_cast<int>(threadIdx.x); k < kPencilChunk * kLanes; k += kPencilLoadThreads) {
    const int step = k % kPencilChunk;
    const int lane = k / kPencilChunk;
    const Index z = at.slab * kPencilPlanes + plane;
    const Index line = at.band * kPencilLines + lane - 1;
    const Index column = chunk * kPencilChunk + step - lane;
    double mine[3] = {0.0, 0.0, lane == 0 ? 1.0 : 0.0};
    if (lane > 0 && column >= 0 && column < pencils.columns && line < pencils.lines && z < pencils.planes) {
      const Index r = (z * pencils.lines + line) * pencils.columns + column;
      const Index row = order(r);
      const double scale = pivot ? __ldg(pivot + row) : 1.0;
      const auto value = [&](Offset e) { return e >= 0 ? with_plain_nan(-values(e) * scale) : 0.0; };
      mine[0] = value(__ldg(target.source.before + r));
      mine[1] = value(__ldg(target.source.line_before + r));
      mine[2] = value(__ldg(target.source.plane_before + r));
      if (target.pivot != nullptr) target.pivot[row] = scale;
    }
    for (int j = 0; j < 3; ++j) entry[j][step][lane] = mine[j];
  }
  __syncthreads();
  double* const out =
      target.entry + ((std::int64_t{pencil} * chunks + chunk) * kPencilChunk * kPencilPlanes + plane) * 3 * kLanes;
  for (int k = static_cast<int>(threadIdx.x); k < kPencilChunk * 3 * kLanes; k += kPencilLoadThreads) {
    const int step = k / (3 * kLanes);
    const int at_step = k % (3 * kLanes);
    double* const to = out + step * kPencilPlanes * 3 * kLanes + at_step;
    *to = at_step < 2 * kLanes ? entry[at_step % 2][step][at_step / 2] : entry[2][step][at_step - 2 * kLanes];
  }
}

template <class Values>
void load_steps(const Pencils& pencils, SweepOrder order, const PencilValues& target, const Values& values,
                const double* pivot, cudaStream_t stream) {
  const Index chunks = steps_of(pencils) / kPencilChunk;
  load_pencils<<<static_cast<unsigned>(pencils.count() * chunks * kPencilPlanes), kPencilLoadThreads, 0, stream>>>(
      pencils, chunks, order, target, values, pivot);
  cuda::check_launch("load_pencils");
}

}  // namespace

void load_values(const Pencils& pencils, SweepOrder order, const PencilValues& target, const double* source,
                 const double* pivot, cudaStream_t stream) {
  load_steps(pencils, order, target, PlainValues{source}, pivot, stream);
}

void load_products(const Pencils& pencils, SweepOrder order, const PencilValues& target, const ValueProducts& products,
                   cudaStream_t stream) {
  load_steps(pencils, order, target, Products{products}, nullptr, stream);
}

}  // namespace taskdag::kernels::cells
