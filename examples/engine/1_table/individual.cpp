#include <numeric>

#include "taskdag/engine/runner.hpp"
#include "workshop.hpp"

namespace workshop::with_individual_dependencies {

namespace engine = taskdag::engine;

// [snippet tasks]
struct Workshop {
  int* parts;
  int* parts_found;
  engine::Dependency* parts_missing;  // by table
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
    const Workshop& workshop = context.data();
    workshop.parts[kParts * leg.table + leg.number] = 1;
    context.template reduce<AssembleTable>(workshop.parts_missing[leg.table]);
  }
};

struct CreateTabletop {
  using Item = int;
  static constexpr auto name = "create tabletop";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& table) {
    const Workshop& workshop = context.data();
    workshop.parts[kParts * table + kLegs] = 1;
    context.template reduce<AssembleTable>(workshop.parts_missing[table]);
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
    context.template enqueue_dependent<AssembleTable>(table, context.data().parts_missing[table], kParts);
  }
};

using Phases = engine::PhaseQueue<engine::Phaseless<AssembleTable, CreateTabletop, CreateLeg, OrderTable>>;
using Program = engine::Program<Workshop, Phases>;
// [snippet end]

}  // namespace workshop::with_individual_dependencies

workshop::Made workshop::make_with_individual_dependencies(const taskdag::Context& context,
                                                           const example::EngineOptions& options, int tables) {
  using namespace with_individual_dependencies;
  const auto size = static_cast<std::size_t>(tables);
  const engine::Array<int> parts(context, size * kParts);
  const engine::Array<int> parts_found(context, size);
  const engine::Array<engine::Dependency> parts_missing(context, size);

  engine::Runner<Program> runner(context, options.runner);
  std::vector<int> orders(size);
  std::iota(orders.begin(), orders.end(), 0);
  runner.enqueue<OrderTable>(orders);
  const engine::Report report = runner.run({parts.data(), parts_found.data(), parts_missing.data()}, options.run);
  return {report, parts_found.download(), {}};
}
