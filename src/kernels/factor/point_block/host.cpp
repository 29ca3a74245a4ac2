#include "kernels/factor/point_block/host.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/index.hpp"
#include "kernels/factor/point_block/task.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// The Worker of the task: one thread.
template <class Size>
class Thread {
 public:
  Thread(Size size, const Pattern& pattern, const Offset* slots, double* values, const double* input, Index* markers,
         Offset* marks, bool diagonal_only)
      : size_(size),
        offsets_(pattern.row_offsets.data()),
        diagonals_(pattern.diagonal.data()),
        columns_(pattern.columns.data()),
        source_(pattern.source.data()),
        mirror_(pattern.symmetric() ? pattern.mirror.data() : nullptr),
        slots_(slots),
        values_(values),
        input_(input),
        markers_(markers),
        marks_(marks),
        diagonal_only_(diagonal_only) {}

  [[nodiscard]] Offset begin(Index i) const { return offsets_[i]; }
  [[nodiscard]] Offset diagonal(Index i) const { return diagonals_[i]; }
  [[nodiscard]] Offset end(Index i) const { return offsets_[i + 1]; }
  [[nodiscard]] Index column(Offset e) const { return columns_[e]; }
  [[nodiscard]] double* mine(Offset e) const { return values_ + elements_of(size_, slots_[e]); }
  [[nodiscard]] bool row_is_symmetric() const { return mirror_ != nullptr; }
  [[nodiscard]] double input(Offset e, int r, int c) const {
    return source_[e] < 0 ? 0.0 : input_[elements_of(size_, source_[e]) + c * size_.rows() + r];
  }
  void take_finished(Size, Index, Offset e) { entry_ = e; }  // the plan has waited
  [[nodiscard]] const double* inverse() const { return mine(diagonals_[columns_[entry_]]); }
  [[nodiscard]] const double* above() const { return mine(mirror_[entry_]); }
  template <class Left>
  void multiply(Size size, double* block, const Left& left, const double* right) {
    const int n = size.rows();
    double* const copy = scratch_.data();
    each_element(size, [&](int r, int c) { copy[c * n + r] = left(r, c); });
    each_element(size, [&](int r, int c) { block[c * n + r] = product(size, copy, right, r, c); });
  }
  Inversion invert_block(Size size, double* block, double amount) {
    return invert(size, *this, block, pivot_rows_.data(), amount);
  }
  static void sync() {}

  template <class Body>
  static void each(int count, const Body& body) {
    for (int k = 0; k < count; ++k) body(k);
  }
  template <class Body>
  static void each_element(Size size, const Body& body) {
    for (int c = 0; c < size.rows(); ++c) {
      for (int r = 0; r < size.rows(); ++r) body(r, c);
    }
  }
  template <class Body>
  void each_in_row(Size size, Index i, Offset from, const Body& body) const {
    for (Offset e = from; e < offsets_[i + 1]; ++e) {
      each_element(size, [&](int r, int c) { body(e, r, c); });
    }
  }
  template <class Body>
  void subtract(Size size, Index i, Offset e, const Body& amount) const {
    const Index k = columns_[e];
    for (Offset f = diagonals_[k] + 1; f < offsets_[k + 1]; ++f) {
      const Index j = columns_[f];
      if (markers_[j] != i || (row_is_symmetric() && j < i) || (diagonal_only_ && j != i)) continue;
      const double* const block = mine(f);
      double* const target = mine(marks_[j]);
      each_element(size, [&](int r, int c) { target[c * size.rows() + r] -= amount(block, r, c); });
    }
  }
  static void finish_beside_diagonal(Size, Index) {}
  template <class Amount>
  static double sum_of(Offset from, Offset to, const Amount& amount) {
    double sum = 0.0;
    for (Offset e = from; e < to; ++e) sum += amount(e);
    return sum;
  }

  void mark(Index i) const {
    for (Offset e = offsets_[i]; e < offsets_[i + 1]; ++e) {
      markers_[columns_[e]] = i;
      marks_[columns_[e]] = e;
    }
  }

 private:
  static constexpr std::size_t kRows = Size::known > 0 ? Size::known : kLargestBlock;
  Size size_;
  const Offset* offsets_;
  const Offset* diagonals_;
  const Index* columns_;
  const Offset* source_;
  const Offset* mirror_;
  const Offset* slots_;
  double* values_;
  const double* input_;
  Index* markers_;
  Offset* marks_;
  bool diagonal_only_;
  Offset entry_ = 0;  ///< of the row at work: what it is subtracted for
  std::array<double, kRows * kRows> scratch_;
  std::array<int, kRows> pivot_rows_;
};

