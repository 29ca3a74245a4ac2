// A window in device memory: the processes of other ranks open it by CUDA's handle.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "backends/ranks/agree.hpp"
#include "backends/ranks/window.hpp"
#include "taskdag/error.hpp"

namespace taskdag::ranks {
namespace {

using cuda::check;

/// What a rank tells the others of its window.
struct Card {
  std::array<char, 33> uuid{};
  void* base = nullptr;  ///< in its own process
  cudaIpcMemHandle_t handle{};
};

/// Device memory that others may still have open. They say in host memory that they have closed it; until all have, it
/// is kept, since to free it before is not allowed.
class Kept {
 public:
  Kept(void* base, std::unique_ptr<Window> closed, int rank) : base_(base), closed_(std::move(closed)), rank_(rank) {}
  [[nodiscard]] bool may_go(std::size_t ranks) const {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const bool closed = closed_->word(rank * sizeof(std::uint32_t)) != 0;
      if (!closed && static_cast<int>(rank) != rank_) return false;
    }
    return true;
  }
  void free() const noexcept { static_cast<void>(cudaFree(base_)); }  // whichever device is current

 private:
  void* base_;
  std::unique_ptr<Window> closed_;
  int rank_;
};

/// Those of the process whose objects have gone.
class Retired {
 public:
  static Retired& instance() {
    static Retired all;
    return all;
  }
  void add(Kept one, std::size_t ranks) {
    const std::lock_guard lock(mutex_);
    kept_.emplace_back(std::move(one), ranks);
    sweep();
  }
  void look() {
    const std::lock_guard lock(mutex_);
    sweep();
  }

 private:
  void sweep() {
    std::erase_if(kept_, [](const std::pair<Kept, std::size_t>& one) {
      const bool goes = one.first.may_go(one.second);
      if (goes) one.first.free();
      return goes;
    });
  }
  std::mutex mutex_;
  std::vector<std::pair<Kept, std::size_t>> kept_;
};

class DeviceWindow final : public Window {
 public:
  DeviceWindow(const RankGroup& group, std::size_t bytes, const RankDevice& device) : DeviceWindow(group, device) {
    agree(group, [&] { make(bytes, device.uuid); });
    const std::vector<Card> cards = gather(group, card_);
    agree(group, [&] {
      if (!device.may_be_shared) require_devices(cards);
      open(cards);
    });
  }
  ~DeviceWindow() override {
    if (card_.base == nullptr) return;
    int before = 0;
    const bool known = cudaGetDevice(&before) == cudaSuccess;
    static_cast<void>(cudaSetDevice(device_));
    static_cast<void>(cudaDeviceSynchronize());
    for (void* const window : opened_) {
      if (window != nullptr) static_cast<void>(cudaIpcCloseMemHandle(window));
    }
    if (known) static_cast<void>(cudaSetDevice(before));
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      closed_->set_word(static_cast<int>(rank), static_cast<std::size_t>(rank_) * sizeof(std::uint32_t), 1);
    Retired::instance().add({card_.base, std::move(closed_), rank_}, ranks_);
  }
  void copy_in(std::size_t offset, const void* from, std::size_t bytes) override { write(rank_, offset, from, bytes); }
  void set_word(int rank, std::size_t offset, std::uint32_t word) override { write(rank, offset, &word, sizeof(word)); }
  [[nodiscard]] std::uint32_t word(std::size_t offset) const override {
    const cuda::DeviceGuard current(device_);
    std::uint32_t word = 0;
    check(cudaMemcpyAsync(&word, static_cast<const char*>(of(rank_)) + offset, sizeof(word), cudaMemcpyDeviceToHost,
                          stream_->get()),
          "reading memory that ranks share");
    check(cudaStreamSynchronize(stream_->get()), "reading memory that ranks share");
    return word;
  }

 private:
  void write(int rank, std::size_t offset, const void* from, std::size_t bytes) const {
    const cuda::DeviceGuard current(device_);
    check(cudaMemcpyAsync(static_cast<char*>(of(rank)) + offset, from, bytes, cudaMemcpyHostToDevice, stream_->get()),
          "writing to memory that ranks share");
    check(cudaStreamSynchronize(stream_->get()), "writing to memory that ranks share");
  }
  /// Up to what may fail with device memory in hand.
  DeviceWindow(const RankGroup& group, const RankDevice& device)
      : rank_(group.rank()), ranks_(static_cast<std::size_t>(group.count())), device_(device.number) {
    Retired::instance().look();
    bases_.resize(ranks_);
    opened_.resize(ranks_, nullptr);
    closed_ = open_host_window(group, ranks_ * sizeof(std::uint32_t));
  }
  void make(std::size_t bytes, const std::string& uuid) {
    const cuda::DeviceGuard current(device_);
    std::copy_n(uuid.begin(), std::min(uuid.size(), card_.uuid.size() - 1), card_.uuid.begin());
    stream_.emplace();
    check(cudaMalloc(&card_.base, bytes), "taking memory that ranks share");
    check(cudaMemset(card_.base, 0, bytes), "clearing memory that ranks share");
    check(cudaDeviceSynchronize(), "clearing memory that ranks share");
    const cudaError_t lent = cudaIpcGetMemHandle(&card_.handle, card_.base);
    if (lent == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw Unsupported(std::string("the device does not lend its memory to other processes: ") +
                      cudaGetErrorString(lent));
  }
  void require_devices(const std::vector<Card>& cards) const {
    for (std::size_t a = 0; a < cards.size(); ++a) {
      for (std::size_t b = a + 1; b < cards.size(); ++b) {
        if (cards[a].uuid == cards[b].uuid)
          throw Unsupported("ranks " + std::to_string(a) + " and " + std::to_string(b) + " share a GPU");
      }
    }
  }
  void open(const std::vector<Card>& cards) {
    const cuda::DeviceGuard current(device_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (static_cast<int>(rank) != rank_) opened_[rank] = open_handle(cards[rank], rank);
      bases_[rank] = static_cast<int>(rank) == rank_ ? card_.base : opened_[rank];
    }
  }
  static void* open_handle(const Card& card, std::size_t rank) {
    void* base = nullptr;
    const cudaError_t opened = cudaIpcOpenMemHandle(&base, card.handle, cudaIpcMemLazyEnablePeerAccess);
    if (opened == cudaSuccess) return base;
    static_cast<void>(cudaGetLastError());
    throw Unsupported("the device does not reach the memory of rank " + std::to_string(rank) + ": " +
                      cudaGetErrorString(opened));
  }

  int rank_;
  std::size_t ranks_;
  int device_;
  Card card_;
  std::vector<void*> opened_;  ///< null: its own
  /// Does not wait for any other: a rank is told of the loss of another while its loop runs.
  std::optional<cuda::UniqueStream> stream_;
  std::unique_ptr<Window> closed_;
};

}  // namespace

std::unique_ptr<Window> open_device_window(const RankGroup& group, std::size_t bytes, const RankDevice& device) {
  return std::make_unique<DeviceWindow>(group, bytes, device);
}

}  // namespace taskdag::ranks
