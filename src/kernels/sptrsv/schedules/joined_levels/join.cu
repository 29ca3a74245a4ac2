#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/joined_levels/join.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels::joined {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

/// The triangle that is given.
struct Given {
  Index rows;
  const Index* col_indices;
  const Offset* first;
  const Index* count;
  const Index* level;
  const Offset* source_entry;
  /// Whether row i replaces its operand j.
  [[nodiscard]] __device__ bool replaces(Index i, Index j) const {
    return level[i] % 2 == 1 && level[j] == level[i] - 1;
  }
  [[nodiscard]] __device__ Offset source(Offset e) const { return source_entry ? source_entry[e] : e; }
};

/// Terms and replaced operands of each row; one more element, 0.
__global__ void count_terms(Given g, std::int64_t* terms, Offset* substituted) {
  const auto i = static_cast<Index>(element());
  if (i > g.rows) return;
  std::int64_t all = 0;
  Offset replaced = 0;
  if (i < g.rows) {
    for (Index k = 0; k < g.count[i]; ++k) {
      const Index j = g.col_indices[g.first[i] + k];
      if (g.replaces(i, j)) {
        ++replaced;
        all += g.count[j];
      } else {
        ++all;
      }
    }
  }
  terms[i] = all;
  substituted[i] = replaced;
}

/// Row and column in as few bits as they take: sorting takes time by bits.
struct Keys {
  int column_bits;
  [[nodiscard]] __device__ std::uint64_t key(Index row, Index column) const {
    return static_cast<std::uint64_t>(static_cast<unsigned>(row)) << column_bits | static_cast<unsigned>(column);
  }
  [[nodiscard]] __device__ Index column(std::uint64_t key) const {
    return static_cast<Index>(key & ((std::uint64_t{1} << column_bits) - 1));
  }
  [[nodiscard]] __device__ Index row(std::uint64_t key) const { return static_cast<Index>(key >> column_bits); }
};

struct Terms {
  std::uint64_t* key;
  Offset* factor;
  Offset* second_factor;
  Index* through;
  Offset* substituted_entry;
  Index* substituted_row;
  Index* substituted_in;
};

