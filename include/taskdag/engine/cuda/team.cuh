/// \file
/// Teams of the GPU: a warp, where no task type needs more, else a block.
#pragma once

#include "taskdag/engine/cuda/group.cuh"
#include "taskdag/engine/scratch.hpp"
#include "taskdag/engine/team.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// Shared memory of one worker of T: a block worker's scratch for sums, then the type's own.
template <class T>
struct WorkerMemory {
  static constexpr int lanes = TaskTraits<T>::lanes();
  static constexpr std::size_t group = lanes > 32 ? BlockGroup<64>::kScratch : 0U;
  static constexpr std::size_t value = group + Scratch<T>::value;
};

/// Shared memory of a team that runs types of the list.
template <int TeamSize, class List>
struct TeamMemory;
template <int TeamSize, class... Ts>
struct TeamMemory<TeamSize, Types<Ts...>> {
  static constexpr std::size_t own = TeamSize > 32 ? 256U : 0U;
  static constexpr std::size_t value = [] {
    std::size_t most = 0;
    ((most = larger(most, WorkerMemory<Ts>::value * static_cast<std::size_t>(TeamSize / TaskTraits<Ts>::lanes()))),
     ...);
    return own + most;
  }();
};

/// Lanes of the team that the types of a list need: 32, or the largest block worker.
template <class List>
struct TeamSizeOf;
template <class... Ts>
struct TeamSizeOf<Types<Ts...>> {
  static constexpr int value = [] {
    int most = 32;
    ((most = TaskTraits<Ts>::lanes() > most ? TaskTraits<Ts>::lanes() : most), ...);
    return most;
  }();
  static constexpr bool barriers_suffice =
      (true && ... && (TaskTraits<Ts>::lanes() <= 32 || value / TaskTraits<Ts>::lanes() <= 8));
  static_assert(barriers_suffice, "block workers of one phase differ by a factor of 8 at most");
};

/// The index of the nth (from 0) set bit of a mask that has so many.
__device__ inline int nth_set_bit(unsigned mask, int n) {
  int index = 0;
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    const int below = __popc(mask & ((1U << half) - 1U));
    if (n >= below) {
      n -= below;
      mask >>= half;
      index += half;
    }
  }
  return index;
}

/// Idle warps of a block, in shared memory: one of them watches the queues, the others sleep. All accesses are atomic
/// and relaxed: hints, which carry no data; `ended` only ever goes from 0 to 1, and nothing is read on the strength of
/// it. Looks are read-modify-writes, too: so the race checker knows them for atomic.
class IdleGate {
 public:
  __device__ void clear() { watcher_ = woken_ = ended_ = 0; }

  /// By all threads of the block: thread 0 hands out what it got at the ledger's gate, and all watch afresh.
  __device__ std::uint64_t begin_phase(std::uint64_t word) {
    if (threadIdx.x == 0) {
      clear();
      phase_ = word;
    }
    __syncthreads();
    return phase_;
  }

  /// Whether warp `me` (from 1) watches; it does if no other warp does.
  __device__ bool watched_by(int me) {
    const int watcher = look(watcher_);
    int none = 0;
    return watcher == me || (watcher == 0 && Word(watcher_).compare_exchange_strong(none, me, relaxed, relaxed));
  }
  /// The watcher `me` has found items: there may be more, and others may watch.
  __device__ void hand_on(int me) {
    if (look(watcher_) != me) return;
    Word(woken_).fetch_add(1, relaxed);
    Word(watcher_).exchange(0, relaxed);
  }
  [[nodiscard]] __device__ bool watched() { return look(watcher_) != 0; }
  /// Counts up when there may be items.
  [[nodiscard]] __device__ int woken() { return look(woken_); }
  __device__ void end() { Word(ended_).exchange(1, relaxed); }
  [[nodiscard]] __device__ bool ended() { return look(ended_) != 0; }

 private:
  using Word = ::cuda::atomic_ref<int, ::cuda::thread_scope_block>;
  __device__ static int look(int& word) { return Word(word).fetch_add(0, relaxed); }

  int watcher_;
  int woken_;
  int ended_;
  std::uint64_t phase_;
};

/// A warp; `memory`: its shared memory.
class WarpTeam {
 public:
  static constexpr int size = 32;
  static constexpr bool hands_over = true;
  template <class T>
  static constexpr int lanes_of() {
    return TaskTraits<T>::lanes();
  }

