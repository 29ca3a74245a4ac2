#include "kernels/sptrsv/host/blocks/superstep_sweep.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "dag/dependencies.hpp"

namespace taskdag::kernels {

namespace {

/// Above this permuting pays. Measured on 16 cores with 31 triangles and 6 schedules: to permute took up to a third
/// more time where there were 3 cores a line or less, and up to half less from 3.5 on.
constexpr double kMostCoresPerLine = 3.25;

/// Whether a line of the vectors (8 rows) has rows of more than `most` cores in the mean.
bool lines_are_shared(const SuperstepSchedule& schedule, double most) {
  constexpr Index kRows = 8;
  std::vector<int> last_core(static_cast<std::size_t>(schedule.rows() / kRows) + 1, -1);
  std::int64_t users = 0;
  for (int c = 0; c < schedule.cores; ++c) {
    for (Index s = 0; s < schedule.supersteps; ++s) {
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        int& last = last_core[static_cast<std::size_t>(schedule.order[static_cast<std::size_t>(p)] / kRows)];
        users += last != c;
        last = c;
      }
    }
  }
  return static_cast<double>(users) > most * static_cast<double>(last_core.size());
}

}  // namespace

SuperstepSweep::SuperstepSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                               host::ThreadPool& pool, const SuperstepSchedule& schedule,
                               std::optional<PortionWaits> waits, Precision precision)
    : pool_(&pool),
      cores_(schedule.cores),
      supersteps_(schedule.supersteps),
      levels_(count_levels(pattern, triangle)),
      waits_(std::move(waits)),
      barrier_(cores_),
      finished_(waits_ ? static_cast<std::size_t>(cores_) : 0) {
  std::vector<Index> place = take_order(pattern, triangle, schedule);
  reserve_entries(precision, lines_are_shared(schedule, kMostCoresPerLine));
  copy_entries(pattern, source, triangle, place);
  if (permuted_rhs_) place_ = std::move(place);
  const auto nearest = [&](Index p) {
    const auto at = static_cast<std::size_t>(p);
    return offsets_[at] == offsets_[at + 1] ? Index{-1} : columns_[static_cast<std::size_t>(offsets_[at + 1]) - 1];
  };
  follow_ = rows_follow(pattern.rows, nearest, [](Index p) { return p; });
}

std::vector<Index> SuperstepSweep::take_order(const CsrPattern& pattern, Triangle triangle,
                                              const SuperstepSchedule& schedule) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  portions_.reserve(schedule.offsets.size());
  row_.reserve(rows);
  for (int c = 0; c < cores_; ++c) {
    for (Index s = 0; s < supersteps_; ++s) {
      portions_.push_back(static_cast<Index>(row_.size()));
      row_.insert(row_.end(), schedule.order.begin() + schedule.first(s, c),
                  schedule.order.begin() + schedule.last(s, c));
    }
  }
  portions_.push_back(pattern.rows);

  std::vector<Index> place(rows);
  offsets_.reserve(rows + 1);
  offsets_.push_back(0);
  for (std::size_t p = 0; p < rows; ++p) {
    place[static_cast<std::size_t>(row_[p])] = static_cast<Index>(p);
    offsets_.push_back(offsets_.back() + static_cast<Offset>(dependencies(pattern, triangle, row_[p]).size()));
  }
  return place;
}

void SuperstepSweep::reserve_entries(Precision precision, bool permutes) {
  const auto size = static_cast<std::size_t>(entries());
  columns_ = std::make_unique_for_overwrite<Index[]>(size);
  if (precision == Precision::in_single) {
    singles_ = std::make_unique_for_overwrite<float[]>(size);
  } else {
    values_ = std::make_unique_for_overwrite<double[]>(size);
  }
  source_ = std::make_unique_for_overwrite<Offset[]>(size);
  result_ = std::make_unique_for_overwrite<double[]>(row_.size());
  if (permutes) permuted_rhs_ = std::make_unique_for_overwrite<double[]>(row_.size());
}

void SuperstepSweep::copy_entries(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                  const std::vector<Index>& place) {
  const bool forward = triangle == Triangle::lower;
  for_owned([&](Index first, Index last) {
    for (auto p = static_cast<std::size_t>(first); p < static_cast<std::size_t>(last); ++p) {
      const auto columns = dependencies(pattern, triangle, row_[p]);
      const auto begin = static_cast<Offset>(columns.data() - pattern.col_indices);
      auto to = static_cast<std::size_t>(offsets_[p]);
      for (std::size_t k = 0; k < columns.size(); ++k, ++to) {
        const std::size_t from = forward ? k : columns.size() - 1 - k;
        const Offset entry = begin + static_cast<Offset>(from);
        columns_[to] = place[static_cast<std::size_t>(columns[from])];
        source_[to] = source == nullptr ? entry : source[entry];
        if (singles_) {
          singles_[to] = 0.0F;
        } else {
          values_[to] = 0.0;
        }
      }
      result_[p] = 0.0;
      if (permuted_rhs_) permuted_rhs_[p] = 0.0;
    }
  });
}

void SuperstepSweep::load(const double* values) {
  for_owned([&](Index first, Index last) {
    const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(last)]);
    for (auto e = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(first)]); e < end; ++e) {
      if (singles_) {
        singles_[e] = static_cast<float>(values[source_[e]]);
      } else {
        values_[e] = values[source_[e]];
      }
    }
  });
}

std::int64_t SuperstepSweep::bytes() const {
  const std::size_t waits =
      waits_ ? sizeof(Offset) * waits_->offsets.size() + sizeof(PortionWait) * waits_->waits.size() : 0;
  return static_cast<std::int64_t>(waits + sizeof(Index) * (portions_.size() + row_.size()) +
                                   sizeof(Offset) * offsets_.size() +
                                   (place_.empty() ? 0 : sizeof(Index) + sizeof(double)) * place_.size() +
                                   sizeof(double) * (row_.size() + columns_result_.size())) +
         static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset) + (singles_ ? sizeof(float) : sizeof(double))) *
             entries();
}

bool SuperstepSweep::run_columns(double* x, const ColumnPass& pass) {
  const std::size_t size = row_.size() * static_cast<std::size_t>(column_width(pass.count));
  if (columns_result_.size() < size) columns_result_.resize(size);
  return with_column_width(pass.count, [&]<int Width>() {
    return run_portions([&](Index first, Index last) {
      return singles_ ? run_column_places<Width>(singles_.get(), first, last, x, pass)
                      : run_column_places<Width>(values_.get(), first, last, x, pass);
    });
  });
}

template <int Width, class Value>
bool SuperstepSweep::run_column_places(const Value* stored, Index first, Index last, double* x,
                                       const ColumnPass& pass) {
  bool finite = true;
  for (Index p = first; p < last; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const Offset begin = offsets_[at];
    finite &= run_row<Width>(pass, row_[at], p, columns_.get() + begin, stored + begin, offsets_[at + 1] - begin,
                             columns_result_.data(), p, x);
  }
  return finite;
}

}  // namespace taskdag::kernels
