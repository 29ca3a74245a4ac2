#include <numeric>

#include "taskdag/engine/runner.hpp"
#include "workshop.hpp"

namespace workshop::with_phases {

namespace engine = taskdag::engine;

// [snippet data]
/// What all tasks see.
struct Workshop {
  int* parts;        // 1: finished; part p of table t at kParts * t + p
  int* parts_found;  // by table
};
// [snippet end]

// [snippet tasks]
struct Leg {
  int table;
  int number;
};

struct CreateLeg {
  using Item = Leg;
  static constexpr auto name = "create leg";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Leg& leg) {
    context.data().parts[kParts * leg.table + leg.number] = 1;
  }
};

struct CreateTabletop {
  using Item = int;  // number of the table
  static constexpr auto name = "create tabletop";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& table) {
    context.data().parts[kParts * table + kLegs] = 1;
  }
};

struct AssembleTable {
  using Item = int;
  static constexpr auto name = "assemble table";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& table) {
    const Workshop& workshop = context.data();
    for (int p = 0; p < kParts; ++p) workshop.parts_found[table] += workshop.parts[kParts * table + p];
  }
};

struct OrderTable {
  using Item = int;
  static constexpr auto name = "order table";
  static constexpr int max_children = kParts + 1;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& table) {
    for (int leg = 0; leg < kLegs; ++leg) context.template enqueue<CreateLeg>({table, leg});
    context.template enqueue<CreateTabletop>(table);
    context.template enqueue<AssembleTable>(table);
  }
};
// [snippet end]

// [snippet program]
using Phases = engine::PhaseQueue<engine::Phaseless<>, engine::Phase<OrderTable, CreateLeg, CreateTabletop>,
                                  engine::Phase<AssembleTable>>;
using Program = engine::Program<Workshop, Phases>;
// [snippet end]

}  // namespace workshop::with_phases

// [snippet run]
workshop::Made workshop::make_with_phases(const taskdag::Context& context, const example::EngineOptions& options,
                                          int tables) {
  using namespace with_phases;
  const auto size = static_cast<std::size_t>(tables);
  const engine::Array<int> parts(context, size * kParts);
  const engine::Array<int> parts_found(context, size);

  engine::Runner<Program> runner(context, options.runner);
  std::vector<int> orders(size);
  std::iota(orders.begin(), orders.end(), 0);
  runner.enqueue<OrderTable>(orders);
  const engine::Report report = runner.run({parts.data(), parts_found.data()}, options.run);
  return {report, parts_found.download(), {}};
}
// [snippet end]
