#include <cstdint>
#include <type_traits>

#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/cells/pack/values.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/load.hpp"

namespace taskdag::kernels::cells {
namespace {

constexpr int kPencilLoadThreads = 256;
constexpr int kPencilLoadBlocks = 4;   ///< of a multiprocessor, at least
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

/// Entries that a thread reads at once, of one lane in one step: all of them are asked for before the first is used.
inline constexpr int kReadAtOnce = 14;
template <class Points>
inline constexpr int kReads = (Points::kEntries + kReadAtOnce - 1) / kReadAtOnce;

/// The entries that a block of load_pencils() gathers in shared memory.
template <class Points>
struct LoadedSteps {
  typename Points::Value entry[Points::kEntries][kLoadSteps<Points>][kLanes + 1];
  /// Bit i of there[n] is set where entry n · kReadAtOnce + i exists.
  unsigned there[kReads<Points>][kLoadSteps<Points>][kLanes];
};

/// The row that a lane computes in a step of a plane, and the rows that follow on its line.
template <class Points>
struct LaneRow {
  Index row;  ///< meaningful where has(pencils, 0)
  Index column;
  bool has_line;

  __device__ LaneRow(const Pencils<Points>& pencils, const PencilLocation<Points>& at, Index z, Index step, int lane) {
    const Index place = lane / Points::kUnknowns;
    const Index line = at.first_line(z) + place;
    column = step - Points::kBehind * place;
    has_line = place >= Points::kPassing && place < Pencils<Points>::kPlaces && line >= 0 && line < pencils.lines &&
               z < pencils.planes;
    row = ((z * pencils.lines + line) * pencils.columns + column) * Points::kUnknowns + lane % Points::kUnknowns;
  }
  /// Whether the lane has a line, which has a point `lead` columns after the row's.
  [[nodiscard]] __device__ bool has(const Pencils<Points>& pencils, Index lead) const {
    return has_line && static_cast<unsigned>(column + lead) < static_cast<unsigned>(pencils.columns);
  }
  /// The row of the same unknown there.
  [[nodiscard]] __device__ Index later(Index lead) const { return row + lead * Points::kUnknowns; }
};

/// The steps of a plane of a pencil that a thread block loads or returns.
template <class Points>
struct BlockOfSteps {
  Index plane;  ///< of the slab
  Index piece;  ///< of the pencil's steps: kLoadSteps of them
  Index pencil;
  PencilLocation<Points> at;

