#include "backends.hpp"

#include "support/effort.hpp"

namespace taskdag::test {

std::string name_of(const Where& where) {
  if (where.backend == Backend::host) return "host" + std::to_string(where.threads);
  if (where.one_block) return "cuda_one_block";
  return where.space == MemorySpace::host ? "cuda_host_arrays" : "cuda_device_arrays";
}

std::vector<Where> everywhere() {
  std::vector<Where> places;
  for (const int threads : host_threads()) places.push_back({Backend::host, threads, MemorySpace::host});
  places.push_back({Backend::cuda, 0, MemorySpace::host});
  places.push_back({Backend::cuda, 0, MemorySpace::device});
  return places;
}

std::vector<Where> everywhere_and_one_block() {
  std::vector<Where> places = everywhere();
  places.push_back({Backend::cuda, 0, MemorySpace::device, true});
  return places;
}

std::vector<Where> once_per_backend() {
  return {{Backend::host, 2, MemorySpace::host},
          {Backend::cuda, 0, MemorySpace::host},
          {Backend::cuda, 0, MemorySpace::device}};
}

std::vector<Where> device_arrays() { return {{Backend::cuda, 0, MemorySpace::device}}; }

std::vector<SolveSchedule> runnable_schedules(Backend backend) {
  const auto all = solve_schedules(backend);
  std::vector<SolveSchedule> schedules(all.begin(), all.end());
  if (backend == Backend::cuda && !device_has_cells()) std::erase(schedules, SolveSchedule::cells);
  return schedules;
}

void PrintTo(const Where& where, std::ostream* out) { *out << name_of(where); }

void BackendTest::SetUp() {
  const Where& where = GetParam();
  if (where.backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  context_ = std::make_unique<Context>(Context::create({.backend = where.backend, .threads = where.threads}));
  if (where.space == MemorySpace::device) device_ = make_device_stream();
}

TriangularSolver BackendTest::triangular(const CsrMatrix& a, const TriangularOptions& options) const {
  MatrixArrays arrays = place(a);
  return {context(), arrays.view(), space(), options, stream()};
}

Factorization BackendTest::factorization(const CsrMatrix& a, const FactorOptions& options,
                                         const std::vector<Index>& row_order,
                                         const std::vector<Index>& col_order) const {
  constexpr Index kAnyRows = 100000;
  FactorOptions taken = options;
  if (GetParam().one_block) taken.one_block_rows = kAnyRows;
  MatrixArrays arrays = place(a);
  return {context(), arrays.pattern(), space(), taken, row_order, col_order, stream()};
}

Jacobi BackendTest::jacobi(const CsrMatrix& a, const JacobiOptions& options) const {
  MatrixArrays arrays = place(a);
  return {context(), arrays.view(), space(), options, stream()};
}

FactorStatus BackendTest::factor(Factorization& f, const std::vector<double>& values) const {
  Array<double> array = place(values);
  return f.factor(array.data(), space(), stream());
}

std::vector<double> BackendTest::solve(TriangularSolver& t, const std::vector<double>& b) const {
  Array<double> in = place(b);
  Array<double> out = place(std::vector<double>(b.size(), -7.0));
  t.solve(in.data(), out.data(), space(), stream());
  return out.read();
}

std::vector<double> BackendTest::solve_in_place(TriangularSolver& t, const std::vector<double>& b) const {
  Array<double> both = place(b);
  t.solve(both.data(), both.data(), space(), stream());
  return both.read();
}

std::vector<double> BackendTest::apply(Factorization& f, Apply part, const std::vector<double>& b) const {
  Array<double> in = place(b);
  Array<double> out = place(std::vector<double>(b.size(), -7.0));
  f.apply(part, in.data(), out.data(), space(), stream());
  return out.read();
}

std::vector<double> BackendTest::apply_in_place(Factorization& f, Apply part, const std::vector<double>& b) const {
  Array<double> both = place(b);
  f.apply(part, both.data(), both.data(), space(), stream());
  return both.read();
}

std::vector<double> BackendTest::apply(Jacobi& j, const std::vector<double>& b, bool transposed) const {
  Array<double> in = place(b);
  Array<double> out = place(std::vector<double>(b.size(), -7.0));
  j.apply(in.data(), out.data(), space(), transposed, stream());
  return out.read();
}

}  // namespace taskdag::test
