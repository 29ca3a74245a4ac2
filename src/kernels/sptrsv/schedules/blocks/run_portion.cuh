/// \file
/// A thread block runs a portion.
///
/// stage() reads nothing that a solve writes; fetch_rhs() nothing that this solve writes to other portions' rows. Then
/// start() needs the operands, walk() is one warp's, write_results() writes out.
/// Between them the block synchronises.
///
/// Value: in which values are stored. Of float, pivots scale right-hand sides (SweepInput::precision).
#pragma once

#include <type_traits>

#include "kernels/sptrsv/product.hpp"
#include "kernels/sptrsv/schedules/blocks/layout.hpp"

namespace taskdag::kernels::supersteps {

/// What kernels take by value. Arrays by place unless they say otherwise.
struct PortionArguments {
  const Portion* portion;
  const Step* step;
  const std::uint16_t* operand;
  const void* inner_value;  ///< of Value
  const Group* group;
  const std::uint16_t* started;
  const double* outer;       ///< where operands in other portions are: results, or x where that is written
  const Index* outer_index;  ///< counted from outer_base()
  const void* outer_value;   ///< of Value
  UserRows rhs_rows;
  UserRows x_rows;
  const double* pivot;  ///< null: all 1
  const double* rhs;
  const std::uint16_t* local;  ///< rows of portions in the order of their results, as UserRows::local
  double* result;              ///< null where x is written
  double* x;                   ///< or null
  int* non_finite;

  [[nodiscard]] __device__ Index outer_base(const Portion& of) const { return x != nullptr ? of.x_base : of.first; }
};

/// What kernels have in shared memory besides the portion that they run: at most so many bytes.
inline constexpr std::size_t kOwnBytes = 256;
/// Of shared memory, and where a portion begins in it.
inline constexpr std::size_t kLine = 128;

template <class Value>
inline constexpr bool kPortionScalesRhs = std::is_same_v<Value, float>;

/// The arrays of a portion in shared memory: each begins at a multiple of 16 bytes, and values at one of kLine: copies
/// whose units of 32 bytes end in two lines read them twice. Patterns come first, so that those of the portion before
/// stay where they are if they are this one's, too.
template <class Value>
class SharedPortion {
 public:
  /// memory: begins at a multiple of kLine. pivots: whether there are any; they need no room where they scale
  /// right-hand sides. lists: whether lists of rows are to be there.
  __device__ SharedPortion(std::byte* memory, const Portion& portion, bool pivots, bool lists) {
    std::size_t used = 0;
    const auto take = [&](auto*& array, Index size) {
      array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(memory + used);
      used += padded(static_cast<std::size_t>(size) * sizeof(*array));
    };
    take(step, portion.steps);
    take(operand, portion.inner_entries);
    if (lists) {
      take(local, portion.rows);
      take(rhs_run, runs(portion.rows));
      take(x_run, runs(portion.rows));
    }
    take(group, portion.groups);
    take(started, portion.started);
    take(outer_index, portion.outer_entries);
    used = padded(used, kLine);
    take(coefficient, portion.inner_entries);
    take(pivot, pivots && !kPortionScalesRhs<Value> ? portion.rows : 0);
    take(x, portion.rows + 1);
  }
  static std::size_t bytes(const Portion& portion, bool pivots, bool lists) {
    const auto size = [](Index n, std::size_t each) { return padded(static_cast<std::size_t>(n) * each); };
    const std::size_t of_rows =
        lists ? size(portion.rows, sizeof(std::uint16_t)) + 2 * size(runs(portion.rows), sizeof(Index)) : 0;
    const std::size_t patterns = size(portion.steps, sizeof(Step)) +
                                 size(portion.inner_entries, sizeof(std::uint16_t)) + of_rows +
                                 size(portion.groups, sizeof(Group)) + size(portion.started, sizeof(std::uint16_t)) +
                                 size(portion.outer_entries, sizeof(Index));
    return padded(patterns, kLine) + size(portion.inner_entries, sizeof(Value)) +
           size(pivots && !kPortionScalesRhs<Value> ? portion.rows : 0, sizeof(double)) +
           size(portion.rows + 1, sizeof(double));
  }
  __host__ __device__ static constexpr Index runs(Index rows) { return (rows + kRun - 1) / kRun; }

