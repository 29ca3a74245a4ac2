#include "taskdag/engine/memory.hpp"

#include <cstring>
#include <new>
#include <string>

#include "engine/memory_impl.hpp"

namespace taskdag::engine {

namespace {

struct Free {
  static constexpr std::align_val_t alignment{128};
  void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
};

struct HostImpl final : Memory::Impl {
  explicit HostImpl(std::size_t bytes)
      : memory(static_cast<std::byte*>(::operator new(bytes, Free::alignment, std::nothrow))) {
    if (!memory) throw OutOfMemory("host memory is exhausted: " + std::to_string(bytes) + " bytes for the task engine");
    data = memory.get();
    size = bytes;
    HostImpl::clear();
  }
  void clear() override { std::memset(memory.get(), 0, size); }
  void copy_in(std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(memory.get() + offset, from, bytes);
  }
  void copy_out(std::size_t offset, void* to, std::size_t bytes) const override {
    std::memcpy(to, memory.get() + offset, bytes);
  }
  void copy_from(const Impl& other, std::size_t bytes) override { std::memcpy(memory.get(), other.data, bytes); }
  std::unique_ptr<std::byte, Free> memory;
};

}  // namespace

Memory::Memory() = default;
Memory::Memory(const Context& context, std::size_t bytes) {
  if (bytes == 0) return;
  if (context.backend() == Backend::cuda) {
    impl_ = Impl::on_device(context, bytes);
  } else {
    impl_ = std::make_unique<HostImpl>(bytes);
  }
}
Memory::Memory(Memory&& other) noexcept = default;
Memory& Memory::operator=(Memory&& other) noexcept = default;
Memory::~Memory() = default;

void* Memory::data() const { return impl_ ? impl_->data : nullptr; }
std::size_t Memory::size() const { return impl_ ? impl_->size : 0; }
void Memory::clear() {
  if (impl_) impl_->clear();
}
void Memory::copy_in(std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes > size() || offset > size() - bytes) throw InvalidInput("a copy goes past the end of its memory");
  if (bytes != 0) impl_->copy_in(offset, from, bytes);
}
void Memory::copy_out(std::size_t offset, void* to, std::size_t bytes) const {
  if (bytes > size() || offset > size() - bytes) throw InvalidInput("a copy goes past the end of its memory");
  if (bytes != 0) impl_->copy_out(offset, to, bytes);
}
void Memory::copy_from(const Memory& other, std::size_t bytes) {
  if (bytes > size() || bytes > other.size()) throw InvalidInput("a copy goes past the end of its memory");
  if (bytes != 0) impl_->copy_from(*other.impl_, bytes);
}

}  // namespace taskdag::engine
