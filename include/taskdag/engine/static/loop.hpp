/// \file
/// The loop of a team in a static program: one source for the GPU and for the host.
///
/// Why a run ends, whatever the number of teams, resident or not:
/// - ordered: claims are handed out in order, so the first unfinished one is held by a team that runs, and what it
///   waits for has ended (Saltz 1990, self-scheduling).
/// - individual: entry t of the list of ready claims is taken before entry t + 1, and a team waits only for an
///   entry that is not filled yet. Claims that run wait for nothing, and as long as one is unfinished, one runs or is
///   ready.
/// - phases: all teams of the launch are resident (the GPU's launch is cooperative), so they all arrive.
#pragma once

#include "taskdag/engine/static/program.hpp"
#include "taskdag/engine/team.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// Which claims a launch runs, and by whom.
struct StaticLaunch {
  std::uint32_t number;  ///< of its tickets
  std::uint32_t first;   ///< claim
  std::uint32_t end;
  std::uint32_t tickets;  ///< that its teams take in all, those beyond the last claim included
  bool once;              ///< each team takes one ticket, and there is a team for each claim
};

/// The leading lane's word, to all lanes.
TASKDAG_ENGINE_ANY_SIDE
template <class Team>
TASKDAG_TASK std::uint64_t hand_out(const Team& team, std::uint64_t word) {
  if constexpr (Team::size == 1) return word;
#if defined(__CUDA_ARCH__)
  if constexpr (Team::size == 32) return __shfl_sync(0xFFFFFFFFU, word, 0);
#endif
  Turn turn{};
  turn.claim.first = static_cast<std::uint32_t>(word);
  turn.claim.count = static_cast<std::uint32_t>(word >> 32U);
  turn = team.broadcast(turn);
  return std::uint64_t{turn.claim.count} << 32U | turn.claim.first;
}

/// What the team has fetched of a task before its turn: nothing, or T::Ahead by T::look_ahead(data, item), of memory
/// that no task writes.
struct NothingAhead {};
template <class T>
inline constexpr bool looks_ahead = requires {
  typename T::Ahead;
};

/// Whether events are recorded.
template <class Probe>
TASKDAG_TASK bool is_on(const Probe& probe) {
  if constexpr (requires { probe.on(); }) return probe.on();
  return Probe::traces;
}

TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team, class Ahead>
TASKDAG_TASK void execute_claim_of(const StaticRef<P>& program, Team& team, std::uint32_t claim, std::uint32_t run,
                                   [[maybe_unused]] typename P::Probe& probe, [[maybe_unused]] const Ahead& ahead) {
  static_assert(TaskTraits<T>::max_children() == 0, "tasks of a static program create none: max_children = 0");
  static_assert(!TaskTraits<T>::batched(), "tasks of a static program are executed one by one");
  static_assert(std::is_integral_v<typename T::Item>, "the tasks of a static program are numbers");
  constexpr int number = P::template number_of<T>();
  constexpr auto workers = static_cast<std::uint32_t>(Team::size / Team::template lanes_of<T>());
  std::uint32_t first = claim - (number == 0 ? 0U : program.type_end[number == 0 ? 0 : number - 1]);
  std::uint32_t count = 1;
  if (program.claim != nullptr) {
    first = program.claim[claim].first;
    count = program.claim[claim].count;
  }
  const auto group = team.template group<T>();
  StaticContext<P, std::remove_const_t<decltype(group)>> context(program, group, team.template shared<T>(), run,
                                                                 team.number());
  const std::uint32_t worker =
      workers == 1 ? 0U
                   : static_cast<std::uint32_t>(team.rank()) / static_cast<std::uint32_t>(Team::template lanes_of<T>());
  for (std::uint32_t k = worker; k < count; k += workers) {
    const bool traced = is_on(probe);
    const std::uint64_t start = traced ? P::Probe::now() : 0;
    const auto item = static_cast<typename T::Item>(first + k);
    if constexpr (std::is_same_v<Ahead, NothingAhead>) {
      T::execute(context, item);
    } else {
      T::execute(context, item, ahead);
    }
    if constexpr (P::Probe::traces) {
      if (traced) {
        group.sync();
        if (group.rank() == 0) probe.event({start}, start, number);
      }
    }
  }
}

/// List: the types that the launch may meet.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class List, class Team>
TASKDAG_TASK void execute_claim(const StaticRef<P>& program, Team& team, std::uint32_t claim, std::uint32_t run,
                                typename P::Probe& probe) {
  ForEach<List>::apply([&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int number = P::template number_of<T>();
    if constexpr (List::size > 1) {
      if (claim >= program.type_end[number]) return;
      if (number > 0 && claim < program.type_end[number == 0 ? 0 : number - 1]) return;
    }
    execute_claim_of<P, T>(program, team, claim, run, probe, NothingAhead{});
  });
}

/// The claim in entry `index` of the list of ready ones, when there is one. acquire: what its predecessors wrote.
template <class P>
TASKDAG_TASK std::uint32_t wait_for_ready(const StaticRef<P>& program, std::uint32_t index) {
  AtomicRef<std::uint32_t> entry(program.ready[index]);
  std::uint32_t claim = entry.load(acquire);
  Backoff backoff;
  while (claim == kNotReady) {
    backoff.turn();
    claim = entry.load(acquire);
  }
  if (index >= program.roots) entry.store(kNotReady, relaxed);  // for the next run
  return claim;
}

