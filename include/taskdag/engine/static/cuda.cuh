/// \file
/// Static programs on a GPU: launches on the caller's stream, nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "taskdag/engine/cuda/check.cuh"
#include "taskdag/engine/cuda/owners.cuh"
#include "taskdag/engine/static/controller.cuh"
#include "taskdag/engine/static/memory.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

template <class P>
class CudaStatic {
 public:
  /// Synchronises the device. @throws InvalidInput, Unsupported, OutOfMemory, DeviceError
  CudaStatic(const Context& context, const StaticOrder& order, const StaticOptions& options)
      : context_(context), device_(context.device()), options_(options), memory_(context, order, per_team(), options) {
    const CurrentDevice current(context_.device());
    if (slices_by_type()) {
      ForEach<typename P::AllTypes>::apply([&](auto tag) {
        using T = typename decltype(tag)::type;
        prepare<Shape<Types<T>>>(kernel_of_claims<Types<T>, Dependencies::ordered>(), TaskTraits<T>::name());
      });
    } else if (options_.dependencies == Dependencies::phases) {
      prepare<All>(reinterpret_cast<const void*>(&static_levels_kernel<P>), "levels");
    } else if (options_.dependencies == Dependencies::individual) {
      prepare<All>(kernel_of_claims<typename P::AllTypes, Dependencies::individual>(), "individual dependencies");
    } else if constexpr (kLooksAhead) {
      prepare<All>(reinterpret_cast<const void*>(&static_ahead_kernel<P, OnlyType>), "fixed order");
    } else {
      prepare<All>(kernel_of_claims<typename P::AllTypes, Dependencies::ordered>(), "fixed order");
    }
    if (options_.scheduler == Scheduler::device_controller) {
      controller_ = std::make_unique<StaticController<P>>(context_, options_.dependencies, resident());
    }
  }

  /// Asynchronous: launches alone, no copy, no allocation. May be captured, but for the device controller.
  /// @throws Unsupported for that; DeviceError, from then on for good where a run of several launches was cut short:
  /// some of its tasks have run, and what they handed over is not what the next run expects
  void enqueue(const typename P::Data& data, cudaStream_t stream) {
    if (cut_short_) {
      throw DeviceError("a run of this program ended between two of its launches: it cannot be run again");
    }
    StaticRef<P>& program = memory_.program();
    program.data = data;
    if (program.claims == 0) return;
    if (controller_) {
      controller_->enqueue(program, stream);
    } else if (options_.dependencies == Dependencies::phases) {
      enqueue_levels(stream);
    } else if (options_.dependencies == Dependencies::individual) {
      enqueue_claims<typename P::AllTypes, Dependencies::individual>(kernels_[0], 0, 0, program.claims, stream);
    } else if (slices_by_type()) {
      ForEach<typename P::AllTypes>::apply([&](auto tag) {
        using T = typename decltype(tag)::type;
        constexpr int number = P::template number_of<T>();
        enqueue_claims<Types<T>, Dependencies::ordered>(kernels_[static_cast<std::size_t>(number)], number,
                                                        memory_.first_claim(number), program.type_end[number], stream);
        cut_short_ = true;
      });
      cut_short_ = false;
    } else if constexpr (kLooksAhead) {
      constexpr auto teams = static_cast<std::uint32_t>(All::teams);
      const std::uint32_t blocks = persistent_blocks(program.claims, teams);
      const StaticLaunch launch{0, 0, program.claims, program.claims + 2U * blocks * teams, false};
      static_ahead_kernel<P, OnlyType><<<blocks, All::threads, All::shared_bytes, stream>>>(program, launch);
      check(cudaGetLastError(), "starting a static program");
      ++kernels_[0].launches;
    } else {
      enqueue_claims<typename P::AllTypes, Dependencies::ordered>(kernels_[0], 0, 0, program.claims, stream);
    }
  }

