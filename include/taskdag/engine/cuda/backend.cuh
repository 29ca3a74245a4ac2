/// \file
/// The engine on a GPU: launches, and what they cost.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "taskdag/engine/cuda/check.cuh"
#include "taskdag/engine/cuda/controller.cuh"
#include "taskdag/engine/cuda/graph.cuh"
#include "taskdag/engine/cuda/owners.cuh"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/report.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

template <class P>
class CudaBackend {
 public:
  explicit CudaBackend(const Context& context) : context_(context), device_(context.device()), view_(1) {
    const CurrentDevice current(context_.device());
    for (auto& stream : streams_) stream = UniqueStream::create();
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      infos_[P::template number_of<T>()] =
          prepare<Shape<Types<T>>>(reinterpret_cast<const void*>(&slice_kernel<P, T>), TaskTraits<T>::name());
#if defined(__CUDACC_RDC__)
      graph_infos_[P::template number_of<T>()] =
          prepare<Shape<Types<T>>>(reinterpret_cast<const void*>(&graph_slice_kernel<P, T>), TaskTraits<T>::name());
#endif
    });
    prepare_phases<-1>();
    if constexpr (one_shape<P>()) {
      all_info_ = prepare<Shape<typename P::AllTypes>>(reinterpret_cast<const void*>(&phases_kernel<P>),
                                                       "megakernel of all phases");
    }
  }

  /// Teams that may run at the same time, of any scheduler: a bound that the hardware sets.
  [[nodiscard]] std::uint32_t teams() const { return device_.multiprocessors * device_.threads / 32U; }
  template <class T>
  [[nodiscard]] std::uint32_t in_flight() const {
    return device_.multiprocessors * device_.threads / static_cast<std::uint32_t>(TaskTraits<T>::lanes()) *
           static_cast<std::uint32_t>(TaskTraits<T>::fetch());
  }
  template <class T>
  static constexpr int lanes_of() {
    return TaskTraits<T>::lanes();
  }
  template <class T>
  static constexpr std::uint32_t per_team() {
    return static_cast<std::uint32_t>(Shape<Types<T>>::team_size / TaskTraits<T>::lanes() * TaskTraits<T>::fetch());
  }

  void look(const ProgramRef<P>& program, Levels<P>& levels, Ledger& ledger) {
    const CurrentDevice current(context_.device());
    look_kernel<P><<<1, 1, 0, streams_[0].get()>>>(program, &view_.data()->levels, &view_.data()->ledger);
    check(cudaGetLastError(), "looking at the queues");
    check(cudaStreamSynchronize(streams_[0].get()), "waiting for tasks");
    levels = view_.data()->levels;
    ledger = view_.data()->ledger;
  }

  void synchronize() {
    const CurrentDevice current(context_.device());
    for (const auto& stream : streams_) check(cudaStreamSynchronize(stream.get()), "waiting for tasks");
  }

  template <class T>
  void push_all(const ProgramRef<P>& program, const typename T::Item* items, std::uint32_t size) {
    const CurrentDevice current(context_.device());
    const Array<typename T::Item> copy(context_, std::span<const typename T::Item>(items, size));
    push_all_kernel<P, T><<<(size + 127U) / 128U, 128, 0, streams_[0].get()>>>(program, copy.data(), size);
    check(cudaGetLastError(), "adding first tasks");
    check(cudaStreamSynchronize(streams_[0].get()), "adding first tasks");
  }
  template <class T>
  void move_all(const typename P::template Queue<T>& from, const typename P::template Queue<T>& to,
                const ProgramRef<P>& program) {
    const CurrentDevice current(context_.device());
    move_all_kernel<P, T><<<(std::max(teams(), 1024U) + 127U) / 128U, 128, 0, streams_[0].get()>>>(program, from, to);
    check(cudaGetLastError(), "enlarging a queue");
    check(cudaStreamSynchronize(streams_[0].get()), "enlarging a queue");
  }

  /// Whether one kernel is good for all phases: where it may be, unless it has fewer resident teams than a phase's own
  /// and the queues can hold work for more.
  [[nodiscard]] bool changes_phases([[maybe_unused]] const ProgramRef<P>& program, const RunOptions& options) const {
    if constexpr (one_shape<P>()) {
      if (options.phases != PhaseChange::automatic) return options.phases == PhaseChange::by_workers;
      const auto resident = static_cast<std::uint64_t>(all_info_.blocks_per_sm) * device_.multiprocessors;
      if (useful_blocks<typename P::AllTypes>(program) <= resident) return true;
      for (int p = 0; p < P::phases; ++p) {
        if (phase_infos_[static_cast<std::size_t>(p) + 1].blocks_per_sm > all_info_.blocks_per_sm) return false;
      }
      return true;
    } else {
      static_cast<void>(options);
      return false;
    }
  }
  void all_phases([[maybe_unused]] const ProgramRef<P>& program, [[maybe_unused]] const RunOptions& options) {
    if constexpr (one_shape<P>()) {
      using Kernel = Shape<typename P::AllTypes>;
      const CurrentDevice current(context_.device());
      const std::uint32_t blocks = persistent_blocks<typename P::AllTypes>(program, options, all_info_);
      // More blocks than fit: those start as others end, at the end of the run, and end at once.
      phases_kernel<P><<<blocks, Kernel::threads, Kernel::shared_bytes, streams_[0].get()>>>(program);
      check(cudaGetLastError(), "starting the megakernel");
      ++all_info_.launches;
    }
  }

  template <int Phase>
  void persistent(const ProgramRef<P>& program, const RunOptions& options) {
    using Kernel = Shape<PhaseTypes<P, Phase>>;
    if constexpr (PhaseTypes<P, Phase>::size > 0) {
      const CurrentDevice current(context_.device());
      KernelInfo& info = phase_infos_[Phase + 1];
      const std::uint32_t blocks = persistent_blocks<PhaseTypes<P, Phase>>(program, options, info);
      // More blocks than fit: those start as others end, at the end of the phase, and end at once.
      persistent_kernel<P, Phase><<<blocks, Kernel::threads, Kernel::shared_bytes, streams_[0].get()>>>(program);
      check(cudaGetLastError(), "starting the megakernel");
      ++info.launches;
    }
  }

  template <class T>
  void slice(const ProgramRef<P>& program, std::uint32_t items) {
    const CurrentDevice current(context_.device());
    using Kernel = Shape<Types<T>>;
    constexpr int number = P::template number_of<T>();
    std::uint32_t claims = (items + per_team<T>() - 1U) / per_team<T>();
    // One more team per ring: each ring may hold a remainder.
    if constexpr (requires { program.template of<T>().queue.rings(); })
      claims += program.template of<T>().queue.rings();
    const std::uint32_t blocks = (claims + Kernel::teams - 1U) / Kernel::teams;
    slice_kernel<P, T><<<blocks, Kernel::threads, Kernel::shared_bytes, streams_[number].get()>>>(program, claims);
    check(cudaGetLastError(), "starting a slice");
    ++infos_[number].launches;
  }

  void controlled([[maybe_unused]] const ProgramRef<P>& program, [[maybe_unused]] int phase,
                  [[maybe_unused]] const RunOptions& options) {
#if defined(__CUDACC_RDC__)
    const CurrentDevice current(context_.device());
    GraphRun<P> run{program, limits(program), {}};
    run.state.phase = phase;
    if (control_.size() == 0) control_ = Memory(context_, sizeof(run));
    control_.copy_in(0, &run, sizeof(run));
    auto* const on_device = static_cast<GraphRun<P>*>(control_.data());
    const cudaStream_t stream = streams_[0].get();
    if (options.controller == ControllerForm::chain) {
      chain_kernel<P><<<1, 32, 0, stream>>>(program, run.limits, &on_device->state);
      check(cudaGetLastError(), "starting the device controller");
    } else {
      if (!graph_) graph_ = make_graph(on_device);
      graph_->launch(stream);
    }
    synchronize();
    control_.copy_out(0, &run, sizeof(run));
    check(static_cast<cudaError_t>(run.state.error), "a launch by the device controller");
    (options.controller == ControllerForm::chain ? chain_turns_ : graph_turns_) += run.state.turns;
#else
    throw Unsupported("the device controller starts kernels from kernels: compile the program with nvcc -rdc=true");
#endif
  }

  [[nodiscard]] std::vector<KernelInfo> kernels() const {
    std::vector<KernelInfo> used;
    for (const KernelInfo& info : phase_infos_) {
      if (info.launches != 0) used.push_back(info);
    }
    if (all_info_.launches != 0) used.push_back(all_info_);
    for (const KernelInfo& info : infos_) {
      if (info.launches != 0 || chain_turns_ != 0) used.push_back(info);
    }
    if (graph_turns_ != 0) used.insert(used.end(), graph_infos_.begin(), graph_infos_.end());
    if (chain_turns_ + graph_turns_ != 0) {
      KernelInfo controller;
      controller.name = "controller";
      controller.threads = 32;
      controller.launches = chain_turns_ + graph_turns_;
      used.push_back(controller);
    }
    return used;
  }

 private:
  struct View {
    Levels<P> levels;
    Ledger ledger;
  };

  /// What queues can hold ends the use of more blocks: those would look, wait and be waited for at each end of a phase.
  template <class List>
  [[nodiscard]] static std::uint64_t useful_blocks(const ProgramRef<P>& program) {
    using Kernel = Shape<List>;
    std::uint64_t useful = 0;
    std::uint64_t blocks_of_rings = 0;
    ForEach<List>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto& queue = program.template of<T>().queue;
      constexpr auto items = static_cast<std::uint32_t>(Kernel::team_size / TaskTraits<T>::lanes());
      useful += (std::uint64_t{queue.capacity()} + items - 1U) / items;
      if constexpr (requires { queue.rings(); }) {
        constexpr auto teams = static_cast<std::uint32_t>(Kernel::teams);
        blocks_of_rings = std::max<std::uint64_t>(blocks_of_rings, (queue.rings() + teams - 1U) / teams);
      }
    });
    return std::max(useful, blocks_of_rings);
  }

  /// Blocks of a megakernel of the types of a list. @throws InvalidInput where a ring would have no team
  template <class List>
  [[nodiscard]] std::uint32_t persistent_blocks(const ProgramRef<P>& program, const RunOptions& options,
                                                const KernelInfo& info) const {
    using Kernel = Shape<List>;
    const auto resident = static_cast<std::uint32_t>(info.blocks_per_sm) * device_.multiprocessors;
    const std::uint32_t blocks =
        options.blocks > 0
            ? static_cast<std::uint32_t>(options.blocks)
            : static_cast<std::uint32_t>(std::min(std::uint64_t{resident}, useful_blocks<List>(program)));
    ForEach<List>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!P::template Queue<T>::any_worker_may_claim) {
        const std::uint32_t rings = program.template of<T>().queue.rings();
        if (rings > std::min(blocks, resident) * Kernel::teams) {
          throw InvalidInput("queues without stealing need a resident team for each of their " + std::to_string(rings) +
                             " rings: " + std::to_string(blocks) + " blocks of " + std::to_string(Kernel::teams) +
                             " teams are too few, or more than fit");
        }
      }
    });
    return blocks;
  }

