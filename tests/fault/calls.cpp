#include "fault/calls.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "backend/backends.hpp"
#include "backend/problems.hpp"

namespace taskdag::test {
namespace {

constexpr Index kColumns = 3;

/// A matrix with two sets of values, right-hand sides and solutions, all in the memory of the site.
struct Arrays {
  Arrays(const Site& where, CsrMatrix matrix)
      : site(where),
        a(std::move(matrix)),
        matrix_arrays(where.device, a),
        other(where.device, other_values(a.values)),
        b(where.device, right_hand_side(kColumns * a.rows)),
        x(where.device, std::vector<double>(static_cast<std::size_t>(kColumns) * static_cast<std::size_t>(a.rows))) {}

  Site site;
  CsrMatrix a;
  MatrixArrays matrix_arrays;
  Array<double> other;
  Array<double> b;
  Array<double> x;
};

CsrMatrix small_grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20, .wind = 0.5}); }

struct Triangle3 : Arrays {
  Triangle3(const Site& where, SolveSchedule schedule) : Arrays(where, small_grid()) {
    options.schedule = schedule;
    options.columns = kColumns;
  }
  void make() { solver.emplace(*site.context, matrix_arrays.view(), site.space(), options, site.stream()); }
  void solve() { solver->solve(b.data(), x.data(), site.space(), site.stream()); }
  void solve_many() { solver->solve_many(kColumns, b.data(), a.rows, x.data(), a.rows, site.space(), site.stream()); }
  void update() { solver->update_values(other.data(), site.space(), site.stream()); }

  TriangularOptions options;
  std::optional<TriangularSolver> solver;
};

struct Factor : Arrays {
  Factor(const Site& where, FactorOptions chosen) : Arrays(where, small_grid()), options(std::move(chosen)) {
    if (options.schedule != SolveSchedule::blocks) return;
    BlockOrdering ordering = block_multicolour(Context::create({.backend = Backend::host, .threads = 1}), a.pattern(),
                                               MemorySpace::host, {.block_size = 16});
    order = std::move(ordering.order);
    options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  }
  void make() {
    factorization.emplace(*site.context, matrix_arrays.pattern(), site.space(), options, order, order, site.stream());
  }
  void factor() { static_cast<void>(factorization->factor(matrix_arrays.values(), site.space(), site.stream())); }
  double growth() { return factorization->growth(matrix_arrays.values(), site.space(), site.stream()); }
  void factor_other() { static_cast<void>(factorization->factor(other.data(), site.space(), site.stream())); }
  void apply(Apply part) { factorization->apply(part, b.data(), x.data(), site.space(), site.stream()); }
  void apply_many(Apply part) {
    factorization->apply_many(part, kColumns, b.data(), a.rows, x.data(), a.rows, site.space(), site.stream());
  }

  FactorOptions options;
  std::vector<Index> order;
  std::optional<Factorization> factorization;
};

/// The grid with three unknowns a node, by dense blocks: as many elements as Arrays has columns.
CsrMatrix grid_of_blocks() {
  CsrMatrix a = small_grid();
  std::vector<double> values;
  for (const double value : a.values) {
    for (int k = 0; k < kColumns * kColumns; ++k) values.push_back(value * (k % (kColumns + 1) == 0 ? 2.0 : 0.25));
  }
  a.values = std::move(values);
  return a;
}

struct PointBlocks : Arrays {
  PointBlocks(const Site& where, FactorKind kind) : Arrays(where, grid_of_blocks()) {
    options.kind = kind;
    options.levels = 1;
    options.block_size = kColumns;
  }
  void make() {
    factorization.emplace(*site.context, matrix_arrays.pattern(), site.space(), options, std::span<const Index>(),
                          std::span<const Index>(), site.stream());
  }
  void factor() { static_cast<void>(factorization->factor(matrix_arrays.values(), site.space(), site.stream())); }
  void factor_other() { static_cast<void>(factorization->factor(other.data(), site.space(), site.stream())); }
  double growth() { return factorization->growth(matrix_arrays.values(), site.space(), site.stream()); }
  void apply(Apply part) { factorization->apply(part, b.data(), x.data(), site.space(), site.stream()); }

