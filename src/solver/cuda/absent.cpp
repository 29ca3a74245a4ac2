// The CUDA side of impl.hpp in a build without CUDA.
#include "solver/aggregation_impl.hpp"
#include "solver/block_ordering_impl.hpp"
#include "solver/dominance_impl.hpp"
#include "solver/double_copy_impl.hpp"
#include "solver/impl.hpp"
#include "solver/narrowed_pattern_impl.hpp"
#include "solver/ordering_impl.hpp"
#include "solver/real_blocks_impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {
[[noreturn]] void refuse() { throw DeviceError("the CUDA backend is not usable: built without CUDA"); }
}  // namespace

std::unique_ptr<TriangularSolver::Impl> make_triangular(const Context&, const CsrView&, MemorySpace,
                                                        const TriangularOptions&, Stream) {
  refuse();
}
std::unique_ptr<Factorization::Impl> make_factorization(const Context&, const CsrPattern&, MemorySpace,
                                                        const FactorOptions&, std::span<const Index>,
                                                        std::span<const Index>, Stream) {
  refuse();
}
std::unique_ptr<Factorization::Impl> make_one_block_factorization(const Context&, const CsrPattern&, MemorySpace,
                                                                  const FactorOptions&, std::span<const Index>,
                                                                  std::span<const Index>, Stream) {
  refuse();
}
std::unique_ptr<Factorization::Impl> make_point_block_factorization(const Context&, const CsrPattern&, MemorySpace,
                                                                    const FactorOptions&, std::span<const Index>,
                                                                    std::span<const Index>, Stream) {
  refuse();
}
std::unique_ptr<Jacobi::Impl> make_jacobi(const Context&, const CsrView&, MemorySpace, const JacobiOptions&, Stream) {
  refuse();
}
std::unique_ptr<BlockJacobi::Impl> make_block_jacobi(const Context&, const CsrPattern&, MemorySpace,
                                                     const JacobiBlocks&, const BlockJacobiOptions&, Stream) {
  refuse();
}
std::unique_ptr<Sor::Impl> make_sor(const Context&, const CsrPattern&, MemorySpace, const SorOptions&,
                                    std::span<const Index>, Stream) {
  refuse();
}
std::unique_ptr<Sor::Impl> make_point_block_sor(const Context&, const CsrPattern&, MemorySpace, const SorOptions&,
                                                std::span<const Index>, Stream) {
  refuse();
}
void reverse_cuthill_mckee(const Context&, const CsrPattern&, MemorySpace, Index*, MemorySpace, OrderingTimes*,
                           Stream) {
  refuse();
}
FetchedPattern fetch_pattern(const Context&, const CsrPattern&, Stream) { refuse(); }
void store_order(const Context&, const std::vector<Index>&, Index*, Stream) { refuse(); }
std::unique_ptr<NarrowedPattern::Impl> narrow_pattern(Index, const std::int64_t*, const std::int64_t*, Stream) {
  refuse();
}
std::unique_ptr<RealBlocks::Impl> real_blocks(const double*, std::int64_t, Index, Stream) { refuse(); }
std::unique_ptr<DoubleCopy::Impl> double_copy(std::int64_t, Stream) { refuse(); }
Aggregation aggregate_rows(const Context&, const CsrPattern&, MemorySpace, int, Stream) { refuse(); }
BlockOrdering order_blocks(const Context&, const CsrPattern&, MemorySpace, const kernels::BlockSize&, bool, Stream) {
  refuse();
}
bool runs_in_order(const Context&, const CsrPattern&, MemorySpace, Stream) { refuse(); }
DiagonalDominance diagonal_dominance(const Context&, const CsrView&, MemorySpace, const DominanceLimits&, Stream) {
  refuse();
}
double settling(const Context&, const CsrView&, MemorySpace, Stream) { refuse(); }
bool symmetric(const Context&, const CsrView&, MemorySpace, Stream) { refuse(); }
Index dependency_levels(const Context&, const CsrPattern&, MemorySpace, Triangle, Stream, Index) { refuse(); }

}  // namespace taskdag::cuda
