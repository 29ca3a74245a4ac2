#include "kernels/factor/point_block/host.hpp"

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
  Thread(Size size, const Pattern& pattern, double* values, const double* input, Index* markers, Offset* marks)
      : size_(size),
        offsets_(pattern.row_offsets.data()),
        diagonals_(pattern.diagonal.data()),
        columns_(pattern.columns.data()),
        source_(pattern.source.data()),
        mirror_(pattern.symmetric() ? pattern.mirror.data() : nullptr),
        values_(values),
        input_(input),
        markers_(markers),
        marks_(marks) {}

  [[nodiscard]] Offset begin(Index i) const { return offsets_[i]; }
  [[nodiscard]] Offset diagonal(Index i) const { return diagonals_[i]; }
  [[nodiscard]] Offset end(Index i) const { return offsets_[i + 1]; }
  [[nodiscard]] Index column(Offset e) const { return columns_[e]; }
  [[nodiscard]] double* mine(Offset e) const { return values_ + place(size_, e); }
  [[nodiscard]] const double* finished(Offset e) const { return values_ + place(size_, e); }
  [[nodiscard]] bool row_is_symmetric() const { return mirror_ != nullptr; }
  [[nodiscard]] Offset mirror(Offset e) const { return mirror_[e]; }
  [[nodiscard]] const double* input(Offset e) const {
    return source_[e] < 0 ? nullptr : input_ + place(size_, source_[e]);
  }
  static void wait_for(Index) {}  // the plan has waited
  [[nodiscard]] double* scratch() { return scratch_.data(); }
  [[nodiscard]] int* pivot_rows() { return pivot_rows_.data(); }
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
  void each_update(Size size, Index i, Index k, const Body& body) const {
    for (Offset f = diagonals_[k] + 1; f < offsets_[k + 1]; ++f) {
      const Index j = columns_[f];
      if (markers_[j] != i || (row_is_symmetric() && j < i)) continue;
      const Offset target = marks_[j];
      each_element(size, [&](int r, int c) { body(f, target, r, c); });
    }
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
  double* values_;
  const double* input_;
  Index* markers_;
  Offset* marks_;
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
  const double* const first = thread.mine(thread.begin(i));
  const double* const last = thread.mine(thread.end(i));
  bool finite = found.finite;
  for (const double* value = first; value != last; ++value) finite &= is_finite(*value);
  if (!finite) findings.non_finite(i * n);
}

/// The rows of one sweep.
struct SweepRows {
  const Offset* offsets;
  const Offset* diagonal;
  const Index* columns;
  const Offset* blocks;  ///< by entry: its block; null: of the same number
  Triangle triangle;

  [[nodiscard]] Offset begin(Index i) const { return triangle == Triangle::lower ? offsets[i] : diagonal[i] + 1; }
  [[nodiscard]] Offset end(Index i) const { return triangle == Triangle::lower ? diagonal[i] : offsets[i + 1]; }
  [[nodiscard]] Offset block(Offset e) const { return blocks != nullptr ? blocks[e] : e; }
};

/// sum −= a x, or aᵀ x.
template <bool transposed, class Size>
void subtract_product(Size size, const double* a, const double* x, double* sum) {
  const int n = size.rows();
  for (int c = 0; c < n; ++c) {
    if constexpr (transposed) {
      double product = 0.0;
      for (int r = 0; r < n; ++r) product += a[c * n + r] * x[r];
      sum[c] -= product;
    } else {
      for (int r = 0; r < n; ++r) sum[r] -= a[c * n + r] * x[c];
    }
  }
}

/// One sweep over `work`, whose blocks are set by load(i, block) before row i. `scales`: each result is multiplied by
/// the inverse diagonal block. emit(i, block) takes it.
template <bool transposed, class Size, class Load, class Emit>
void sweep(Size size, PlanRunner& runner, const SweepRows& rows, const double* values, bool scales, double* work,
           const Load& load, const Emit& emit) {
  constexpr std::size_t kRows = Size::known > 0 ? Size::known : kLargestBlock;
  const Index* const order = runner.order().data();
  runner.run([&](int, Index first, Index last) {
    const int n = size.rows();
    std::array<double, kRows> sum;
    for (Index p = first; p < last; ++p) {
      const Index i = order[p];
      double* const mine = work + static_cast<std::int64_t>(i) * n;
      load(i, sum.data());
      for (Offset e = rows.begin(i); e < rows.end(i); ++e) {
        const double* const x = work + static_cast<std::int64_t>(rows.columns[e]) * n;
        subtract_product<transposed>(size, values + place(size, rows.block(e)), x, sum.data());
      }
      if (scales) {
        for (int r = 0; r < n; ++r) mine[r] = 0.0;
        const double* const inverse = values + place(size, rows.block(rows.diagonal[i]));
        for (int r = 0; r < n; ++r) sum[at(r)] = -sum[at(r)];
        subtract_product<transposed>(size, inverse, sum.data(), mine);
      } else {
        for (int r = 0; r < n; ++r) mine[r] = sum[at(r)];
      }
      emit(i, mine);
    }
  });
}