  Step* step;
  std::uint16_t* operand;  ///< `rows`: none
  std::uint16_t* local;    ///< PortionArguments::local
  Index* rhs_run;          ///< UserRows::run of the right-hand side
  Index* x_run;            ///< the same of x
  Group* group;
  std::uint16_t* started;
  Index* outer_index;
  Value* coefficient;  ///< of inner entries, by step
  double* pivot;
  double* x;  ///< start values, then results; a 0 behind them

 private:
  __host__ __device__ static constexpr std::size_t padded(std::size_t bytes, std::size_t unit = 16) {
    return (bytes + unit - 1) / unit * unit;
  }
};

__device__ inline unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

/// Starts the copy of `size` elements, and of what follows them up to 16 bytes, from global to shared memory. Both ends
/// aligned to 16 bytes.
template <int kThreads, class T>
__device__ void copy_async(T* to, const T* from, Index size) {
  constexpr unsigned kEach = 16;
  const unsigned own = threadIdx.x * kEach;
  const char* source = reinterpret_cast<const char*>(from) + own;
  const unsigned end = shared_address(to) + static_cast<unsigned>(size) * static_cast<unsigned>(sizeof(T));
#pragma unroll 4
  for (unsigned target = shared_address(to) + own; target < end; target += kThreads * kEach) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
    source += kThreads * kEach;
  }
}

/// The same for few elements, aligned to 4 bytes.
template <int kThreads>
__device__ void copy_words_async(Index* to, const Index* from, Index size) {
  for (auto e = static_cast<Index>(threadIdx.x); e < size; e += kThreads) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to + e)), "l"(from + e) : "memory");
  }
}

/// Which patterns are in shared memory.
struct Staged {
  Index inner = -1;
  Index outer = -1;
};

/// Starts to copy what does not change, patterns only if they are not there. @returns whether patterns with lists of
/// rows are on their way; without kLists these lists stay where they are
template <int kThreads, bool kLists, class Value>
__device__ bool stage(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& to,
                      Staged& staged) {
  const bool new_inner = portion.inner_pattern != staged.inner;
  if (new_inner) {
    if constexpr (kLists) {
      copy_async<kThreads>(to.local, a.local + portion.inner_pattern, portion.rows);
      const Index runs = to.runs(portion.rows);
      copy_words_async<kThreads>(to.rhs_run, a.rhs_rows.run + portion.inner_pattern / kRun, runs);
      copy_words_async<kThreads>(to.x_run, a.x_rows.run + portion.inner_pattern / kRun, runs);
    }
    copy_async<kThreads>(to.step, a.step + portion.inner_pattern, portion.steps);
    copy_async<kThreads>(to.operand, a.operand + portion.inner_pattern_entry, portion.inner_entries);
  }
  if (new_inner || portion.outer_pattern != staged.outer) {  // the outer one lies behind the inner one
    copy_async<kThreads>(to.group, a.group + portion.outer_pattern, portion.groups);
    copy_async<kThreads>(to.started, a.started + portion.outer_pattern, portion.started);
    copy_async<kThreads>(to.outer_index, a.outer_index + portion.outer_pattern_entry, portion.outer_entries);
  }
  staged = {portion.inner_pattern, portion.outer_pattern};
  copy_async<kThreads>(to.coefficient, static_cast<const Value*>(a.inner_value) + portion.inner, portion.inner_entries);
  if (a.pivot && !kPortionScalesRhs<Value>) copy_async<kThreads>(to.pivot, a.pivot + portion.first, portion.rows);
  if (threadIdx.x == 0) to.x[portion.rows] = 0.0;
  return kLists && new_inner;
}

/// Whether elements of a portion's rows come in runs of kRun neighbours, as UserRows::run has it.
__device__ inline bool has_runs(const Index* run) { return run[0] != kNone; }

/// Calls each(row of the portion, element of the vector) for the calling thread's share of a portion's UserRows.
/// kLists: what says where they are is in shared memory, as far as it fits.
template <int kThreads, bool kLists, class Each>
__device__ void for_rows(const UserRows& rows, const Portion& portion, const std::uint16_t* local, const Index* run,
                         const Each& each) {
  const auto own = static_cast<Index>(threadIdx.x);
  if constexpr (kLists) {
    if (rows.local && has_runs(run)) {
      static_assert(kThreads % kRun == 0);
      const std::uint16_t* its_local = local + threadIdx.x;
      const Index* its_run = run + threadIdx.x / kRun;
      const Index first = rows.base(portion) + static_cast<Index>(threadIdx.x % kRun);
#pragma unroll 4
      for (Index r = own; r < portion.rows; r += kThreads) {
        each(Index{*its_local}, first + *its_run);
        its_local += kThreads;
        its_run += kThreads / kRun;
      }
      return;
    }
  }
#pragma unroll 4
  for (Index r = own; r < portion.rows; r += kThreads) each(rows.in_portion(portion, r), rows.element(portion, r));
}
template <int kThreads, bool kLists, class Value, class Each>
__device__ void for_rhs_rows(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared,
                             const Each& each) {
  for_rows<kThreads, kLists>(a.rhs_rows, portion, shared.local, shared.rhs_run, each);
}