  __device__ __forceinline__ BlockOfSteps(const Pencils<Points>& pencils, Index pieces) {
    const Index block = static_cast<Index>(blockIdx.x);
    plane = block % Points::kPlanes;
    piece = block / Points::kPlanes % pieces;
    pencil = block / Points::kPlanes / pieces;
    const Index slab = pencil / pencils.in_slab();
    at = {slab, pencils.first_band(slab) + pencil % pencils.in_slab()};
  }
  [[nodiscard]] __device__ Index z() const { return at.slab * Points::kPlanes + plane; }
  /// Where the values of its first step begin.
  [[nodiscard]] __device__ std::int64_t first_value(Index pieces) const {
    return ((std::int64_t{pencil} * pieces + piece) * kLoadSteps<Points> * Points::kPlanes + plane) * Points::kEntries *
           kLanes;
  }
};

/// Writes what a block has gathered, lane by lane of each step. Entries that do not exist are not written: they are 0
/// from the start.
template <class Points>
__device__ __forceinline__ void write_steps(const LoadedSteps<Points>& loaded, typename Points::Value* out) {
  constexpr int kSteps = kLoadSteps<Points>;
  constexpr int kEntries = Points::kEntries;
  constexpr int kStepValues = kEntries * kLanes;
  for (int k = static_cast<int>(threadIdx.x); k < kSteps * kStepValues; k += kPencilLoadThreads) {
    const int step = k / kStepValues;
    const int value = k % kStepValues;
    const int pair = value / (2 * kLanes);
    const bool paired = pair < kEntries / 2;
    const int j = paired ? 2 * pair + value % 2 : kEntries - 1;
    const int lane = paired ? value % (2 * kLanes) / 2 : value % kLanes;
    if (loaded.there[j / kReadAtOnce][step][lane] >> j % kReadAtOnce & 1U) {
      out[std::int64_t{step} * Points::kPlanes * kStepValues + value] = loaded.entry[j][step][lane];
    }
  }
}

/// How many rows before an entry's row its operand is. Used on grids of seven points, where it finds the entry; the
/// sources of the other grids are noted.
template <class Points>
__device__ Index distance_of(const Pencils<Points>& pencils, int entry) {
  if constexpr (!kFindsSources<Points>) return 0;
  if (entry == 0) return 1;
  return entry == 1 ? pencils.columns : pencils.columns * pencils.lines;
}

/// Where the value of an entry of row `step` of the sweep comes from; −1 where the row has no such entry.
template <class Points>
__device__ Offset source_of(const Pencils<Points>& pencils, const SourceView& sources, SweepOrder order, Index step,
                            int entry) {
  if constexpr (kFindsSources<Points>) {
    return source_of(sources, order, step, entry, distance_of(pencils, entry));
  } else {
    return __ldg(sources.noted + std::int64_t{entry} * order.rows + step);
  }
}

/// Each block loads kLoadSteps steps of a plane. Neighbouring threads read neighbouring columns of a line, and write
/// neighbouring lanes of a step.
template <class Points, class Values>
__global__ void __launch_bounds__(kPencilLoadThreads, kPencilLoadBlocks)
    load_pencils(Pencils<Points> pencils, Index pieces, SweepOrder order, PencilValues<Points> target, Values values,
                 const double* pivot) {
  using Value = typename Points::Value;
  constexpr int kSteps = kLoadSteps<Points>;
  constexpr int kEntries = Points::kEntries;
  __shared__ LoadedSteps<Points> loaded;
  const BlockOfSteps<Points> mine(pencils, pieces);
  if (!mine.at.is_one(pencils)) return;
  const auto scale_of = [&](Index r) { return pivot ? __ldg(pivot + order(r)) : 1.0; };
  const auto read = [&](auto number, int step, int lane) {
    constexpr int kFirst = decltype(number)::value * kReadAtOnce;
    constexpr int kCount = kEntries - kFirst < kReadAtOnce ? kEntries - kFirst : kReadAtOnce;
    const LaneRow<Points> here(pencils, mine.at, mine.z(), mine.piece * kSteps + step, lane);
    Offset source[kCount];
    double value[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Index lead = Points::lead(kFirst + i);
      source[i] =
          here.has(pencils, lead) ? source_of(pencils, target.sources, order, here.later(lead), kFirst + i) : -1;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Index row = here.later(Points::lead(kFirst + i));
      const Index operand = row - distance_of(pencils, kFirst + i);
      value[i] = source[i] >= 0 ? values.of_entry(source[i], order(row), order(operand)) : 0.0;
    }
    unsigned there = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (source[i] < 0) continue;
      there |= 1U << i;
      const double scale = scale_of(here.later(Points::lead(kFirst + i)));
      loaded.entry[kFirst + i][step][lane] = stored_value<Value>(value[i], scale);
    }
    if (kFirst == 0 && here.has(pencils, 0) && target.pivot != nullptr)
      target.pivot[order(here.row)] = scale_of(here.row);
    if (kEntries == 3 && lane == 0) {  // seven points: lane 0 passes on its third operand, multiplied by 1
      there |= 1U << 2;
      loaded.entry[2][step][0] = 1;
    }
    loaded.there[decltype(number)::value][step][lane] = there;
  };
  constexpr int kCount = kReads<Points>;
  static_assert(kCount == 1 || kCount == 3);
  for (int k = static_cast<int>(threadIdx.x); k < kSteps * kLanes * kCount; k += kPencilLoadThreads) {
    const int step = k % kSteps;
    const int lane = k / kSteps % kLanes;
    const int number = k / (kSteps * kLanes);
    if (number == 0) read(std::integral_constant<int, 0>{}, step, lane);
    if constexpr (kCount == 3) {
      if (number == 1) read(std::integral_constant<int, 1>{}, step, lane);
      if (number == 2) read(std::integral_constant<int, 2>{}, step, lane);
    }
  }
  __syncthreads();
  write_steps(loaded, target.entry + mine.first_value(pieces));
}

/// The index of entry j of a lane among the values of a step of a plane.
template <class Points>
__device__ int index_in_step(int j, int lane) {
  constexpr int kPaired = Points::kEntries / 2 * 2;
  return j < kPaired ? j / 2 * 2 * kLanes + 2 * lane + j % 2 : kPaired * kLanes + lane;
}

/// Each block returns the values of kLoadSteps steps of a plane, from where load_pencils() has put them.
template <class Points>
__global__ void __launch_bounds__(kPencilLoadThreads)
    return_pencils(Pencils<Points> pencils, Index pieces, SweepOrder order, PencilValues<Points> from,
                   const double* pivot, double* entries) {
  using Value = typename Points::Value;
  constexpr int kSteps = kLoadSteps<Points>;
  constexpr int kStepValues = Points::kEntries * kLanes;
  const BlockOfSteps<Points> mine(pencils, pieces);
  if (!mine.at.is_one(pencils)) return;
  const Value* const values = from.entry + mine.first_value(pieces);
  for (int k = static_cast<int>(threadIdx.x); k < kSteps * kLanes; k += kPencilLoadThreads) {
    const int step = k % kSteps;
    const int lane = k / kSteps;
    const LaneRow<Points> here(pencils, mine.at, mine.z(), mine.piece * kSteps + step, lane);
    for (int j = 0; j < Points::kEntries; ++j) {
      if (!here.has(pencils, Points::lead(j))) continue;
      const Index row = here.later(Points::lead(j));
      const Offset source = source_of(pencils, from.sources, order, row, j);
      if (source < 0) continue;
      const Value value = values[std::int64_t{step} * Points::kPlanes * kStepValues + index_in_step<Points>(j, lane)];
      entries[source] = returned_value(value, pivot ? pivot[order(row)] : 1.0);
    }
  }
}

template <class Points, class Values>
void load_steps(const Pencils<Points>& pencils, SweepOrder order, const PencilValues<Points>& target,
                const Values& values, const double* pivot, cudaStream_t stream) {
  const Index pieces = steps_of(pencils) / kLoadSteps<Points>;
  load_pencils<<<static_cast<unsigned>(pencils.count() * pieces * Points::kPlanes), kPencilLoadThreads, 0, stream>>>(
      pencils, pieces, order, target, values, pivot);
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

template <class Points>
void return_values(const Pencils<Points>& pencils, SweepOrder order, const PencilValues<Points>& from,
                   const double* pivot, double* entries, cudaStream_t stream) {
  const Index pieces = steps_of(pencils) / kLoadSteps<Points>;
  return_pencils<<<static_cast<unsigned>(pencils.count() * pieces * Points::kPlanes), kPencilLoadThreads, 0, stream>>>(
      pencils, pieces, order, from, pivot, entries);
  cuda::check_launch("return_pencils");
}
template void return_values(const Pencils<SevenPoints>&, SweepOrder, const PencilValues<SevenPoints>&, const double*,
                            double*, cudaStream_t);
template void return_values(const Pencils<TwentySevenPoints>&, SweepOrder, const PencilValues<TwentySevenPoints>&,
                            const double*, double*, cudaStream_t);
template void return_values(const Pencils<ThreeUnknowns>&, SweepOrder, const PencilValues<ThreeUnknowns>&,
                            const double*, double*, cudaStream_t);
template void return_values(const Pencils<InSingle<SevenPoints>>&, SweepOrder,
                            const PencilValues<InSingle<SevenPoints>>&, const double*, double*, cudaStream_t);
template void return_values(const Pencils<InSingle<TwentySevenPoints>>&, SweepOrder,
                            const PencilValues<InSingle<TwentySevenPoints>>&, const double*, double*, cudaStream_t);
template void return_values(const Pencils<InSingle<ThreeUnknowns>>&, SweepOrder,
                            const PencilValues<InSingle<ThreeUnknowns>>&, const double*, double*, cudaStream_t);

void load_products(const Pencils<SevenPoints>& pencils, SweepOrder order, const PencilValues<SevenPoints>& target,
                   const ValueProducts& products, cudaStream_t stream) {
  load_steps(pencils, order, target, Products{products}, nullptr, stream);
}

}  // namespace taskdag::kernels::cells