/// A claim has ended: those that waited for it alone are ready. acq_rel: the one who gets zero has read from all
/// others. After team.sync(), by any lane.
template <class P>
TASKDAG_TASK void release_successors(const StaticRef<P>& program, std::uint32_t claim, std::uint32_t rank,
                                     std::uint32_t size) {
  const std::uint32_t end = program.successor_begin[claim + 1];
  for (std::uint32_t k = program.successor_begin[claim] + rank; k < end; k += size) {
    const std::uint32_t successor = program.successor[k];
    AtomicRef<std::uint32_t> missing(program.missing[successor]);
    if (missing.fetch_sub(1U, acq_rel) != 1U) continue;
    missing.store(program.predecessors[successor], relaxed);  // for the next run
    AtomicRef<std::uint32_t> next(program.ready_end->next);
    const std::uint32_t index = next.fetch_add(1U, relaxed);
    if (index + 1U == program.claims) next.store(program.roots, relaxed);  // for the next run
    AtomicRef<std::uint32_t>(program.ready[index]).store(successor, release);
  }
}

/// The leading lane takes a ticket.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class Team>
TASKDAG_TASK std::uint64_t take_ticket(const StaticRef<P>& program, const Team& team, const StaticLaunch& launch) {
  if (!team.leads()) return 0;
  return AtomicRef<std::uint64_t>(program.tickets[launch.number].next).fetch_add(1U, relaxed);
}

/// All lanes get it. The team with the last one of the launch begins the next run.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class Team>
TASKDAG_TASK std::uint64_t receive_ticket(const StaticRef<P>& program, const Team& team, const StaticLaunch& launch,
                                          std::uint64_t taken) {
  const std::uint64_t word = hand_out(team, taken);
  if (static_cast<std::uint32_t>(word) + 1U == launch.tickets && team.leads()) {
    AtomicRef<std::uint64_t>(program.tickets[launch.number].next).store(((word >> 32U) + 1U) << 32U, relaxed);
  }
  return word;
}

/// Ordered and individual.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class List, Dependencies Kind, class Team>
TASKDAG_TASK void run_claims(const StaticRef<P>& program, Team& team, const StaticLaunch& launch) {
  static_assert(Kind != Dependencies::phases);
#if defined(__CUDA_ARCH__)
  // The next ticket travels while a claim is worked on. On the host others should have it.
  constexpr bool ahead = Kind == Dependencies::ordered;
#else
  constexpr bool ahead = false;
#endif
  typename P::Probe probe(program.record, traced_number(team));
  const std::uint32_t claims = launch.end - launch.first;
  std::uint64_t taken = take_ticket(program, team, launch);
  while (true) {
    const std::uint64_t word = receive_ticket(program, team, launch, taken);
    const auto ticket = static_cast<std::uint32_t>(word);
    const auto run = static_cast<std::uint32_t>(word >> 32U);
    if (ticket >= claims) break;
    if (ahead && !launch.once) taken = take_ticket(program, team, launch);
    std::uint32_t claim = launch.first + ticket;
    if constexpr (Kind == Dependencies::individual) {
      if (team.leads()) claim = wait_for_ready(program, ticket);
      claim = static_cast<std::uint32_t>(hand_out(team, claim));
    }
    execute_claim<P, List>(program, team, claim, run, probe);
    if constexpr (Kind == Dependencies::individual) {
      team.sync();
      release_successors(program, claim, static_cast<std::uint32_t>(team.rank()), Team::size);
    }
    if (launch.once) break;
    if (!ahead) taken = take_ticket(program, team, launch);
  }
  probe.flush();
}

/// Ordered, by persistent teams of one worker, for one task type that looks ahead: the task after the one at work is
/// being fetched, and the ticket after that one is on its way. So each team takes two tickets too many.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class T, class Team>
TASKDAG_TASK void run_claims_ahead(const StaticRef<P>& program, Team& team, const StaticLaunch& launch) {
  using Ahead = typename T::Ahead;
  typename P::Probe probe(program.record, traced_number(team));
  const std::uint32_t claims = launch.end - launch.first;
  const auto fetch = [&](std::uint64_t word) {
    const auto ticket = static_cast<std::uint32_t>(word);
    if (ticket >= claims) return Ahead{};
    return T::look_ahead(program.data, static_cast<typename T::Item>(launch.first + ticket));
  };
  std::uint64_t word = receive_ticket(program, team, launch, take_ticket(program, team, launch));
  std::uint64_t taken = take_ticket(program, team, launch);
  Ahead found = fetch(word);
  while (static_cast<std::uint32_t>(word) < claims) {
    const Ahead now = found;
    const std::uint64_t mine = word;
    word = receive_ticket(program, team, launch, taken);
    taken = take_ticket(program, team, launch);
    found = fetch(word);
    execute_claim_of<P, T>(program, team, launch.first + static_cast<std::uint32_t>(mine),
                           static_cast<std::uint32_t>(mine >> 32U), probe, now);
  }
  static_cast<void>(receive_ticket(program, team, launch, taken));
  probe.flush();
}

/// The claims of the levels from `first_level` on, dealt out to the teams, which meet at the end of each level but the
/// last. barrier(arrivals): returns when `arrivals` teams, or what stands for them, have arrived in this run.
TASKDAG_ENGINE_ANY_SIDE
template <class P, class Team, class Barrier>
TASKDAG_TASK void run_levels(const StaticRef<P>& program, Team& team, std::uint32_t first_level,
                             std::uint32_t end_level, std::uint32_t teams, std::uint32_t run, const Barrier& barrier) {
  typename P::Probe probe(program.record, traced_number(team));
  for (std::uint32_t level = first_level; level < end_level; ++level) {
    const std::uint32_t end = program.level_end[level];
    const std::uint32_t begin = level == 0 ? 0U : program.level_end[level - 1];
    for (std::uint32_t claim = begin + team.number(); claim < end; claim += teams) {
      execute_claim<P, typename P::AllTypes>(program, team, claim, run, probe);
    }
    barrier(level);
  }
  probe.flush();
}

}  // namespace detail

TASKDAG_ENGINE_END
