/// \file
/// Systems on several ranks for tests of Krylov methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "krylov_fixture.hpp"
#include "taskdag/rank_group.hpp"

namespace taskdag::test {

using Vector = std::vector<double>;

/// The rows [first, end) of a matrix, as a rank has them.
struct Share {
  CsrMatrix own;
  CsrMatrix outer;
  std::vector<std::int64_t> ghosts;
  std::size_t first = 0;
  std::size_t end = 0;
};

inline void append(CsrMatrix& a, Index column, double value) {
  a.col_indices.push_back(column);
  a.values.push_back(value);
}

inline std::vector<std::int64_t> ghosts_of(const CsrMatrix& a, Index first, Index end) {
  std::vector<std::int64_t> ghosts;
  for (Index i = first; i < end; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = a.col_indices[static_cast<std::size_t>(e)];
      if (j < first || j >= end) ghosts.push_back(j);
    }
  }
  std::ranges::sort(ghosts);
  ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());
  return ghosts;
}

inline Share share_of(const CsrMatrix& a, Index first, Index end) {
  Share share;
  share.first = static_cast<std::size_t>(first);
  share.end = static_cast<std::size_t>(end);
  share.ghosts = ghosts_of(a, first, end);
  share.own.rows = share.own.cols = share.outer.rows = end - first;
  share.outer.cols = static_cast<Index>(share.ghosts.size());
  share.own.row_offsets = share.outer.row_offsets = {0};
  for (Index i = first; i < end; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = a.col_indices[static_cast<std::size_t>(e)];
      const double value = a.values[static_cast<std::size_t>(e)];
      if (j >= first && j < end) {
        append(share.own, j - first, value);
      } else {
        append(share.outer, static_cast<Index>(std::ranges::lower_bound(share.ghosts, j) - share.ghosts.begin()),
               value);
      }
    }
    share.own.row_offsets.push_back(static_cast<Offset>(share.own.values.size()));
    share.outer.row_offsets.push_back(static_cast<Offset>(share.outer.values.size()));
  }
  return share;
}

inline Vector piece(const Vector& v, const Share& share) {
  return {v.begin() + static_cast<std::ptrdiff_t>(share.first), v.begin() + static_cast<std::ptrdiff_t>(share.end)};
}

/// How a rank's solve has gone, and the solution.
struct Solved {
  KrylovOutcome outcome;
  Vector x;
};

/// What a rank has in memory of its backend.
class Rank {
 public:
  Rank(const Context& context, bool on_device, const RankGroup& group, Share share)
      : context_(context),
        device_(on_device ? make_device_stream() : nullptr),
        group_(group),
        share_(std::move(share)),
        own_(device_.get(), share_.own),
        outer_(device_.get(), share_.outer),
        diagonal_(device_.get(), with_one(inverse_diagonal(share_.own))) {}

  [[nodiscard]] Stream stream() const { return device_ ? device_->stream() : Stream{}; }
  [[nodiscard]] const Share& share() const { return share_; }