  FactorOptions options;
  std::optional<Factorization> factorization;
};

struct JacobiSweeps : Arrays {
  JacobiSweeps(const Site& where, int sweeps, JacobiForm form)
      : Arrays(where, small_grid()), options{.sweeps = sweeps, .keep_matrix = true, .form = form, .part_entries = 64} {}
  void make() { jacobi.emplace(*site.context, matrix_arrays.view(), site.space(), options, site.stream()); }
  void update() { jacobi->update_values({matrix_arrays.pattern(), other.data()}, site.space(), site.stream()); }
  void apply(bool transposed) { jacobi->apply(b.data(), x.data(), site.space(), transposed, site.stream()); }
  /// From what is in x: the same each time.
  void solve() {
    apply(false);
    static_cast<void>(jacobi->solve(b.data(), x.data(), site.space(),
                                    {.tolerance = 0.0, .max_sweeps = 4, .check_every = 2}, site.stream()));
  }

  JacobiOptions options;
  std::optional<Jacobi> jacobi;
};

struct BlockSweeps : Arrays {
  BlockSweeps(const Site& where, int sweeps) : Arrays(where, small_grid()), options{.sweeps = sweeps} {}
  void make() {
    const JacobiBlocks blocks = blocks_of_graph(*site.context, matrix_arrays.pattern(), site.space(), 0, site.stream());
    jacobi.emplace(*site.context, matrix_arrays.pattern(), site.space(), blocks, options, site.stream());
    static_cast<void>(jacobi->update_values(matrix_arrays.view(), site.space(), site.stream()));
  }
  void update() {
    static_cast<void>(jacobi->update_values({matrix_arrays.pattern(), other.data()}, site.space(), site.stream()));
  }
  void apply(bool transposed) { jacobi->apply(b.data(), x.data(), site.space(), transposed, site.stream()); }

  BlockJacobiOptions options;
  std::optional<BlockJacobi> jacobi;
};

struct SorSweeps : Arrays {
  /// By point blocks of three rows.
  explicit SorSweeps(const Site& where)
      : Arrays(where, grid_of_blocks()), options{.omega = 1.2, .block_size = kColumns} {}
  SorSweeps(const Site& where, SolveSchedule schedule)
      : Arrays(where, small_grid()), options{.omega = 1.2, .schedule = schedule} {
    if (schedule != SolveSchedule::blocks) return;
    BlockOrdering ordering = block_multicolour(Context::create({.backend = Backend::host, .threads = 1}), a.pattern(),
                                               MemorySpace::host, {.block_size = 16});
    order = std::move(ordering.order);
    options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  }
  void make() { sor.emplace(*site.context, matrix_arrays.pattern(), site.space(), options, order, site.stream()); }
  void load() { static_cast<void>(sor->update_values(matrix_arrays.values(), site.space(), site.stream())); }
  void update() { static_cast<void>(sor->update_values(other.data(), site.space(), site.stream())); }
  void iterate(SorSweep sweep, int iterations) {
    sor->iterate(sweep, iterations, SorStart::zero, b.data(), x.data(), site.space(), site.stream());
  }

  SorOptions options;
  std::vector<Index> order;
  std::optional<Sor> sor;
};

const char* name_of(Apply part) {
  switch (part) {
    case Apply::full:
      return "full";
    case Apply::transposed:
      return "transposed";
    case Apply::symmetric_left:
      return "symmetric_left";
    case Apply::symmetric_right:
      break;
  }
  return "symmetric_right";
}

std::vector<Apply> parts_of(FactorKind kind) {
  if (kind == FactorKind::ilu) return {Apply::full, Apply::transposed};
  return {Apply::full, Apply::transposed, Apply::symmetric_left, Apply::symmetric_right};
}

template <class Integer>
std::vector<double> as_doubles(const std::vector<Integer>& values) {
  return {values.begin(), values.end()};
}

