/// \file
/// The elimination kernels for patterns with rows of all forms (RowForm), those in registers among them.
#include "kernels/factor/cuda/eliminate_kernel.cuh"

namespace taskdag::kernels::elimination {

template void eliminate<RowForm::searched, true>(const Parameters& parameters, int* next_counter,
                                                 const EliminateLaunch& how);

}  // namespace taskdag::kernels::elimination