/// Records what a block row has come to.
template <class Size>
void report(Size size, const Thread<Size>& thread, Index i, const Inversion& found, Findings& findings) {
  const int n = size.rows();
  if (found.first_zero >= 0) {
    findings.zero_pivot(i * n + found.first_zero);
    findings.zero_pivot(i * n + found.last_zero);
    return;
  }
  for (int k = 0; k < found.shifted; ++k) findings.shifted();
  bool finite = found.finite;
  for (Offset e = thread.begin(i); e < thread.end(i); ++e) {
    const double* const block = thread.mine(e);
    for (int k = 0; k < n * n; ++k) finite &= is_finite(block[k]);
  }
  if (!finite) findings.non_finite(i * n);
}

/// The rows of one sweep.
struct SweepRows {
  const Offset* offsets;
  const Offset* diagonal;
  const Index* columns;
  const Offset* blocks;  ///< by entry: where its block is
  Triangle triangle;

  [[nodiscard]] Offset begin(Index i) const { return triangle == Triangle::lower ? offsets[i] : diagonal[i] + 1; }
  [[nodiscard]] Offset end(Index i) const { return triangle == Triangle::lower ? diagonal[i] : offsets[i + 1]; }
  [[nodiscard]] Offset block(Offset e) const { return blocks[e]; }
};

/// Two rows of a block side by side, wherever they lie.
using Pair [[gnu::vector_size(16), gnu::aligned(8), gnu::may_alias]] = double;

/// The rows of a block in registers: pairs, and the last one alone where there is an odd number.
template <int N>
struct PairSum {
  Pair pair[std::size_t{N} / 2] = {};
  double last = 0.0;
};

/// sum += a x for blocks of N rows. The product is complete before it is added, so that those of one block and the next
/// overlap.
template <int N, std::size_t... Rows>
[[gnu::always_inline]] inline void add_product(const double* a, const double* x, PairSum<N>& sum,
                                               std::index_sequence<Rows...>) {
  const auto pair = [a](int c, std::size_t p) {
    return *reinterpret_cast<const Pair*>(a + std::ptrdiff_t{c} * N + 2 * p);
  };
  Pair product[std::size_t{N} / 2] = {(pair(0, Rows) * x[0])...};
  double last = N % 2 != 0 ? a[N - 1] * x[0] : 0.0;
#pragma GCC unroll 16
  for (int c = 1; c < N; ++c) {
    ((product[Rows] += pair(c, Rows) * x[c]), ...);
    if constexpr (N % 2 != 0) last += a[std::ptrdiff_t{c} * N + N - 1] * x[c];
  }
  ((sum.pair[Rows] += product[Rows]), ...);
  sum.last += last;
}

/// sum += a x, or aᵀ x, one row after the other. `imaginary`: of a transpose, by what elements are multiplied that are
/// imaginary parts where blocks are of complex numbers: −1 for those, as not_conjugated().
template <bool transposed>
void add_product(int n, const double* a, const double* x, [[maybe_unused]] double imaginary, double* sum) {
  for (int c = 0; c < n; ++c) {
    if constexpr (transposed) {
      const double sign[2] = {1.0, imaginary};
      double product = 0.0;
      for (int r = 0; r < n; ++r) product += sign[(r ^ c) & 1] * a[c * n + r] * x[r];
      sum[c] += product;
    } else {
      for (int r = 0; r < n; ++r) sum[r] += a[c * n + r] * x[c];
    }
  }
}

/// sum = Σ a x over `count` entries from `first` on in steps of `step`, with operands that operand(e) points to.
template <bool transposed, class Size, class Block, class Operand>
[[gnu::always_inline]] inline void sum_products(Size size, Offset first, Offset count, Offset step, const Block& block,
                                                const Operand& operand, double imaginary, double* sum) {
  if constexpr (Size::known > 0 && !transposed) {
    constexpr int kRows = Size::known;
    PairSum<kRows> sums;
    for (Offset e = first; count > 0; --count, e += step) {
      add_product<kRows>(block(e), operand(e), sums, std::make_index_sequence<std::size_t{kRows / 2}>());
    }
    for (int r = 0; r < kRows / 2 * 2; ++r) sum[r] = sums.pair[r / 2][r % 2];
    if constexpr (kRows % 2 != 0) sum[kRows - 1] = sums.last;
  } else {
    for (int r = 0; r < size.rows(); ++r) sum[r] = 0.0;
    for (Offset e = first; count > 0; --count, e += step) {
      add_product<transposed>(size.rows(), block(e), operand(e), imaginary, sum);
    }
  }
}

