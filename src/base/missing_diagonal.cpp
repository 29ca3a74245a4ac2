#include "base/missing_diagonal.hpp"

#include <cstddef>
#include <string>

#include "taskdag/error.hpp"

namespace taskdag {

void refuse_missing_diagonal(Index row, const RowNames& names) {
  const Index known_as = names.order.empty() ? row : names.order[static_cast<std::size_t>(row)];
  throw InvalidInput((names.blocks ? "block row " : "row ") + std::to_string(known_as) + " has no diagonal entry");
}

}  // namespace taskdag
