#include "kernels/factor/cuda/eliminate_kernel.cuh"

namespace taskdag::kernels::elimination {

template void eliminate<RowForm::searched, true>(const Parameters& parameters, int* next_counter,
                                                 const EliminateLaunch& how);

}  // namespace taskdag::kernels::elimination