/// One sweep over `work`, whose blocks are set by load(i, block) before row i. `scales`: each result is multiplied by
/// the inverse diagonal block. emit(i, block) takes it.
template <bool transposed, class Size, class Load, class Emit>
void sweep(Size size, PlanExecutor& executor, const SweepRows& rows, const double* values, bool scales,
           double imaginary, double* work, const Load& load, const Emit& emit) {
  constexpr std::size_t kRows = Size::known > 0 ? Size::known : kLargestBlock;
  const RowOrder order = executor.order();
  executor.run([&](int, Index first, Index last) {
    const int n = size.rows();
    for (Index p = first; p < last; ++p) {
      const Index i = order[p];
      double* const mine = work + static_cast<std::int64_t>(i) * n;
      std::array<double, kRows> sum;
      // The nearest row comes last, which may have just been computed; memory is read in one direction.
      const Offset count = rows.end(i) - rows.begin(i);
      const bool lower = rows.triangle == Triangle::lower;
      sum_products<transposed>(
          size, lower ? rows.begin(i) : rows.end(i) - 1, count, lower ? 1 : -1,
          [&](Offset e) { return values + elements_of(size, rows.block(e)); },
          [&](Offset e) { return work + static_cast<std::int64_t>(rows.columns[e]) * n; }, imaginary, sum.data());
      std::array<double, kRows> rest;
      load(i, rest.data());
      for (int r = 0; r < n; ++r) rest[at(r)] -= sum[at(r)];
      if (scales) {
        const Offset diagonal = rows.diagonal[i];
        sum_products<transposed>(
            size, diagonal, 1, 1, [&](Offset e) { return values + elements_of(size, rows.block(e)); },
            [&](Offset) { return rest.data(); }, imaginary, sum.data());
      }
      for (int r = 0; r < n; ++r) mine[r] = scales ? sum[at(r)] : rest[at(r)];
      emit(i, mine);
    }
  });
}

/// Where the blocks are: L by rows, D, U by rows, so that a sweep reads one after the other.
std::vector<Offset> make_slots(const Pattern& pattern) {
  std::vector<Offset> slots(pattern.columns.size());
  Offset next = 0;
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Offset e = pattern.row_offsets[at(i)]; e < pattern.diagonal[at(i)]; ++e) slots[at(e)] = next++;
  }
  for (Index i = 0; i < pattern.rows; ++i) slots[at(pattern.diagonal[at(i)])] = next++;
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Offset e = pattern.diagonal[at(i)] + 1; e < pattern.row_offsets[at(i) + 1]; ++e) slots[at(e)] = next++;
  }
  return slots;
}

}  // namespace

HostFactor::HostFactor(Pattern pattern, int block_size, host::ThreadPool& pool)
    : pattern_(std::move(pattern)),
      block_size_(block_size),
      pool_(&pool),
      slots_(make_slots(pattern_)),
      lower_(plan(pattern_.view(), Triangle::lower)),
      upper_(plan(pattern_.view(), Triangle::upper)),
      values_(std::make_unique_for_overwrite<double[]>(pattern_.columns.size() * at(block_size) * at(block_size))),
      work_(std::make_unique_for_overwrite<double[]>(at(pattern_.rows) * at(block_size))),
      marks_(at(lower_.plan().threads()), std::vector<Offset>(at(pattern_.rows))),
      markers_(at(lower_.plan().threads()), std::vector<Index>(at(pattern_.rows), -1)) {}

HostFactor::TransposedSweeps::TransposedSweeps(Transposed transposed, const HostFactor& of)
    : pattern(std::move(transposed)),
      diagonal(diagonal_entries(pattern.view())),
      lower(of.plan(pattern.view(), Triangle::lower)),
      upper(of.plan(pattern.view(), Triangle::upper)) {
  for (Offset& block : pattern.source_entry) block = of.slots_[at(block)];
}

PlanExecutor HostFactor::plan(const CsrPattern& pattern, Triangle triangle) const {
  PlanCosts costs;
  costs.entry *= std::int64_t{block_size_} * block_size_;
  costs.row *= block_size_;
  return {std::make_shared<const ThreadPlan>(pattern, triangle, pool_->processors(), costs), *pool_};
}

