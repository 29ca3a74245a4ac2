/// \file
/// One sweep of one part of a matrix. Written once for every backend; on CUDA the same additions in the same order as
/// the kernel of a sweep, so that results have the same bits.
#pragma once

#include "kernels/jacobi/parts.hpp"
#include "kernels/jacobi/task.hpp"
#include "taskdag/engine/platform.hpp"
#if defined(__CUDACC__)
#include "taskdag/engine/cuda/group.cuh"
#endif

namespace taskdag::kernels {

/// Threads of the GPU that do a part together.
inline constexpr int kPartThreads = 128;

/// A sweep as its parts see it.
struct JacobiSweep {
  CsrView a;
  const double* scale;
  const double* b;
  const double* from;  ///< null: zero
  double* to;
  double* sums;            ///< by part, for pieces
  std::uint32_t* arrived;  ///< by part, for pieces: 0 between sweeps
  int lanes;               ///< that share a row, on CUDA: 1, 2, … 32
  double weight = 1.0;     ///< on every correction
};

namespace jacobi_parts {

/// x_i of the sweep; `change` takes what it moves by.
TASKDAG_HD void finish_row(const JacobiSweep& sweep, Index row, double result, double& change) {
  const double before = sweep.from != nullptr ? sweep.from[row] : 0.0;
  sweep.to[row] = result;
  change += result < before ? before - result : result - before;
}

TASKDAG_ENGINE_ANY_SIDE
template <class Lanes>
TASKDAG_HD void sweep_rows(const Lanes& lanes, const JacobiSweep& sweep, const JacobiPart& part, Index first,
                           Index stride, double& change) {
  for (Index k = first; k < part.rows; k += stride) {
    const Index row = part.row + k;
    const double result = jacobi_row(lanes, sweep.a, row, sweep.from, sweep.b[row], sweep.weight * sweep.scale[row]);
    if (lanes.rank() == 0) finish_row(sweep, row, result, change);
  }
}

#if defined(__CUDACC__)
template <int Lanes>
__device__ __forceinline__ void sweep_rows_by(const JacobiSweep& sweep, const JacobiPart& part, int rank,
                                              double& change) {
  sweep_rows(engine::WarpGroup<Lanes>(rank % 32), sweep, part, rank / Lanes, kPartThreads / Lanes, change);
}
#endif

}  // namespace jacobi_parts

/// What a part has done. Of the thread with rank 0; `change` of every thread, for the group to add up.
struct PartEnd {
  double change;  ///< what rows have moved by, in sum
  bool self;      ///< the part is done with the sweep
  bool row;       ///< the first piece of its row is, too
};

/// Group: kPartThreads threads on CUDA, one on the host: rank(), size(), sum(). What other threads of the group wrote
/// is not ordered yet.
TASKDAG_ENGINE_ANY_SIDE
template <class Group>
TASKDAG_HD PartEnd sweep_part(const Group& group, const JacobiSweep& sweep, const JacobiPart& part,
                              std::uint32_t number) {
  PartEnd end{0.0, true, false};
  if (part.pieces == 0 && sweep.from == nullptr) {
    for (Index k = group.rank(); k < part.rows; k += group.size()) {
      const Index row = part.row + k;
      jacobi_parts::finish_row(sweep, row, sweep.weight * sweep.scale[row] * sweep.b[row], end.change);
    }
    return end;
  }
  if (part.pieces == 0) {
#if defined(__CUDA_ARCH__)
    switch (sweep.lanes) {
      case 1:
        jacobi_parts::sweep_rows_by<1>(sweep, part, group.rank(), end.change);
        break;
      case 2:
        jacobi_parts::sweep_rows_by<2>(sweep, part, group.rank(), end.change);
        break;
      case 4:
        jacobi_parts::sweep_rows_by<4>(sweep, part, group.rank(), end.change);
        break;
      case 8:
        jacobi_parts::sweep_rows_by<8>(sweep, part, group.rank(), end.change);
        break;
      case 16:
        jacobi_parts::sweep_rows_by<16>(sweep, part, group.rank(), end.change);
        break;
      default:
        jacobi_parts::sweep_rows_by<32>(sweep, part, group.rank(), end.change);
        break;
    }
#else
    jacobi_parts::sweep_rows(group, sweep, part, 0, 1, end.change);
#endif
    return end;
  }
  double sum = 0.0;
  if (sweep.from != nullptr) {
    for (Offset e = part.begin + group.rank(); e < part.end; e += group.size()) {
      sum += sweep.a.values[e] * sweep.from[sweep.a.pattern.col_indices[e]];
    }
    sum = group.sum(sum);
  }
  if (group.rank() != 0) return end;
  const auto first = static_cast<std::uint32_t>(part.first_piece);
  end.self = number != first;
  sweep.sums[number] = sum;
  engine::AtomicRef<std::uint32_t> arrived(sweep.arrived[first]);
  // acq_rel: the last one reads the sums of all.
  if (arrived.fetch_add(1U, engine::acq_rel) + 1U != static_cast<std::uint32_t>(part.pieces)) return end;
  arrived.store(0U, engine::relaxed);
  end.row = true;
  double total = 0.0;
  for (Index k = 0; k < part.pieces; ++k) total += sweep.sums[first + static_cast<std::uint32_t>(k)];
  const double step = sweep.weight * sweep.scale[part.row] * (sweep.b[part.row] - total);
  jacobi_parts::finish_row(sweep, part.row, sweep.from != nullptr ? sweep.from[part.row] + step : step, end.change);
  return end;
}

}  // namespace taskdag::kernels