/// Starts to copy the right-hand sides to where start() and walk() look for them. Scaled ones are there at once: rows
/// of other solves may be written meanwhile, so they do not go through the first-level cache.
template <int kThreads, bool kLists, class Value>
__device__ void fetch_rhs(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& to) {
  if constexpr (kPortionScalesRhs<Value>) {
    if (a.pivot) {
      for_rhs_rows<kThreads, kLists>(a, portion, to, [&](Index row, Index element) {
        to.x[row] = __ldcg(a.rhs + element) * __ldg(a.pivot + portion.first + row);
      });
      return;
    }
  }
  for_rhs_rows<kThreads, kLists>(a, portion, to, [&](Index row, Index element) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(to.x + row)), "l"(a.rhs + element)
                 : "memory");
  });
}

/// The right-hand sides of a solve that ends a product (JoinsProducts::finish_product()): there, not on their way.
/// Results of the sweep before are read past the first-level cache, since its other blocks may still be at work.
template <int kThreads, bool kLists>
__device__ void fetch_product_rhs(const PortionArguments& a, const ProductArguments& product, const Portion& portion,
                                  const SharedPortion<double>& to) {
  for_rhs_rows<kThreads, kLists>(a, portion, to, [&](Index row, Index element) {
    const Index place = portion.first + row;
    const double u = product.share * __ldcg(product.first + product.first_index[place]);
    to.x[row] = a.rhs[element] - product.middle[place] * u;
  });
}

/// Waits for the calling thread's copies; the block has to synchronise after it.
__device__ inline void wait_for_stage() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// A lane's share of a group.
struct Start {
  static constexpr int kAhead = 2;
  int row = -1;  ///< −1: not the first lane of a row
  int log2_lanes = 0;
  Index entry = 0;  ///< its first one
  Index end = 0;
  double sum = 0.0;
  double operand[kAhead];
  double value[kAhead];

  /// Begins to load the first operands, past the first-level cache, since other blocks write them; and the first
  /// values, which are used once, so that they need no room in shared memory.
  template <class Value>
  __device__ void fetch(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared,
                        Index g) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const Group group = shared.group[g];
    log2_lanes = group.log2_lanes;
    const double* const outer = a.outer + a.outer_base(portion);
    entry = group.offset + lane;
    end = g + 1 < portion.groups ? shared.group[g + 1].offset : portion.outer_entries;
    const int k = lane >> log2_lanes;
    if (k < group.rows && (lane & ((1 << log2_lanes) - 1)) == 0) {
      row = shared.started[group.first + k];
      sum = shared.x[row];
    }
#pragma unroll
    for (int e = 0; e < kAhead; ++e) {
      const Index from = entry + e * kLanes < end ? shared.outer_index[entry + e * kLanes] : kNone;
      operand[e] = from != kNone ? __ldcg(outer + from) : 0.0;
      value[e] = from != kNone ? double{__ldcs(values<Value>(a, portion) + entry + e * kLanes)} : 0.0;
    }
  }

  /// Every lane of the warp calls it.
  template <class Value>
  __device__ void finish(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared) {
    const double* const outer = a.outer + a.outer_base(portion);
#pragma unroll
    for (int e = 0; e < kAhead; ++e) sum -= value[e] * operand[e];
#pragma unroll 4
    for (Index e = entry + kAhead * kLanes; e < end; e += kLanes) {
      const Index from = shared.outer_index[e];
      if (from != kNone) sum -= double{__ldcs(values<Value>(a, portion) + e)} * __ldcg(outer + from);
    }
    for (int apart = (1 << log2_lanes) / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(~0U, sum, apart, kLanes);
    if (row >= 0) shared.x[row] = sum;
  }

 private:
  template <class Value>
  static __device__ const Value* values(const PortionArguments& a, const Portion& portion) {
    return static_cast<const Value*>(a.outer_value) + portion.outer;
  }
};

