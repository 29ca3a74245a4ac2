#include "kernels/sptrsv/host/planned_sweep.hpp"

#include <utility>

#include "dag/dependencies.hpp"
#include "dag/levels.hpp"

namespace taskdag::kernels {

HostSweep::HostSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                     std::shared_ptr<const ThreadPlan> plan)
    : runner_(
          plan == nullptr ? std::make_shared<const ThreadPlan>(pattern, triangle, pool.processors()) : std::move(plan),
          pool),
      forward_(triangle == Triangle::lower),
      levels_(count_levels(pattern, triangle)) {
  const Index* const row = runner_.plan().order().data();
  offsets_.reserve(static_cast<std::size_t>(rows()) + 1);
  offsets_.push_back(0);
  for (Index p = 0; p < rows(); ++p) {
    offsets_.push_back(offsets_.back() + static_cast<Offset>(dependencies(pattern, triangle, row[p]).size()));
  }
  const auto size = static_cast<std::size_t>(entries());
  columns_ = std::make_unique_for_overwrite<Index[]>(size);
  values_ = std::make_unique_for_overwrite<double[]>(size);
  source_ = std::make_unique_for_overwrite<Offset[]>(size);
  runner_.for_owned([&](int, Index first, Index last) {
    for (Index p = first; p < last; ++p) {
      const auto columns = dependencies(pattern, triangle, row[p]);
      const auto begin = static_cast<Offset>(columns.data() - pattern.col_indices);
      const auto count = static_cast<Offset>(columns.size());
      for (Offset k = 0; k < count; ++k) {
        const Offset e = begin + (forward_ ? k : count - 1 - k);
        const Offset place = offsets_[static_cast<std::size_t>(p)] + k;
        const auto to = static_cast<std::size_t>(place);
        columns_[to] = pattern.col_indices[e];
        source_[to] = source == nullptr ? e : source[e];
        values_[to] = 0.0;
      }
    }
  });
}

void HostSweep::load(const double* values) {
  runner_.for_owned([&](int, Index first, Index last) {
    const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(last)]);
    for (auto e = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(first)]); e < end; ++e) {
      values_[e] = values[source_[e]];
    }
  });
}

std::int64_t HostSweep::bytes() const {
  return runner_.plan().bytes() + static_cast<std::int64_t>(sizeof(Offset) * offsets_.size()) +
         static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset) + sizeof(double)) * entries();
}

}  // namespace taskdag::kernels
