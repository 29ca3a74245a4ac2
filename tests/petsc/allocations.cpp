#include "allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> live{0};
std::atomic<long> remaining{0};  ///< calls up to the one that fails; 0 or less: none will

void* take(std::size_t size, std::size_t alignment) {
  if (remaining.load() > 0 && remaining.fetch_sub(1) == 1) throw std::bad_alloc();
  // aligned_alloc() wants a multiple of the alignment, and a block of no bytes needs an address, too.
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, whole > 0 ? whole : alignment);
  if (!block) throw std::bad_alloc();
  live.fetch_add(1);
  return block;
}

void give_back(void* block) {
  if (!block) return;
  live.fetch_sub(1);
  std::free(block);  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete
}

}  // namespace

void* operator new(std::size_t size) { return take(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return take(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }

namespace taskdag::test {

long live_allocations() { return live.load(); }

AllocationFault::AllocationFault(long place) : place_(place) { remaining.store(place); }
AllocationFault::~AllocationFault() { remaining.store(0); }
bool AllocationFault::happened() const { return place_ > 0 && remaining.load() <= 0; }

}  // namespace taskdag::test
