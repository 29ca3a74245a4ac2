/// \file
/// The kernels that run pencils.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/solve.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kPencilFetchers = 3;
template <class Points>
inline constexpr int kPencilMovers = Points::kMovers* Points::kPlanes;
/// The loader, the fetchers, the movers.
template <class Points>
inline constexpr int kPencilHelpers = 1 + kPencilFetchers + kPencilMovers<Points>;

inline constexpr int kSchedulers = 4;  ///< of a multiprocessor: warp w runs on scheduler w % 4
/// Warps of a block. Where compute warps are alone on their schedulers, the warps that would share them have nothing to
/// do.
template <class Points>
inline constexpr int kPencilWarps =
    !Points::kAlone ? Points::kPlanes + kPencilHelpers<Points>
                    : kSchedulers * ((kPencilHelpers<Points> + kSchedulers - Points::kPlanes - 1) /
                                     (kSchedulers - Points::kPlanes));
template <class Points>
inline constexpr int kPencilThreads = kPencilWarps<Points>* kLanes;

template <class Points>
using PencilKernel = void (*)(PencilArguments<Points>);

template <class Points>
PencilKernel<Points> kernel_of_pencils();
template <>
PencilKernel<SevenPoints> kernel_of_pencils();
template <>
PencilKernel<TwentySevenPoints> kernel_of_pencils();
template <>
PencilKernel<ThreeUnknowns> kernel_of_pencils();
template <>
PencilKernel<InSingle<SevenPoints>> kernel_of_pencils();
template <>
PencilKernel<InSingle<TwentySevenPoints>> kernel_of_pencils();
template <>
PencilKernel<InSingle<ThreeUnknowns>> kernel_of_pencils();
/// The kernel whose rows have one over their sum for a result.
PencilKernel<SevenPoints> kernel_of_pencil_reciprocals();

/// Bytes of shared memory of a block.
template <class Points>
std::size_t pencil_shared_bytes();

}  // namespace taskdag::kernels::cells
