/// \file
/// PageRank by bulk synchronous iterations on the device.
#include "studies/graph/bsp.cuh"
#include "studies/graph/pagerank/forms.hpp"
#include "studies/graph/pagerank/tasks.hpp"

namespace taskdag::graph {
namespace {

/// First kernel of an iteration: the frontier hands its shares on, `Lanes` lanes a range.
template <int Lanes>
__global__ void __launch_bounds__(kBspBlock)
    push_kernel(PagerankData data, const ShareRange* frontier, const BspState* state) {
  __shared__ unsigned edges;
  if (threadIdx.x == 0) edges = 0;
  __syncthreads();
  const Index items = state->count[state->iteration % 3];
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const std::int64_t groups = std::int64_t{gridDim.x} * (kBspBlock / Lanes);
  unsigned looked = 0;
  for (std::int64_t k = std::int64_t{blockIdx.x} * (kBspBlock / Lanes) + threadIdx.x / Lanes; k < items; k += groups) {
    const ShareRange range = frontier[k];
    for (Offset e = range.first + lane; e < range.last; e += Lanes) {
      ++looked;
      atomicAdd(&data.residue[data.graph.neighbours[e]], range.share);
    }
  }
  bsp_tally(data.tally, edges, looked);
}

/// Second kernel: all vertices with a residue above the threshold take it and make the next frontier. The first kernel
/// has read the old one.
__global__ void __launch_bounds__(kBspBlock)
    collect_kernel(PagerankData data, ShareRange* frontier, Offset most, BspEnd end) {
  BspState& state = *end.state;
  const int iteration = state.iteration;
  for (std::int64_t k = std::int64_t{blockIdx.x} * kBspBlock + threadIdx.x; k < data.graph.vertices;
       k += std::int64_t{gridDim.x} * kBspBlock) {
    const auto v = static_cast<Index>(k);
    const float residue = data.residue[v];
    if (residue <= data.threshold) continue;
    data.residue[v] = 0.0F;
    data.rank[v] += residue;
    Offset first = data.graph.offsets[v];
    const Offset last = data.graph.offsets[v + 1];
    if (first == last) continue;
    const float share = residue * data.damping / static_cast<float>(last - first);
    Index next = take_room(state, iteration, (last - first + most - 1) / most);
    for (; first < last; first += most) frontier[next++] = {v, first, last - first < most ? last : first + most, share};
  }
  bsp_finish(end, iteration);
}

class PagerankBsp final : public Algorithm<float> {
 public:
  PagerankBsp(const Context& context, const CsrPattern& graph, const PagerankOptions& options, const Form& form)
      : options_(options),
        lanes_(bsp_lanes(graph)),
        most_(16 * lanes_),
        arrays_(context, graph),
        rank_(context, static_cast<std::size_t>(graph.rows)),
        residue_(context, static_cast<std::size_t>(graph.rows)),
        tally_(context),
        first_(first_shares(graph, options, most_)),
        frontier_(context, first_.size() + 1),
        start_(static_cast<std::size_t>(graph.rows), 1.0F - options.damping),
        loop_(form.kind, [this](cudaStream_t stream, const BspEnd& end, Index items) { launch(stream, end, items); }) {
    bsp_with_lanes(lanes_, [&](auto lanes) {
      loop_.name_kernels({bsp_kernel(reinterpret_cast<const void*>(&push_kernel<decltype(lanes)::value>), "push"),
                          bsp_kernel(reinterpret_cast<const void*>(&collect_kernel), "collect")});
    });
  }

  Run run(std::uint32_t bin_ns) override {
    rank_.upload(start_);
    residue_.clear();
    frontier_.upload(first_);
    return loop_.run(static_cast<Index>(first_.size()), tally_, tally_ref_, bin_ns);
  }
  [[nodiscard]] std::vector<float> result() const override { return rank_.download(); }

 private:
  void launch(cudaStream_t stream, const BspEnd& end, Index items) {
    // No rounds and no idle workers here: launches replace them.
    const PagerankData data{
        arrays_.view(), rank_.data(), residue_.data(), options_.damping, options_.threshold, tally_ref_, 0, nullptr};
    const unsigned blocks =
        bsp_blocks(items < 0 ? static_cast<std::int64_t>(first_.size()) : items, lanes_, kBspMostBlocks);
    bsp_with_lanes(lanes_, [&](auto lanes) {
      push_kernel<decltype(lanes)::value><<<blocks, kBspBlock, 0, stream>>>(data, frontier_.data(), end.state);
    });
    collect_kernel<<<bsp_blocks(data.graph.vertices, 1, kBspMostBlocks), kBspBlock, 0, stream>>>(data, frontier_.data(),
                                                                                                 most_, end);
    cuda::check_launch("collect_kernel");
  }

  PagerankOptions options_;
  int lanes_;
  Offset most_;
  GraphArrays arrays_;
  engine::Array<float> rank_;
  engine::Array<float> residue_;
  TallyMemory tally_;
  TallyRef tally_ref_ = tally_.clear(0);
  std::vector<ShareRange> first_;
  engine::Array<ShareRange> frontier_;
  std::vector<float> start_;
  BspLoop loop_;
};

}  // namespace

std::unique_ptr<Algorithm<float>> make_pagerank_cuda_bsp(const Context& context, const CsrPattern& graph,
                                                         const PagerankOptions& options, const Form& form) {
  return std::make_unique<PagerankBsp>(context, graph, options, form);
}

}  // namespace taskdag::graph
