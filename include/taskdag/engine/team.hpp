/// \file
/// The loop of a team: take items, run them, count them, until there is nothing left to do. One source for the GPU,
/// where a team is a warp or a block, and for the host, where it is a thread.
///
/// A Team has: size, lanes_of<T>(), hands_over, leads(), number() (of the team in the run), sync(), broadcast(Turn),
/// split(wants, wanting, rank), any(bool), count(bool), sum(int), hand_over(first, second, left_over), group<T>(),
/// shared<T>(), items<T>(); for idle persistent teams watches(), sleep(), wake(), end(); for changes of the phase, by
/// all teams of a block together, leads_party(), begin_phase(word), sync_party().
#pragma once

#include "taskdag/engine/phase_gate.hpp"
#include "taskdag/engine/task_context.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// What a team's leading lane found for all of them.
struct Turn {
  Claim claim;
  std::uint32_t stop;
};

/// A team's own state between turns.
template <class P>
struct TeamState {
  std::uint32_t cursor[P::types] = {};
  std::uint64_t executed[P::types] = {};
};

/// Under which number a team's tasks stand in a trace: on the host its thread's, whatever turn of a slice it is in.
TASKDAG_ENGINE_ANY_SIDE
template <class Team>
TASKDAG_TASK std::uint32_t traced_number(const Team& team) {
  if constexpr (requires { team.thread(); }) {
    return team.thread();
  } else {
    return team.number();
  }
}

/// What a team's leading lane knows of its queue and its run between two turns.
struct TurnState {
  bool hungry = true;      ///< the team holds no item
  std::uint32_t stop = 0;  ///< looked up while the last turn's tasks ran
  std::int32_t seen = 0;   ///< items in the queue
};

/// Whether a team may give children of type T to its own workers.
template <class T, class Team>
inline constexpr bool may_hold_back = TaskTraits<T>::continues() && !TaskTraits<T>::batched() && Team::hands_over
                                      && Team::template lanes_of<T>() <= 32;

TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_TASK void look_up(const ProgramRef<P>& program, Team& team, TurnState& turns, typename P::Probe& probe) {
  turns.stop = AtomicRef<std::uint32_t>(program.ledger->stop).load(relaxed);
  turns.seen = program.template of<T>().queue.glance(team.number(), probe);
  probe.load();
}

/// The leading lane takes items for workers that want some, unless the run stops.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_TASK Turn take_turn(const ProgramRef<P>& program, Team& team, TeamState<P>& state, int wanting,
                            TurnState& turns, typename P::Probe& probe) {
  Turn turn{};
  if (team.leads()) {
    if (turns.hungry) look_up<P, T>(program, team, turns, probe);
    turn.stop = turns.stop;
    if (turns.stop == 0 && wanting > 0) {
      constexpr auto fetch = static_cast<std::uint32_t>(TaskTraits<T>::fetch());
      turn.claim =
          program.template of<T>().queue.claim(static_cast<std::uint32_t>(wanting) * fetch, turns.seen, turns.hungry,
                                               team.number(), state.cursor[P::template number_of<T>()], probe);
    }
  }
  return team.broadcast(turn);
}

/// Runs the worker's share of a claim as one batch: every wanting-th item, from its rank on; its lanes read at the
/// same time. @returns how many items these are
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team, class Context, class Group>
TASKDAG_TASK std::uint32_t run_batch(const ProgramRef<P>& program, Team& team, Context& context, const Group& group,
                                     const Claim& claim, int wanting, int rank, typename P::Probe& probe) {
  const TypeState<P, T>& type = program.template of<T>();
  typename T::Item* items = team.template items<T>();
  typename P::Probe::Stamp stamp{};
  const auto share = static_cast<std::uint32_t>(wanting);
  const auto mine = static_cast<std::uint32_t>(rank);
  const int size = mine < claim.count ? static_cast<int>((claim.count - mine + share - 1U) / share) : 0;
  for (int i = group.rank(); i < size; i += group.size()) {
    const std::uint32_t k = mine + static_cast<std::uint32_t>(i) * share;
    items[i] = type.queue.read(claim, k, stamp, probe);
    type.queue.leave(claim, k, probe);
  }
  group.sync();
  if (size <= 0) return 0;
  const std::uint64_t start = P::Probe::now();
  T::execute(context, Items<typename T::Item>(items, size));
  group.sync();
  if (group.rank() == 0) probe.event(stamp, start, P::template number_of<T>());
  return static_cast<std::uint32_t>(size);
}

