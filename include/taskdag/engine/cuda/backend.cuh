/// \file
/// The engine on a GPU: launches, and what they cost.
#pragma once

#include <algorithm>
#include <array>
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
  explicit CudaBackend(const Context& context)
      : context_(context), device_(context.device()), view_(1), control_(context, sizeof(ControllerState)) {
    const CurrentDevice current(context_.device());
    for (auto& stream : streams_) stream = UniqueStream::create();
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      infos_[P::template number_of<T>()] =
          prepare<Shape<Types<T>>>(reinterpret_cast<const void*>(&slice_kernel<P, T>), TaskTraits<T>::name());
    });
    prepare_phases<-1>();
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

  template <int Phase>
  void persistent(const ProgramRef<P>& program, const RunOptions& options) {
    using Kernel = Shape<PhaseTypes<P, Phase>>;
    if constexpr (PhaseTypes<P, Phase>::size > 0) {
      const CurrentDevice current(context_.device());
      KernelInfo& info = phase_infos_[Phase + 1];
      const auto resident = static_cast<std::uint32_t>(info.blocks_per_sm) * device_.multiprocessors;
      const std::uint32_t blocks = options.blocks > 0 ? static_cast<std::uint32_t>(options.blocks) : resident;
      ForEach<PhaseTypes<P, Phase>>::apply([&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!P::template Queue<T>::any_worker_may_claim) {
          const std::uint32_t rings = program.template of<T>().queue.rings();
          if (rings > std::min(blocks, resident) * Kernel::teams) {
            throw InvalidInput("queues without stealing need a resident team for each of their " +
                               std::to_string(rings) + " rings: " + std::to_string(blocks) + " blocks of " +
                               std::to_string(Kernel::teams) + " teams are too few, or more than fit");
          }
        }
      });
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
    slice_kernel<P, T>
        <<<blocks, Kernel::threads, Kernel::shared_bytes, streams_[number].get()>>>(program, claims, nullptr);
    check(cudaGetLastError(), "starting a slice");
    ++infos_[number].launches;
  }

  void controlled([[maybe_unused]] const ProgramRef<P>& program, [[maybe_unused]] int phase,
                  [[maybe_unused]] const RunOptions& options) {
#if defined(__CUDACC_RDC__)
    const CurrentDevice current(context_.device());
    ControllerState state{};
    state.phase = phase;
    control_.copy_in(0, &state, sizeof(state));
    auto* const device_state = static_cast<ControllerState*>(control_.data());
    const cudaStream_t stream = streams_[0].get();
    if (options.controller == ControllerForm::chain) {
      chain_kernel<P><<<1, 32, 0, stream>>>(program, limits(program), device_state);
      check(cudaGetLastError(), "starting the device controller");
      synchronize();
    } else {
      LoopGraph graph;
      graph.add(&graph_controller_kernel<P>, 1, 32, 0, program, limits(program), device_state, graph.condition());
      ForEach<typename P::AllTypes>::apply([&](auto tag) {
        using T = typename decltype(tag)::type;
        using Kernel = Shape<Types<T>>;
        const auto resident =
            static_cast<std::uint32_t>(infos_[P::template number_of<T>()].blocks_per_sm) * device_.multiprocessors;
        graph.add(&slice_kernel<P, T>, resident, Kernel::threads, Kernel::shared_bytes, program, 0U, device_state);
      });
      graph.launch(stream);
      synchronize();
    }
    control_.copy_out(0, &state, sizeof(state));
    check(static_cast<cudaError_t>(state.error), "a launch by the device controller");
    turns_ += state.turns;
#else
    throw Unsupported("the device controller starts kernels from kernels: compile the program with nvcc -rdc=true");
#endif
  }

  [[nodiscard]] std::vector<KernelInfo> kernels() const {
    std::vector<KernelInfo> used;
    for (const KernelInfo& info : phase_infos_) {
      if (info.launches != 0) used.push_back(info);
    }
    for (const KernelInfo& info : infos_) {
      if (info.launches != 0 || turns_ != 0) used.push_back(info);
    }
    if (turns_ != 0) {
      KernelInfo controller;
      controller.name = "controller";
      controller.threads = 32;
      controller.launches = turns_;
      used.push_back(controller);
    }
    return used;
  }

 private:
  struct View {
    Levels<P> levels;
    Ledger ledger;
  };

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
  Memory control_;
  std::array<UniqueStream, P::types> streams_;
  std::array<KernelInfo, P::types> infos_;
  std::array<KernelInfo, P::phases + 1> phase_infos_;
  std::uint64_t turns_ = 0;
};

}  // namespace detail

TASKDAG_ENGINE_END
