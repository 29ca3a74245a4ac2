/// \file
/// A method's loop on a GPU.
///
/// Graph: a kernel looks whether there is an iteration to be made, then a WHILE node repeats the stages of one, which
/// have been captured with the caller's preconditioner between them; the last stage sets the node's condition. One
/// block: a kernel of one thread block, or a cluster of them, has the loop inside. Driven by the host: it launches an
/// iteration and waits for the word that the last stage has written.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cuda/clusters.hpp"
#include "backends/cuda/launch.hpp"
#include "krylov/loop.hpp"
#include "krylov/method.hpp"
#include "taskdag/engine/cuda/owners.cuh"
#include "taskdag/engine/loop/cuda.cuh"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

/// A thread a column, as in the next two.
__global__ inline void begin_kernel(const __grid_constant__ Control first, std::uint32_t columns, std::int64_t ldb,
                                    std::int64_t ldx, Page* pages, std::uint32_t* again) {
  pages[threadIdx.x].control = control_of(first, threadIdx.x, columns, ldb, ldx);
  again[threadIdx.x] = threadIdx.x < columns ? 1U : 0U;
}
/// Before stages of all columns that a solve has.
__global__ inline void wake_kernel(std::uint32_t columns, std::uint32_t* again) {
  again[threadIdx.x] = threadIdx.x < columns ? 1U : 0U;
}
__global__ inline void resume_kernel(LoopState first, std::int64_t pause_at) {
  const LoopState loop = first.at({threadIdx.x});
  Control& c = *loop.control;
  c.pause_at = pause_at;
  c.kept = 0;
  loop.again.set(goes_on(c));
}
/// Before an iteration of a graph's loop, where no stage says so: whether there is one, in any column.
__global__ inline void look_kernel(std::uint32_t columns, const std::uint32_t* again, engine::LoopCondition any) {
  std::uint32_t is = 0;
  for (std::uint32_t c = 0; c < columns; ++c) is |= again[c];
  any.set(is != 0);
}

/// The loop of a column in one thread block or a cluster, several beside each other. What finish() reads and writes is
/// in each block's shared memory meanwhile but for the norms, of which all blocks write the same.
template <class Method>
__global__ void __launch_bounds__(engine::BlockFlow::threads)
    block_kernel(const __grid_constant__ typename Method::Data data, const engine::BlockFlow::Room room,
                 int row_threads, std::size_t stride) {
  extern __shared__ double shared[];
  using Scalars = std::remove_pointer_t<decltype(data.scalars)>;
  __shared__ Control control;
  __shared__ Scalars scalars;
  __shared__ std::uint32_t again;
  typename Method::Data theirs = data;
  if constexpr (has_columns<Method>) theirs = data.at({blockIdx.x / engine::detail::BlocksOfCluster::count(), stride});
  typename Method::Data mine = theirs;
  mine.loop = {&control, theirs.loop.norms, theirs.loop.coefficients, {&again, 0}};
  mine.scalars = &scalars;
  if (threadIdx.x == 0) {
    control = *theirs.loop.control;
    scalars = *theirs.scalars;
    again = *theirs.loop.again.word;
  }
  __syncthreads();
  engine::BlockFlow flow(shared, room, row_threads);
  while (again != 0) Method::turn(flow, mine, Calls{});
  __syncthreads();
  if (threadIdx.x == 0 && engine::detail::BlocksOfCluster::rank() == 0) {
    *theirs.loop.control = control;
    *theirs.scalars = scalars;
    *theirs.loop.again.word = again;
  }
}