/// A factorisation made, factored and applied: three calls.
template <class Made>
void add_factor_calls(std::vector<Call>& calls, const std::string& name, const std::shared_ptr<Made>& f) {
  const auto drop = [f] { f->factorization.reset(); };
  const auto applied = [f] {
    f->apply(Apply::full);
    return f->x.read();
  };
  calls.push_back({"Factorization, " + name, [] {}, [f] { f->make(); },
                   [f, applied] {
                     f->factor();
                     return applied();
                   },
                   drop});
  calls.push_back({"the first factor, " + name, [f] { f->make(); }, [f] { f->factor(); }, applied, drop, true});
  calls.push_back({"another factor, " + name,
                   [f] {
                     f->make();
                     f->factor();
                     f->apply(Apply::full);
                   },
                   [f] { f->factor_other(); }, applied, drop, true});
}

}  // namespace

std::vector<SolveSchedule> factor_schedules(Backend backend) {
  const auto own = solve_schedules(backend);
  std::vector<SolveSchedule> schedules(own.begin(), own.end());
  for (const SolveScheduleInfo& row : solve_schedule_catalogue()) {
    const ScheduleRole role = backend == Backend::cuda ? row.cuda : row.host;
    if (row.needs_blocks && role != ScheduleRole::absent) schedules.push_back(row.schedule);
  }
  return schedules;
}

std::vector<Call> triangular_calls(const Site& site, SolveSchedule schedule) {
  const auto t = std::make_shared<Triangle3>(site, schedule);
  const auto read = [t] { return t->x.read(); };
  const auto solved = [t] {
    t->solve();
    return t->x.read();
  };
  const auto drop = [t] { t->solver.reset(); };
  // Some schedules change how they launch from the fifth solve on.
  const auto make_and_solve = [t] {
    t->make();
    for (int k = 0; k < 4; ++k) t->solve();
  };
  return {{"TriangularSolver", [] {}, [t] { t->make(); }, solved, drop},
          {"update_values", make_and_solve, [t] { t->update(); }, solved, drop, true},
          {"the first solve", [t] { t->make(); }, [t] { t->solve(); }, read, drop},
          {"the fifth solve", make_and_solve, [t] { t->solve(); }, read, drop},
          {"the first solve_many", [t] { t->make(); }, [t] { t->solve_many(); }, read, drop},
          {"solve_many after solve", make_and_solve, [t] { t->solve_many(); }, read, drop},
          {"solve after solve_many",
           [t] {
             t->make();
             t->solve_many();
           },
           [t] { t->solve(); }, read, drop},
          {"outcome", make_and_solve, [t] { static_cast<void>(t->solver->outcome()); }, solved, drop}};
}

std::vector<Call> factor_calls(const Site& site, FactorKind kind, SolveSchedule schedule) {
  FactorOptions options;
  options.kind = kind;
  options.schedule = schedule;
  const auto f = std::make_shared<Factor>(site, options);
  std::vector<Call> calls;
  add_factor_calls(calls, kind == FactorKind::ic ? "IC" : "ILU", f);
  const auto read = [f] { return f->x.read(); };
  const auto drop = [f] { f->factorization.reset(); };
  const auto prepare = [f] {
    f->make();
    f->factor();
  };
  for (const Apply part : parts_of(kind)) {
    const std::string name = name_of(part);
    calls.push_back({"apply, " + name, prepare, [f, part] { f->apply(part); }, read, drop});
    calls.push_back({"apply_many, " + name, prepare, [f, part] { f->apply_many(part); }, read, drop});
  }
  const auto half = [&](const char* name, auto apply) {
    calls.push_back(
        {name, prepare,
         [f, apply] { (*f->factorization.*apply)(f->b.data(), f->x.data(), f->site.space(), f->site.stream()); }, read,
         drop});
  };
  half("lower half", &Factorization::solve_lower);
  half("upper half", &Factorization::solve_upper);
  half("product with the upper half", &Factorization::multiply_upper);
  calls.push_back({"pivots", prepare, [f] { f->factorization->pivots(f->x.data(), f->site.space(), f->site.stream()); },
                   read, drop});
  calls.push_back(
      {"set_diagonal", prepare, [f] { f->factorization->set_diagonal(f->b.data(), f->site.space(), f->site.stream()); },
       [f] {
         f->factorization->multiply_transformed(f->b.data(), f->x.data(), f->site.space(), f->site.stream());
         return f->x.read();
       },
       drop, true});
  calls.push_back(
      {"set_diagonal, symmetric", prepare,
       [f] {
         f->factorization->set_diagonal(f->b.data(), f->site.space(), f->site.stream(), TransformScaling::symmetric);
       },
       [f] {
         f->factorization->multiply_transformed(f->b.data(), f->x.data(), f->site.space(), f->site.stream());
         return f->x.read();
       },
       drop, true});
  calls.push_back({"growth", prepare, [f] { static_cast<void>(f->growth()); },
                   [f] { return std::vector<double>{f->growth()}; }, drop});
  calls.push_back({"copy_factor", prepare, [f] { static_cast<void>(f->factorization->copy_factor()); },
                   [f] { return f->factorization->copy_factor().values; }, drop});
  return calls;
}

