#include <algorithm>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/launch.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/kernel.hpp"

namespace taskdag::kernels::cells {
namespace {

template <class Points>
void ask_for_shared_memory(PencilKernel<Points> kernel) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(pencil_shared_bytes<Points>())),
              "asking for shared memory");
}

template <class Points>
unsigned run(PencilKernel<Points> kernel, const PencilArguments<Points>& arguments, const PencilLaunch& launch,
             bool overlaps, cudaStream_t stream) {
  cuda::Launch(launch.blocks * launch.clusters, kPencilThreads<Points>, pencil_shared_bytes<Points>(), stream)
      .clusters_of(launch.blocks)
      .overlapping(overlaps)
      .run("solve_pencils", kernel, arguments);
  const PencilTickets<Points> tickets{arguments.pencils, launch.blocks};
  return static_cast<unsigned>(tickets.count() + launch.clusters);  // each cluster ends on a ticket too many
}

template <class Points>
PencilLaunch prepare_kernel(PencilKernel<Points> kernel, const Pencils<Points>& pencils) {
  ask_for_shared_memory(kernel);
  const int multiprocessors = cuda::device_limits().multiprocessors;
  // Blocks of a cluster end one after the other, and go on to the next pencil together.
  const bool many = pencils.count() > 2 * multiprocessors;
  for (int blocks = many ? 1 : kPencilBlocks; blocks > 1; blocks /= 2) {
    if (blocks / 2 >= pencils.slabs()) continue;
    // Not all devices, nor all parts of one, have room for so many blocks side by side.
    int room = 0;
    cuda::Launch trial(blocks, kPencilThreads<Points>, pencil_shared_bytes<Points>(), nullptr);
    cuda::check(cudaOccupancyMaxActiveClusters(&room, kernel, &trial.clusters_of(blocks).config()),
                "asking for room for clusters");
    if (room > 0) return {blocks, std::min(room, PencilTickets<Points>{pencils, blocks}.count())};
  }
  return {1, std::min(pencils.count(), multiprocessors)};
}

}  // namespace

template <class Points>
PencilLaunch prepare_pencils(const Pencils<Points>& pencils) {
  return prepare_kernel(kernel_of_pencils<Points>(), pencils);
}
template PencilLaunch prepare_pencils(const Pencils<SevenPoints>&);
template PencilLaunch prepare_pencils(const Pencils<TwentySevenPoints>&);
template PencilLaunch prepare_pencils(const Pencils<ThreeUnknowns>&);
template PencilLaunch prepare_pencils(const Pencils<InSingle<SevenPoints>>&);
template PencilLaunch prepare_pencils(const Pencils<InSingle<TwentySevenPoints>>&);
template PencilLaunch prepare_pencils(const Pencils<InSingle<ThreeUnknowns>>&);

PencilLaunch prepare_pencil_reciprocals(const Pencils<SevenPoints>& pencils) {
  return prepare_kernel(kernel_of_pencil_reciprocals(), pencils);
}

template <class Points>
unsigned solve(const PencilArguments<Points>& arguments, const PencilLaunch& launch, bool overlaps,
               cudaStream_t stream) {
  return run(kernel_of_pencils<Points>(), arguments, launch, overlaps, stream);
}
template unsigned solve(const PencilArguments<SevenPoints>&, const PencilLaunch&, bool, cudaStream_t);
template unsigned solve(const PencilArguments<TwentySevenPoints>&, const PencilLaunch&, bool, cudaStream_t);
template unsigned solve(const PencilArguments<ThreeUnknowns>&, const PencilLaunch&, bool, cudaStream_t);
template unsigned solve(const PencilArguments<InSingle<SevenPoints>>&, const PencilLaunch&, bool, cudaStream_t);
template unsigned solve(const PencilArguments<InSingle<TwentySevenPoints>>&, const PencilLaunch&, bool, cudaStream_t);
template unsigned solve(const PencilArguments<InSingle<ThreeUnknowns>>&, const PencilLaunch&, bool, cudaStream_t);

unsigned solve_reciprocals(const PencilArguments<SevenPoints>& arguments, const PencilLaunch& launch, bool overlaps,
                           cudaStream_t stream) {
  const PencilKernel<SevenPoints> kernel = kernel_of_pencil_reciprocals();
  ask_for_shared_memory(kernel);  // few sweeps need it, and asking loads it
  return run(kernel, arguments, launch, overlaps, stream);
}

}  // namespace taskdag::kernels::cells