/// A warp a row.
__global__ void list_terms(Given g, Keys keys, const std::int64_t* terms_begin, const Offset* substituted_begin,
                           Terms terms) {
  const auto i = static_cast<Index>(element() / kWarpSize);
  if (i >= g.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const unsigned before = (1U << lane) - 1U;
  std::int64_t at = terms_begin[i];
  Offset replaced_at = substituted_begin[i];
  for (Index base = 0; base < g.count[i]; base += kWarpSize) {
    const bool there = base + lane < g.count[i];
    const Offset e = g.first[i] + base + lane;
    const Index j = there ? g.col_indices[e] : 0;
    const bool replaced = there && g.replaces(i, j);
    const unsigned kept_lanes = __ballot_sync(kFullWarp, there && !replaced);
    const unsigned replaced_lanes = __ballot_sync(kFullWarp, replaced);
    if (there && !replaced) {
      const std::int64_t mine = at + __popc(kept_lanes & before);
      terms.key[mine] = keys.key(i, j);
      terms.factor[mine] = g.source(e);
      terms.second_factor[mine] = -1;
      terms.through[mine] = -1;
    }
    if (replaced) {
      const Offset mine = replaced_at + __popc(replaced_lanes & before);
      terms.substituted_entry[mine] = g.source(e);
      terms.substituted_row[mine] = j;
      terms.substituted_in[mine] = i;
    }
    at += __popc(kept_lanes);
    replaced_at += __popc(replaced_lanes);
    for (unsigned remaining = replaced_lanes; remaining != 0; remaining &= remaining - 1) {
      const int owner = __ffs(static_cast<int>(remaining)) - 1;
      const Offset outer = __shfl_sync(kFullWarp, e, owner);
      const Index s = __shfl_sync(kFullWarp, j, owner);
      for (Index k = lane; k < g.count[s]; k += kWarpSize) {
        const Offset inner = g.first[s] + k;
        terms.key[at + k] = keys.key(i, g.col_indices[inner]);
        terms.factor[at + k] = g.source(outer);
        terms.second_factor[at + k] = g.source(inner);
        terms.through[at + k] = s;
      }
      at += g.count[s];
    }
  }
}

__global__ void mark_entries(std::int64_t terms, const std::uint64_t* key, Offset* begins) {
  const std::int64_t k = element();
  if (k < terms) begins[k] = k == 0 || key[k] != key[k - 1] ? 1 : 0;
}

/// entry_until[k]: entries that begin at or before term k.
__global__ void place_entries(std::int64_t terms, Keys keys, const std::uint64_t* key, const Offset* entry_until,
                              Index* row_of, Index* col_indices, Offset* term_begin) {
  const std::int64_t k = element();
  if (k >= terms) return;
  if (k == 0 || key[k] != key[k - 1]) {
    row_of[entry_until[k] - 1] = keys.row(key[k]);
    col_indices[entry_until[k] - 1] = keys.column(key[k]);
    term_begin[entry_until[k] - 1] = static_cast<Offset>(k);
  }
  if (k == terms - 1) term_begin[entry_until[k]] = static_cast<Offset>(terms);
}

__global__ void place_rows(Index rows, const std::int64_t* terms_begin, const Offset* entry_until,
                           Offset* row_offsets) {
  const auto i = static_cast<Index>(element());
  if (i <= rows) row_offsets[i] = terms_begin[i] == 0 ? 0 : entry_until[terms_begin[i] - 1];
}

__global__ void reorder_terms(std::int64_t terms, const Offset* order, Terms from, Offset* factor,
                              Offset* second_factor, Index* through) {
  const std::int64_t k = element();
  if (k >= terms) return;
  factor[k] = from.factor[order[k]];
  second_factor[k] = from.second_factor[order[k]];
  through[k] = from.through[order[k]];
}

struct LoadArguments {
  Index rows;
  Offset entries;
  Offset substituted;
  const Index* row_of;
  const Offset* term_begin;
  const Offset* factor;
  const Offset* second_factor;
  const Index* through;
  const Offset* substituted_entry;
  const Index* substituted_row;
  const Index* substituted_in;
  const double* source;
  const double* pivot;  // null: all 1
  double* value;
  double* own_pivot;
  double* coefficient;

  [[nodiscard]] __device__ double pivot_of(Index i) const { return pivot ? __ldg(pivot + i) : 1.0; }
  [[nodiscard]] __device__ double value_of(Offset e) const {
    double sum = 0.0;
    for (Offset k = term_begin[e]; k < term_begin[e + 1]; ++k) {
      const Index s = through[k];
      const double first = __ldg(source + factor[k]);
      sum += s < 0 ? first : -first * pivot_of(s) * __ldg(source + second_factor[k]);
    }
    return pivot_of(row_of[e]) * sum;
  }
};

/// A thread an entry, then one a substituted entry, then one a row.
__global__ void load_all(const LoadArguments a) {
  std::int64_t k = element();
  if (k < a.entries) {
    a.value[k] = a.value_of(static_cast<Offset>(k));
    return;
  }
  k -= a.entries;
  if (k < a.substituted) {
    a.coefficient[k] =
        a.pivot_of(a.substituted_in[k]) * a.source[a.substituted_entry[k]] * a.pivot_of(a.substituted_row[k]);
    return;
  }
  k -= a.substituted;
  if (k < a.rows) a.own_pivot[k] = a.pivot_of(static_cast<Index>(k));
}

__global__ void reduce_rows(Index rows, const Offset* begin, const Index* row, const double* pivot,
                            const double* coefficient, const double* rhs, const Index* rhs_index, double* reduced) {
  const auto i = static_cast<Index>(element());
  if (i >= rows) return;
  double sum = pivot[i] * rhs[rhs_index ? rhs_index[i] : i];
  for (Offset k = begin[i]; k < begin[i + 1]; ++k) {
    sum -= coefficient[k] * rhs[rhs_index ? rhs_index[row[k]] : row[k]];
  }
  reduced[i] = sum;
}

/// The terms of all rows, as they are listed and in memory of their own.
struct ListedTerms {
  ScratchArray<std::uint64_t> key;
  ScratchArray<Offset> factor;
  ScratchArray<Offset> second_factor;
  ScratchArray<Index> through;

  ListedTerms(std::size_t terms, cudaStream_t stream)
      : key(terms, stream), factor(terms, stream), second_factor(terms, stream), through(terms, stream) {}
};

/// Counts terms and substituted entries. @returns where the terms of each row begin @throws Unsupported above
/// `most_terms`
ScratchArray<std::int64_t> count_all(JoinedTriangle& result, const SweepInput& input, const Given& given,
                                     std::int64_t most_terms, cudaStream_t stream) {
  const Index rows = result.rows;
  const auto n = static_cast<std::size_t>(rows);
  const ScratchArray<std::int64_t> terms_of(n + 1, stream);
  ScratchArray<std::int64_t> terms_begin(n + 1, stream);
  const ScratchArray<Offset> substituted_of(n + 1, stream);
  result.substituted_begin = {n + 1, stream};
  count_terms<<<element_blocks(std::int64_t{rows} + 1), kElementBlock, 0, stream>>>(given, terms_of.data(),
                                                                                    substituted_of.data());
  cuda::check_launch("count_terms");
  cuda::exclusive_sum(terms_of.data(), terms_begin.data(), std::int64_t{rows} + 1, stream);
  cuda::exclusive_sum(substituted_of.data(), result.substituted_begin.data(), std::int64_t{rows} + 1, stream);
  const std::int64_t terms = cuda::fetch(terms_begin.data() + n, stream);
  if (terms > std::min<std::int64_t>(most_terms, std::numeric_limits<Offset>::max())) {
    throw Unsupported("joining the levels of a triangle with " + std::to_string(input.pattern.entries) +
                      " entries takes " + std::to_string(terms) + " terms");
  }
  result.terms = static_cast<Offset>(terms);
  result.substituted = cuda::fetch(result.substituted_begin.data() + n, stream);
  return terms_begin;
}

/// Makes an entry of the terms of each row and column, in that order.
void join_terms(JoinedTriangle& result, const ListedTerms& scratch, const Terms& listed, const Keys& keys,
                const std::int64_t* terms_begin, cudaStream_t stream) {
  const Offset terms = result.terms;
  const auto size = static_cast<std::size_t>(terms);
  const ScratchArray<std::uint64_t> sorted_key(size, stream);
  const ScratchArray<Offset> numbers(size, stream);
  const ScratchArray<Offset> order(size, stream);
  number(terms, numbers.data(), stream);
  // Stable, so that the terms of an entry stay in the order of the row.
  const int bits = 2 * keys.column_bits;
  cuda::sort_pairs(scratch.key.data(), sorted_key.data(), numbers.data(), order.data(), terms, bits, stream);
  const ScratchArray<Offset> begins(size, stream);
  const ScratchArray<Offset> entry_until(size, stream);
  mark_entries<<<element_blocks(terms), kElementBlock, 0, stream>>>(terms, sorted_key.data(), begins.data());
  cuda::check_launch("mark_entries");
  cuda::inclusive_sum(begins.data(), entry_until.data(), terms, stream);
  result.entries = cuda::fetch(entry_until.data() + terms - 1, stream);
  result.row_of = {static_cast<std::size_t>(result.entries), stream};
  result.col_indices = {static_cast<std::size_t>(result.entries), stream};
  result.term_begin = {static_cast<std::size_t>(result.entries) + 1, stream};
  result.factor = {size, stream};
  result.second_factor = {size, stream};
  result.through = {size, stream};
  place_entries<<<element_blocks(terms), kElementBlock, 0, stream>>>(terms, keys, sorted_key.data(), entry_until.data(),
                                                                     result.row_of.data(), result.col_indices.data(),
                                                                     result.term_begin.data());
  cuda::check_launch("place_entries");
  place_rows<<<element_blocks(std::int64_t{result.rows} + 1), kElementBlock, 0, stream>>>(
      result.rows, terms_begin, entry_until.data(), result.row_offsets.data());
  cuda::check_launch("place_rows");
  reorder_terms<<<element_blocks(terms), kElementBlock, 0, stream>>>(
      terms, order.data(), listed, result.factor.data(), result.second_factor.data(), result.through.data());
  cuda::check_launch("reorder_terms");
}

}  // namespace