/// All rows with outer entries, a warp a group. (Several groups of a warp under way at once take registers that more
/// blocks need more: docs/notes/supersteps.md.)
template <int kThreads, class Value>
__device__ void start(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared) {
  for (Index g = static_cast<Index>(threadIdx.x) / kLanes; g < portion.groups; g += kThreads / kLanes) {
    Start start;
    start.fetch(a, portion, shared, g);
    start.finish(a, portion, shared);
  }
}

/// A lane's share of a step, read before the step's operands are there.
template <int kAhead>
struct LaneOfStep {
  int row = -1;  ///< −1: not the first lane of a row
  double start;
  double pivot;
  int operand[kAhead];
  double coefficient[kAhead];

  /// entry: of this lane
  template <class Value>
  __device__ void read(const SharedPortion<Value>& portion, bool pivots, int none, Step step, int walked, int entry) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int lanes = step.rows << step.log2_lanes;
    row = -1;
    start = 0.0;
    if (lane < lanes && (lane & ((1 << step.log2_lanes) - 1)) == 0) {
      row = walked + (lane >> step.log2_lanes);
      start = portion.x[row];
      pivot = pivots ? portion.pivot[row] : 1.0;
    }
#pragma unroll
    for (int e = 0; e < kAhead; ++e) {
      const bool there = lane < lanes && e < step.entries;
      operand[e] = there ? portion.operand[entry + e * lanes] : none;
      coefficient[e] = there ? double{portion.coefficient[entry + e * lanes]} : 0.0;
    }
  }

  /// Every lane of the warp calls it.
  template <class Value>
  __device__ void run(const SharedPortion<Value>& portion, Step step, int entry) const {
    double sum = start;
    double operands[kAhead];
#pragma unroll
    for (int e = 0; e < kAhead; ++e) operands[e] = portion.x[operand[e]];
#pragma unroll
    for (int e = 0; e < kAhead; ++e) sum -= coefficient[e] * operands[e];
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int lanes = step.rows << step.log2_lanes;
    if (lane < lanes) {
      for (int e = kAhead; e < step.entries; ++e) {
        const int place = entry + e * lanes;
        sum -= double{portion.coefficient[place]} * portion.x[portion.operand[place]];
      }
    }
    for (int apart = (1 << step.log2_lanes) / 2; apart > 0; apart /= 2) {
      sum += __shfl_down_sync(~0U, sum, apart, kLanes);
    }
    if (row >= 0) portion.x[row] = sum * pivot;
  }
};

/// One warp: level by level, several lanes a row where it has many entries.
template <class Value>
__device__ void walk_steps(const Portion& portion, const SharedPortion<Value>& shared, bool pivots) {
  constexpr int kAhead = 4;
  const auto step_at = [&](Index s) { return s < portion.steps ? shared.step[s] : Step{}; };
  Step step = step_at(0);
  Step next = step_at(1);
  int walked = 0;
  int entry = static_cast<int>(threadIdx.x) % kLanes;
  LaneOfStep<kAhead> now;
  now.read(shared, pivots, portion.rows, step, walked, entry);
#pragma unroll 2
  for (Index s = 0; s < portion.steps; ++s) {
    const Step after = step_at(s + 2);
    walked += step.rows;
    const int next_entry = entry + (step.rows << step.log2_lanes) * step.entries;
    LaneOfStep<kAhead> ahead;
    ahead.read(shared, pivots, portion.rows, next, walked, next_entry);
    now.run(shared, step, entry);
    __syncwarp();
    now = ahead;
    step = next;
    next = after;
    entry = next_entry;
  }
}

/// A row with kEntries inner entries, read before the operands are there.
template <int kEntries, bool kPivots>
struct ShortRow {
  double start;
  double pivot;
  int operand[kEntries];
  double coefficient[kEntries];

