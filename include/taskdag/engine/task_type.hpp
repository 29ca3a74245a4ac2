/// \file
/// What the engine asks of a task type, and what it takes where the type says nothing.
///
///     struct CutLeg {
///       using Item = int;                                      // trivially copyable; required
///       static constexpr auto name = "cut leg";                // for reports and traces
///       static constexpr engine::WorkerSize worker = engine::thread_worker;
///       static constexpr int fetch = 1;                        // items that a worker takes at a time
///       static constexpr std::size_t shared_bytes = 0;         // per worker, uninitialised
///       static constexpr int max_children = 4;                 // items that one execute() of one item creates at most
///       static constexpr bool continues = true;                // the first child of the same type may stay with the
///       worker static constexpr bool waits = true;                    // items may be created with dependencies using
///       Insert = engine::RandomStart;                    // where a waiting item looks for a place
///       (waiting_storage.hpp) using Creates = engine::Types<AssembleTable>;          // what execute() creates;
///       default: any type template <class Context> TASKDAG_TASK static void execute(Context& context, const Item&
///       item);
///       // With `static constexpr bool batched = true`, all items that were fetched in one call:
///       TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items);
///     };
#pragma once

#include <type_traits>

#include "taskdag/engine/phase.hpp"
#include "taskdag/engine/waiting_storage.hpp"
#include "taskdag/engine/worker.hpp"

TASKDAG_ENGINE_BEGIN

/// The items that one worker fetched: at least one, at most the type's `fetch`.
template <class Item>
class Items {
 public:
  TASKDAG_TASK Items(const Item* first, int size) : first_(first), size_(size) {}
  [[nodiscard]] TASKDAG_TASK int size() const { return size_; }
  [[nodiscard]] TASKDAG_TASK const Item& operator[](int i) const { return first_[i]; }
  [[nodiscard]] TASKDAG_TASK const Item* begin() const { return first_; }
  [[nodiscard]] TASKDAG_TASK const Item* end() const { return first_ + size_; }

 private:
  const Item* first_;
  int size_;
};

/// A task type's properties, defaults filled in, and checked.
template <class T>
struct TaskTraits {
  using Item = typename T::Item;
  static_assert(std::is_trivially_copyable_v<Item>, "a task's Item is copied between workers as bytes");

  TASKDAG_TASK static constexpr const char* name() {
    if constexpr (requires { T::name; }) return T::name;
    return "task";
  }
  TASKDAG_TASK static constexpr int lanes() {
    if constexpr (requires { T::worker; }) return T::worker.lanes;
    return 1;
  }
  TASKDAG_TASK static constexpr int fetch() {
    if constexpr (requires { T::fetch; }) return T::fetch;
    return 1;
  }
  TASKDAG_TASK static constexpr std::size_t shared_bytes() {
    if constexpr (requires { T::shared_bytes; }) return T::shared_bytes;
    return 0;
  }
  TASKDAG_TASK static constexpr int max_children() {
    if constexpr (requires { T::max_children; }) return T::max_children;
    return 4;
  }
  TASKDAG_TASK static constexpr bool continues() {
    if constexpr (requires { T::continues; }) return T::continues;
    return true;
  }
  TASKDAG_TASK static constexpr bool waits() {
    if constexpr (requires { T::waits; }) return T::waits;
    return true;
  }
  /// Takes all fetched items in one call. Declared, not detected: `execute` is a template over its context.
  TASKDAG_TASK static constexpr bool batched() {
    if constexpr (requires { T::batched; }) return T::batched;
    return false;
  }

  static_assert(lanes() >= 1 && lanes() <= 1024 && (lanes() & (lanes() - 1)) == 0,
                "a worker is 1, 2, 4, 8, 16 or 32 lanes of a warp, or a block of 64 to 1024 threads, a power of two");
  static_assert(fetch() >= 1, "a worker fetches at least one item");
  static_assert(max_children() >= 0, "max_children is a number of items");
};

namespace detail {
template <class T>
struct InsertOf {
  using type = RandomStart;
};
template <class T>
requires requires { typename T::Insert; }
struct InsertOf<T> {
  using type = typename T::Insert;
};
template <class T, class AllTypes>
struct CreatesOf {
  using type = AllTypes;
};
template <class T, class AllTypes>
requires requires { typename T::Creates; }
struct CreatesOf<T, AllTypes> {
  using type = typename T::Creates;
};
}  // namespace detail

template <class T>
using InsertPolicy = typename detail::InsertOf<T>::type;

TASKDAG_ENGINE_END
