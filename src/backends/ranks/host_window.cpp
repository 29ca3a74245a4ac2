// A window in host memory: a file of the system that is in memory alone, which each rank maps.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "backends/ranks/agree.hpp"
#include "backends/ranks/window.hpp"
#include "taskdag/error.hpp"

namespace taskdag::ranks {
namespace {

using Name = std::array<char, 64>;

Name next_name() {
  static std::atomic<unsigned> number{0};
  Name name{};
  std::snprintf(name.data(), name.size(), "/taskdag-%ld-%u", static_cast<long>(getpid()), number++);
  return name;
}

[[noreturn]] void refuse(const char* what) {
  const int error = errno;
  const std::string text = std::string(what) + ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == ENOMEM) throw OutOfMemory(text);
  throw Unsupported(text);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// A name stands for a window until all ranks have it: afterwards its memory goes with the last that uses it.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (base_ != nullptr) munmap(base_, bytes_);
  }
  static Mapping create(const Name& name, std::size_t bytes) {
    const Descriptor file(shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR));
    if (file.number() < 0) refuse("making memory that ranks share");
    // A page that is not there would be a signal later.
    errno = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes));
    if (errno != 0) refuse("taking memory that ranks share");
    return map(file, bytes);
  }
  static Mapping open(const Name& name) {
    const Descriptor file(shm_open(name.data(), O_RDWR, 0));
    if (file.number() < 0) refuse("opening memory of another rank");
    struct stat about {};
    if (fstat(file.number(), &about) != 0) refuse("looking at memory of another rank");
    return map(file, static_cast<std::size_t>(about.st_size));
  }
  [[nodiscard]] void* base() const { return base_; }

 private:
  static Mapping map(const Descriptor& file, std::size_t bytes) {
    void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (base == MAP_FAILED) refuse("mapping memory that ranks share");
    Mapping mapping;
    mapping.base_ = base;
    mapping.bytes_ = bytes;
    return mapping;
  }
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

class HostWindow final : public Window {
 public:
  HostWindow(const RankGroup& group, std::size_t bytes) : rank_(group.rank()) {
    const Name name = next_name();
    mappings_.resize(static_cast<std::size_t>(group.count()));
    bases_.resize(mappings_.size());
    try {
      agree(group, [&] { mapping_of(rank_) = Mapping::create(name, bytes); });
      const std::vector<Name> names = gather(group, name);
      agree(group, [&] { open(names); });
    } catch (...) {
      shm_unlink(name.data());
      throw;
    }
    shm_unlink(name.data());
  }
  void copy_in(std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(static_cast<char*>(of(rank_)) + offset, from, bytes);
  }
  void set_word(int rank, std::size_t offset, std::uint32_t word) override {
    std::atomic_ref(word_of(rank, offset)).store(word, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t word(std::size_t offset) const override {
    return std::atomic_ref(word_of(rank_, offset)).load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::uint32_t& word_of(int rank, std::size_t offset) const {
    return *reinterpret_cast<std::uint32_t*>(static_cast<char*>(of(rank)) + offset);
  }
  Mapping& mapping_of(int rank) { return mappings_[static_cast<std::size_t>(rank)]; }
  void open(const std::vector<Name>& names) {
    for (std::size_t rank = 0; rank < names.size(); ++rank) {
      if (static_cast<int>(rank) != rank_) mappings_[rank] = Mapping::open(names[rank]);
      bases_[rank] = mappings_[rank].base();
    }
  }

  int rank_;
  std::vector<Mapping> mappings_;
};

}  // namespace

std::unique_ptr<Window> open_host_window(const RankGroup& group, std::size_t bytes) {
  return std::make_unique<HostWindow>(group, bytes);
}

}  // namespace taskdag::ranks
