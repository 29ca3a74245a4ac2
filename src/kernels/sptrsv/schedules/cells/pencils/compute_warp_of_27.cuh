/// \file
/// A compute warp of a plane of a pencil of a grid of 27 points: one warp, a lane a line, or a lane each unknown of a
/// line.
///
/// A line is two columns behind the line before it, and the plane a step behind what it needs of the plane below. There
/// the same lanes have the line after that of the row, the lanes before them the line beside, and those before these
/// the line before. So a step takes three new points: the result of the step before, that of the line before, and one
/// from `below`. Each is multiplied when it comes, by the entries of all rows that it is of use for, in this step and
/// in the next ones, whose sums it is added to: no value is kept. What comes from the plane below by way of other lanes
/// comes some steps early. With several unknowns a point each lane computes the row of its own, and has the values of
/// all.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/compute_warp.cuh"

namespace taskdag::kernels::cells {

/// Grid: TwentySevenPoints, in double or in single precision, or ThreeUnknowns.
template <class Grid>
class ComputeWarpOf27 : public PencilPlane<Grid> {
  using Plane = PencilPlane<Grid>;
  using Plane::below_, Plane::entries_, Plane::gets_below_, Plane::kGroup, Plane::ring_, Plane::s_, Plane::steps_;
  static constexpr int kUnknowns = Grid::kUnknowns;

 public:
  __device__ ComputeWarpOf27(PencilShared<Grid>& s, const PencilArguments<Grid>& a, Index pencil,
                             const PencilLocation<Grid>& at, PencilShared<Grid>* next_block, int plane, int steps,
                             int lane)
      : Plane(s, a, pencil, at, next_block, plane, steps, lane),
        passes_(lane < kPassingLanes<Grid> && at.has_before(a.pencils)),
        has_line_(has_line(a.pencils, at, plane, lane)),
        unknown_(lane % kUnknowns),
        point_(min(lane / kUnknowns, Pencils<Grid>::kPlaces - 1) * kUnknowns),
        point_below_(below_of(s, plane, 0, point_)),
        beside_below_(below_of(s, plane, 0, max(point_ - kUnknowns, 0))) {}

  __device__ void run(int& stage, int& phase) {
    Point below = load(point_below_);
    while (__all_sync(cuda::kFullWarp, have_come(below)) == 0) below = load(point_below_);
    beside_ = load(beside_below_);
    store_double_if(below_, not_yet(), gets_below_);
    begin_group(0, stage, phase);
    Late late = load_late(entries_.in_stage(stage), 0);
    double start = load_double(ring_);
    below = load(point_below_ + kStepBytes);
    for (int step = 0; step < steps_; step += kGroup) {
      const PencilEntries<Grid> entries = entries_.in_stage(stage);
      const SharedAddress slot = kept(ring_of(step));
      const auto of_below = static_cast<unsigned>(step % kBelowRing * kStepBytes);
      const auto of_below_next = static_cast<unsigned>((step + kGroup) % kBelowRing * kStepBytes);
      const bool ends = step + kGroup == steps_;
#pragma unroll
      for (unsigned k = 0; k < kGroup; ++k) {
        const bool last = k + 1 == kGroup;
        const SharedAddress start_at = slot + k * kPencilSlotBytes;
        const unsigned of_next = last ? of_below_next : of_below + (k + 1) * kStepBytes;
        const double of_line = product(late.point(1), line_);
        const double of_own = fma(late.point(0), x_, sum_[0]);
        if (last && ends) below = {};  // no lane has a column
        while (__all_sync(cuda::kFullWarp, have_come(below) & static_cast<int>(has_come(start))) == 0) {
          start = load_double(start_at);
          if (!(last && ends)) below = load(point_below_ + of_next);
        }
        const double sum = (of_own + of_line) + fma(late.point(2), below, start);
        const Late now = late;
        double x = has_line_ ? sum : start;  // a lane without one passes on what it starts from: that, or 0
        Early early;
        Point before;
        const Point line = exchange(
            x, now, [&] { early = load_early(entries, k); }, [&] { before = of_line_before(beside_); });
        if (!last) late = load_late(entries, k + 1);
        this->hand_on_all(k, of_below, x);
        store_double(start_at, passes_ ? not_yet() : x);
        const Point beside = load(beside_below_ + of_next);
        add(early, now.first_early(), below);
        line_ = line;
        beside_ = beside;
        before_ = before;
        store_double_if(below_ + of_next, not_yet(), gets_below_);
        if (last) {
          next_pencil_stage<Grid>(stage, phase);
          if (!ends) {
            begin_group(step + kGroup, stage, phase);
            late = load_late(entries_.in_stage(stage), 0);
          }
        }
        start = load_double(last ? ring_of(step + kGroup) : start_at + kPencilSlotBytes);
        below = load(point_below_ + (last              ? of_below_next + kStepBytes
                                     : k + 2 == kGroup ? of_below_next
                                                       : of_below + (k + 2) * kStepBytes));
      }
      this->end_group(step);
    }
  }

 private:
  static constexpr unsigned kLatePairs = (Grid::kLate + 1) / 2;
  static constexpr unsigned kEarlyPairs = Grid::kEntries / 2 - kLatePairs;

  /// A value for each unknown of a point.
  struct Point {
    double of[kUnknowns];
  };
  /// The entries that a row waits for to the last, and one more.
  struct Late {
    double2 pair[kLatePairs];
    [[nodiscard]] __device__ double operator[](int k) const { return k % 2 == 0 ? pair[k / 2].x : pair[k / 2].y; }
    /// The entries of point k: the row before, the line before, the line after it in the plane below.
    [[nodiscard]] __device__ Point point(int k) const {
      Point result;
#pragma unroll
      for (int u = 0; u < kUnknowns; ++u) result.of[u] = (*this)[k * kUnknowns + u];
      return result;
    }
    [[nodiscard]] __device__ double first_early() const { return pair[kLatePairs - 1].y; }
  };
  /// The entries of rows of later steps, but for the first one.
  struct Early {
    double2 pair[kEarlyPairs];
    double last;
  };

