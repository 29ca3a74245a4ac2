// HDagg (Zarebavani et al. 2022) as a rival: its schedule, and a solve along it on rows in the user's order with a
// barrier between its supersteps, as its own demonstration solves. An adapter to HDagg's own sources, which
// are not ours.
//
// HDAGG_GROUPED 1: its sparsification and its grouping of trees come first, as in its publication. 0: they do not, as
// in the programs that Böhnlein et al. 2025 publish.
#include "aggregation/hdagg.h"

#include <omp.h>

#include <vector>

#include "rival_interface.h"

namespace {

class Solver {
 public:
  Solver(const taskdag_rival_triangle& triangle, int threads) : a_(triangle), threads_(threads) {
    omp_set_num_threads(threads);
    std::vector<int> offsets;  // by columns, the diagonal first
    std::vector<int> rows;
    transpose(offsets, rows);
    std::vector<double> cost;
#if HDAGG_GROUPED
    std::vector<int> graph, children, groups, members, group_graph, group_children;
    int count = 0;
    HDAGG::partialSparsification(a_.rows, offsets.back(), offsets.data(), rows.data(), graph, children);
    HDAGG::treeBasedGroupingBFS(a_.rows, graph, children, count, groups, members, false);
    HDAGG::buildGroupDAG(a_.rows, count, groups.data(), members.data(), graph.data(), children.data(), group_graph,
                         group_children);
    cost.resize(static_cast<std::size_t>(count));
    HDAGG::costComputation(count, offsets.data(), rows.data(), a_.row_offsets, a_.columns, HDAGG::SpTrSv_LL,
                           groups.data(), members.data(), true, cost);
    HDAGG::HDAGG(count, group_graph[count], group_graph, group_children, cost, threads, supersteps_, cells_of_,
                 rows_of_, order_, false, false, true);
    HDAGG::ungroupingScheduleAndApplyOrdering(a_.rows, supersteps_, cells_of_, rows_of_, order_, groups, members,
                                              graph.data(), children.data(), true, false);
#else
    cost.resize(static_cast<std::size_t>(a_.rows));
    HDAGG::costComputation(a_.rows, offsets.data(), rows.data(), a_.row_offsets, a_.columns, HDAGG::SpTrSv_LL, nullptr,
                           nullptr, false, cost);
    HDAGG::HDAGG(a_.rows, offsets.back(), offsets, rows, cost, threads, supersteps_, cells_of_, rows_of_, order_, false,
                 false, true);
#endif
  }

  int supersteps() const { return supersteps_; }

  void solve(const double* b, double* x) const {
    const int* const cells_of = cells_of_.data();
    const int* const rows_of = rows_of_.data();
    const int* const order = order_.data();
#pragma omp parallel num_threads(threads_)
    for (int superstep = 0; superstep < supersteps_; ++superstep) {
#pragma omp for schedule(static)
      for (int cell = cells_of[superstep]; cell < cells_of[superstep + 1]; ++cell) {
        for (int k = rows_of[cell]; k < rows_of[cell + 1]; ++k) {
          const int row = order[k];
          double sum = b[row];
          for (int e = a_.row_offsets[row]; e < a_.row_offsets[row + 1] - 1; ++e)
            sum -= a_.values[e] * x[a_.columns[e]];
          x[row] = sum;
        }
      }
    }
  }

 private:
  void transpose(std::vector<int>& offsets, std::vector<int>& rows) const {
    offsets.assign(static_cast<std::size_t>(a_.rows) + 1, 0);
    const int entries = a_.row_offsets[a_.rows];
    for (int e = 0; e < entries; ++e) ++offsets[a_.columns[e] + 1];
    for (int j = 0; j < a_.rows; ++j) offsets[j + 1] += offsets[j];
    rows.resize(static_cast<std::size_t>(entries));
    std::vector<int> next(offsets.begin(), offsets.end() - 1);
    for (int i = 0; i < a_.rows; ++i) {
      for (int e = a_.row_offsets[i]; e < a_.row_offsets[i + 1]; ++e) rows[next[a_.columns[e]]++] = i;
    }
  }

  taskdag_rival_triangle a_;
  int threads_;
  int supersteps_ = 0;
  std::vector<int> cells_of_;  ///< of a superstep
  std::vector<int> rows_of_;   ///< of a cell
  std::vector<int> order_;
};

}  // namespace

const char* taskdag_rival_name() { return HDAGG_GROUPED ? "HDagg, grouped" : "HDagg"; }

void* taskdag_rival_schedule(const taskdag_rival_triangle* triangle, int threads, int* supersteps) {
  auto* const solver = new Solver(*triangle, threads);
  *supersteps = solver->supersteps();
  return solver;
}

void taskdag_rival_pack(void* /*schedule*/) {}

void taskdag_rival_solve(void* schedule, const double* b, double* x) { static_cast<Solver*>(schedule)->solve(b, x); }

void taskdag_rival_free(void* schedule) { delete static_cast<Solver*>(schedule); }