JoinedTriangle join_levels(const SweepInput& input, std::int64_t most_terms, cudaStream_t stream) {
  JoinedTriangle result;
  const Index rows = input.pattern.rows;
  const auto n = static_cast<std::size_t>(rows);
  result.rows = rows;
  const Given given{rows,
                    input.pattern.col_indices,
                    input.ranges->first.data(),
                    input.ranges->count.data(),
                    input.levels->level.data(),
                    input.source_entry};
  if (rows == 0) return result;
  const ScratchArray<std::int64_t> terms_begin = count_all(result, input, given, most_terms, stream);
  const ListedTerms scratch(static_cast<std::size_t>(result.terms), stream);
  result.substituted_entry = {static_cast<std::size_t>(result.substituted), stream};
  result.substituted_row = {static_cast<std::size_t>(result.substituted), stream};
  result.substituted_in = {static_cast<std::size_t>(result.substituted), stream};
  result.row_offsets = {n + 1, stream};
  const Terms listed{scratch.key.data(),          scratch.factor.data(),           scratch.second_factor.data(),
                     scratch.through.data(),      result.substituted_entry.data(), result.substituted_row.data(),
                     result.substituted_in.data()};
  const Keys keys{static_cast<int>(std::bit_width(static_cast<unsigned>(rows)))};
  list_terms<<<element_blocks(std::int64_t{rows} * kWarpSize), kElementBlock, 0, stream>>>(
      given, keys, terms_begin.data(), result.substituted_begin.data(), listed);
  cuda::check_launch("list_terms");
  if (result.terms == 0) {  // rows of two levels, say
    cuda::check(cudaMemsetAsync(result.row_offsets.data(), 0, (n + 1) * sizeof(Offset), stream), "clearing offsets");
    return result;
  }
  join_terms(result, scratch, listed, keys, terms_begin.data(), stream);
  return result;
}

