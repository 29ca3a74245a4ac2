/// \file
/// Sweeps by the blocks of an ordering, a thread block for each.
#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "dag/row_blocks.hpp"
#include "kernels/sptrsv/schedules/blocks/layout_sweep.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"
#include "kernels/sptrsv/schedules/blocks/run_blocks.cuh"
#include "kernels/sptrsv/schedules/blocks/supersteps.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using namespace supersteps;

/// Allowed as much shared memory as there is.
template <class Ends, class Value>
Kernel<Ends> kernel_for(int threads, Index row_entries) {
  const Kernel<Ends> kernel = threads <= 128   ? kernel_of<128, Ends, Value>(row_entries)
                              : threads <= 256 ? kernel_of<256, Ends, Value>(row_entries)
                                               : kernel_of<512, Ends, Value>(row_entries);
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(cuda::most_shared_bytes() - kOwnBytes)),
              "asking for shared memory");
  return kernel;
}

Kernel<PlainEnds> plain_kernel(int threads, const Layout& layout) {
  return layout.single ? kernel_for<PlainEnds, float>(threads, layout.row_entries)
                       : kernel_for<PlainEnds, double>(threads, layout.row_entries);
}

__global__ void rows_by_position(Index n, bool lower, Index* order) {
  const std::int64_t p = cuda::element();
  if (p < n) order[p] = lower ? static_cast<Index>(p) : n - 1 - static_cast<Index>(p);
}

cuda::ScratchArray<Index> natural_order(Index rows, Triangle triangle, cudaStream_t stream) {
  cuda::ScratchArray<Index> order(static_cast<std::size_t>(rows), stream);
  if (rows > 0) {
    rows_by_position<<<cuda::element_blocks(rows), cuda::kElementBlock, 0, stream>>>(rows, triangle == Triangle::lower,
                                                                                     order.data());
    cuda::check_launch("rows_by_position");
  }
  return order;
}

/// The layout of the blocks with portions of at most `most` rows, fewer if they do not fit into shared memory
/// otherwise.
Layout fitting_layout(const SweepInput& input, Index most, cudaStream_t stream) {
  const std::size_t limit = cuda::most_shared_bytes() - kOwnBytes;
  const auto order = natural_order(input.pattern.rows, input.triangle, stream);
  while (true) {
    Layout layout = measure(input, cover_blocks(*input.blocks, input.triangle, most), order.data(), stream);
    if (layout.shared_pivots_bytes <= limit) {
      fill(input, layout, stream);
      find_waits(layout, stream);
      return layout;
    }
    // A row has fewer inner entries than its portion has rows, so small portions always fit.
    most /= 2;
  }
}

/// Threads of a block, as measured on an H200 and, with short rows, an H100: more warps where there is much to start.
int threads_for(const Layout& layout) {
  constexpr double kFewOutside = 0.35;
  return layout.row_entries > 0 || layout.outer_entries <= kFewOutside * layout.rows ? 128 : 256;
}