#if defined(__CUDACC_RDC__)
  /// The controller's graph: the same for all runs.
  [[nodiscard]] std::unique_ptr<LoopGraph> make_graph(GraphRun<P>* run) const {
    auto graph = std::make_unique<LoopGraph>();
    graph->add(&graph_controller_kernel<P>, 1, 32, 0, run, graph->condition());
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      using Kernel = Shape<Types<T>>;
      const auto resident =
          static_cast<std::uint32_t>(graph_infos_[P::template number_of<T>()].blocks_per_sm) * device_.multiprocessors;
      graph->add(&graph_slice_kernel<P, T>, resident, Kernel::threads, Kernel::shared_bytes, run);
    });
    return graph;
  }
#endif

  [[nodiscard]] LaunchLimits limits(const ProgramRef<P>& program) const {
    LaunchLimits limits;
    limits.warps = device_.multiprocessors * device_.threads * 3U / 2U / 32U;
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (requires { program.template of<T>().queue.rings(); }) {
        limits.rings = std::max(limits.rings, program.template of<T>().queue.rings());
      }
    });
    return limits;
  }

  /// Looks up what a kernel costs. @throws InvalidInput where the device cannot hold a block of it
  template <class S>
  KernelInfo prepare(const void* kernel, std::string name) const {
    KernelInfo info;
    info.name = std::move(name);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "looking up a kernel");
    device_.check_shared(info.name, S::shared_bytes);
    if (S::threads > attributes.maxThreadsPerBlock) {
      throw InvalidInput(info.name + ": a block of " + std::to_string(S::threads) + " threads does not fit, at most " +
                         std::to_string(attributes.maxThreadsPerBlock));
    }
    if (S::shared_bytes > 48U * 1024U) {
      check(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(S::shared_bytes)),
          "asking for shared memory");
    }
    info.registers = attributes.numRegs;
    info.local_bytes = static_cast<int>(attributes.localSizeBytes);
    info.shared_bytes = static_cast<int>(S::shared_bytes + attributes.sharedSizeBytes);
    info.threads = S::threads;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&info.blocks_per_sm, kernel, S::threads, S::shared_bytes),
          "looking up how many blocks fit");
    if (info.blocks_per_sm == 0) throw InvalidInput(info.name + ": not one block of its workers fits the device");
    return info;
  }
  template <int Phase>
  void prepare_phases() {
    if constexpr (Phase < P::phases) {
      if constexpr (PhaseTypes<P, Phase>::size > 0) {
        phase_infos_[Phase + 1] = prepare<Shape<PhaseTypes<P, Phase>>>(
            reinterpret_cast<const void*>(&persistent_kernel<P, Phase>),
            Phase < 0 ? "megakernel" : "megakernel of phase " + std::to_string(Phase));
      }
      prepare_phases<Phase + 1>();
    }
  }

  Context context_;
  DeviceShape device_;
  PinnedArray<View> view_;
  Memory control_;                    ///< what the device controller works on, from its first run on
  std::unique_ptr<LoopGraph> graph_;  ///< of the device controller, from its first run as a graph on
  std::array<UniqueStream, P::types> streams_;
  std::array<KernelInfo, P::types> infos_;
  std::array<KernelInfo, P::phases + 1> phase_infos_;
  std::array<KernelInfo, P::types> graph_infos_;
  KernelInfo all_info_;
  std::uint64_t chain_turns_ = 0;
  std::uint64_t graph_turns_ = 0;
};

}  // namespace detail

TASKDAG_ENGINE_END
