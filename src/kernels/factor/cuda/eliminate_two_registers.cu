/// \file
/// The elimination kernels for patterns all of whose rows are in two registers of each lane at most.
#include "kernels/factor/cuda/eliminate_ahead.cuh"

namespace taskdag::kernels::elimination {

template void eliminate_ahead<2>(const Parameters& parameters, int* next_counter, FactorKind kind, cudaStream_t stream);

}  // namespace taskdag::kernels::elimination