/// The graph of a loop.
class WhileGraph {
 public:
  /// capture(stream, data): launches an iteration on a stream that is being captured; `data` as given, with the nodes
  /// of its conditions. any: the word that says whether any column goes on.
  template <class Data, class Capture>
  WhileGraph(Data data, const RightHandSides& columns, std::uint32_t* any, const Capture& capture)
      : stream_(engine::detail::UniqueStream::create()) {
    using engine::detail::check;
    check(cudaGraphCreate(&graph_, 0), "creating a graph");
    const cudaGraphConditionalHandle again = condition_of(graph_);
    data.loop.again.node = again;
    const cudaGraphNode_t look = add_look(columns, {any, again});
    const cudaGraph_t body = engine::detail::add_loop(graph_, look, again);
    if constexpr (requires { data.branch; }) {
      for (engine::LoopCondition& one : data.branch) {
        if (one.word != nullptr) one.node = condition_of(body);  // a graph has no handles that no node has
      }
    }
    engine::detail::capture_to_graph(stream_.get(), body, [&] { capture(stream_.get(), data); });
    check(cudaGraphInstantiate(&instance_, graph_, 0), "instantiating a graph");
  }
  WhileGraph(const WhileGraph&) = delete;
  WhileGraph& operator=(const WhileGraph&) = delete;
  ~WhileGraph() {
    if (instance_) static_cast<void>(cudaGraphExecDestroy(instance_));
    if (graph_) static_cast<void>(cudaGraphDestroy(graph_));
  }
  void launch(cudaStream_t stream) const {
    engine::detail::check(cudaGraphLaunch(instance_, stream), "launching a graph");
  }

 private:
  /// Of a node that `graph` is to have.
  static cudaGraphConditionalHandle condition_of(cudaGraph_t graph) {
    cudaGraphConditionalHandle handle{};
    engine::detail::check(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), "a graph's condition");
    return handle;
  }
  cudaGraphNode_t add_look(RightHandSides columns, engine::LoopCondition any) {
    void* arguments[] = {&columns.count, &columns.at_work, &any};
    cudaKernelNodeParams look{};
    look.func = reinterpret_cast<void*>(&look_kernel);
    look.gridDim = dim3(1);
    look.blockDim = dim3(1);
    look.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    engine::detail::check(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &look), "a graph's kernel");
    return node;
  }

  engine::detail::UniqueStream stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
};

/// The kernels of loops can set conditions of graphs, and code that can is not loaded where a device has no launches by
/// kernels. @throws Unsupported there
inline const Context& require_loading(const Context& context) {
  static const bool refused = [] {
    cudaFuncAttributes attributes{};
    const bool is = cudaFuncGetAttributes(&attributes, look_kernel) == cudaErrorCdpNotSupported;
    if (is) static_cast<void>(cudaGetLastError());
    return is;
  }();
  if (refused) throw Unsupported("the GPU is in a mode, as under MPS, that has no loops (CUDA Dynamic Parallelism)");
  return context;
}

/// Whether the method has the form one-block: where it is the faster one. A kernel that is not has to be loaded, too.
template <class Method>
inline constexpr bool has_one_block = requires {
  Method::one_block();
};

/// The form that `wanted` stands for, and why.
struct FormChoice {
  KrylovForm form;
  const char* why;
};
/// most_rows: of a system for which the form one-block is faster than the launches of a graph.
/// @throws Unsupported where the form named cannot run the loop
inline FormChoice choose_form(const LoopInput& input, bool fits_one_block, std::uint32_t most_rows) {
  const bool calls = input.system.preconditioning == Preconditioning::call;
  const bool alone = input.system.halo.links == nullptr;
  const bool captured = !calls || input.calls.preconditioner->may_be_captured();
  switch (input.options.form) {
    case KrylovForm::automatic:
      if (!captured) return {KrylovForm::host_driven, "the preconditioner cannot be captured"};
      if (alone && !calls && fits_one_block && input.system.rows <= most_rows)
        return {KrylovForm::one_block, "few rows"};
      if (!engine::graphs_have_loops) return {KrylovForm::host_driven, "the library was built without device link"};
      return {KrylovForm::graph, "one launch"};
    case KrylovForm::graph:
      if (!engine::graphs_have_loops)
        throw Unsupported("the library was built without the device link of graphs' loops");
      if (!captured) throw Unsupported("the preconditioner cannot be captured into a graph");
      break;
    case KrylovForm::one_block:
      if (calls) throw Unsupported("the form one-block has no preconditioner but a diagonal");
      if (!fits_one_block) throw Unsupported("the form one-block is for fewer rows, or not for this method");
      if (!alone) throw Unsupported("the form one-block is for one rank");
      break;
    case KrylovForm::host_driven:
      break;
    case KrylovForm::threads:
      throw Unsupported("the form threads is that of the host backend");
  }
  return {input.options.form, "asked for"};
}

