/// \file
/// Joining the levels of a triangle in pairs: rows of odd levels have their operands of the level before replaced by
/// what those are computed from, so that two levels run at once.
///
/// With S_i the operands of row i (of odd level l) in level l − 1, p the inverse pivots and a the entries,
///   x_i = p_i (b_i − Σ_{s ∈ S_i} a_is p_s b_s) − Σ_j p_i (a_ij − Σ_{s ∈ S_i} a_is p_s a_sj) x_j,   j ∉ S_i.
/// Rows of even levels stay as they are but for the scaling by p_i.
#pragma once

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::joined {

/// The pattern of such a triangle (entries of one side, no diagonal) and where its values come from.
struct JoinedTriangle {
  Index rows = 0;
  Offset entries = 0;
  Offset terms = 0;        ///< of the sums that the values are
  Offset substituted = 0;  ///< entries that have been replaced
  cuda::DeviceArray<Offset> row_offsets;
  cuda::DeviceArray<Index> col_indices;
  cuda::DeviceArray<Index> row_of;  ///< by entry
  // Value of entry e: the sum over terms [term_begin[e], term_begin[e + 1]).
  cuda::DeviceArray<Offset> term_begin;
  cuda::DeviceArray<Offset> factor;         ///< entry of the value array, a_ij or a_is
  cuda::DeviceArray<Offset> second_factor;  ///< a_sj, −1 for a term a_ij
  cuda::DeviceArray<Index> through;         ///< s, −1 for a term a_ij
  // What is subtracted from a right-hand side: [substituted_begin[i], substituted_begin[i + 1]).
  cuda::DeviceArray<Offset> substituted_begin;
  cuda::DeviceArray<Offset> substituted_entry;  ///< a_is in the value array
  cuda::DeviceArray<Index> substituted_row;     ///< s
  cuda::DeviceArray<Index> substituted_in;      ///< i

  [[nodiscard]] DevicePattern pattern() const { return {rows, entries, row_offsets.data(), col_indices.data()}; }
  [[nodiscard]] std::int64_t bytes() const {
    return row_offsets.bytes() + col_indices.bytes() + row_of.bytes() + term_begin.bytes() + factor.bytes() +
           second_factor.bytes() + through.bytes() + substituted_begin.bytes() + substituted_entry.bytes() +
           substituted_row.bytes() + substituted_in.bytes();
  }
};

/// Joins the levels of the input in pairs. Synchronises `stream`. @throws Unsupported where the sums would have more
/// than `most_terms` terms, or more than 32-bit offsets can number
JoinedTriangle join_levels(const SweepInput& input, std::int64_t most_terms, cudaStream_t stream);

/// Terms that are let pass where this schedule is asked for. On meshes there are 2 or 3 times the triangle's entries.
inline std::int64_t most_terms(const DevicePattern& pattern) { return std::int64_t{16} * pattern.entries; }

/// What a load of values leaves: the entries' values, and the passes over right-hand sides.
struct JoinedValues {
  JoinedValues(const JoinedTriangle& triangle, cudaStream_t stream);

  cuda::DeviceArray<double> value;        ///< by entry
  cuda::DeviceArray<double> pivot;        ///< p, by row
  cuda::DeviceArray<double> coefficient;  ///< p_i a_is p_s, by substituted entry
  cuda::DeviceArray<double> weight;       ///< by row, for measure_loss()
  [[nodiscard]] std::int64_t bytes() const {
    return value.bytes() + pivot.bytes() + coefficient.bytes() + weight.bytes();
  }
};

/// `source` and `pivot` as in Sweep::load_values. One launch. Asynchronous.
void load_values(const JoinedTriangle& triangle, const double* source, const double* pivot, const JoinedValues& values,
                 cudaStream_t stream);

/// Raises *most (device memory) to what rewriting may lose in a row, in units of what rounding leaves in the row as it
/// is: at most 1 + Σ_s |p_i a_is| Σ_j |p_s a_sj| / (1 + Σ_s |p_i a_is|), for a solution of equal entries. Of the values
/// that were loaded last. Asynchronous.
void measure_loss(const JoinedTriangle& triangle, const JoinedValues& values, double* most, cudaStream_t stream);

/// reduced_i = p_i (b_i − Σ_s a_is p_s b_s), by row; b_i = rhs[rhs_index ? rhs_index[i] : i]. Asynchronous.
void reduce(const JoinedTriangle& triangle, const JoinedValues& values, const double* rhs, const Index* rhs_index,
            double* reduced, cudaStream_t stream);

}  // namespace taskdag::kernels::joined