std::vector<Call> factor_form_calls(const Site& site) {
  std::vector<Call> calls;
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    const std::string name = kind == FactorKind::ic ? "IC" : "ILU";
    FactorOptions options;
    options.kind = kind;
    options.levels = 2;
    add_factor_calls(calls, name + "(2)", std::make_shared<Factor>(site, options));
    options.levels = 0;
    for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite, ShiftType::inblocks}) {
      options.shift = shift;
      // So large that there are shifts. It counts in units of the row's sum for the first two.
      options.zero_pivot = shift == ShiftType::inblocks ? 3.9 : 1.0;
      options.shift_amount = 1.0;
      add_factor_calls(calls, name + ", shift " + std::to_string(static_cast<int>(shift)),
                       std::make_shared<Factor>(site, options));
    }
  }
  return calls;
}

/// What SOR by rows and by blocks have in common.
void add_sor_calls(std::vector<Call>& calls, const std::string& name, const std::shared_ptr<SorSweeps>& s) {
  const auto drop = [s] { s->sor.reset(); };
  const auto iterated = [s] {
    s->iterate(SorSweep::symmetric, 2);
    return s->x.read();
  };
  const auto prepare = [s] {
    s->make();
    s->load();
  };
  calls.push_back({name, [] {}, [s] { s->make(); },
                   [s, iterated] {
                     s->load();
                     return iterated();
                   },
                   drop});
  calls.push_back({"the first values of " + name, [s] { s->make(); }, [s] { s->load(); }, iterated, drop, true});
  calls.push_back({"other values of " + name,
                   [s, prepare] {
                     prepare();
                     s->iterate(SorSweep::symmetric, 1);
                   },
                   [s] { s->update(); }, iterated, drop, true});
  for (const SorSweep sweep : {SorSweep::forward, SorSweep::backward, SorSweep::symmetric}) {
    for (const int iterations : {1, 3}) {
      calls.push_back({name + ", " + to_string(sweep) + ", " + std::to_string(iterations), prepare,
                       [s, sweep, iterations] { s->iterate(sweep, iterations); }, [s] { return s->x.read(); }, drop});
    }
  }
}

std::vector<Call> point_block_calls(const Site& site) {
  std::vector<Call> calls;
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    const auto f = std::make_shared<PointBlocks>(site, kind);
    const std::string name = kind == FactorKind::ic ? "IC(1) by point blocks" : "ILU(1) by point blocks";
    add_factor_calls(calls, name, f);
    const auto prepare = [f] {
      f->make();
      f->factor();
    };
    const auto read = [f] { return f->x.read(); };
    const auto drop = [f] { f->factorization.reset(); };
    for (const Apply part : {Apply::full, Apply::transposed}) {
      calls.push_back({name + ", " + name_of(part), prepare, [f, part] { f->apply(part); }, read, drop});
    }
    calls.push_back({name + ", growth", prepare, [f] { static_cast<void>(f->growth()); },
                     [f] { return std::vector<double>{f->growth()}; }, drop});
    calls.push_back({name + ", copy_factor", prepare, [f] { static_cast<void>(f->factorization->copy_factor()); },
                     [f] { return f->factorization->copy_factor().values; }, drop});
  }
  add_sor_calls(calls, "SOR by point blocks", std::make_shared<SorSweeps>(site));
  return calls;
}

