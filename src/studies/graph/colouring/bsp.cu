/// \file
/// Greedy colouring by bulk synchronous iterations on the device.
#include <numeric>

#include "papers/chen/colouring/step.hpp"
#include "studies/graph/bsp.cuh"
#include "studies/graph/colouring/forms.hpp"

namespace taskdag::graph {
namespace {

/// A block, as ColourStep sees it.
struct BlockLanes {
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static constexpr int size() { return kBspBlock; }
  __device__ static void sync() { __syncthreads(); }
};

struct ColouringKernels {
  GraphView graph;
  Index* colour;
  Index* frontier[2];
  TallyRef tally;
};

/// Calls body(list, size) for pieces of the frontier: as large as they have to be, so that all blocks get some.
template <class Body>
__device__ void for_pieces(const Index* frontier, Index items, const Body& body) {
  const Index even = (items + static_cast<Index>(gridDim.x) - 1) / static_cast<Index>(gridDim.x);
  const Index piece = even < kBspBlock ? even : kBspBlock;
  for (std::int64_t first = std::int64_t{blockIdx.x} * piece; first < items; first += std::int64_t{gridDim.x} * piece) {
    body(frontier + first, static_cast<int>(items - first < piece ? items - first : piece));
  }
}

/// First kernel of an iteration: colours for the frontier.
__global__ void __launch_bounds__(kBspBlock) assign_kernel(ColouringKernels data, const BspState* state) {
  __shared__ ColourStep<kBspBlock> step;
  __shared__ unsigned all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  unsigned given = 0;
  for_pieces(data.frontier[state->iteration % 2], state->count[state->iteration % 3], [&](const Index* list, int size) {
    given += step.assign(BlockLanes(), data.graph, data.colour, size, [&](int k) { return list[k]; });
  });
  bsp_tally(data.tally, all, given);
}

/// Second kernel: those that come later than a neighbour of their colour make the next frontier. Conflicts are between
/// vertices of this frontier only, so the neighbour keeps its colour.
__global__ void __launch_bounds__(kBspBlock) check_kernel(ColouringKernels data, BspEnd end) {
  __shared__ ColourStep<kBspBlock> step;
  BspState& state = *end.state;
  const int iteration = state.iteration;
  Index* const out = data.frontier[(iteration + 1) % 2];
  for_pieces(data.frontier[iteration % 2], state.count[iteration % 3], [&](const Index* list, int size) {
    step.check(BlockLanes(), data.graph, data.colour, size, [&](int k) { return list[k]; });
    const int k = BlockLanes::rank();
    if (k < size && (step.conflict[k] & kLoses) != 0) out[take_room(state, iteration, 1)] = list[k];
    __syncthreads();
  });
  bsp_finish(end, iteration);
}

class ColouringBsp final : public Algorithm<Index> {
 public:
  ColouringBsp(const Context& context, const CsrPattern& graph, const Form& form)
      : arrays_(context, graph),
        colour_(context, static_cast<std::size_t>(graph.rows)),
        frontier_{engine::Array<Index>(context, static_cast<std::size_t>(graph.rows)),
                  engine::Array<Index>(context, static_cast<std::size_t>(graph.rows))},
        tally_(context),
        start_(static_cast<std::size_t>(graph.rows), kNoColour),
        first_(static_cast<std::size_t>(graph.rows)),
        loop_(form.kind, [this](cudaStream_t stream, const BspEnd& end, Index items) { launch(stream, end, items); }) {
    std::iota(first_.begin(), first_.end(), 0);
    loop_.name_kernels({bsp_kernel(reinterpret_cast<const void*>(&assign_kernel), "assign"),
                        bsp_kernel(reinterpret_cast<const void*>(&check_kernel), "check")});
  }

  Run run(std::uint32_t bin_ns) override {
    colour_.upload(start_);
    frontier_[0].upload(first_);
    return loop_.run(static_cast<Index>(first_.size()), tally_, tally_ref_, bin_ns);
  }
  [[nodiscard]] std::vector<Index> result() const override { return colour_.download(); }

 private:
  void launch(cudaStream_t stream, const BspEnd& end, Index items) {
    const ColouringKernels data{arrays_.view(), colour_.data(), {frontier_[0].data(), frontier_[1].data()}, tally_ref_};
    // Few vertices: many lanes for each.
    const unsigned blocks = bsp_blocks(items < 0 ? data.graph.vertices : items, 32, kBspMostBlocks);
    assign_kernel<<<blocks, kBspBlock, 0, stream>>>(data, end.state);
    check_kernel<<<blocks, kBspBlock, 0, stream>>>(data, end);
    cuda::check_launch("check_kernel");
  }

  GraphArrays arrays_;
  engine::Array<Index> colour_;
  engine::Array<Index> frontier_[2];
  TallyMemory tally_;
  TallyRef tally_ref_ = tally_.clear(0);
  std::vector<Index> start_;
  std::vector<Index> first_;
  BspLoop loop_;
};

}  // namespace

std::unique_ptr<Algorithm<Index>> make_colouring_cuda_bsp(const Context& context, const CsrPattern& graph,
                                                          const Form& form) {
  return std::make_unique<ColouringBsp>(context, graph, form);
}

}  // namespace taskdag::graph
