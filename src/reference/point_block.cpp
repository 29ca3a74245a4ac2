#include "reference/point_block.hpp"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/index.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// A dense block by rows.
class Dense {
 public:
  explicit Dense(std::size_t n) : n_(n), values_(n * n, 0.0) {}
  double& operator()(std::size_t r, std::size_t c) { return values_[r * n_ + c]; }
  double operator()(std::size_t r, std::size_t c) const { return values_[r * n_ + c]; }
  [[nodiscard]] std::size_t rows() const { return n_; }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

Dense operator*(const Dense& a, const Dense& b) {
  Dense result(a.rows());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.rows(); ++c) {
      for (std::size_t k = 0; k < a.rows(); ++k) result(r, c) += a(r, k) * b(k, c);
    }
  }
  return result;
}

void subtract(Dense& a, const Dense& b) {
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.rows(); ++c) a(r, c) -= b(r, c);
  }
}

Dense transposed(const Dense& a) {
  Dense result(a.rows());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.rows(); ++c) result(r, c) = a(c, r);
  }
  return result;
}

/// Gaussian elimination of (a | 1) with complete pivoting, and back substitution.
Dense inverse(Dense a) {
  const std::size_t n = a.rows();
  Dense right(n);
  std::vector<std::size_t> unknown(n);
  for (std::size_t k = 0; k < n; ++k) {
    right(k, k) = 1.0;
    unknown[k] = k;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k;
    std::size_t column = k;
    for (std::size_t r = k; r < n; ++r) {
      for (std::size_t c = k; c < n; ++c) {
        if (std::abs(a(r, c)) > std::abs(a(row, column))) std::tie(row, column) = std::pair(r, c);
      }
    }
    for (std::size_t c = 0; c < n; ++c) {
      std::swap(a(k, c), a(row, c));
      std::swap(right(k, c), right(row, c));
    }
    for (std::size_t r = 0; r < n; ++r) std::swap(a(r, k), a(r, column));
    std::swap(unknown[k], unknown[column]);
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = a(r, k) / a(k, k);
      for (std::size_t c = k; c < n; ++c) a(r, c) -= factor * a(k, c);
      for (std::size_t c = 0; c < n; ++c) right(r, c) -= factor * right(k, c);
    }
  }
  Dense result(n);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t k = n; k-- > 0;) {
      double value = right(k, c);
      for (std::size_t j = k + 1; j < n; ++j) value -= a(k, j) * result(unknown[j], c);
      result(unknown[k], c) = value / a(k, k);
    }
  }
  return result;
}

using Row = std::map<Index, Dense>;

std::vector<Row> read(const CsrView& blocks, bool upper_alone, std::size_t n) {
  std::vector<Row> rows(at(blocks.pattern.rows));
  for (Index i = 0; i < blocks.pattern.rows; ++i) {
    for (Offset e = blocks.pattern.row_offsets[i]; e < blocks.pattern.row_offsets[i + 1]; ++e) {
      const Index j = blocks.pattern.col_indices[e];
      if (upper_alone && j < i) continue;
      Dense block(n);
      for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t c = 0; c < n; ++c) block(r, c) = blocks.values[(at(e) * n + c) * n + r];
      }
      rows[at(i)].emplace(j, block);
      if (upper_alone && j > i) rows[at(j)].emplace(i, transposed(block));
    }
  }
  return rows;
}

CsrMatrix write(const std::vector<Row>& rows, std::size_t n) {
  CsrMatrix result;
  result.rows = result.cols = static_cast<Index>(rows.size() * n);
  for (const Row& row : rows) {
    for (std::size_t r = 0; r < n; ++r) {
      for (const auto& [j, block] : row) {
        for (std::size_t c = 0; c < n; ++c) {
          result.col_indices.push_back(j * static_cast<Index>(n) + static_cast<Index>(c));
          result.values.push_back(block(r, c));
        }
      }
      result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
    }
  }
  return result;
}

}  // namespace

CsrMatrix reference_factor(const CsrView& blocks, FactorKind kind, Index block_size) {
  const std::size_t n = at(block_size);
  std::vector<Row> rows = read(blocks, kind == FactorKind::ic, n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (auto& [k, multiplier] : rows[i]) {
      if (at(k) >= i) break;
      multiplier = multiplier * rows[at(k)].at(k);  // the inverse is there
      for (const auto& [j, above] : rows[at(k)]) {
        const auto target = rows[i].find(j);
        if (j > k && target != rows[i].end()) subtract(target->second, multiplier * above);
      }
    }
    Dense& diagonal = rows[i].at(static_cast<Index>(i));
    diagonal = inverse(diagonal);
  }
  return write(rows, n);
}

std::vector<double> reference_apply(const CsrMatrix& factor, Index block_size, bool transposed,
                                    const std::vector<double>& b) {
  const Index rows = factor.rows;
  const auto block = [block_size](Index i) { return i / block_size; };
  std::vector<double> x = b;
  // By columns of the factor where it is transposed, else by rows.
  const auto each = [&](Index i, const auto& work) {
    for (Offset e = factor.row_offsets[at(i)]; e < factor.row_offsets[at(i) + 1]; ++e) {
      work(factor.col_indices[at(e)], factor.values[at(e)]);
    }
  };
  const auto scale = [&](Index first) {  // the block that begins at row `first` takes its inverse diagonal block
    std::vector<double> scaled(at(block_size), 0.0);
    for (Index r = 0; r < block_size; ++r) {
      each(first + r, [&](Index j, double value) {
        if (block(j) != block(first)) return;
        if (transposed) {
          scaled[at(j - first)] += value * x[at(first + r)];
        } else {
          scaled[at(r)] += value * x[at(j)];
        }
      });
    }
    for (Index r = 0; r < block_size; ++r) x[at(first + r)] = scaled[at(r)];
  };
  if (transposed) {
    for (Index first = 0; first < rows; first += block_size) {
      scale(first);
      for (Index i = first; i < first + block_size; ++i) {
        each(i, [&](Index j, double value) {
          if (block(j) > block(i)) x[at(j)] -= value * x[at(i)];
        });
      }
    }
    for (Index i = rows - 1; i >= 0; --i) {
      each(i, [&](Index j, double value) {
        if (block(j) < block(i)) x[at(j)] -= value * x[at(i)];
      });
    }
    return x;
  }
  for (Index i = 0; i < rows; ++i) {
    each(i, [&](Index j, double value) {
      if (block(j) < block(i)) x[at(i)] -= value * x[at(j)];
    });
  }
  for (Index first = rows - block_size; first >= 0; first -= block_size) {
    for (Index i = first; i < first + block_size; ++i) {
      each(i, [&](Index j, double value) {
        if (block(j) > block(i)) x[at(i)] -= value * x[at(j)];
      });
    }
    scale(first);
  }
  return x;
}

}  // namespace taskdag::kernels::point_block
