// SpMP (Park et al. 2014) as a rival: its schedule, levels with point-to-point waits after its transitive reduction,
// and a solve along it on rows in the order of its threads. An adapter to SpMP's own sources, which are not ours.
#include <omp.h>

#include <vector>

#include "LevelSchedule.hpp"
#include "rival_interface.h"

namespace {

class Solver {
 public:
  Solver(const taskdag_rival_triangle& triangle, int threads) : a_(triangle), threads_(threads) {
    omp_set_num_threads(threads);
    mirror();
    schedule_.constructTaskGraph(a_.rows, offsets_.data(), diagonal_.data(), columns_.data(),
                                 SpMP::PrefixSumCostFunction(offsets_.data()));
  }

  /// Each thread its own rows, so that they lie near it.
  void pack() {
    const int* const row_at = schedule_.threadContToOrigPerm;
    const int* const place_of = schedule_.origToThreadContPerm;
    places_.resize(static_cast<std::size_t>(a_.rows) + 1);
    for (int p = 0; p < a_.rows; ++p) {
      const int row = row_at[p];
      places_[p + 1] = places_[p] + a_.row_offsets[row + 1] - a_.row_offsets[row] - 1;
    }
    operands_ = new int[static_cast<std::size_t>(places_.back()) + 1];
    values_ = new double[static_cast<std::size_t>(places_.back()) + 1];
    results_ = new double[static_cast<std::size_t>(a_.rows) + 1];
#pragma omp parallel num_threads(threads_)
    {
      const int thread = omp_get_thread_num();
      for (int p = first_row(thread); p < first_row(thread + 1); ++p) {
        const int row = row_at[p];
        for (int e = a_.row_offsets[row], to = places_[p]; e < a_.row_offsets[row + 1] - 1; ++e, ++to) {
          operands_[to] = place_of[a_.columns[e]];
          values_[to] = a_.values[e];
        }
        results_[p] = 0.0;
      }
    }
  }

  void solve(const double* b, double* x) {
    volatile int* const finished = schedule_.taskFinished;
    const int* const row_at = schedule_.threadContToOrigPerm;
#pragma omp parallel num_threads(threads_)
    {
      const int thread = omp_get_thread_num();
      const int first = schedule_.threadBoundaries[thread];
      const int last = schedule_.threadBoundaries[thread + 1];
      for (int task = first; task < last; ++task) finished[task] = 0;
#pragma omp barrier
      for (int task = first; task < last; ++task) {
        for (int k = 0; k < schedule_.nparentsForward[task]; ++k) {
          while (__atomic_load_n(&finished[schedule_.parentsForward[task][k]], __ATOMIC_ACQUIRE) == 0)
            __builtin_ia32_pause();
        }
        for (int p = schedule_.taskBoundaries[task]; p < schedule_.taskBoundaries[task + 1]; ++p) {
          double sum = b[row_at[p]];
          for (int e = places_[p]; e < places_[p + 1]; ++e) sum -= values_[e] * results_[operands_[e]];
          results_[p] = sum;
          x[row_at[p]] = sum;
        }
        __atomic_store_n(&finished[task], 1, __ATOMIC_RELEASE);
      }
    }
  }

  ~Solver() {
    delete[] operands_;
    delete[] values_;
    delete[] results_;
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

 private:
  int first_row(int thread) const { return schedule_.taskBoundaries[schedule_.threadBoundaries[thread]]; }

  /// SpMP wants a pattern that is symmetric: the triangle and its mirror image.
  void mirror() {
    const std::size_t rows = static_cast<std::size_t>(a_.rows);
    std::vector<int> above(rows, 0);
    for (int i = 0; i < a_.rows; ++i) {
      for (int e = a_.row_offsets[i]; e < a_.row_offsets[i + 1] - 1; ++e) ++above[a_.columns[e]];
    }
    offsets_.assign(rows + 1, 0);
    for (int i = 0; i < a_.rows; ++i)
      offsets_[i + 1] = offsets_[i] + a_.row_offsets[i + 1] - a_.row_offsets[i] + above[i];
    columns_.resize(static_cast<std::size_t>(offsets_.back()));
    diagonal_.resize(rows);
    std::vector<int> next(rows);
    for (int i = 0; i < a_.rows; ++i) {
      int to = offsets_[i];
      for (int e = a_.row_offsets[i]; e < a_.row_offsets[i + 1]; ++e) columns_[to++] = a_.columns[e];
      diagonal_[i] = to - 1;
      next[i] = to;
    }
    for (int i = 0; i < a_.rows; ++i) {
      for (int e = a_.row_offsets[i]; e < a_.row_offsets[i + 1] - 1; ++e) columns_[next[a_.columns[e]]++] = i;
    }
  }

  taskdag_rival_triangle a_;
  int threads_;
  SpMP::LevelSchedule schedule_;
  std::vector<int> offsets_;  ///< of the symmetric pattern
  std::vector<int> columns_;
  std::vector<int> diagonal_;
  std::vector<int> places_;  ///< of the packed rows' entries
  int* operands_ = nullptr;
  double* values_ = nullptr;
  double* results_ = nullptr;
};

}  // namespace

const char* taskdag_rival_name() { return "SpMP"; }

void* taskdag_rival_schedule(const taskdag_rival_triangle* triangle, int threads, int* supersteps) {
  *supersteps = 0;
  return new Solver(*triangle, threads);
}

void taskdag_rival_pack(void* schedule) { static_cast<Solver*>(schedule)->pack(); }

void taskdag_rival_solve(void* schedule, const double* b, double* x) { static_cast<Solver*>(schedule)->solve(b, x); }

void taskdag_rival_free(void* schedule) { delete static_cast<Solver*>(schedule); }