template <class Method>
class CudaLoop final : public Loop {
 public:
  explicit CudaLoop(const LoopInput& input)
      : context_(require_loading(input.context)),
        calls_(input.calls),
        entries_(input.entries),
        row_threads_(input.row_threads),
        work_(context_, input.system.rows, input.columns()),
        data_(Method::prepare(work_, input)),
        pages_(work_.make<Page>(1)),
        again_(work_.make<std::uint32_t>(1)),
        columns_(columns_of<Method>(input, work_, again_)),
        any_(columns_.count > 1 ? work_.make<std::uint32_t>(1) : again_),
        coefficients_(input.options.coefficients ? work_.make<double>(2 * static_cast<std::size_t>(most_norms))
                                                 : nullptr),
        scratch_{work_.make<double>(room_of_sums(data_)), work_.make<std::uint32_t>(engine::LoopScratch::most_arrivals),
                 input.system.halo.links},
        fetched_(columns_.count) {
    data_.loop = {&pages_->control, pages_->norms, coefficients_, {again_, 0}};
    const std::uint32_t most_rows = prepare_blocks(input);
    choice_ = choose_form(input, has_one_block<Method> && room_.bytes() <= most_shared_bytes, most_rows);
  }

  void begin(const Start& start, std::int64_t pause_at, Stream stream) override {
    const engine::detail::CurrentDevice current(context_.device());
    const auto s = static_cast<cudaStream_t>(stream.handle);
    started_ = start.columns;
    begin_kernel<<<1, columns_.count, 0, s>>>(control_of(start, data_.norm, pause_at), started_, start.ldb, start.ldx,
                                              pages_, again_);
    engine::detail::check(cudaGetLastError(), "beginning a solve");
    engine::StreamFlow stages(s, scratch_, row_threads_);
    with_columns<Method>(stages, columns_, [&](auto& flow) { Method::start(flow, data_, calls_, start); });
  }
  void go_on(std::int64_t pause_at, bool first, Stream stream) override {
    const engine::detail::CurrentDevice current(context_.device());
    const auto s = static_cast<cudaStream_t>(stream.handle);
    if (!first) resume(pause_at, s);
    switch (choice_.form) {
      case KrylovForm::graph:
        return graph().launch(s);
      case KrylovForm::one_block:
        return run_blocks(s);
      default:
        return drive(s);
    }
  }
  /// By launches, also where the loop is in one block: in a graph, as far as there are such.
  engine::Report trace(std::int64_t pause_at, Stream stream) override {
    const engine::detail::CurrentDevice current(context_.device());
    const auto s = static_cast<cudaStream_t>(stream.handle);
    engine::StreamTrace trace(context_);
    resume(pause_at, s);
    if (choice_.form == KrylovForm::host_driven || !engine::graphs_have_loops) {
      drive(s, &trace);
      return trace.report(s);
    }
    const auto graph = make_graph(&trace);
    graph->launch(s);
    return trace.report(s);
  }
  void fetch(std::vector<ColumnState>& columns, Stream stream) override {
    using engine::detail::check;
    const auto s = static_cast<cudaStream_t>(stream.handle);
    constexpr std::size_t first = sizeof(Control) + sizeof(double) * static_cast<std::size_t>(Page::norms_at_once);
    check(cudaMemcpy2DAsync(fetched_.data(), sizeof(Page), pages_, sizeof(Page), first, columns.size(),
                            cudaMemcpyDeviceToHost, s),
          "fetching an outcome");
    check(cudaStreamSynchronize(s), "waiting for a solve");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Page& page = fetched_.data()[c];
      if (page.control.kept <= Page::norms_at_once) continue;
      const auto rest = static_cast<std::size_t>(page.control.kept - Page::norms_at_once);
      check(cudaMemcpyAsync(page.norms + Page::norms_at_once, pages_[c].norms + Page::norms_at_once,
                            rest * sizeof(double), cudaMemcpyDeviceToHost, s),
            "fetching norms");
      check(cudaStreamSynchronize(s), "waiting for norms");
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Page& page = fetched_.data()[c];
      columns[c].norms.assign(page.norms, page.norms + page.control.kept);
      columns[c].control = page.control;
    }
  }
  void fetch_coefficients(std::size_t count, KrylovOutcome& outcome, Stream stream) override {
    const auto copy = [s = static_cast<cudaStream_t>(stream.handle)]<class T>(const T* from, std::size_t size) {
      std::vector<T> values(size);
      engine::detail::check(cudaMemcpyAsync(values.data(), from, size * sizeof(T), cudaMemcpyDeviceToHost, s),
                            "fetching coefficients");
      engine::detail::check(cudaStreamSynchronize(s), "waiting for coefficients");
      return values;
    };
    add_coefficients<Method>(data_, count, copy, outcome);
  }
  void end(Stream stream) override {
    const engine::detail::CurrentDevice current(context_.device());
    const auto s = static_cast<cudaStream_t>(stream.handle);
    engine::StreamFlow stages(s, scratch_, row_threads_);
    if (columns_.count > 1) {
      wake_kernel<<<1, columns_.count, 0, s>>>(started_, again_);
      engine::detail::check(cudaGetLastError(), "ending a solve");
    }
    with_columns<Method>(stages, columns_, [&](auto& flow) { Method::end(flow, data_, calls_); });
  }
  void capture_anew() override {
    const engine::detail::CurrentDevice current(context_.device());
    graph_.reset();
  }
  [[nodiscard]] KrylovInfo info() const override {
    KrylovInfo info = info_of<Method>(data_, entries_, work_, columns_.count);
    info.form = choice_.form;
    info.why = choice_.why;
    if (choice_.form == KrylovForm::one_block && blocks_ > 1)
      info.why += ", " + std::to_string(blocks_) + " blocks as a cluster";
    return info;
  }

 private:
  /// Of tiles of all stages.
  static std::size_t room_of_sums(const typename Method::Data& data) {
    std::size_t room = engine::LoopShape::most_tiles * 16U;
    if constexpr (requires { Method::sliced_sums(data); }) {
      room = std::max(room, engine::LoopShape::of(data.system.rows, 1).tiles * Method::sliced_sums(data));
    }
    return room;
  }
  /// For the form one-block: up to three sums in a product, whose rows threads share, and elsewhere, but for those with
  /// a null space.
  [[nodiscard]] engine::BlockFlow::Room room_of(const System& system) const {
    std::uint32_t sums = 3;
    if (system.null_space.count > 0) sums = std::max<std::uint32_t>(sums, NullSpaceDots::sums);
    engine::BlockFlow::Room room;
    room.add(engine::LoopShape::of(system.rows, row_threads_), 3, static_cast<std::uint32_t>(blocks_));
    room.add(engine::LoopShape::of(system.rows, 1), sums, static_cast<std::uint32_t>(blocks_));
    return room;
  }
  /// Takes as many blocks for the form one-block as are of use, and says for how many rows it is the faster one.
  std::uint32_t prepare_blocks(const LoopInput& input) {
    room_ = room_of(input.system);
    if constexpr (has_one_block<Method>) {
      const std::int64_t entries = input.entries + input.system.rows;
      if (input.system.halo.links != nullptr) return 0;
      const bool asked = input.options.form == KrylovForm::one_block;
      const bool possible =
          input.options.form == KrylovForm::automatic && entries <= Method::one_block().cluster_entries;
      if (input.system.preconditioning == Preconditioning::call || (!asked && !possible)) return 0;
      const std::uint32_t tiles = engine::LoopShape::of(input.system.rows, row_threads_).tiles;
      const int cluster = cuda::largest_cluster(reinterpret_cast<const void*>(&block_kernel<Method>),
                                                engine::BlockFlow::threads, most_shared_bytes);
      blocks_ = std::min(cluster, static_cast<int>(std::bit_ceil(tiles)));
      room_ = room_of(input.system);
      return cluster > 1 ? input.system.rows : Method::one_block().rows;
    }
    return 0;
  }
  void run_blocks(cudaStream_t stream) const {
    if constexpr (has_one_block<Method>) {
      cuda::Launch(blocks_ * static_cast<int>(columns_.count), engine::BlockFlow::threads, room_.bytes(), stream)
          .clusters_of(blocks_)
          .run("starting a loop in one block", block_kernel<Method>, data_, room_, row_threads_, columns_.stride);
    }
  }
  void resume(std::int64_t pause_at, cudaStream_t stream) const {
    resume_kernel<<<1, columns_.count, 0, stream>>>(data_.loop, pause_at);
    engine::detail::check(cudaGetLastError(), "going on with a solve");
  }
  /// trace: as of turns().
  [[nodiscard]] std::unique_ptr<WhileGraph> make_graph(engine::StreamTrace* trace = nullptr) const {
    return std::make_unique<WhileGraph>(data_, columns_, any_, [&](cudaStream_t stream, typename Method::Data data) {
      if (columns_.count == 1) return turns(stream, data, trace);
      const engine::LoopCondition any{any_, std::exchange(data.loop.again.node, 0)};
      turns(stream, data, trace);
      look_kernel<<<1, 1, 0, stream>>>(columns_.count, again_, any);
      engine::detail::check(cudaGetLastError(), "looking at columns");
    });
  }
  const WhileGraph& graph() {
    if (!graph_) graph_ = make_graph();
    return *graph_;
  }
  /// The host's loop: an iteration, and a look at the words.
  void drive(cudaStream_t stream, engine::StreamTrace* trace = nullptr) {
    using engine::detail::check;
    auto* again = reinterpret_cast<std::uint32_t*>(fetched_.data());
    while (true) {
      check(cudaMemcpyAsync(again, again_, columns_.count * sizeof(*again), cudaMemcpyDeviceToHost, stream),
            "looking at a loop");
      check(cudaStreamSynchronize(stream), "waiting for an iteration");
      if (std::all_of(again, again + columns_.count, [](std::uint32_t word) { return word == 0; })) return;
      turns(stream, data_, trace);
    }
  }
  /// How many iterations there are between two looks at the condition, which take about as long as two stages. Those
  /// after the last one have stages that do nothing; a preconditioner that is a call is applied, which must not take
  /// longer than all the looks of a short solve. A trace gets one of them alone.
  [[nodiscard]] int iterations_at_once(const engine::StreamTrace* trace) const {
    constexpr std::uint32_t most_rows_of_idle_calls = 100000;
    if (trace != nullptr) return 1;
    const System& system = data_.system;
    if (system.preconditioning != Preconditioning::call) {
      if constexpr (requires { Method::turns_at_once; }) return Method::turns_at_once;
      return 1;
    }
    if constexpr (requires { Method::calls_at_once; }) {
      const bool alone = columns_.count == 1 && system.halo.links == nullptr;
      if (choice_.form == KrylovForm::graph && alone && system.rows <= most_rows_of_idle_calls)
        return Method::calls_at_once;
    }
    return 1;
  }
  void turns(cudaStream_t stream, typename Method::Data data, engine::StreamTrace* trace) const {
    int times = iterations_at_once(trace);
    if constexpr (requires { data.at_once; }) data.at_once = std::exchange(times, 1);
    const std::uint32_t* const guard = times > 1 && columns_.count == 1 ? again_ : nullptr;
    engine::StreamFlow stages(stream, scratch_, row_threads_, guard, trace);
    with_columns<Method>(stages, columns_, [&](auto& flow) {
      for (int k = 0; k < times; ++k) Method::turn(flow, data, calls_);
    });
  }

  /// Beside some kilobytes of the kernels' own: a launch that asks for nothing gets 48 in all.
  static constexpr std::size_t most_shared_bytes = std::size_t{32} * 1024;

  Context context_;
  Calls calls_;
  std::int64_t entries_;
  int row_threads_;
  Workspace work_;
  typename Method::Data data_;
  Page* pages_;           ///< a column each
  std::uint32_t* again_;  ///< the same
  RightHandSides columns_;
  std::uint32_t* any_;         ///< of several columns: whether one goes on
  std::uint32_t started_ = 1;  ///< columns of the solve
  double* coefficients_;
  engine::LoopScratch scratch_;
  engine::detail::PinnedArray<Page> fetched_;
  engine::BlockFlow::Room room_;  ///< of the form one-block
  int blocks_ = 1;                ///< in its launch
  FormChoice choice_{KrylovForm::graph, ""};
  std::unique_ptr<WhileGraph> graph_;
};

}  // namespace taskdag::krylov
