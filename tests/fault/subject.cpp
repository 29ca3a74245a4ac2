#include "fault/subject.hpp"

#include "backend/point_blocks.hpp"
#include "backend/problems.hpp"
#include "fault/calls.hpp"
#include "fault/subject_solvers.hpp"

namespace taskdag::test {
namespace {

const char* name_of(Work work) {
  switch (work) {
    case Work::triangle:
      return "triangle";
    case Work::factor:
      return "factor";
    case Work::sor:
      return "SOR";
    case Work::point_block_factor:
      return "factor by point blocks";
    case Work::point_block_sor:
      return "SOR by point blocks";
    case Work::jacobi:
      return "Jacobi";
    case Work::block_jacobi:
      break;
  }
  return "block Jacobi";
}

}  // namespace

std::string Subject::name() const { return std::string(to_string(schedule)) + ", " + name_of(work); }

bool Subject::by_point_blocks() const { return work == Work::point_block_factor || work == Work::point_block_sor; }

CsrMatrix Subject::matrix(const CsrMatrix& by_rows) const {
  return by_point_blocks() ? with_blocks(by_rows, kPointBlock, false) : by_rows;
}

Index Subject::elements(const CsrMatrix& matrix) const {
  return by_point_blocks() ? matrix.rows * kPointBlock : matrix.rows;
}

std::vector<Subject> subjects(Backend backend) {
  std::vector<Subject> result;
  for (const SolveSchedule schedule : solve_schedules(backend)) result.push_back({schedule, Work::triangle});
  for (const Work work : {Work::factor, Work::sor}) {
    for (const SolveSchedule schedule : test::factor_schedules(backend)) result.push_back({schedule, work});
  }
  if (backend == Backend::cuda && !device_has_cells()) {
    std::erase_if(result, [](const Subject& subject) { return subject.schedule == SolveSchedule::cells; });
  }
  for (const Work work : {Work::point_block_factor, Work::point_block_sor, Work::jacobi, Work::block_jacobi}) {
    result.push_back({SolveSchedule::automatic, work});
  }
  return result;
}

std::unique_ptr<Solver> make_solver(const Context& context, const Subject& subject, const CsrMatrix& a, Stream stream) {
  const Index block_size = subject.by_point_blocks() ? kPointBlock : 1;
  switch (subject.work) {
    case Work::triangle:
      return make_triangle(context, subject.schedule, a, stream);
    case Work::factor:
    case Work::point_block_factor:
      return make_factor(context, subject.schedule, block_size, a, stream);
    case Work::sor:
    case Work::point_block_sor:
      return make_sor(context, subject.schedule, block_size, a, stream);
    case Work::jacobi:
      return make_jacobi(context, a, stream);
    case Work::block_jacobi:
      break;
  }
  return make_block_jacobi(context, a, stream);
}

CsrMatrix grid_matrix(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = 0.5}); }

CsrMatrix solid_matrix() {
  return make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 10, .ny = 11, .nz = 12, .wind = 0.5});
}

CsrMatrix random_matrix() { return mirrored(make_erdos_renyi_lower(300, 0.02, 5), 0.75); }

std::vector<double> numbered_side(Index rows, int number) {
  std::vector<double> b = right_hand_side(rows);
  for (double& value : b) value *= 1.0 + 0.125 * number;
  return b;
}

}  // namespace taskdag::test