/// Runs the item that the worker holds, or else its share of a claim, one by one. @returns how many items these are
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team, class Context, class Group>
TASKDAG_TASK std::uint32_t run_items(const ProgramRef<P>& program, Team& team, Context& context, const Group& group,
                                     const Held<P, T>& held, const Claim& claim, int wanting, int rank,
                                     TurnState& turns, typename P::Probe& probe) {
  constexpr auto fetch = static_cast<std::uint32_t>(TaskTraits<T>::fetch());
  const TypeState<P, T>& type = program.template of<T>();
  // All are read before the first is run: its children may need the slots (ring.hpp: readers read at once).
  typename T::Item items[fetch]{};
  typename P::Probe::Stamp stamps[fetch]{};
  std::uint32_t size = 0;
  if (held.there) {
    items[0] = held.item;
    stamps[0] = held.stamp;
    size = 1;
  } else {
    for (auto k = static_cast<std::uint32_t>(rank); k < claim.count && size < fetch;
         k += static_cast<std::uint32_t>(wanting)) {
      items[size] = type.queue.read(claim, k, stamps[size], probe);
      group.sync();
      if (group.rank() == 0) type.queue.leave(claim, k, probe);
      ++size;
    }
  }
  if (may_hold_back<T, Team> && team.leads()) look_up<P, T>(program, team, turns, probe);
  std::uint32_t executed = 0;
  for (; executed < size; ++executed) {
    const std::uint64_t start = P::Probe::now();
    T::execute(context, items[executed]);
    group.sync();
    if (group.rank() == 0) probe.event(stamps[executed], start, P::template number_of<T>());
  }
  return executed;
}

/// What a turn has changed: tasks that ran, and children that the team holds back and no queue has counted.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team, class Context>
TASKDAG_TASK void count_turn(const ProgramRef<P>& program, Team& team, TeamState<P>& state, const Context& context,
                             bool holds_back, int executed, typename P::Probe& probe) {
  const std::int32_t ran = team.sum(executed);
  std::int32_t created = 0;
  if constexpr (may_hold_back<T, Team>) {
    if (holds_back) {
      created = team.count(context.first().there && !context.first().counted) +
                team.count(context.second().there && !context.second().counted);
    }
  }
  if (team.leads()) {
    count_change<P, T>(program, created - ran, probe);
    state.executed[P::template number_of<T>()] += static_cast<std::uint64_t>(ran);
    // relaxed: a sign of life, nothing hangs on it.
    if (program.watchdog_ns != 0) AtomicRef<std::uint64_t>(program.ledger->turns).fetch_add(1U, relaxed);
  }
}

/// Gives the children that were held back to workers, and those that are left over to the queue. @returns what this
/// worker holds
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team, class Context, class Group>
TASKDAG_TASK Held<P, T> hand_over_children(const ProgramRef<P>& program, Team& team, const Context& context,
                                           const Group& group, typename P::Probe& probe) {
  team.sync();  // the ledger knows of the children before a queue does
  bool left_over = false;
  const Held<P, T> held =
      team.template hand_over<Team::template lanes_of<T>()>(context.first(), context.second(), left_over);
  if (left_over) {
    const typename T::Item& item = context.second().item;
    push<P, T>(program, Lanes::converged(), item, {team.number(), key_of<T>(item, team.number()), 1}, probe);
  }
  return group.broadcast(held);
}

