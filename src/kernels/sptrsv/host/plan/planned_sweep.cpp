#include "kernels/sptrsv/host/plan/planned_sweep.hpp"

#include <algorithm>
#include <utility>

#include "base/index.hpp"
#include "dag/dependencies.hpp"
#include "dag/levels.hpp"

namespace taskdag::kernels {

HostSweep::HostSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                     std::shared_ptr<const ThreadPlan> plan, HostSweepInput input, Precision precision)
    : executor_(
          plan == nullptr ? std::make_shared<const ThreadPlan>(pattern, triangle, pool.processors()) : std::move(plan),
          pool),
      forward_(triangle == Triangle::lower) {
  if (threads() > 1) levels_ = count_levels(pattern, triangle);
  if (threads() == 1 && input == HostSweepInput::lent) {
    offsets_ = pattern.row_offsets;
    columns_ = pattern.col_indices;
    source_ = source;
  } else {
    if (threads() > 1) {
      store_by_positions(pattern, source, triangle);
    } else {
      store_by_rows(pattern, source, triangle);
    }
    offsets_ = own_offsets_.data();
    columns_ = own_columns_.get();
    source_ = own_source_.get();
  }
  follow_ = find_whether_rows_follow();
  if (precision == Precision::in_single) {
    singles_ = std::make_unique_for_overwrite<float[]>(at(entries()));
    return;
  }
  if (source_ == nullptr) return;
  own_values_ = std::make_unique_for_overwrite<double[]>(at(entries()));
  values_ = own_values_.get();
}

bool HostSweep::find_whether_rows_follow() const {
  const bool by_rows = threads() == 1;
  const RowOrder row_at = order();
  const auto nearest = [&](Index p) {
    const Index i = by_rows ? row_at[p] : p;
    if (offsets_[i] == offsets_[i + 1]) return Index{-1};
    return columns_[by_rows && !forward_ ? offsets_[i] : offsets_[i + 1] - 1];
  };
  return rows_follow(rows(), nearest, [&](Index p) { return row_at[p]; });
}

LevelCount HostSweep::level_count() const {
  if (threads() > 1) return levels_;
  return count_levels({rows(), rows(), offsets_, columns_}, forward_ ? Triangle::lower : Triangle::upper);
}

void HostSweep::store_by_rows(const CsrPattern& pattern, const Offset* source, Triangle triangle) {
  own_offsets_.reserve(at(rows()) + 1);
  own_offsets_.push_back(0);
  for (Index i = 0; i < rows(); ++i) {
    own_offsets_.push_back(own_offsets_.back() + static_cast<Offset>(dependencies(pattern, triangle, i).size()));
  }
  const std::size_t size = at(own_offsets_.back());
  own_columns_ = std::make_unique_for_overwrite<Index[]>(size);
  own_source_ = std::make_unique_for_overwrite<Offset[]>(size);
  Index* column = own_columns_.get();
  Offset* from = own_source_.get();
  for (Index i = 0; i < rows(); ++i) {
    const auto columns = dependencies(pattern, triangle, i);
    const auto begin = static_cast<Offset>(columns.data() - pattern.col_indices);
    const auto end = begin + static_cast<Offset>(columns.size());
    column = std::ranges::copy(columns, column).out;
    for (Offset e = begin; e < end; ++e) *from++ = source == nullptr ? e : source[e];
  }
}

void HostSweep::store_by_positions(const CsrPattern& pattern, const Offset* source, Triangle triangle) {
  const RowOrder row = order();
  own_offsets_.reserve(at(rows()) + 1);
  own_offsets_.push_back(0);
  for (Index p = 0; p < rows(); ++p) {
    own_offsets_.push_back(own_offsets_.back() + static_cast<Offset>(dependencies(pattern, triangle, row[p]).size()));
  }
  const std::size_t size = at(own_offsets_.back());
  own_columns_ = std::make_unique_for_overwrite<Index[]>(size);
  own_source_ = std::make_unique_for_overwrite<Offset[]>(size);
  executor_.for_owned([&](int, Index first, Index last) {
    for (Index p = first; p < last; ++p) {
      const auto columns = dependencies(pattern, triangle, row[p]);
      const auto begin = static_cast<Offset>(columns.data() - pattern.col_indices);
      const auto count = static_cast<Offset>(columns.size());
      for (Offset k = 0; k < count; ++k) {
        const Offset e = begin + (forward_ ? k : count - 1 - k);
        const std::size_t to = at(own_offsets_[at(p)] + k);
        own_columns_[to] = pattern.col_indices[e];
        own_source_[to] = source == nullptr ? e : source[e];
      }
    }
  });
}

void HostSweep::load(const double* values) {
  if (singles_) {
    executor_.for_owned([&](int, Index first, Index last) {
      const Offset end = offsets_[last];
      for (Offset e = offsets_[first]; e < end; ++e) {
        singles_[at(e)] = static_cast<float>(values[source_ == nullptr ? e : source_[e]]);
      }
    });
    return;
  }
  if (source_ == nullptr) {
    values_ = values;
    return;
  }
  executor_.for_owned([&](int, Index first, Index last) {
    const Offset end = offsets_[last];
    for (Offset e = offsets_[first]; e < end; ++e) own_values_[at(e)] = values[source_[e]];
  });
}

std::int64_t HostSweep::bytes() const {
  const auto own = [&](const auto& array) {
    return array == nullptr ? 0 : static_cast<std::int64_t>(sizeof(array[0])) * entries();
  };
  return executor_.plan().bytes() + static_cast<std::int64_t>(sizeof(Offset) * own_offsets_.size()) +
         own(own_columns_) + own(own_values_) + own(singles_) + own(own_source_);
}

bool HostSweep::run_columns(double* x, const ColumnPass& pass) {
  const auto run = [&]<int Width, class Value>(const Value* values) {
    return threads() > 1 || forward_ ? run_columns_by_position<Width>(values, x, pass)
                                     : run_columns_backward<Width>(values, x, pass);
  };
  return with_column_width(pass.count, [&]<int Width>() {
    return singles_ ? run.template operator()<Width>(singles_.get()) : run.template operator()<Width>(values_);
  });
}

template <int Width, class Value>
bool HostSweep::run_columns_backward(const Value* stored, double* x, const ColumnPass& pass) const {
  const Index n = rows();
  bool finite = true;
  for (Index p = 0; p < n; ++p) {
    const Index i = n - 1 - p;
    const Offset count = offsets_[i + 1] - offsets_[i];
    const Offset last = count > 0 ? offsets_[i + 1] - 1 : 0;
    finite &= run_row<Width, -1>(pass, i, p, columns_ + last, stored + last, count, x, i, x);
  }
  return finite;
}

template <int Width, class Value>
bool HostSweep::run_columns_by_position(const Value* stored, double* x, const ColumnPass& pass) {
  const RowOrder row = order();
  const Offset* const offsets = offsets_;
  std::atomic<bool> finite{true};
  executor_.run([&](int, Index first, Index last) {
    bool mine = true;
    for (Index p = first; p < last; ++p) {
      const Index i = row[p];
      mine &=
          run_row<Width>(pass, i, p, columns_ + offsets[p], stored + offsets[p], offsets[p + 1] - offsets[p], x, i, x);
    }
    if (!mine) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace taskdag::kernels
