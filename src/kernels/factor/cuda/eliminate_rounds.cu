/// \file
/// The elimination kernels for patterns whose rows take forms up to RowForm::rounds.
#include "kernels/factor/cuda/eliminate_kernel.cuh"

namespace taskdag::kernels::elimination {

template void eliminate<RowForm::rounds>(const Parameters& parameters, int* next_counter, const EliminateLaunch& how);

}  // namespace taskdag::kernels::elimination
