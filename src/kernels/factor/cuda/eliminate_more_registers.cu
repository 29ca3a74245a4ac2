#include "kernels/factor/cuda/eliminate_kernel.cuh"

namespace taskdag::kernels::elimination {

template void eliminate<RowForm::more_registers>(const Parameters& parameters, int* next_counter,
                                                 const EliminateLaunch& how);

}  // namespace taskdag::kernels::elimination
