#include "rcm_rivals.hpp"

namespace taskdag::benchmark {

std::unique_ptr<RcmRival> make_petsc_rcm(const CsrMatrix&, std::string&) { return nullptr; }

}  // namespace taskdag::benchmark