  void precondition(With with, FactorKind kind = FactorKind::ic) {
    if (with == With::diagonal) map_ = std::make_unique<DiagonalMap>(diagonal_.data());
    if (with != With::factor) return;
    const MemorySpace space = device_ ? MemorySpace::device : MemorySpace::host;
    factor_.emplace(context_, own_.pattern(), space, FactorOptions{.kind = kind}, std::vector<Index>{},
                    std::vector<Index>{}, stream());
    factor_->factor(own_.values(), space, stream());
    const auto apply = [f = &*factor_, space](const double* x, double* y, Stream s) {
      f->apply(Apply::full, x, y, space, s);
    };
    map_ = std::make_unique<FunctionMap<decltype(apply)>>(apply);
  }
  void make(const KrylovOptions& options, double patience_s = 50.0, bool shared_devices = false) {
    KrylovRanks ranks;
    ranks.group = &group_;
    ranks.outer = outer_.view();
    ranks.ghosts = share_.ghosts;
    ranks.patience_s = patience_s;
    ranks.shared_devices = shared_devices;
    krylov_.emplace(context_, own_.view(), map_.get(), options, ranks, stream());
  }
  [[nodiscard]] Krylov& krylov() { return *krylov_; }
  /// Iteration 0 from zero, of vectors that stay until the next one.
  void begin(const Vector& b) {
    rhs_.emplace(device_.get(), with_one(piece(b, share_)));
    solution_.emplace(device_.get(), with_one(piece(b, share_)));
    static_cast<void>(krylov_->begin(rhs_->data(), solution_->data(), false, {}, stream()));
  }
  KrylovOutcome solve(const Vector& b, Vector& x, bool guess, const KrylovTolerances& tolerances) {
    Array<double> rhs(device_.get(), with_one(piece(b, share_)));
    Array<double> solution(device_.get(), with_one(piece(x, share_)));
    KrylovOutcome outcome = krylov_->solve(rhs.data(), solution.data(), guess, tolerances, stream());
    const Vector found = solution.read();
    std::copy_n(found.begin(), share_.end - share_.first, x.begin() + static_cast<std::ptrdiff_t>(share_.first));
    return outcome;
  }

 private:
  /// A rank without rows has arrays all the same.
  static Vector with_one(Vector v) {
    if (v.empty()) v.push_back(0.0);
    return v;
  }
  const Context& context_;
  std::unique_ptr<DeviceStream> device_;
  const RankGroup& group_;
  Share share_;
  MatrixArrays own_;
  MatrixArrays outer_;
  Array<double> diagonal_;
  std::optional<Factorization> factor_;
  std::unique_ptr<LinearMap> map_;
  std::optional<Array<double>> rhs_;  ///< of begin()
  std::optional<Array<double>> solution_;
  std::optional<Krylov> krylov_;
};

inline CsrMatrix grid(Index n, double wind = 0.0) { return make_stencil({.nx = n, .ny = n, .wind = wind}); }
inline Vector rhs_of(const CsrMatrix& a) {
  Vector b(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  return b;
}

inline std::vector<KrylovOptions> all_methods() {
  using M = KrylovMethod;
  using S = KrylovSide;
  using N = KrylovNorm;
  std::vector<KrylovOptions> result;
  for (const N norm : {N::preconditioned, N::unpreconditioned, N::natural})
    result.push_back({.method = M::cg, .norm = norm});
  for (const M method : {M::bicgstab, M::gmres}) {
    result.push_back({.method = method, .side = S::left, .norm = N::preconditioned});
    result.push_back({.method = method, .side = S::right, .norm = N::unpreconditioned});
  }
  result.push_back({.method = M::fgmres, .side = S::right, .norm = N::unpreconditioned});
  result.push_back({.method = M::gmres, .restart = 11, .orthogonalisation = KrylovOrthogonalisation::modified});
  result.push_back({.method = M::gmres, .restart = 7, .refinement = KrylovRefinement::if_needed});
  for (const N norm : {N::preconditioned, N::unpreconditioned}) {
    result.push_back({.method = M::minres, .norm = norm});
    result.push_back({.method = M::richardson, .norm = norm, .damping = 0.2});
    result.push_back({.method = M::chebyshev, .norm = norm, .smallest = 0.05, .largest = 8.0});
  }
  result.push_back({.method = M::chebyshev, .norm = N::none, .smallest = 0.05, .largest = 8.0});
  return result;
}

/// What both solves have to have in common: all but rounding, which changes the way of BiCGStab.
inline void expect_alike(KrylovMethod method, const KrylovOutcome& one, const KrylovOutcome& many, const Vector& x,
                         const Vector& y) {
  const auto iterations = static_cast<double>(one.iterations);
  EXPECT_EQ(one.reason, many.reason);
  EXPECT_NEAR(iterations, static_cast<double>(many.iterations),
              method == KrylovMethod::bicgstab ? 2.0 + 0.3 * iterations : 1.0);
  double most = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(x[i]));
    difference = std::max(difference, std::abs(x[i] - y[i]));
  }
  EXPECT_LE(difference, 1e-5 * most);
}

}  // namespace taskdag::test
