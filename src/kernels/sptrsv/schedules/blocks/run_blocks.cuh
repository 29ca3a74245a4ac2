/// \file
/// The kernel of the schedule `blocks`: what it is given, and where its forms are. Those of 128, 256 and 512 threads,
/// of single precision and of products have sources of their own: a process loads all kernels of a source with the
/// first.
#pragma once

#include "kernels/sptrsv/schedules/blocks/run_portion.cuh"
#include "kernels/sptrsv/schedules/blocks/tickets.hpp"

namespace taskdag::kernels::supersteps {

/// Portions are handed out in their order, so what a portion waits for is done or under way.
struct Queue {
  PortionTickets tickets;
  const Index* wait;
  Index wait_stride = 0;  ///< from one portion's list to the next one's; 0: from the portion's first outer entry on
  /// Portions of the sweep before that hold the right-hand side, and its flags; null: wait for the kernel before.
  const Index* source = nullptr;
  Index source_stride = 0;         ///< of sources; 0: from the portion's first place on
  const Index* sources = nullptr;  ///< how many, by portion
  unsigned* source_done = nullptr;
  unsigned source_solve = 0;
};

/// How a portion begins, and what is to be written besides results: nothing, or what ends a product.
struct PlainEnds {
  static constexpr bool kWrites = false;
  template <int kThreads, bool kLists, class Value>
  __device__ void fetch(const PortionArguments& a, const Portion& portion, const SharedPortion<Value>& shared) const {
    fetch_rhs<kThreads, kLists>(a, portion, shared);
  }
};
struct ProductEnds {
  static constexpr bool kWrites = true;
  ProductArguments product;
  template <int kThreads, bool kLists>
  __device__ void fetch(const PortionArguments& a, const Portion& portion, const SharedPortion<double>& shared) const {
    fetch_product_rhs<kThreads, kLists>(a, product, portion, shared);
  }
  template <int kThreads, bool kLists>
  __device__ void write(const PortionArguments& a, const Portion& portion, const SharedPortion<double>& shared) const {
    write_product<kThreads, kLists>(a, product, portion, shared);
  }
};

template <class Ends>
using Kernel = void (*)(PortionArguments, Queue, Ends);

/// The form for rows of so many inner entries: 0, 2 or 3.
template <int kThreads, class Ends, class Value>
Kernel<Ends> kernel_of(Index row_entries);

}  // namespace taskdag::kernels::supersteps