  template <class Value>
  __device__ void read(const SharedPortion<Value>& portion, int row) {
    start = portion.x[row];
    if constexpr (kPivots) pivot = portion.pivot[row];
    if constexpr (kEntries == 2) {
      const ushort2 both = reinterpret_cast<const ushort2*>(portion.operand)[row];
      using Pair = std::conditional_t<std::is_same_v<Value, float>, float2, double2>;
      const Pair values = reinterpret_cast<const Pair*>(portion.coefficient)[row];
      operand[0] = both.x;
      operand[1] = both.y;
      coefficient[0] = values.x;
      coefficient[1] = values.y;
    } else {
#pragma unroll
      for (int e = 0; e < kEntries; ++e) {
        operand[e] = portion.operand[row * kEntries + e];
        coefficient[e] = portion.coefficient[row * kEntries + e];
      }
    }
  }
  template <class Value>
  [[nodiscard]] __device__ double result(const SharedPortion<Value>& portion) const {
    double operands[kEntries];
#pragma unroll
    for (int e = 0; e < kEntries; ++e) operands[e] = portion.x[operand[e]];
    double sum = start;
#pragma unroll
    for (int e = 0; e < kEntries; ++e) sum -= coefficient[e] * operands[e];
    return kPivots ? sum * pivot : sum;
  }
};

/// One warp: level by level, a lane a row. Lanes without a row do what the last one with a row does: branches around it
/// take more registers, and other rows more of the shared memory's time.
template <int kEntries, bool kPivots, class Value>
__device__ void walk_short_rows(const Portion& portion, const SharedPortion<Value>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Step* step = shared.step;
  int rows = step->rows;
  int row = min(lane, rows - 1);
  int walked = rows;
  ShortRow<kEntries, kPivots> now;
  now.read(shared, row);
  __syncwarp();  // lanes without a row have read what the last one with a row overwrites
#pragma unroll 2
  for (Index remaining = portion.steps - 1; remaining > 0; --remaining) {
    ++step;
    const int next_rows = step->rows;
    const int next_row = walked + min(lane, next_rows - 1);
    walked += next_rows;
    ShortRow<kEntries, kPivots> ahead;
    ahead.read(shared, next_row);
    const double x = now.result(shared);
    if (lane < rows) shared.x[row] = x;
    __syncwarp();
    now = ahead;
    rows = next_rows;
    row = next_row;
  }
  const double x = now.result(shared);
  if (lane < rows) shared.x[row] = x;
}

/// kRowEntries: as the layout has it. pivots: whether there are any.
template <int kRowEntries, class Value>
__device__ void walk(const Portion& portion, const SharedPortion<Value>& shared, bool pivots) {
  if constexpr (kPortionScalesRhs<Value>) pivots = false;  // the right-hand sides are scaled
  if constexpr (kRowEntries == 0) {
    walk_steps(portion, shared, pivots);
  } else if (pivots) {
    walk_short_rows<kRowEntries, true>(portion, shared);
  } else {
    walk_short_rows<kRowEntries, false>(portion, shared);
  }
}

/// For other portions, and for the caller.
template <int kThreads, bool kLists, class Value>
__device__ void write_x(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared) {
  bool bad = false;
  for_rows<kThreads, kLists>(a.x_rows, portion, shared.local, shared.x_run, [&](Index row, Index element) {
    const double value = shared.x[row];
    bad = bad || !isfinite(value);
    a.x[element] = value;
  });
  if (bad) *a.non_finite = 1;
}

/// For other portions, and for the next sweep.
template <int kThreads, bool kLists, class Value>
__device__ void write_result(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared) {
  bool bad = false;
  const std::uint16_t* const local = kLists ? shared.local : a.local + portion.inner_pattern;
#pragma unroll 4
  for (auto r = static_cast<Index>(threadIdx.x); r < portion.rows; r += kThreads) {
    const double value = shared.x[kLists ? local[r] : __ldg(local + r)];
    bad = bad || !isfinite(value);
    a.result[portion.first + r] = value;
  }
  if (bad) *a.non_finite = 1;
}

template <int kThreads, bool kLists, class Value>
__device__ void write_results(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared) {
  if (a.x != nullptr) {
    write_x<kThreads, kLists>(a, portion, shared);
  } else {
    write_result<kThreads, kLists>(a, portion, shared);
  }
}

/// For the caller of a solve that ends a product.
template <int kThreads, bool kLists>
__device__ void write_product(const PortionArguments& a, const ProductArguments& product, const Portion& portion,
                              const SharedPortion<double>& shared) {
  bool bad = false;
  for_rhs_rows<kThreads, kLists>(a, portion, shared, [&](Index row, Index element) {
    const Index place = portion.first + row;
    const double u = product.share * __ldcg(product.first + product.first_index[place]);
    const double scale = product.scale != nullptr ? product.scale[place] : 1.0;
    const double value = u + scale * shared.x[row];
    bad = bad || !isfinite(value);
    product.y[element] = value;
  });
  if (bad) *a.non_finite = 1;
}

}  // namespace taskdag::kernels::supersteps