  /// After all runs have ended: the caller has waited.
  [[nodiscard]] Report report() const {
    std::array<int, P::types> lanes{};
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      lanes[static_cast<std::size_t>(P::template number_of<T>())] = TaskTraits<T>::lanes();
    });
    Report report = memory_.report(lanes);
    report.kernels = kernels_;
    return report;
  }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

 private:
  using All = Shape<typename P::AllTypes>;
  using OnlyType = typename FirstOf<typename P::AllTypes>::type;
  /// Where a program has one type, whose teams have one worker with one item.
  static constexpr bool kLooksAhead = P::types == 1 && looks_ahead<OnlyType> && TaskTraits<OnlyType>::fetch() == 1 &&
                                      TaskTraits<OnlyType>::lanes() == All::team_size;

  static std::array<std::uint32_t, P::types> per_team() {
    std::array<std::uint32_t, P::types> result{};
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      result[static_cast<std::size_t>(P::template number_of<T>())] =
          static_cast<std::uint32_t>(team_size<T>() / TaskTraits<T>::lanes() * TaskTraits<T>::fetch());
    });
    return result;
  }
  /// Lanes of the team that runs T: that of all types together, whatever the launch, so that claims are the same.
  template <class T>
  static constexpr int team_size() {
    static_assert(Shape<Types<T>>::team_size == All::team_size,
                  "the task types of a static program have workers of up to a warp, or blocks of one size");
    return All::team_size;
  }
  [[nodiscard]] bool slices_by_type() const {
    return options_.scheduler == Scheduler::timesliced && options_.dependencies == Dependencies::ordered;
  }
  template <class List, Dependencies Kind>
  static const void* kernel_of_claims() {
    return reinterpret_cast<const void*>(&static_kernel<P, List, Kind>);
  }

  template <class S>
  void prepare(const void* kernel, std::string name) {
    KernelInfo info;
    info.name = std::move(name);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "looking up a kernel");
    device_.check_shared(info.name, S::shared_bytes);
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
    kernels_.push_back(std::move(info));
  }
  [[nodiscard]] std::uint32_t resident() const {
    return static_cast<std::uint32_t>(kernels_[0].blocks_per_sm) * device_.multiprocessors;
  }

  [[nodiscard]] std::uint32_t persistent_blocks(std::uint32_t claims, std::uint32_t teams) const {
    const std::uint32_t most = options_.blocks > 0 ? static_cast<std::uint32_t>(options_.blocks) : resident();
    return std::min((claims + teams - 1U) / teams, most);
  }

  /// Persistent teams, or a team for each claim where launches are slices.
  template <class List, Dependencies Kind>
  void enqueue_claims(KernelInfo& info, int number, std::uint32_t first, std::uint32_t end, cudaStream_t stream) {
    if (first == end) return;
    using S = Shape<List>;
    constexpr auto teams = static_cast<std::uint32_t>(S::teams);
    const bool once = options_.scheduler == Scheduler::timesliced;
    const std::uint32_t claims = end - first;
    const std::uint32_t blocks = once ? (claims + teams - 1U) / teams : persistent_blocks(claims, teams);
    const std::uint32_t tickets = once ? blocks * teams : claims + blocks * teams;
    static_kernel<P, List, Kind><<<blocks, S::threads, S::shared_bytes, stream>>>(
        memory_.program(), StaticLaunch{static_cast<std::uint32_t>(number), first, end, tickets, once});
    check(cudaGetLastError(), "starting a static program");
    ++info.launches;
  }

  void enqueue_levels(cudaStream_t stream) {
    const auto& level_end = memory_.level_end();
    const auto levels = static_cast<std::uint32_t>(level_end.size());
    if (options_.scheduler != Scheduler::timesliced) {
      const std::uint32_t wanted = options_.blocks > 0 ? static_cast<std::uint32_t>(options_.blocks) : resident();
      launch_levels(0, levels, std::min({wanted, resident(), blocks_for(widest())}), true, stream);
      return;
    }
    for (std::uint32_t level = 0; level < levels; ++level) {
      const std::uint32_t claims = level_end[level] - (level == 0 ? 0U : level_end[level - 1]);
      launch_levels(level, level + 1, blocks_for(claims), false, stream);
      cut_short_ = true;
    }
    cut_short_ = false;
  }
  static std::uint32_t blocks_for(std::uint32_t claims) {
    constexpr auto teams = static_cast<std::uint32_t>(All::teams);
    return std::max(1U, (claims + teams - 1U) / teams);
  }
  [[nodiscard]] std::uint32_t widest() const {
    std::uint32_t most = 0;
    std::uint32_t begin = 0;
    for (const std::uint32_t end : memory_.level_end()) {
      most = std::max(most, end - begin);
      begin = end;
    }
    return most;
  }
  /// cooperative: so that teams may meet. Any number of blocks can run these levels: fewer do where the stream has a
  /// share of the multiprocessors (of a green context).
  void launch_levels(std::uint32_t first, std::uint32_t end, std::uint32_t blocks, bool cooperative,
                     cudaStream_t stream) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(static_cast<unsigned>(All::threads));
    config.dynamicSmemBytes = All::shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cooperative ? 1 : 0;
    cudaError_t error = cudaLaunchKernelEx(&config, static_levels_kernel<P>, memory_.program(), first, end);
    while (error == cudaErrorCooperativeLaunchTooLarge && config.gridDim.x > 1U) {
      static_cast<void>(cudaGetLastError());  // no other check is to find it
      config.gridDim.x = (config.gridDim.x + 1U) / 2U;
      error = cudaLaunchKernelEx(&config, static_levels_kernel<P>, memory_.program(), first, end);
    }
    check(error, "starting a static program");
    ++kernels_[0].launches;
  }

  Context context_;
  DeviceShape device_;
  StaticOptions options_;
  StaticMemory<P> memory_;
  std::vector<KernelInfo> kernels_;
  std::unique_ptr<StaticController<P>> controller_;
  bool cut_short_ = false;  ///< after the first launches of a run of several, and for good if one of them failed
};

}  // namespace detail

TASKDAG_ENGINE_END