void HostFactor::factor(const double* values, const Pivoting& pivoting, Findings& findings) {
  findings.reset();
  with_block_size(block_size_, [&](auto size) {
    const RowOrder order = lower_.order();
    lower_.run([&](int thread, Index first, Index last) {
      Thread<decltype(size)> worker(size, pattern_, slots_.data(), values_.get(), values, markers_[at(thread)].data(),
                                    marks_[at(thread)].data(), pivoting.diagonal_only);
      for (Index p = first; p < last; ++p) {
        const Index i = order[p];
        worker.mark(i);
        report(size, worker, i, eliminate_row(size, worker, i, pivoting), findings);
      }
    });
  });
}

bool HostFactor::apply(Direction direction, const double* b, BlockOrder in, double* x, BlockOrder out) {
  const bool transposed = direction != Direction::forward && !pattern_.symmetric();
  if (transposed && !transposed_) {
    transposed_ = std::make_unique<TransposedSweeps>(transpose(pattern_.view()), *this);
  }
  std::atomic<bool> finite{true};
  double* const work = work_.get();
  with_block_size(block_size_, [&](auto size) {
    const int n = size.rows();
    const auto load_b = [&](Index i, double* block) {
      const double* const from = b + in.begin(i, n);
      for (int r = 0; r < n; ++r) block[r] = from[r];
    };
    const auto load_work = [&](Index i, double* block) {
      const double* const from = work + static_cast<std::int64_t>(i) * n;
      for (int r = 0; r < n; ++r) block[r] = from[r];
    };
    const auto nothing = [](Index, const double*) {};
    const auto store = [&](Index i, const double* block) {
      double* const to = x + out.begin(i, n);
      bool all = true;
      for (int r = 0; r < n; ++r) {
        to[r] = block[r];
        all &= is_finite(block[r]);
      }
      if (!all) finite.store(false, std::memory_order_relaxed);
    };
    const double* const values = values_.get();
    if (transposed) {
      const MappedPattern& p = transposed_->pattern;
      const Offset* const diagonal = transposed_->diagonal.data();
      SweepRows rows{p.row_offsets.data(), diagonal, p.col_indices.data(), p.source_entry.data(), Triangle::lower};
      const double imaginary = direction == Direction::complex_transposed ? -1.0 : 1.0;
      sweep<true>(size, transposed_->lower, rows, values, true, imaginary, work, load_b, nothing);
      rows.triangle = Triangle::upper;
      sweep<true>(size, transposed_->upper, rows, values, false, imaginary, work, load_work, store);
    } else {
      SweepRows rows{pattern_.row_offsets.data(), pattern_.diagonal.data(), pattern_.columns.data(), slots_.data(),
                     Triangle::lower};
      sweep<false>(size, lower_, rows, values, false, 1.0, work, load_b, nothing);
      rows.triangle = Triangle::upper;
      sweep<false>(size, upper_, rows, values, true, 1.0, work, load_work, store);
    }
  });
  return finite.load(std::memory_order_relaxed);
}

double HostFactor::pivot_magnitude(Index row) const {
  const Offset diagonal = slots_[at(pattern_.diagonal[at(row)])];
  return magnitude_of_inverse(values_.get() + elements_of(BlockSize<2>(2), diagonal));
}

std::vector<double> HostFactor::values() const {
  const std::size_t size = at(block_size_) * at(block_size_);
  std::vector<double> result(slots_.size() * size);
  for (std::size_t e = 0; e < slots_.size(); ++e) {
    std::copy_n(values_.get() + at(slots_[e]) * size, size, result.data() + e * size);
  }
  return result;
}

std::int64_t HostFactor::bytes() const {
  const std::int64_t rows = pattern_.rows;
  const std::int64_t transposed =
      transposed_ ? static_cast<std::int64_t>(sizeof(Index) * (2 * pattern_.columns.size() + 2 * at(pattern_.rows))) +
                        transposed_->lower.plan().bytes() + transposed_->upper.plan().bytes()
                  : 0;
  const auto slots = static_cast<std::int64_t>(sizeof(Offset) * slots_.size());
  return pattern_.bytes() + slots + lower_.plan().bytes() + upper_.plan().bytes() + transposed +
         static_cast<std::int64_t>(sizeof(double)) *
             (static_cast<std::int64_t>(pattern_.columns.size()) * block_size_ * block_size_ + rows * block_size_) +
         static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset)) * static_cast<std::int64_t>(marks_.size()) * rows;
}

}  // namespace taskdag::kernels::point_block
