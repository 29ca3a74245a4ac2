/// \file
/// A method as a loop on its backend, and the list of methods.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "krylov/control.hpp"
#include "krylov/system.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::krylov {

/// What a loop is made from.
struct LoopInput {
  const Context& context;
  const KrylovOptions& options;
  System system;
  Calls calls;
  std::int64_t entries = 0;     ///< of the matrix, elements of blocks
  std::uint32_t most_rows = 0;  ///< of the rank with most: ranks decide alike
  /// Threads that share a row of a product on CUDA.
  int row_threads = 1;
  /// Host: rows of each thread (engine::HostFlow).
  std::vector<std::uint32_t> cut{};
  [[nodiscard]] std::uint32_t columns() const { return static_cast<std::uint32_t>(options.columns); }
};

/// What a solve begins with.
struct Start {
  const double* b;
  double* x;
  bool guess;
  KrylovTolerances tolerances;
  std::uint32_t columns = 1;  ///< of b and x, at most as many as the loop has
  std::int64_t ldb = 0;       ///< elements from a column to the next
  std::int64_t ldx = 0;
};

/// How far a column of a solve is.
struct ColumnState {
  Control control{};
  std::vector<double> norms;  ///< since it was fetched before
};

/// Memory of a method: vectors and structs, zeroed, owned. Each is there for each column, one after the other.
class Workspace {
 public:
  Workspace(const Context& context, std::uint32_t rows, std::uint32_t columns)
      : context_(context), rows_(rows), columns_(columns) {}
  /// A vector of the system, `stride()` elements apart for several columns.
  double* vector() {
    vectors_ += columns_;
    return make<double>(columns_ == 1 ? rows_ : stride());
  }
  /// Rows from the start of a vector to that of the next: whole lines of memory, and an odd number of them. With a
  /// power of two the same element of all vectors would want the same few places of a cache.
  [[nodiscard]] std::size_t stride() const { return ((rows_ + 15U) / 16U | 1U) * std::size_t{16}; }
  /// So many vectors, `stride()` rows apart.
  double* vectors(std::size_t count) {
    vectors_ += static_cast<std::int64_t>(count) * columns_;
    return make<double>(count * stride());
  }
  template <class T>
  T* make(std::size_t count) {
    memory_.emplace_back(context_, columns_ * count * sizeof(T));
    return static_cast<T*>(memory_.back().data());
  }
  [[nodiscard]] std::int64_t vectors() const { return vectors_; }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t total = 0;
    for (const engine::Memory& one : memory_) total += static_cast<std::int64_t>(one.size());
    return total;
  }

 private:
  const Context& context_;
  std::uint32_t rows_;
  std::uint32_t columns_;
  std::vector<engine::Memory> memory_;
  std::int64_t vectors_ = 0;
};

/// One method on one backend. begin() and go_on() are asynchronous on CUDA; what they have led to says fetch(), which
/// waits. Norms are those since the fetch() before: go_on() may ask for `most_norms` iterations but one.
class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  virtual ~Loop() = default;

  /// Up to the test of iteration 0. pause_at: as in go_on().
  virtual void begin(const Start& start, std::int64_t pause_at, Stream stream) = 0;
  /// Iterations until there is a reason, or until there have been pause_at. `first`: none since begin().
  virtual void go_on(std::int64_t pause_at, bool first, Stream stream) = 0;
  /// As go_on(), after a fetch(), with a span for each stage and call (engine/loop/trace.hpp). Waits.
  virtual engine::Report trace(std::int64_t pause_at, Stream stream) = 0;
  /// Of as many columns as there are room for in `columns`.
  virtual void fetch(std::vector<ColumnState>& columns, Stream stream) = 0;
  /// After fetch(): adds what stands beside those `count` norms, or what the method keeps in place of that. Only where
  /// the options ask for it.
  virtual void fetch_coefficients(std::size_t count, KrylovOutcome& outcome, Stream stream) = 0;
  /// What is left to be done for x after the last iteration.
  virtual void end(Stream stream) = 0;
  /// The preconditioner's launches have changed; none of those before are running.
  virtual void capture_anew() {}
  [[nodiscard]] virtual KrylovInfo info() const = 0;
};

using MakeLoop = std::unique_ptr<Loop> (*)(const LoopInput& input);

// Each in a file of its own, methods/NAME.cpp.
std::unique_ptr<Loop> make_cg(const LoopInput& input);
std::unique_ptr<Loop> make_gmres(const LoopInput& input);  // FGMRES, too
std::unique_ptr<Loop> make_bicgstab(const LoopInput& input);
std::unique_ptr<Loop> make_minres(const LoopInput& input);
std::unique_ptr<Loop> make_richardson(const LoopInput& input);
std::unique_ptr<Loop> make_chebyshev(const LoopInput& input);

}  // namespace taskdag::krylov
