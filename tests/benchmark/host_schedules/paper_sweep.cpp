#include "paper_sweep.hpp"

#include "kernels/sptrsv/host/plan/planned_sweep.hpp"

namespace taskdag::benchmark {

PaperSweep::PaperSweep(const CsrMatrix& a, const SuperstepSchedule& schedule, PaperOrder order, host::ThreadPool& pool)
    : schedule_(schedule), order_(order), pool_(&pool), barrier_(schedule.cores) {
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<Index> place(rows);
  offsets_.assign(rows + 1, 0);
  for (Index p = 0; p < a.rows; ++p) {
    const auto row = static_cast<std::size_t>(schedule_.order[static_cast<std::size_t>(p)]);
    place[row] = static_cast<Index>(place_at(p));
    offsets_[place_at(p) + 1] = a.row_offsets[row + 1] - a.row_offsets[row] - 1;
  }
  for (std::size_t k = 0; k < rows; ++k) offsets_[k + 1] += offsets_[k];
  columns_ = std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(offsets_[rows]));
  values_ = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(offsets_[rows]));
  inverse_ = std::make_unique_for_overwrite<double[]>(rows);
  // Each thread fills what it will run, so that it lies near it.
  pool_->run([&](int core) {
    if (core >= schedule_.cores) return;
    for (Index s = 0; s < schedule_.supersteps; ++s) {
      for (Index p = schedule_.first(s, core); p < schedule_.last(s, core); ++p) {
        const auto row = static_cast<std::size_t>(schedule_.order[static_cast<std::size_t>(p)]);
        auto to = static_cast<std::size_t>(offsets_[place_at(p)]);
        const auto diagonal = static_cast<std::size_t>(a.row_offsets[row + 1]) - 1;
        for (auto e = static_cast<std::size_t>(a.row_offsets[row]); e < diagonal; ++e, ++to) {
          columns_[to] = place[static_cast<std::size_t>(a.col_indices[e])];
          values_[to] = a.values[e];
        }
        inverse_[place_at(p)] = 1.0 / a.values[diagonal];
      }
    }
  });
}

void PaperSweep::run(const double* b, double* x) {
  const Offset* const offsets = offsets_.data();
  const Index* const columns = columns_.get();
  const double* const values = values_.get();
  const auto run_row = [&](std::size_t i) {
    const Offset first = offsets[i];
    x[i] = inverse_[i] * kernels::subtract_row(b[i], columns + first, values + first, offsets[i + 1] - first, x);
  };
  barrier_.reset();
  pool_->run([&](int core) {
    if (core >= schedule_.cores) return;
    Index rounds = 0;
    for (Index s = 0; s < schedule_.supersteps; ++s) {
      if (s > 0) barrier_.wait(core, rounds);
      const Index last = schedule_.last(s, core);
      if (order_ == PaperOrder::users) {
        for (Index p = schedule_.first(s, core); p < last; ++p) run_row(place_at(p));
      } else {
        for (Index p = schedule_.first(s, core); p < last; ++p) run_row(static_cast<std::size_t>(p));
      }
    }
  });
}

std::vector<double> PaperSweep::arranged(const std::vector<double>& users) const {
  std::vector<double> result(users.size());
  for (Index p = 0; p < schedule_.rows(); ++p) {
    result[place_at(p)] = users[static_cast<std::size_t>(schedule_.order[static_cast<std::size_t>(p)])];
  }
  return result;
}

}  // namespace taskdag::benchmark