/// Runs items of type T until its queue is empty, or, with `once`, those of one claim. @returns whether a task ran
///
/// A turn: workers without an item take some from the queue; all run theirs; children of type T that they held back go
/// to the workers of the team, first to their parent's, then to those that would be idle; the rest goes to the queue
/// (at once, where no worker is idle). So a chain of tasks costs no queue, and no held item ever waits for another
/// task.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_TASK bool run_type(const ProgramRef<P>& program, Team& team, TeamState<P>& state, bool once,
                           typename P::Probe& probe) {
  const bool holds_back = may_hold_back<T, Team> && !once && program.continues != 0;
  const auto group = team.template group<T>();
  Held<P, T> held;
  TurnState turns;
  bool worked = false;
  while (true) {
    int wanting = 0;
    int rank = 0;
    team.template split<Team::template lanes_of<T>()>(!held.there, wanting, rank);
    const Turn turn = take_turn<P, T>(program, team, state, wanting, turns, probe);
    if (turn.stop != 0) {
      if (held.there && group.rank() == 0) {
        push<P, T>(program, Lanes::converged(), held.item, {team.number(), key_of<T>(held.item, 0), 0}, probe);
      }
      break;
    }
    if (turn.claim.count == 0 && turns.hungry) break;
    worked = true;
    if (turn.claim.count != 0) team.wake();  // at once: this team may go on for long

    TaskContext<P, T, std::remove_const_t<decltype(group)>> context(program, group, team.template shared<T>(),
                                                                    team.number(), holds_back, probe);
    std::uint32_t executed = 0;
    if constexpr (TaskTraits<T>::batched()) {
      executed = run_batch<P, T>(program, team, context, group, turn.claim, wanting, rank, probe);
    } else {
      executed = run_items<P, T>(program, team, context, group, held, turn.claim, wanting, rank, turns, probe);
    }
    count_turn<P, T>(program, team, state, context, holds_back, group.rank() == 0 ? static_cast<int>(executed) : 0,
                     probe);
    turns.hungry = true;
    if constexpr (may_hold_back<T, Team>) {
      if (holds_back) {
        held = hand_over_children<P, T>(program, team, context, group, probe);
        turns.hungry = !team.any(held.there);
      }
    }
    if (once) break;
  }
  return worked;
}

/// run_type as a call. Where many types are inlined into one kernel, the compiler keeps values of several in registers
/// at the same time; as calls, the kernel takes those of its hungriest type and of the calls themselves. A few types
/// take less without.
inline constexpr int kMostInlined = 4;
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_ENGINE_APART TASKDAG_TASK bool call_type(const ProgramRef<P>& program, Team& team, TeamState<P>& state,
                                                 typename P::Probe& probe) {
  return run_type<P, T>(program, team, state, false, probe);
}

/// Adds what the team has done to the run's totals.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class Team>
TASKDAG_TASK void end_team(const ProgramRef<P>& program, Team& team, TeamState<P>& state, typename P::Probe& probe) {
  if (team.leads()) {
    for (int i = 0; i < P::types; ++i) {
      if (state.executed[i] != 0) {
        AtomicRef<std::uint64_t>(program.ledger->executed[i]).fetch_add(state.executed[i], relaxed);
      }
      state.executed[i] = 0;
    }
  }
  probe.flush();
}

/// An idle team's look at the ledger: has this kernel, this phase, this run ended? Finds deadlocks and, for the
/// watchdog, standstill.
template <class P>
class IdleWatch {
 public:
  TASKDAG_TASK explicit IdleWatch(const ProgramRef<P>& program) : program_(program) {}