std::vector<Call> tuning_calls(const Site& site) {
  const auto t = std::make_shared<Triangle3>(site, SolveSchedule::automatic);
  t->options.tune = true;
  return {{"TriangularSolver, tuned", [] {}, [t] { t->make(); },
           [t] {
             t->solve();
             return t->x.read();
           },
           [t] { t->solver.reset(); }}};
}

std::vector<Call> jacobi_calls(const Site& site) {
  std::vector<Call> calls;
  for (const auto& [sweeps, sweep_form] :
       {std::pair(1, JacobiForm::kernels), std::pair(3, JacobiForm::kernels), std::pair(3, JacobiForm::checkpoints),
        std::pair(3, JacobiForm::autonomous), std::pair(3, JacobiForm::tiles), std::pair(3, JacobiForm::resident)}) {
    const std::string name = std::to_string(sweeps) + (sweeps == 1 ? " sweep, " : " sweeps, ") + to_string(sweep_form);
    const auto j = std::make_shared<JacobiSweeps>(site, sweeps, sweep_form);
    const auto drop = [j] { j->jacobi.reset(); };
    for (const bool transposed : {false, true}) {
      if (transposed && sweep_form != JacobiForm::kernels) continue;  // transposed sweeps are kernels in every form
      const auto applied = [j, transposed] {
        j->apply(transposed);
        return j->x.read();
      };
      const std::string form = name + (transposed ? ", transposed" : "");
      calls.push_back({"Jacobi, " + form, [] {}, [j] { j->make(); }, applied, drop});
      calls.push_back({"update_values, " + form,
                       [j, transposed] {
                         j->make();
                         j->apply(transposed);
                       },
                       [j] { j->update(); }, applied, drop, true});
      calls.push_back({"apply, " + form, [j] { j->make(); }, [j, transposed] { j->apply(transposed); },
                       [j] { return j->x.read(); }, drop});
    }
    if (sweep_form == JacobiForm::tiles || sweep_form == JacobiForm::resident) continue;
    calls.push_back({"solve, " + name, [j] { j->make(); }, [j] { j->solve(); }, [j] { return j->x.read(); }, drop});
  }
  return calls;
}

std::vector<Call> block_jacobi_calls(const Site& site) {
  std::vector<Call> calls;
  for (const int sweeps : {1, 2}) {
    const auto j = std::make_shared<BlockSweeps>(site, sweeps);
    const auto drop = [j] { j->jacobi.reset(); };
    for (const bool transposed : {false, true}) {
      const auto applied = [j, transposed] {
        j->apply(transposed);
        return j->x.read();
      };
      const std::string name = std::to_string(sweeps) + " sweeps" + (transposed ? ", transposed" : "");
      calls.push_back({"BlockJacobi, " + name, [] {}, [j] { j->make(); }, applied, drop});
      calls.push_back({"update_values of blocks, " + name,
                       [j, transposed] {
                         j->make();
                         j->apply(transposed);
                       },
                       [j] { j->update(); }, applied, drop, true});
      calls.push_back({"apply with blocks, " + name, [j] { j->make(); }, [j, transposed] { j->apply(transposed); },
                       [j] { return j->x.read(); }, drop});
    }
  }
  return calls;
}

std::vector<Call> sor_calls(const Site& site, SolveSchedule schedule) {
  const auto s = std::make_shared<SorSweeps>(site, schedule);
  const auto drop = [s] { s->sor.reset(); };
  const auto read = [s] { return s->x.read(); };
  const auto prepare = [s] {
    s->make();
    s->load();
  };
  std::vector<Call> calls;
  add_sor_calls(calls, "SOR", s);
  const auto half = [&](const char* name, auto part) {
    calls.push_back({name, prepare,
                     [s, part] { (*s->sor.*part)(s->b.data(), s->x.data(), s->site.space(), s->site.stream()); }, read,
                     drop});
  };
  half("SOR, lower half", &Sor::solve_lower);
  half("SOR, upper half", &Sor::solve_upper);
  half("SOR, product with the upper half", &Sor::multiply_upper);
  calls.push_back({"SOR, set_diagonal", prepare,
                   [s] { s->sor->set_diagonal(s->b.data(), s->site.space(), s->site.stream()); },
                   [s] {
                     s->sor->multiply_transformed(s->b.data(), s->x.data(), s->site.space(), s->site.stream());
                     return s->x.read();
                   },
                   drop, true});
  calls.push_back(
      {"SOR, pivots", prepare, [s] { s->sor->pivots(s->x.data(), s->site.space(), s->site.stream()); }, read, drop});
  return calls;
}

