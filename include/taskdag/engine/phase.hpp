/// \file
/// Phases: groups of task types that run one after the other (MHive, chapter 4).
///
/// All tasks of a phase end before the next phase begins; a phase without tasks is skipped; after the last phase comes
/// the first again, until all queues are empty. Types of `Phaseless` run at any time.
#pragma once

#include <type_traits>

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

template <class... Ts>
struct Types {
  static constexpr int size = static_cast<int>(sizeof...(Ts));
};

template <class... Ts>
struct Phaseless {
  using List = Types<Ts...>;
};
template <class... Ts>
struct Phase {
  static_assert(sizeof...(Ts) > 0, "a phase has at least one task type");
  using List = Types<Ts...>;
};

namespace detail {

template <class T>
struct TypeTag {
  using type = T;
};

template <class T, class List>
struct CountOf;
template <class T, class... Ts>
struct CountOf<T, Types<Ts...>> {
  static constexpr int value = (0 + ... + (std::is_same_v<T, Ts> ? 1 : 0));
};

template <class T, class List>
struct IndexOf;
template <class T, class First, class... Rest>
struct IndexOf<T, Types<First, Rest...>> {
  static constexpr int value = std::is_same_v<T, First> ? 0 : 1 + IndexOf<T, Types<Rest...>>::value;
};
template <class T>
struct IndexOf<T, Types<>> {
  static constexpr int value = 0;
};

template <class... Lists>
struct Concat;
template <class... Ts>
struct Concat<Types<Ts...>> {
  using type = Types<Ts...>;
};
template <class... As, class... Bs, class... Rest>
struct Concat<Types<As...>, Types<Bs...>, Rest...> {
  using type = typename Concat<Types<As..., Bs...>, Rest...>::type;
};

template <class List>
struct ForEach;
template <class... Ts>
struct ForEach<Types<Ts...>> {
  // Called from both sides, with functions of either.
  TASKDAG_ENGINE_ANY_SIDE
  template <class F>
  TASKDAG_TASK static constexpr void apply(F&& f) {
    (f(TypeTag<Ts>{}), ...);
  }
};

}  // namespace detail

/// The phases of a program in the order of their execution. Types are numbered through: Phaseless first, then phase by
/// phase (MHive, table 4.1: index ranges at compile time).
template <class Phaseless_, class... Phases>
struct PhaseQueue {
  using AllTypes = typename detail::Concat<typename Phaseless_::List, typename Phases::List...>::type;
  static constexpr int types = AllTypes::size;
  static constexpr int phases = static_cast<int>(sizeof...(Phases));
  static_assert(types > 0, "a program has at least one task type");
  static_assert(types <= 32, "a program has at most 32 task types");

  /// Number of the first type of phase p, and one past its last; phase -1: the phaseless types.
  TASKDAG_TASK static constexpr int begin(int p) {
    const int sizes[] = {Phaseless_::List::size, Phases::List::size..., 0};
    int first = 0;
    for (int i = 0; i < p + 1; ++i) first += sizes[i];
    return first;
  }
  TASKDAG_TASK static constexpr int end(int p) { return begin(p + 1); }
  TASKDAG_TASK static constexpr int phase_of(int type) {
    int phase = -1;
    while (type >= end(phase)) ++phase;
    return phase;
  }
  template <class T>
  static constexpr bool contains = detail::CountOf<T, AllTypes>::value > 0;
  template <class T>
  static constexpr int index_of = detail::IndexOf<T, AllTypes>::value;

  template <class T>
  static constexpr bool once = detail::CountOf<T, AllTypes>::value == 1;
  template <class List>
  struct AllOnce;
  template <class... Ts>
  struct AllOnce<Types<Ts...>> {
    static constexpr bool value = (true && ... && once<Ts>);
  };
  static_assert(AllOnce<AllTypes>::value,
                "a task type stands in one phase only: in two, the order of its tasks would be a cycle");
};

TASKDAG_ENGINE_END
