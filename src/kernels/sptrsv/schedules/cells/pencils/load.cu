#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/cells/pack/values.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/load.hpp"

namespace taskdag::kernels::cells {
namespace {

constexpr int kPencilLoadThreads = 256;
constexpr int kLoadBytes = 48 * 1024;  ///< of shared memory

/// Steps that a block loads at once: as many as there is shared memory for, up to a chunk.
template <class Points>
constexpr int load_steps_of() {
  int steps = kPencilChunk;
  while (Points::kEntries * steps * (kLanes + 1) * 8 > kLoadBytes) steps /= 2;
  return steps;
}
template <class Points>
constexpr int kLoadSteps = load_steps_of<Points>();

/// A block some steps of a plane. Read column by column of a line, written lane by lane of a step.
template <class Points, class Values>
__global__ void load_pencils(Pencils<Points> pencils, Index parts, SweepOrder order, PencilValues<Points> target,
                             Values values, const double* pivot) {
  using Value = typename Points::Value;
  constexpr int kSteps = kLoadSteps<Points>;
  constexpr int kEntries = Points::kEntries;
  constexpr int kStepValues = kEntries * kLanes;
  __shared__ Value entry[kEntries][kSteps][kLanes + 1];
  const Index block = static_cast<Index>(blockIdx.x);
  const Index plane = block % Points::kPlanes;
  const Index part = block / Points::kPlanes % parts;
  const Index pencil = block / Points::kPlanes / parts;
  const Index slab = pencil / pencils.in_slab();
  const PencilPlace<Points> at{slab, pencils.first_band(slab) + pencil % pencils.in_slab()};
  const Index z = at.slab * Points::kPlanes + plane;
  if (!at.is_one(pencils)) return;
  for (int k = static_cast<int>(threadIdx.x); k < kSteps * kLanes; k += kPencilLoadThreads) {
    const int step = k % kSteps;
    const int lane = k / kSteps;
    const Index place = lane / Points::kUnknowns;
    const Index line = at.first_line(z) + place;
    const Index column = part * kSteps + step - Points::kBehind * place;
    const bool has_line = place >= Points::kPassing && place < Pencils<Points>::kPlaces && line >= 0 &&
                          line < pencils.lines && z < pencils.planes;
    const auto has = [&](Index lead) {
      return has_line && static_cast<unsigned>(column + lead) < static_cast<unsigned>(pencils.columns);
    };
    const auto scale_of = [&](Index r) { return pivot ? __ldg(pivot + order(r)) : 1.0; };
    const Index r =
        ((z * pencils.lines + line) * pencils.columns + column) * Points::kUnknowns + lane % Points::kUnknowns;
#pragma unroll
    for (int j = 0; j < kEntries; ++j) {
      const Index of = r + Points::lead(j) * Points::kUnknowns;
      Value value = 0;
      if (has(Points::lead(j))) {
        const Offset e = __ldg(target.source + std::int64_t{j} * order.rows + of);
        value = stored_entry<Value>(values, e, scale_of(of));
      }
      entry[j][step][lane] = value;
    }
    if (has(0) && target.pivot != nullptr) target.pivot[order(r)] = scale_of(r);
    if (kEntries == 3 && lane == 0) entry[2][step][0] = 1;  // SevenPoints: lane 0 gets what it passes on as a third
  }
  __syncthreads();
  Value* const out =
      target.entry + ((std::int64_t{pencil} * parts + part) * kSteps * Points::kPlanes + plane) * kStepValues;
  for (int k = static_cast<int>(threadIdx.x); k < kSteps * kStepValues; k += kPencilLoadThreads) {
    const int step = k / kStepValues;
    const int place = k % kStepValues;
    const int pair = place / (2 * kLanes);
    Value* const to = out + std::int64_t{step} * Points::kPlanes * kStepValues + place;
    *to = pair < kEntries / 2 ? entry[2 * pair + place % 2][step][place % (2 * kLanes) / 2]
                              : entry[kEntries - 1][step][place % kLanes];
  }
}

template <class Points, class Values>
void load_steps(const Pencils<Points>& pencils, SweepOrder order, const PencilValues<Points>& target,
                const Values& values, const double* pivot, cudaStream_t stream) {
  const Index parts = steps_of(pencils) / kLoadSteps<Points>;
  load_pencils<<<static_cast<unsigned>(pencils.count() * parts * Points::kPlanes), kPencilLoadThreads, 0, stream>>>(
      pencils, parts, order, target, values, pivot);
  cuda::check_launch("load_pencils");
}

}  // namespace

template <class Points>
void load_values(const Pencils<Points>& pencils, SweepOrder order, const PencilValues<Points>& target,
                 const double* source, const double* pivot, cudaStream_t stream) {
  load_steps(pencils, order, target, PlainValues{source}, pivot, stream);
}
template void load_values(const Pencils<SevenPoints>&, SweepOrder, const PencilValues<SevenPoints>&, const double*,
                          const double*, cudaStream_t);
template void load_values(const Pencils<TwentySevenPoints>&, SweepOrder, const PencilValues<TwentySevenPoints>&,
                          const double*, const double*, cudaStream_t);
template void load_values(const Pencils<ThreeUnknowns>&, SweepOrder, const PencilValues<ThreeUnknowns>&, const double*,
                          const double*, cudaStream_t);
template void load_values(const Pencils<InSingle<SevenPoints>>&, SweepOrder, const PencilValues<InSingle<SevenPoints>>&,
                          const double*, const double*, cudaStream_t);
template void load_values(const Pencils<InSingle<TwentySevenPoints>>&, SweepOrder,
                          const PencilValues<InSingle<TwentySevenPoints>>&, const double*, const double*, cudaStream_t);
template void load_values(const Pencils<InSingle<ThreeUnknowns>>&, SweepOrder,
                          const PencilValues<InSingle<ThreeUnknowns>>&, const double*, const double*, cudaStream_t);

void load_products(const Pencils<SevenPoints>& pencils, SweepOrder order, const PencilValues<SevenPoints>& target,
                   const ValueProducts& products, cudaStream_t stream) {
  load_steps(pencils, order, target, Products{products}, nullptr, stream);
}

}  // namespace taskdag::kernels::cells