  __device__ WarpTeam(std::uint32_t number, std::byte* memory, IdleGate* gate)
      : number_(number), lane_(static_cast<int>(threadIdx.x % 32U)), memory_(memory), gate_(gate) {}

  __device__ int rank() const { return lane_; }
  __device__ bool leads() const { return lane_ == 0; }
  __device__ std::uint32_t number() const { return number_; }
  __device__ Turn broadcast(const Turn& turn) const { return WarpGroup<32>(lane_).broadcast(turn); }
  /// How many workers want an item, and this worker's rank among them.
  template <int Lanes>
  __device__ void split(bool wants, int& wanting, int& rank) const {
    const unsigned mask = __ballot_sync(kAll, wants);
    wanting = __popc(mask) / Lanes;
    rank = __popc(mask & ((1U << (lane_ / Lanes * Lanes)) - 1U)) / Lanes;
  }
  __device__ bool any(bool value) const { return __any_sync(kAll, value) != 0; }
  __device__ int sum(int value) const { return __reduce_add_sync(kAll, value); }
  /// Lanes with true.
  __device__ int count(bool value) const { return __popc(__ballot_sync(kAll, value)); }
  __device__ void sync() const { __syncwarp(); }

  /// Each worker keeps its first child; second children go to workers that have none, as long as there are such.
  /// `left_over`: this lane's second child found no worker. Children are on the leading lanes of the workers.
  template <int Lanes, class HeldItem>
  __device__ HeldItem hand_over(const HeldItem& first, const HeldItem& second, bool& left_over) const {
    const bool leads_worker = lane_ % Lanes == 0;
    const unsigned givers = __ballot_sync(kAll, second.there);
    if (givers == 0) return first;
    const unsigned takers = __ballot_sync(kAll, leads_worker && !first.there);
    const unsigned below = (1U << lane_) - 1U;
    left_over = second.there && __popc(givers & below) >= __popc(takers);
    const int order = __popc(takers & below);
    const bool takes = leads_worker && !first.there && order < __popc(givers);
    const HeldItem given = shuffled(kAll, second, takes ? nth_set_bit(givers, order) : lane_);
    return takes ? given : first;
  }

  // By the leading lane of an idle team.
  __device__ bool watches() const { return gate_->watched_by(me()); }
  /// Returns when there may be work, or with true when the run is over.
  __device__ bool sleep() {
    while (gate_->watched() && gate_->woken() == woken_ && !gate_->ended()) __nanosleep(100);
    woken_ = gate_->woken();
    return gate_->ended();
  }
  __device__ void end() const { gate_->end(); }
  // A block is a party.
  __device__ static bool leads_party() { return threadIdx.x == 0; }
  __device__ std::uint64_t begin_phase(std::uint64_t word) const { return gate_->begin_phase(word); }
  __device__ static void sync_party() { __syncthreads(); }
  __device__ static bool goes_on(bool more) { return __syncthreads_and(more) != 0; }
  /// The team has found items. If it was the watcher, others may find some too, and one of them watches next.
  __device__ void wake() {
    if (gate_ == nullptr || !leads()) return;
    gate_->hand_on(me());
    woken_ = gate_->woken();
  }

  template <class T>
  __device__ WarpGroup<TaskTraits<T>::lanes()> group() const {
    return WarpGroup<TaskTraits<T>::lanes()>(lane_);
  }
  template <class T>
  __device__ std::byte* shared() const {
    return memory_ + static_cast<std::size_t>(lane_ / TaskTraits<T>::lanes()) * WorkerMemory<T>::value;
  }
  template <class T>
  __device__ typename T::Item* items() const {
    return reinterpret_cast<typename T::Item*>(shared<T>() + Scratch<T>::items_at);
  }

 private:
  static constexpr unsigned kAll = 0xFFFFFFFFU;
  __device__ static int me() { return 1 + static_cast<int>(threadIdx.x / 32U); }

  std::uint32_t number_;
  int lane_;
  std::byte* memory_;
  IdleGate* gate_;
  int woken_ = 0;
};

/// A block of Threads threads. Its workers ask for items all at once.
template <int Threads>
class BlockTeam {
 public:
  static constexpr int size = Threads;
  static constexpr bool hands_over = false;
  template <class T>
  static constexpr int lanes_of() {
    return TaskTraits<T>::lanes();
  }

