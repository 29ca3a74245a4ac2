/// \file
/// Measures portions and gives each its place in memory.
#include <algorithm>
#include <climits>

#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/blocks/measure_portion.cuh"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"
#include "kernels/sptrsv/schedules/blocks/run_portion.cuh"
#include "taskdag/error.hpp"

namespace taskdag::kernels::supersteps {
namespace {

using cuda::kElementBlock;

__global__ void count_supersteps(const PortionRange* range, const Index* superstep_of_portion, Index* superstep) {
  const PortionRange mine = range[blockIdx.x];
  for (auto k = static_cast<Index>(threadIdx.x); k < mine.rows; k += static_cast<Index>(blockDim.x)) {
    superstep[mine.first + k] = superstep_of_portion[blockIdx.x];
  }
}

Index aligned(Index n) { return (n + kAlign - 1) / kAlign * kAlign; }

[[noreturn]] void throw_too_large() { throw Unsupported("a triangle whose portions need more than 2^31 places"); }

}  // namespace

std::int64_t Layout::bytes() const {
  return row.bytes() + place.bytes() + portion.bytes() + step.bytes() + operand.bytes() + inner_value.bytes() +
         inner_single.bytes() + outer_single.bytes() + inner_source.bytes() + group.bytes() + started.bytes() +
         outer_place.bytes() + outer_value.bytes() + outer_source.bytes() + wait.bytes();
}

namespace {

std::vector<Index> superstep_of_portions(const Cover& cover) {
  std::vector<Index> superstep_of_portion(cover.portions.size());
  for (Index s = 0; s < cover.supersteps(); ++s) {
    for (Index c = cover.superstep_offsets[at(s)]; c < cover.superstep_offsets[at(s + 1)]; ++c) {
      superstep_of_portion[at(c)] = s;
    }
  }
  return superstep_of_portion;
}

/// Gives the layout its places. @returns the first one of each portion
std::vector<Index> take_places(Layout& layout, const Cover& cover, cudaStream_t stream) {
  std::vector<Index> first_place(cover.portions.size());
  std::int64_t places = 0;
  for (std::size_t c = 0; c < cover.portions.size(); ++c) {
    first_place[c] = static_cast<Index>(places);
    places += aligned(cover.portions[c].rows);
    layout.most_rows = std::max(layout.most_rows, cover.portions[c].rows);
    if (places > INT_MAX) throw_too_large();
  }
  layout.places = static_cast<Index>(places);
  layout.place = {static_cast<std::size_t>(layout.rows), stream};
  layout.row = {at(layout.places), stream};
  layout.step = {at(layout.places), stream};
  layout.group = {at(layout.places), stream};
  layout.started = {at(layout.places), stream};
  return first_place;
}

/// Orders the rows of all portions. @returns the size of each portion @throws InvalidInput where a row waits for one of
/// its own superstep or of a later one
std::vector<PortionSize> measure_portions(const Layout& layout, const SweepInput& input, const Cover& cover,
                                          const std::vector<Index>& first_place, const Index* order,
                                          cudaStream_t stream) {
  const std::size_t portions = cover.portions.size();
  const auto rows = static_cast<std::size_t>(layout.rows);
  const std::vector<Index> superstep_of_portion = superstep_of_portions(cover);
  const cuda::ScratchArray<Index> position(rows, stream);
  invert(layout.rows, order, position.data(), stream);
  // Without waits: the vectors stay until the sizes are fetched.
  const auto lend = [&]<class T>(const std::vector<T>& values) {
    cuda::ScratchArray<T> result(values.size(), stream);
    cuda::copy_to_device(result.data(), values.data(), values.size(), stream);
    return result;
  };
  const auto ranges = lend(cover.portions);
  const auto places_of_portions = lend(first_place);
  const auto numbers = lend(superstep_of_portion);
  const cuda::ScratchArray<Index> superstep(rows, stream);
  const cuda::ScratchArray<PortionSize> size(portions, stream);
  const cuda::ScratchArray<Index> fault(1, stream);
  cuda::check(cudaMemsetAsync(fault.data(), 0xff, sizeof(Index), stream), "clearing a flag");
  const auto blocks = static_cast<unsigned>(portions);
  count_supersteps<<<blocks, kElementBlock, 0, stream>>>(ranges.data(), numbers.data(), superstep.data());
  cuda::check_launch("count_supersteps");
  const auto launch = [&](auto kernel, int threads) {
    kernel<<<blocks, threads, 0, stream>>>(
        rows_of(input, position.data()), order, ranges.data(), places_of_portions.data(), superstep.data(),
        {layout.row.data(), layout.place.data(), layout.step.data(), layout.group.data(), layout.started.data()},
        size.data(), fault.data());
    cuda::check_launch("measure_portion");
  };
  if (layout.most_rows <= kFewPortionRows) {
    launch(measure_portion<kFewPortionRows>, kFewPortionRows);
  } else {
    launch(measure_portion<kMostPortionRows>, kMostPortionRows);
  }
  std::vector<PortionSize> sizes = cuda::fetch_array(size.data(), portions, stream);
  const Index row = cuda::fetch(fault.data(), stream);
  if (row >= 0) {
    throw InvalidInput("row " + std::to_string(row) +
                       " waits for a row of another block of its own colour, or of a later one");
  }
  return sizes;
}

/// Layout::row_entries
Index entries_of_rows(const std::vector<PortionSize>& sizes) {
  Index step_entries = 0;
  bool lane_each = true;
  for (const PortionSize& of : sizes) {
    step_entries = std::max(step_entries, of.step_entries);
    lane_each = lane_each && of.lane_each;
  }
  return lane_each && step_entries <= kMostRowEntries ? std::max(step_entries, kLeastRowEntries) : 0;
}

/// Where the entries of each portion lie, and what shared memory the largest takes.
std::vector<Portion> lay_out_portions(Layout& layout, const Cover& cover, const std::vector<Index>& first_place,
                                      const std::vector<PortionSize>& sizes) {
  const std::size_t portions = cover.portions.size();
  std::vector<Portion> portion(portions);
  std::int64_t inner = 0;
  std::int64_t outer = 0;
  for (std::size_t c = 0; c < portions; ++c) {
    const Index padded =
        layout.row_entries > 0 ? layout.row_entries * aligned(cover.portions[c].rows) : aligned(sizes[c].inner);
    portion[c] = {.first = first_place[c],
                  .rows = cover.portions[c].rows,
                  .steps = sizes[c].steps,
                  .groups = sizes[c].groups,
                  .inner = static_cast<Offset>(inner),
                  .inner_entries = padded,
                  .outer = static_cast<Offset>(outer),
                  .outer_entries = sizes[c].outer,
                  .started = sizes[c].started,
                  .waits = 0,
                  .inner_pattern = first_place[c],
                  .inner_pattern_entry = static_cast<Offset>(inner),
                  .outer_pattern = first_place[c],
                  .outer_pattern_entry = static_cast<Offset>(outer),
                  .rhs_base = 0,
                  .x_base = 0};
    inner += padded;
    outer += sizes[c].outer;
    if (inner > INT_MAX || outer > INT_MAX) throw_too_large();
    const auto bytes_of = [&](bool pivots) {
      const bool lists = layout.row_entries > 0;
      return layout.single ? SharedPortion<float>::bytes(portion[c], pivots, lists)
                           : SharedPortion<double>::bytes(portion[c], pivots, lists);
    };
    layout.shared_bytes = std::max(layout.shared_bytes, bytes_of(false));
    layout.shared_pivots_bytes = std::max(layout.shared_pivots_bytes, bytes_of(true));
  }
  layout.inner_entries = static_cast<Offset>(inner);
  layout.outer_entries = static_cast<Offset>(outer);
  return portion;
}

}  // namespace

Layout measure(const SweepInput& input, const Cover& cover, const Index* order, cudaStream_t stream) {
  Layout layout;
  layout.single = input.precision == Precision::in_single;
  layout.rows = input.pattern.rows;
  layout.supersteps = cover.supersteps();
  layout.superstep_offsets = cover.superstep_offsets;
  const std::vector<Index> first_place = take_places(layout, cover, stream);
  if (cover.portions.empty()) return layout;
  set_bytes(layout.row, 0xff, stream);
  const std::vector<PortionSize> sizes = measure_portions(layout, input, cover, first_place, order, stream);
  layout.row_entries = entries_of_rows(sizes);
  layout.portion = cuda::upload(lay_out_portions(layout, cover, first_place, sizes), stream);
  return layout;
}

}  // namespace taskdag::kernels::supersteps
