/// \file
/// Breadth-first search by bulk synchronous iterations on the device.
#include "studies/graph/bfs/forms.hpp"
#include "studies/graph/bfs/tasks.hpp"
#include "studies/graph/bsp.cuh"

namespace taskdag::graph {
namespace {

/// Ranges of a frontier; long rows are cut so that no group of lanes has much more to do than another.
struct Frontiers {
  EdgeRange* frontier[2];
  Offset most;  ///< edges of a range
};

__device__ void append(const Frontiers& frontiers, BspState& state, int iteration, Index vertex, Offset first,
                       Offset last) {
  if (first == last) return;
  EdgeRange* const out = frontiers.frontier[(iteration + 1) % 2];
  const int pieces = (last - first + frontiers.most - 1) / frontiers.most;
  Index next = take_room(state, iteration, pieces);
  for (; first < last; first += frontiers.most) {
    out[next++] = {vertex, first, last - first < frontiers.most ? last : first + frontiers.most};
  }
}

constexpr int kAtOnce = 4;  ///< edges that a lane looks at side by side

/// One iteration: all edges of the frontier, `Lanes` lanes a range.
template <int Lanes>
__global__ void __launch_bounds__(kBspBlock)
    expand_kernel(GraphView graph, Index* depth, Frontiers frontiers, TallyRef tally, BspEnd end) {
  __shared__ unsigned edges;
  if (threadIdx.x == 0) edges = 0;
  __syncthreads();
  BspState& state = *end.state;
  const int iteration = state.iteration;
  const Index items = state.count[iteration % 3];
  const EdgeRange* const in = frontiers.frontier[iteration % 2];
  const Index next = iteration + 1;
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const std::int64_t groups = std::int64_t{gridDim.x} * (kBspBlock / Lanes);
  unsigned looked = 0;
  for (std::int64_t k = std::int64_t{blockIdx.x} * (kBspBlock / Lanes) + threadIdx.x / Lanes; k < items; k += groups) {
    const EdgeRange range = in[k];
    for (Offset e = range.first + lane; e < range.last; e += kAtOnce * Lanes) {
      Index u[kAtOnce];
      Index seen[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) u[j] = e + j * Lanes < range.last ? graph.neighbours[e + j * Lanes] : -1;
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) seen[j] = u[j] >= 0 ? peek(depth[u[j]]) : 0;
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        looked += u[j] >= 0 ? 1U : 0U;
        if (seen[j] <= next || fetch_min(depth[u[j]], next) <= next) continue;
        append(frontiers, state, iteration, u[j], graph.offsets[u[j]], graph.offsets[u[j] + 1]);
      }
    }
  }
  bsp_tally(tally, edges, looked);
  bsp_finish(end, iteration);
}

class BfsBsp final : public Algorithm<Index> {
 public:
  BfsBsp(const Context& context, const CsrPattern& graph, Index source, const Form& form)
      : arrays_(context, graph),
        depth_(context, static_cast<std::size_t>(graph.rows)),
        tally_(context),
        lanes_(bsp_lanes(graph)),
        most_(16 * lanes_),
        frontier_{engine::Array<EdgeRange>(context, capacity(graph, most_)),
                  engine::Array<EdgeRange>(context, capacity(graph, most_))},
        loop_(form.kind, [this](cudaStream_t stream, const BspEnd& end, Index items) { launch(stream, end, items); }),
        start_(static_cast<std::size_t>(graph.rows), kUnreached) {
    start_.data()[source] = 0;
    for (Offset e = graph.row_offsets[source]; e < graph.row_offsets[source + 1]; e += most_) {
      first_.push_back({source, e, std::min(e + most_, graph.row_offsets[source + 1])});
    }
    bsp_with_lanes(lanes_, [&](auto lanes) {
      loop_.name_kernels({bsp_kernel(reinterpret_cast<const void*>(&expand_kernel<decltype(lanes)::value>), "expand")});
    });
  }

  Run run(std::uint32_t bin_ns) override {
    depth_.upload(start_);
    frontier_[0].upload(first_);
    return loop_.run(static_cast<Index>(first_.size()), tally_, tally_ref_, bin_ns);
  }
  [[nodiscard]] std::vector<Index> result() const override { return depth_.download(); }

 private:
  static std::size_t capacity(const CsrPattern& graph, Offset most) {
    return static_cast<std::size_t>(graph.rows) + static_cast<std::size_t>(graph.entries() / most) + 1;
  }

  void launch(cudaStream_t stream, const BspEnd& end, Index items) {
    const Frontiers frontiers{{frontier_[0].data(), frontier_[1].data()}, most_};
    // A graph's kernels have one size for all iterations.
    const unsigned blocks = bsp_blocks(items < 0 ? arrays_.view().vertices : items, lanes_,
                                       items < 0 ? kBspMostBlocks / 4 : kBspMostBlocks);
    bsp_with_lanes(lanes_, [&](auto lanes) {
      expand_kernel<decltype(lanes)::value>
          <<<blocks, kBspBlock, 0, stream>>>(arrays_.view(), depth_.data(), frontiers, tally_ref_, end);
    });
    cuda::check_launch("expand_kernel");
  }

  GraphArrays arrays_;
  engine::Array<Index> depth_;
  TallyMemory tally_;
  TallyRef tally_ref_ = tally_.clear(0);
  int lanes_;
  Offset most_;
  engine::Array<EdgeRange> frontier_[2];
  BspLoop loop_;
  std::vector<Index> start_;
  std::vector<EdgeRange> first_;
};

}  // namespace

std::unique_ptr<Algorithm<Index>> make_bfs_cuda_bsp(const Context& context, const CsrPattern& graph, Index source,
                                                    const Form& form) {
  return std::make_unique<BfsBsp>(context, graph, source, form);
}

}  // namespace taskdag::graph