JoinedValues::JoinedValues(const JoinedTriangle& triangle, cudaStream_t stream)
    : value(static_cast<std::size_t>(triangle.entries), stream),
      pivot(static_cast<std::size_t>(triangle.rows), stream),
      coefficient(static_cast<std::size_t>(triangle.substituted), stream),
      weight(static_cast<std::size_t>(triangle.rows), stream) {}

void load_values(const JoinedTriangle& triangle, const double* source, const double* pivot, const JoinedValues& values,
                 cudaStream_t stream) {
  if (triangle.rows == 0) return;
  const std::int64_t threads = std::int64_t{triangle.entries} + triangle.substituted + triangle.rows;
  load_all<<<element_blocks(threads), kElementBlock, 0, stream>>>(
      {triangle.rows, triangle.entries, triangle.substituted, triangle.row_of.data(), triangle.term_begin.data(),
       triangle.factor.data(), triangle.second_factor.data(), triangle.through.data(),
       triangle.substituted_entry.data(), triangle.substituted_row.data(), triangle.substituted_in.data(), source,
       pivot, values.value.data(), values.pivot.data(), values.coefficient.data()});
  cuda::check_launch("load_all");
}

void reduce(const JoinedTriangle& triangle, const JoinedValues& values, const double* rhs, const Index* rhs_index,
            double* reduced, cudaStream_t stream) {
  if (triangle.rows == 0) return;
  reduce_rows<<<element_blocks(triangle.rows), kElementBlock, 0, stream>>>(
      triangle.rows, triangle.substituted_begin.data(), triangle.substituted_row.data(), values.pivot.data(),
      values.coefficient.data(), rhs, rhs_index, reduced);
  cuda::check_launch("reduce_rows");
}

}  // namespace taskdag::kernels::joined
