#include "fault/failing_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// The library's threads allocate, too.
std::atomic<std::int64_t> calls{0};
std::atomic<std::int64_t> failing{0};
std::atomic<bool> fired{false};
std::atomic<std::int64_t> pieces{0};

/// Null where this call is the one to fail.
void* take(std::size_t bytes, std::size_t alignment) noexcept {
  if (calls.fetch_add(1, std::memory_order_relaxed) + 1 == failing.load(std::memory_order_relaxed)) {
    fired.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, size == 0 ? alignment : size);
  if (memory != nullptr) pieces.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = take(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) pieces.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

constexpr std::size_t kUsual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t n) { return take_or_throw(n, kUsual); }
void* operator new[](std::size_t n) { return take_or_throw(n, kUsual); }
void* operator new(std::size_t n, std::align_val_t a) { return take_or_throw(n, number(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return take_or_throw(n, number(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, kUsual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n, kUsual); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, number(a)); }
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, number(a)); }
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give_back(p); }

namespace taskdag::test {

void FailingNew::arm(std::int64_t k) {
  calls = 0;
  fired = false;
  failing = k;
}

std::int64_t FailingNew::disarm() {
  failing = 0;
  return calls;
}

std::string FailingNew::failed() const { return fired ? "operator new" : ""; }

Held FailingNew::held() const { return {pieces}; }

}  // namespace taskdag::test