std::vector<Offset> diagonals_of(const CsrPattern& pattern) { return diagonal_entries(pattern); }

}  // namespace

HostFactor::HostFactor(Pattern pattern, int block_size, host::ThreadPool& pool)
    : pattern_(std::move(pattern)),
      block_size_(block_size),
      pool_(&pool),
      lower_(plan(pattern_.view(), Triangle::lower)),
      upper_(plan(pattern_.view(), Triangle::upper)),
      values_(std::make_unique_for_overwrite<double[]>(pattern_.columns.size() * at(block_size) * at(block_size))),
      work_(std::make_unique_for_overwrite<double[]>(at(pattern_.rows) * at(block_size))),
      marks_(at(lower_.plan().threads()), std::vector<Offset>(at(pattern_.rows))),
      markers_(at(lower_.plan().threads()), std::vector<Index>(at(pattern_.rows), -1)) {}

HostFactor::Turned::Turned(Transposed transposed, const HostFactor& of)
    : pattern(std::move(transposed)),
      diagonal(diagonals_of(pattern.view())),
      lower(of.plan(pattern.view(), Triangle::lower)),
      upper(of.plan(pattern.view(), Triangle::upper)) {}

PlanRunner HostFactor::plan(const CsrPattern& pattern, Triangle triangle) const {
  PlanCosts costs;
  costs.entry *= std::int64_t{block_size_} * block_size_;
  costs.row *= block_size_;
  return {std::make_shared<const ThreadPlan>(pattern, triangle, pool_->processors(), costs), *pool_};
}

void HostFactor::factor(const double* values, double amount, Findings& findings) {
  findings.reset();
  with_block_size(block_size_, [&](auto size) {
    const Index* const order = lower_.order().data();
    lower_.run([&](int thread, Index first, Index last) {
      Thread<decltype(size)> worker(size, pattern_, values_.get(), values, markers_[at(thread)].data(),
                                    marks_[at(thread)].data());
      for (Index p = first; p < last; ++p) {
        const Index i = order[p];
        worker.mark(i);
        report(size, worker, i, eliminate_row(size, worker, i, amount), findings);
      }
    });
  });
}

bool HostFactor::apply(bool transposed, const double* b, BlockOrder in, double* x, BlockOrder out) {
  if (transposed && !pattern_.symmetric() && !turned_) {
    turned_ = std::make_unique<Turned>(transpose(pattern_.view()), *this);
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
    if (transposed && !pattern_.symmetric()) {
      const MappedPattern& p = turned_->pattern;
      const Offset* const diagonal = turned_->diagonal.data();
      SweepRows rows{p.row_offsets.data(), diagonal, p.col_indices.data(), p.source_entry.data(), Triangle::lower};
      sweep<true>(size, turned_->lower, rows, values, true, work, load_b, nothing);
      rows.triangle = Triangle::upper;
      sweep<true>(size, turned_->upper, rows, values, false, work, load_work, store);
    } else {
      SweepRows rows{pattern_.row_offsets.data(), pattern_.diagonal.data(), pattern_.columns.data(), nullptr,
                     Triangle::lower};
      sweep<false>(size, lower_, rows, values, false, work, load_b, nothing);
      rows.triangle = Triangle::upper;
      sweep<false>(size, upper_, rows, values, true, work, load_work, store);
    }
  });
  return finite.load(std::memory_order_relaxed);
}

std::int64_t HostFactor::bytes() const {
  const std::int64_t rows = pattern_.rows;
  const std::int64_t turned =
      turned_ ? static_cast<std::int64_t>(sizeof(Index) * (2 * pattern_.columns.size() + 2 * at(pattern_.rows))) +
                    turned_->lower.plan().bytes() + turned_->upper.plan().bytes()
              : 0;
  return pattern_.bytes() + lower_.plan().bytes() + upper_.plan().bytes() + turned +
         static_cast<std::int64_t>(sizeof(double)) *
             (static_cast<std::int64_t>(pattern_.columns.size()) * block_size_ * block_size_ + rows * block_size_) +
         static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset)) * static_cast<std::int64_t>(marks_.size()) * rows;
}

}  // namespace taskdag::kernels::point_block
