/// \file
/// How one step of the permutation follows another: by phases, as in MHive, or by dependencies.
///
/// A step is all tasks of one type that one task created. `after` is called by that task, `done` at the end of each of
/// the step's tasks, by all lanes; both name the task that comes next. Under phases the step's first task creates it
/// and the order of the phases holds it back; under dependencies it waits for each of the step's tasks.
#pragma once

#include "taskdag/engine/dependency.hpp"
#include "taskdag/engine/phase.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::kernels::rcm_tasks {

/// MHive, section 7.3.2: each type has a phase of its own.
struct ByPhases {
  static constexpr bool waits = false;
  template <class... Ts>
  using Queue = engine::PhaseQueue<engine::Phaseless<>, engine::Phase<Ts>...>;

  template <class Next, class Context>
  TASKDAG_TASK static void after(Context& /*context*/, const typename Next::Item& /*next*/, int /*tasks*/) {}
  template <class Next, class Context>
  TASKDAG_TASK static void done(Context& context, bool first, const typename Next::Item& next) {
    context.group().sync();
    if (first && context.group().rank() == 0) context.template enqueue<Next>(next);
  }
};

/// No phases: no worker ends between two steps. One step runs at a time, so that one dependency serves them all.
struct ByDependencies {
  static constexpr bool waits = true;
  template <class... Ts>
  using Queue = engine::PhaseQueue<engine::Phaseless<Ts...>>;

  template <class Next, class Context>
  TASKDAG_TASK static void after(Context& context, const typename Next::Item& next, int tasks) {
    if (context.group().rank() == 0) context.template enqueue_dependent<Next>(next, context.data().state->next, tasks);
  }
  template <class Next, class Context>
  TASKDAG_TASK static void done(Context& context, bool /*first*/, const typename Next::Item& /*next*/) {
    context.group().sync();
    if (context.group().rank() == 0) context.template reduce<Next>(context.data().state->next);
  }
};

}  // namespace taskdag::kernels::rcm_tasks