class BlocksSweep final : public LayoutSweep, public ReturnsValues, public JoinsProducts, public FollowsSweep {
 public:
  BlocksSweep(const SweepInput& input, const BlocksOptions& options, cudaStream_t stream)
      : LayoutSweep(fitting_layout(input, options.portion_rows, stream), input, stream),
        triangle_(input.triangle),
        threads_(options.threads > 0 ? options.threads : threads_for(layout())),
        kernel_(plain_kernel(threads_, layout())),
        tickets_(layout().portions(), stream) {}

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    LayoutSweep::load_values(source, pivot, stream);
    grid_ = resident_grid(kernel_);
    if (product_kernel_ != nullptr) product_grid_ = resident_grid(product_kernel_);
    tickets_.wait_for_values();
  }

  void return_values(const double* /*pivot*/, double* entries, cudaStream_t stream) const override {
    write_values(entries, stream);
  }
  void rely_on(const DevicePattern& pattern) override { LayoutSweep::rely_on(pattern, triangle_); }

  void follow(const Sweep& before, cudaStream_t stream) override {
    before_ = sources_in(before, rhs_rows(), stream);
    cuda::synchronize(stream);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    const bool follows = before_.sweep != nullptr && rhs == before_.sweep->result();
    launch(kernel_, grid_, arguments(rhs, x, non_finite, stream), follows ? &before_ : nullptr, PlainEnds{}, stream);
  }

  void begin_product(const double* v, int* non_finite, cudaStream_t stream) override {
    PortionArguments a = arguments(v, nullptr, non_finite, stream);
    a.rhs_rows = x_rows();
    launch(kernel_, grid_, a, nullptr, PlainEnds{}, stream);
  }

  void prepare_product(const Sweep& first, const ProductRows& rows, cudaStream_t stream) override {
    if (product_kernel_ == nullptr) {
      product_kernel_ = kernel_for<ProductEnds, double>(threads_, layout().row_entries);
      product_grid_ = resident_grid(product_kernel_);
    }
    tickets_.wait_for_values();
    if (product_.prepare(first, rows, layout().places, rows_by_place(stream), stream)) {
      product_before_ = sources_in(first, product_.first_index(), stream);
      cuda::synchronize(stream);
    }
  }

  void finish_product(const double* v, double* y, int* non_finite, cudaStream_t stream) override {
    const bool follows = product_before_.sweep != nullptr;
    launch(product_kernel_, product_grid_, arguments(v, nullptr, non_finite, stream),
           follows ? &product_before_ : nullptr, ProductEnds{product_.arguments(y)}, stream);
  }

  [[nodiscard]] std::int64_t bytes() const override {
    return LayoutSweep::bytes() + tickets_.bytes() + before_.sources.bytes() + product_.bytes() +
           product_before_.sources.bytes();
  }

  Capabilities capabilities() override {
    return {.returns_values = this, .joins_products = this, .follows_sweep = this};
  }

 private:
  /// A sweep of this kind whose results this one needs, and which of its portions have them; null: another kind.
  struct Before {
    const BlocksSweep* sweep = nullptr;
    Sources sources;
  };
  /// rows: where this one's rows are among the places of `sweep`, as find_sources() takes it. Asynchronous.
  template <class Rows>
  [[nodiscard]] Before sources_in(const Sweep& sweep, const Rows& rows, cudaStream_t stream) const {
    const auto* const blocks = dynamic_cast<const BlocksSweep*>(&sweep);
    if (blocks == nullptr) return {};
    return {blocks, find_sources(layout(), rows, blocks->layout(), stream)};
  }

  /// Blocks that are at work at once.
  template <class Ends>
  [[nodiscard]] Index resident_grid(Kernel<Ends> kernel) const {
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads_, shared_bytes()),
                "asking for occupancy");
    return std::min(layout().portions(), resident * cuda::device_limits().multiprocessors);
  }

  /// before: what made the right-hand side, where that was the last launch on the stream; or null.
  template <class Ends>
  void launch(Kernel<Ends> kernel, Index grid, const PortionArguments& a, const Before* before, const Ends& ends,
              cudaStream_t stream) {
    if (layout().portions() == 0) return;
    Queue queue{tickets_.next(stream), layout().wait.data(), layout().wait_stride};
    // Where all portions are resident at once, they would only crowd the flags.
    if (tickets_.overlaps() && before != nullptr && grid < layout().portions()) {
      queue.source = before->sources.portion.data();
      queue.source_stride = before->sources.stride;
      queue.sources = before->sources.count.data();
      queue.source_done = before->sweep->tickets_.done();
      queue.source_solve = before->sweep->tickets_.solve();
    }
    tickets_.launch(kernel, grid, threads_, shared_bytes(), stream, a, queue, ends);
  }

  Triangle triangle_;
  int threads_;
  Kernel<PlainEnds> kernel_;
  Index grid_ = 0;
  Kernel<ProductEnds> product_kernel_ = nullptr;  ///< from the first prepare_product() on
  Index product_grid_ = 0;
  Tickets tickets_;
  Before before_;  ///< whose results are the right-hand sides
  ProductOperands product_;
  Before product_before_;
};

/// Values measured on an H200, see docs/notes/supersteps.md: portions so large that those of a colour are resident
/// together, and no smaller than the blocks.
BlocksOptions chosen(const BlocksOptions& options, const SweepInput& input) {
  constexpr Index kSmallest = 128;
  constexpr Index kLarge = 512;
  constexpr Index kResident = 900;
  constexpr double kFewEntries = 3.5;
  constexpr double kSomeEntries = 7.0;
  BlocksOptions result = options;
  const RowBlocks& blocks = *input.blocks;
  const double entries =
      blocks.rows() == 0 ? 0.0 : 0.5 * (static_cast<double>(input.pattern.entries) / blocks.rows() - 1.0);
  if (result.portion_rows == 0) {
    const Index a_colour = blocks.rows() / std::max(blocks.colours(), 1);
    Index largest = 0;
    for (Index b = 0; b < blocks.blocks(); ++b) {
      largest = std::max(largest, blocks.block_offsets[at(b + 1)] - blocks.block_offsets[at(b)]);
    }
    Index rows = entries > kSomeEntries ? kSmallest : 2 * kSmallest;
    // Rows that two whole blocks do not fill would only take shared memory.
    if (entries <= kFewEntries && a_colour >= kResident * kLarge && 2 * largest <= kLarge) rows = kLarge;
    rows = std::max(rows, largest);
    result.portion_rows = rows;
  }
  result.portion_rows = std::min(result.portion_rows, kMostPortionRows);
  return result;
}

}  // namespace

std::unique_ptr<Sweep> make_blocks_sweep(const SweepInput& input, const BlocksOptions& options, cudaStream_t stream) {
  if (input.blocks == nullptr) {
    throw InvalidInput("the schedule blocks needs an ordering that makes blocks (taskdag_bmc, taskdag_color)");
  }
  if (const auto fault = find_shape_fault(*input.blocks, input.pattern.rows)) {
    throw InvalidInput("the schedule blocks cannot take these blocks of rows: " + *fault);
  }
  return std::make_unique<BlocksSweep>(input, chosen(options, input), stream);
}

}  // namespace taskdag::kernels
