/// \file
/// What the engine asks of a task type, and what it takes where the type says nothing.
///
/// | in the type                                 | meaning; what holds where it is missing                          |
/// |---------------------------------------------|------------------------------------------------------------------|
/// | using Item = int;                           | what a task gets, trivially copyable; required                   |
/// | static void execute(Context&, const Item&)  | the task, a template over its context; required                  |
/// | static constexpr auto name = "cut leg"      | for reports and traces; "task"                                   |
/// | static constexpr WorkerSize worker          | lanes that run a task together; thread_worker                    |
/// | static constexpr int fetch                  | items that a worker takes at a time; 1                           |
/// | static constexpr std::size_t shared_bytes   | of a worker, uninitialised; 0                                    |
/// | static constexpr int max_children           | items that one execute() of one item creates at most; 4          |
/// | static constexpr bool continues             | the first child of the same type may stay with the worker; true  |
/// | static constexpr bool waits                 | items may be created with dependencies; true                     |
/// | using Insert = RandomStart                  | where a waiting item looks for a place (waiting_storage.hpp)     |
/// | using Creates = Types<AssembleTable>        | what execute() creates; any type                                 |
/// | static constexpr bool batched               | execute(Context&, Items<Item>) gets all that was fetched; false  |
/// | static constexpr bool idles                 | it has idle(), below; false                                      |
///
/// `static bool idle(const IdleContext&, Item& item)`, a template over its context: what a worker of a megakernel does
/// when the queues of its phase are empty and the run goes on (Atos' second function: Chen et al. 2022, section 4). All
/// lanes of the worker call it together; what lane 0 answers counts. It looks for something to do and writes it to
/// `item`, or @returns false. It must only look: its item may come to nothing, because the run can end in between. An
/// item that becomes a task keeps the run alive as any other. Discrete schedulers have no idle workers, so a program is
/// right without the hook, too.
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
  TASKDAG_TASK static constexpr bool idles() {
    if constexpr (requires { T::idles; }) return T::idles;
    return false;
  }

  static_assert(lanes() >= 1 && lanes() <= 1024 && (lanes() & (lanes() - 1)) == 0,
                "a worker is 1, 2, 4, 8, 16 or 32 lanes of a warp, or a block of 64 to 1024 threads, a power of two");
  static_assert(fetch() >= 1, "a worker fetches at least one item");
  static_assert(max_children() >= 0, "max_children is a number of items");
  // The margin of a queue is what tasks may add; a worker that adds an item while it is idle must be within that.
  static_assert(!idles() || max_children() >= 1, "a type with an idle hook has max_children of 1 or more");
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