  TASKDAG_TASK bool over(int phase) {
    Ledger& ledger = *program_.ledger;
    if (AtomicRef<std::uint32_t>(ledger.stop).load(relaxed) != 0) return true;
    const std::uint64_t total = AtomicRef<std::uint64_t>(ledger.total).load(acquire);
    if (pending_of(total) == 0) return true;
    if (pending_of(total) == waiting_of(total)) {
      stop_run(ledger, Stop::deadlock, 0, 0);
      return true;
    }
    if (phase_over(phase)) return true;
    if (program_.watchdog_ns != 0) {
      const std::uint64_t now = clock_ns();
      const std::uint64_t turns = AtomicRef<std::uint64_t>(ledger.turns).load(relaxed);
      if (turns != seen_ || since_ == 0) {
        seen_ = turns;
        since_ = now;
      } else if (now - since_ > program_.watchdog_ns) {
        stop_run(ledger, Stop::watchdog, 0, 0);
        return true;
      }
    }
    return false;
  }

 private:
  /// The team has found no item to run. It may go once its phase has no task left; without a phase, once another has.
  [[nodiscard]] TASKDAG_TASK bool phase_over(int phase) const {
    if (phase >= 0) return pending_in(phase) == 0;
    for (int p = 0; p < P::phases; ++p) {
      if (pending_in(p) != 0) return true;
    }
    return false;
  }
  [[nodiscard]] TASKDAG_TASK std::uint32_t pending_in(int phase) const {
    return AtomicRef<std::uint32_t>(program_.ledger->phase_pending[phase + 1]).load(acquire);
  }

  const ProgramRef<P>& program_;
  std::uint64_t seen_ = 0;
  std::uint64_t since_ = 0;
};

/// Calls the idle hook of type T once for each worker of the team. @returns whether any found an item
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_TASK bool look_while_idle(const ProgramRef<P>& program, Team& team, typename P::Probe& probe) {
  static_assert((P::template creates<T>() >> static_cast<unsigned>(P::template number_of<T>()) & 1U) != 0,
                "a type with an idle hook may create tasks of its own (Creates)");  // its queue has room for them
  const auto group = team.template group<T>();
  const IdleContext<P, std::remove_const_t<decltype(group)>> context(program, group);
  typename T::Item item{};
  const bool answer = T::idle(context, item);
  const bool found = answer && group.rank() == 0;
  const std::int32_t items = team.sum(found ? 1 : 0);
  Turn turn{};
  if (team.leads() && items > 0) {
    turn.stop = count_found<P, T>(program, static_cast<std::uint32_t>(items), probe) ? 1U : 0U;
  }
  if (team.broadcast(turn).stop == 0) return false;
  if (found) push<P, T>(program, Lanes::converged(), item, {team.number(), key_of<T>(item, team.number()), 0}, probe);
  team.sync();
  return true;
}

/// Whether any team may take any item: not so where a queue's items belong to teams. And whether a type has an idle
/// hook, which all teams call, then.
template <class P, class List>
struct TeamsAreAlike;
template <class P, class... Ts>
struct TeamsAreAlike<P, Types<Ts...>> {
  static constexpr bool value = (true && ... && P::template Queue<Ts>::any_worker_may_claim);
  static constexpr bool any_idles = (false || ... || TaskTraits<Ts>::idles());
};

/// Runs all types of a phase, and the phaseless ones, until the phase is over.
TASKDAG_ENGINE_ANY_SIDE
template <class P, int Phase, class Team>
TASKDAG_TASK void run_phase(const ProgramRef<P>& program, Team& team, TeamState<P>& state, typename P::Probe& probe) {
  IdleWatch<P> watch(program);
  // Where a phase ends, all wait for the last one to see that.
  Backoff backoff(P::phases > 1 ? 128 : 1024);
  constexpr bool calls = types_in<P>(Phase) > kMostInlined;
  while (true) {
    bool worked = false;
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (runs_in<P>(P::template number_of<T>(), Phase)) {
        if constexpr (calls) {
          worked = call_type<P, T>(program, team, state, probe) || worked;
        } else {
          worked = run_type<P, T>(program, team, state, false, probe) || worked;
        }
      }
    });
    if (worked) {
      backoff.reset();
      continue;
    }
    // One idle team of a block watches the queues for the others, if it can see what they would.
    constexpr bool one_watches =
        TeamsAreAlike<P, typename P::AllTypes>::value && !TeamsAreAlike<P, typename P::AllTypes>::any_idles;
    Turn turn{};
    if (team.leads()) {
      bool over = false;
      if (!one_watches || team.watches()) {
        over = watch.over(Phase);
        if (over) team.end();
        if (!over) backoff.turn();
      } else {
        over = team.sleep();
      }
      turn.stop = over ? 1U : 0U;
    }
    if (team.broadcast(turn).stop != 0) break;
    ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (TaskTraits<T>::idles() && runs_in<P>(P::template number_of<T>(), Phase)) {
        if (look_while_idle<P, T>(program, team, probe)) backoff.reset();
      }
    });
  }
}

