/// \file
/// Making a layout on the device.
#pragma once

#include "kernels/sptrsv/schedules/blocks/layout.hpp"

namespace taskdag::kernels::supersteps {

/// Orders the rows of each portion into steps and groups and counts entries; no arrays of entries yet. order (device):
/// row at each position of the cover. Synchronises `stream`.
/// @throws InvalidInput where a row waits for one that does not run earlier, Unsupported where 32 bits do not suffice
Layout measure(const SweepInput& input, const Cover& cover, const Index* order, cudaStream_t stream);

/// Gives the entries their places, and says where their values come from. Asynchronous.
void fill(const SweepInput& input, Layout& layout, cudaStream_t stream);

/// The arrays of values, all 0, where there are none yet. Asynchronous.
void make_values(Layout& layout, cudaStream_t stream);

/// Lists for each portion the portions that it has to wait for, all of them earlier. Synchronises `stream`.
void find_waits(Layout& layout, cudaStream_t stream);

/// Which portions of the sweep before hold a portion's right-hand side.
struct Sources {
  cuda::DeviceArray<Index> portion;
  Index stride = 0;                ///< Queue::source_stride
  cuda::DeviceArray<Index> count;  ///< by portion
  [[nodiscard]] std::int64_t bytes() const { return portion.bytes() + count.bytes(); }
};

/// rhs_rows: in a vector by places of `before`; index (device): place → place of `before`. Synchronises `stream`.
Sources find_sources(const Layout& layout, const UserRows& rhs_rows, const Layout& before, cudaStream_t stream);
Sources find_sources(const Layout& layout, const Index* index, const Layout& before, cudaStream_t stream);

/// What else patterns are made of, by place or by outer entry: see UserRows and PortionArguments.
struct PatternLists {
  const Index* rhs_rows;
  const Index* x_rows;
  const std::uint16_t* local;
  const Index* outer_element;
};

/// Lets portions of equal patterns read the lists of the first of them: then these come from caches. All lists hold
/// differences by now. Asynchronous.
void share_patterns(Layout& layout, const PatternLists& lists, cudaStream_t stream);

/// After share_patterns(): which patterns remain, if they are much less than all, and where they go.
class KeptPatterns {
 public:
  /// Moves what patterns of `layout` consist of itself, and has its portions say where they are. Synchronises `stream`.
  KeptPatterns(Layout& layout, cudaStream_t stream);
  /// Moves further lists: by place of inner patterns, the same by runs of kRun, by outer entry. Synchronises `stream`.
  template <class T>
  void move_by_place(cuda::DeviceArray<T>& list, cudaStream_t stream) const {
    move(list, inner_places_, stream);
  }
  void move_by_run(cuda::DeviceArray<Index>& list, cudaStream_t stream) const { move(list, inner_runs_, stream); }
  void move_by_outer_entry(cuda::DeviceArray<Index>& list, cudaStream_t stream) const {
    move(list, outer_entries_, stream);
  }

  struct Move {
    Index from;
    Index to;
    Index count;
  };

 private:
  struct Moves {
    cuda::DeviceArray<Move> move;
    Index total = 0;
  };
  /// Nothing where no patterns go, or the list is empty.
  template <class T>
  void move(cuda::DeviceArray<T>& list, const Moves& moves, cudaStream_t stream) const;

  bool moves_ = false;
  Moves inner_places_;
  Moves inner_runs_;
  Moves inner_entries_;
  Moves outer_places_;
  Moves outer_entries_;
};

/// Gathers the entries' values from where fill() says. Asynchronous.
void load_values(const Layout& layout, const double* source, cudaStream_t stream);

/// What takes the place of Layout::row and of its sources where each portion's rows are consecutive ones, and the
/// pattern that the layout was made of stays.
struct ConsecutiveRows {
  DevicePattern pattern;
  Triangle triangle = Triangle::lower;
  cuda::DeviceArray<Index> first;         ///< by portion
  const std::uint16_t* by_row = nullptr;  ///< UserRows::local, ascending by row
};
/// The same from entries numbered as those of that pattern; and the reverse, values to entries. Asynchronous.
void load_values(const Layout& layout, const ConsecutiveRows& rows, const double* entries, cudaStream_t stream);
void return_values(const Layout& layout, const ConsecutiveRows& rows, double* entries, cudaStream_t stream);
/// The same where portions have sources.
void return_values(const Layout& layout, double* entries, cudaStream_t stream);

}  // namespace taskdag::kernels::supersteps