  __device__ static int have_come(const Point& p) {  // no branches
    int all = 1;
#pragma unroll
    for (const double value : p.of) all &= static_cast<int>(has_come(value));
    return all;
  }
  __device__ static Point load(SharedAddress from) {
    Point result;
#pragma unroll
    for (unsigned u = 0; u < kUnknowns; ++u) result.of[u] = load_double(from + 8 * u);
    return result;
  }
  __device__ static double product(const Point& a, const Point& b) {
    double sum = a.of[0] * b.of[0];
#pragma unroll
    for (int u = 1; u < kUnknowns; ++u) sum = ::fma(a.of[u], b.of[u], sum);
    return sum;
  }
  __device__ static double fma(const Point& a, const Point& b, double sum) {
#pragma unroll
    for (int u = 0; u < kUnknowns; ++u) sum = ::fma(a.of[u], b.of[u], sum);
    return sum;
  }
  /// Adds a product where `has` is not zero. This is a predicate, without a branch or a copy.
  __device__ static void add_if(int has, double& sum, double a, double b) {
    asm volatile("{.reg .pred p; setp.ne.s32 p, %3, 0; @p fma.rn.f64 %0, %1, %2, %0;}"
                 : "+d"(sum)
                 : "d"(a), "d"(b), "r"(has));
  }
  __device__ static Point of_line_before(const Point& p) {
    Point result;
#pragma unroll
    for (int u = 0; u < kUnknowns; ++u) result.of[u] = of_lane_before<kUnknowns>(p.of[u]);
    return result;
  }
  /// Ends the rows of a point, one after the other, and notes them in x_. Calls `first` and `second` where waiting for
  /// shuffles leaves time for them. @returns those of the line before
  template <class First, class Second>
  __device__ Point exchange(double& x, const Late& now, const First& first, const Second& second) {
    Point line;
    if constexpr (kUnknowns == 1) {
      first();
      x_.of[0] = x;
      line.of[0] = of_lane_before(x);
      second();
    } else {
      constexpr int kLast = kUnknowns - 1;
#pragma unroll
      for (int u = 0; u < kLast; ++u) {
        x_.of[u] = of_lane(x, point_ + u);
        if (u == 0) first();
        if (u == kLast - 1) second();
        // An operand that a row does not have may be no number.
        add_if(static_cast<int>(unknown_ > u), x, now[Grid::kOwnPoint + u], x_.of[u]);
      }
      x_.of[kLast] = of_lane(x, point_ + kLast);
      line.of[kLast] = of_lane(x, max(point_ - 1, 0));
#pragma unroll
      for (int u = 0; u < kLast; ++u) line.of[u] = of_lane_before<kUnknowns>(x_.of[u]);
    }
    return line;
  }
  [[nodiscard]] __device__ SharedAddress ring_of(int step) const {
    return ring_ + static_cast<unsigned>(step % kPencilRing) * kPencilSlotBytes;
  }
  /// Waits until the group from `step` on may run.
  __device__ void begin_group(int step, int stage, int phase) const {
    this->wait_for_slots(step);
    wait_for_stage(s_, stage, phase);
  }
  __device__ static Late load_late(const PencilEntries<Grid>& entries, unsigned step) {
    Late result;
#pragma unroll
    for (unsigned k = 0; k < kLatePairs; ++k) result.pair[k] = entries.pair(step, k);
    return result;
  }
  __device__ static Early load_early(const PencilEntries<Grid>& entries, unsigned step) {
    Early result;
#pragma unroll
    for (unsigned k = 0; k < kEarlyPairs; ++k) result.pair[k] = entries.pair(step, kLatePairs + k);
    result.last = entries.last(step);
    return result;
  }
  /// Adds what came with this step to the sums of the next four. first: the entry before `early`.
  __device__ void add(const Early& early, double first, const Point& below) {
    const auto entry = [&](int k) {
      if (k == 0) return first;
      if (k == 2 * static_cast<int>(kEarlyPairs) + 1) return early.last;
      return k % 2 == 1 ? early.pair[k / 2].x : early.pair[k / 2 - 1].y;
    };
    const auto point = [&](int k) {
      Point result;
#pragma unroll
      for (int u = 0; u < kUnknowns; ++u) result.of[u] = entry(k * kUnknowns + u);
      return result;
    };
    sum_[0] = fma(point(4), beside_, sum_[1]) + (product(point(0), line_) + product(point(2), below));
    sum_[1] =
        fma(point(5), beside_, sum_[2]) + fma(point(7), before_, product(point(1), line_) + product(point(3), below));
    sum_[2] = fma(point(6), beside_, sum_[3]) + product(point(8), before_);
    sum_[3] = product(point(9), before_);
  }

  bool passes_;    ///< it passes on what a fetcher brings
  bool has_line_;  ///< a lane without one passes on what it starts from: that, or 0
  int unknown_;
  int point_;  ///< the first lane of its line
  SharedAddress point_below_;
  SharedAddress beside_below_;  ///< of the line before
  Point x_{};
  Point line_{};     ///< of the line before: the column after this one
  Point beside_{};   ///< of the plane below, the line beside: of the next step's row the column after it
  Point before_{};   ///< of the plane below, the line before: of the row two steps later the column after it
  double sum_[4]{};  ///< of rows of this step and the next three, what has come for them
};

}  // namespace taskdag::kernels::cells