std::vector<Call> context_calls(int threads) {
  const auto context = std::make_shared<std::optional<Context>>();
  return {{"Context::create", [] {},
           [=] { context->emplace(Context::create({.backend = Backend::host, .threads = threads})); },
           [=] { return std::vector<double>{static_cast<double>((*context)->threads())}; }, [=] { context->reset(); }}};
}

std::vector<Call> ordering_calls(const Site& site) {
  const auto arrays = std::make_shared<Arrays>(site, small_grid());
  const auto order = std::make_shared<std::vector<Index>>();
  const auto count = std::make_shared<Index>();
  const auto blocks = std::make_shared<const RowBlocks>(RowBlocks{{0, arrays->a.rows}, {0, 1}});
  const auto permutation = std::make_shared<const std::vector<Index>>(std::vector<Index>{2, 0, 1});
  const auto drop = [order] { *order = {}; };
  const auto read = [order] { return as_doubles(*order); };
  const auto nothing = [] {};
  const auto& s = site;
  return {
      {"reverse_cuthill_mckee", nothing,
       [=] {
         *order = reverse_cuthill_mckee(*s.context, arrays->matrix_arrays.pattern(), s.space(), nullptr, s.stream());
       },
       read, drop},
      {"reverse_cuthill_mckee, by tasks", nothing,
       [=] {
         for (const RcmSort sort : {RcmSort::bitonic, RcmSort::cub, RcmSort::cpu_gpu}) {
           *order = reverse_cuthill_mckee(*s.context, arrays->matrix_arrays.pattern(), s.space(),
                                          {.form = RcmForm::tasks, .sort = sort}, nullptr, s.stream());
         }
       },
       read, drop},
      {"reverse_cuthill_mckee, serial", nothing, [=] { *order = reverse_cuthill_mckee(arrays->a.pattern()); }, read,
       drop},
      {"multicolour", nothing,
       [=] { *order = multicolour(*s.context, arrays->matrix_arrays.pattern(), s.space(), s.stream()).order; }, read,
       drop},
      {"block_multicolour", nothing,
       [=] {
         *order =
             block_multicolour(*s.context, arrays->matrix_arrays.pattern(), s.space(), {.block_size = 16}, s.stream())
                 .order;
       },
       read, drop},
      {"dependency_levels", nothing,
       [=] {
         *count =
             dependency_levels(*s.context, arrays->matrix_arrays.pattern(), s.space(), Triangle::lower, s.stream());
       },
       [=] { return std::vector<double>{static_cast<double>(*count)}; }, drop},
      {"diagonal_dominance", nothing,
       [=] { *count = diagonal_dominance(*s.context, arrays->matrix_arrays.view(), s.space(), {}, s.stream()).strict; },
       [=] { return std::vector<double>{static_cast<double>(*count)}; }, drop},
      {"jacobi_settles", nothing,
       [=] { *count = jacobi_settles(*s.context, arrays->matrix_arrays.view(), s.space(), s.stream()) ? 1 : 0; },
       [=] { return std::vector<double>{static_cast<double>(*count)}; }, drop},
      {"make_level_schedule", nothing,
       [=] { *count = make_level_schedule(arrays->a.pattern(), Triangle::lower).levels(); },
       [=] { return std::vector<double>{static_cast<double>(*count)}; }, drop},
      {"find_fault", nothing, [=] { *count = find_fault(*blocks, arrays->a.pattern()) ? 1 : 0; },
       [=] { return std::vector<double>{static_cast<double>(*count)}; }, drop},
      {"ordering_quality", [=] { *order = reverse_cuthill_mckee(arrays->a.pattern()); },
       [=] { *count = ordering_quality(arrays->a.pattern(), *order).bandwidth; },
       [=] { return std::vector<double>{static_cast<double>(*count)}; }, drop},
      {"invert_permutation", nothing, [=] { *order = invert_permutation(*permutation); }, read, drop}};
}

}  // namespace taskdag::test