/// A persistent team of one phase.
TASKDAG_ENGINE_ANY_SIDE
template <class P, int Phase, class Team>
TASKDAG_TASK void run_persistent(const ProgramRef<P>& program, Team& team) {
  typename P::Probe probe(program.record, traced_number(team));
  TeamState<P> state;
  run_phase<P, Phase>(program, team, state, probe);
  end_team<P>(program, team, state, probe);
}

/// The same for a phase known at run time.
TASKDAG_ENGINE_ANY_SIDE
template <class P, int Phase, class Team>
TASKDAG_TASK void run_phase_from(int phase, const ProgramRef<P>& program, Team& team, TeamState<P>& state,
                                 typename P::Probe& probe) {
  if (phase == Phase) {
    if constexpr (types_in<P>(Phase) > 0) run_phase<P, Phase>(program, team, state, probe);
  } else if constexpr (Phase + 1 < P::phases) {
    run_phase_from<P, Phase + 1>(phase, program, team, state, probe);
  }
}

/// A party leaves its phase, by one lane. @returns whether another phase comes
TASKDAG_ENGINE_ANY_SIDE
template <class P>
TASKDAG_TASK bool leave_phase(const ProgramRef<P>& program, std::uint64_t entered) {
  Ledger& ledger = *program.ledger;
  const auto stopped = [&ledger] { return AtomicRef<std::uint32_t>(ledger.stop).load(relaxed) != 0; };
  return PhaseGate::leave(
      ledger.gate, entered,
      [&](int& phase) {
        const std::uint64_t total = AtomicRef<std::uint64_t>(ledger.total).load(relaxed);
        if (stopped() || pending_of(total) == 0 || pending_of(total) == waiting_of(total)) return false;
        phase = next_phase_of<P>(
            phase, [&ledger](int p) { return AtomicRef<std::uint32_t>(ledger.phase_pending[p + 1]).load(relaxed); });
        return true;
      },
      stopped);
}

/// A persistent team of all phases. All teams of a block enter and leave a phase together.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class Team>
TASKDAG_TASK void run_all_phases(const ProgramRef<P>& program, Team& team) {
  typename P::Probe probe(program.record, traced_number(team));
  TeamState<P> state;
  while (true) {
    std::uint64_t entered = 0;
    if (team.leads_party()) entered = PhaseGate::enter(program.ledger->gate);
    entered = team.begin_phase(entered);
    if (PhaseGate::over(entered)) break;
    run_phase_from<P, -1>(PhaseGate::phase(entered), program, team, state, probe);
    team.sync_party();  // all tasks of the block have ended
    bool more = true;
    if (team.leads_party()) more = leave_phase<P>(program, entered);
    if (!team.goes_on(more)) break;
  }
  end_team<P>(program, team, state, probe);
}

/// A team of one type, in a slice: one claim with `once`, or until the queue is empty.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_TASK void run_slice(const ProgramRef<P>& program, Team& team, bool once) {
  typename P::Probe probe(program.record, traced_number(team));
  TeamState<P> state;
  run_type<P, T>(program, team, state, once, probe);
  end_team<P>(program, team, state, probe);
}

}  // namespace detail

TASKDAG_ENGINE_END