  __device__ BlockTeam(std::uint32_t number, std::byte* memory, IdleGate* gate)
      : number_(number), rank_(static_cast<int>(threadIdx.x)), memory_(memory), gate_(gate) {}

  __device__ int rank() const { return rank_; }
  __device__ bool leads() const { return rank_ == 0; }
  __device__ std::uint32_t number() const { return number_; }
  __device__ Turn broadcast(const Turn& turn) const {
    Turn* shared = reinterpret_cast<Turn*>(memory_);
    if (leads()) *shared = turn;
    __syncthreads();
    const Turn result = *shared;
    __syncthreads();
    return result;
  }
  template <int Lanes>
  __device__ void split(bool /*wants*/, int& wanting, int& rank) const {
    wanting = Threads / Lanes;
    rank = rank_ / Lanes;
  }
  /// Workers of a block keep no item (team.hpp), so all threads have the same.
  __device__ bool any(bool value) const { return value; }
  __device__ static void sync() { __syncthreads(); }
  // A block watches for itself.
  __device__ static bool watches() { return true; }
  __device__ static bool sleep() { return false; }
  __device__ static void wake() {}
  __device__ static void end() {}
  __device__ static bool leads_party() { return threadIdx.x == 0; }
  __device__ std::uint64_t begin_phase(std::uint64_t word) const { return gate_->begin_phase(word); }
  __device__ static void sync_party() { __syncthreads(); }
  __device__ static bool goes_on(bool more) { return __syncthreads_and(more) != 0; }
  /// On the leading thread.
  __device__ int sum(int value) const {
    value = WarpGroup<32>(rank_ % 32).sum(value);
    int* sums = reinterpret_cast<int*>(memory_ + kSumsAt);
    if (rank_ % 32 == 0) sums[rank_ / 32] = value;
    __syncthreads();
    int total = 0;
    if (leads()) {
      for (int warp = 0; warp < Threads / 32; ++warp) total += sums[warp];
    }
    __syncthreads();
    return total;
  }
  template <class T>
  __device__ auto group() const {
    constexpr int lanes = TaskTraits<T>::lanes();
    if constexpr (lanes <= 32) {
      return WarpGroup<lanes>(rank_ % 32);
    } else {
      // Barrier 0 is __syncthreads'.
      return BlockGroup<lanes>(rank_ % lanes, 1 + rank_ / lanes, worker_memory<T>());
    }
  }
  template <class T>
  __device__ std::byte* shared() const {
    return worker_memory<T>() + WorkerMemory<T>::group;
  }
  template <class T>
  __device__ typename T::Item* items() const {
    return reinterpret_cast<typename T::Item*>(shared<T>() + Scratch<T>::items_at);
  }

 private:
  static constexpr std::size_t kSumsAt = 64;  // after the Turn; 32 sums: within TeamMemory::own
  template <class T>
  __device__ std::byte* worker_memory() const {
    return memory_ + TeamMemory<Threads, Types<T>>::own +
           static_cast<std::size_t>(rank_ / TaskTraits<T>::lanes()) * WorkerMemory<T>::value;
  }

  std::uint32_t number_;
  int rank_;
  std::byte* memory_;
  IdleGate* gate_;
};

/// A kernel's shape and its team, for the types of a list.
template <class List>
struct Shape {
  static constexpr int team_size = TeamSizeOf<List>::value;
  static constexpr int threads = team_size > 32 ? team_size : 256;  ///< per block
  static constexpr int teams = threads / team_size;                 ///< per block
  static constexpr std::size_t team_memory = TeamMemory<team_size, List>::value;
  static constexpr std::size_t shared_bytes = team_memory * static_cast<std::size_t>(teams);
  static __device__ std::uint32_t first_team() { return blockIdx.x * static_cast<std::uint32_t>(teams); }

  /// `gate`: zeroed; not read by teams that are not persistent.
  static __device__ auto team(std::byte* shared, [[maybe_unused]] IdleGate* gate) {
    if constexpr (team_size == 32) {
      const std::uint32_t warp = threadIdx.x / 32U;
      return WarpTeam(first_team() + warp, shared + warp * team_memory, gate);
    } else {
      return BlockTeam<team_size>(blockIdx.x, shared, gate);
    }
  }
};

}  // namespace detail

TASKDAG_ENGINE_END
