/// \file
/// Which row stands at which position.
#pragma once

#include <cstddef>
#include <span>

#include "taskdag/schedule.hpp"

namespace taskdag {

/// A list of rows that stays where it is, or all rows one after the other, which needs no list.
class RowOrder {
 public:
  /// The natural order of a sweep over `triangle`.
  RowOrder(Index rows, Triangle triangle)
      : rows_(rows), first_(triangle == Triangle::lower ? 0 : rows - 1), step_(triangle == Triangle::lower ? 1 : -1) {}
  explicit RowOrder(std::span<const Index> list) : list_(list.data()), rows_(static_cast<Index>(list.size())) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index operator[](Index position) const {
    return list_ != nullptr ? list_[position] : first_ + step_ * position;
  }

 private:
  const Index* list_ = nullptr;
  Index rows_;
  Index first_ = 0;
  Index step_ = 0;
};

}  // namespace taskdag
