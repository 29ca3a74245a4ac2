#include "subdivision.hpp"

#include "taskdag/engine/runner.hpp"

namespace mandelbrot {

namespace engine = taskdag::engine;

constexpr int kSmall = 8;  ///< pixels: a rectangle with a shorter side is computed pixel by pixel

struct Picture {
  View view;
  std::uint16_t* dwells;
  std::uint64_t* computed;

  TASKDAG_TASK std::uint16_t compute(int x, int y) const {
    const std::uint16_t dwell = dwell_of(view, x, y);
    dwells[static_cast<std::size_t>(y) * static_cast<std::size_t>(view.width) + static_cast<std::size_t>(x)] = dwell;
    return dwell;
  }
};

struct Rectangle {
  int left;
  int top;
  int width;
  int height;
};

/// Every pixel on its own.
struct Pixels {
  using Item = Rectangle;
  static constexpr auto name = "pixels";
  static constexpr engine::WorkerSize worker = engine::warp_worker;
  static constexpr int max_children = 0;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Rectangle& box) {
    const Picture& picture = context.data();
    const auto& group = context.group();
    const int pixels = box.width * box.height;
    for (int i = group.rank(); i < pixels; i += group.size()) {
      picture.compute(box.left + i % box.width, box.top + i / box.width);
    }
    if (group.rank() == 0) {
      // relaxed: read after the run.
      engine::AtomicRef<std::uint64_t>(*picture.computed)
          .fetch_add(static_cast<std::uint64_t>(pixels), engine::relaxed);
    }
  }
};

/// Computes the border; fills what is inside, or leaves its quarters to others. @pre both sides are 3 pixels at least
struct Border {
  using Item = Rectangle;
  static constexpr auto name = "border";
  static constexpr engine::WorkerSize worker = engine::block_worker(64);
  static constexpr int max_children = 4;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Rectangle& box) {
    const Picture& picture = context.data();
    const auto& group = context.group();
    const int pixels = 2 * (box.width + box.height) - 4;
    const std::uint16_t first = dwell_of(picture.view, box.left, box.top);
    bool other = false;
    for (int i = group.rank(); i < pixels; i += group.size()) {
      int x = 0;
      int y = 0;
      border_pixel(box, i, x, y);
      other = picture.compute(x, y) != first || other;
    }
    if (group.rank() == 0) {
      engine::AtomicRef<std::uint64_t>(*picture.computed)
          .fetch_add(static_cast<std::uint64_t>(pixels), engine::relaxed);
    }
    const Rectangle inner{box.left + 1, box.top + 1, box.width - 2, box.height - 2};
    if (!group.any(other)) {
      fill(picture, group, inner, first);
    } else if (group.rank() == 0) {
      const int left = (inner.width + 1) / 2;
      const int upper = (inner.height + 1) / 2;
      create(context, {inner.left, inner.top, left, upper});
      create(context, {inner.left + left, inner.top, inner.width - left, upper});
      create(context, {inner.left, inner.top + upper, left, inner.height - upper});
      create(context, {inner.left + left, inner.top + upper, inner.width - left, inner.height - upper});
    }
  }

 private:
  /// The top row, the bottom row, then the sides between them.
  TASKDAG_TASK static void border_pixel(const Rectangle& box, int i, int& x, int& y) {
    if (i < 2 * box.width) {
      x = box.left + i % box.width;
      y = box.top + (i < box.width ? 0 : box.height - 1);
    } else {
      const int side = i - 2 * box.width;
      x = box.left + (side % 2 == 0 ? 0 : box.width - 1);
      y = box.top + 1 + side / 2;
    }
  }

  template <class Group>
  TASKDAG_TASK static void fill(const Picture& picture, const Group& group, const Rectangle& box, std::uint16_t dwell) {
    for (int y = box.top; y < box.top + box.height; ++y) {
      std::uint16_t* const row =
          picture.dwells + static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.view.width);
      for (int x = box.left + group.rank(); x < box.left + box.width; x += group.size()) row[x] = dwell;
    }
  }

  template <class Context>
  TASKDAG_TASK static void create(Context& context, const Rectangle& box) {
    if (box.width >= kSmall && box.height >= kSmall) {
      context.template enqueue<Border>(box);
    } else if (box.width > 0 && box.height > 0) {
      context.template enqueue<Pixels>(box);
    }
  }
};

using Program = engine::Program<Picture, engine::PhaseQueue<engine::Phaseless<Border, Pixels>>>;

Image subdivide(const taskdag::Context& context, const example::EngineOptions& options, const View& view) {
  const engine::Array<std::uint16_t> dwells(
      context, static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height));
  const engine::Array<std::uint64_t> computed(context, 1);
  engine::Runner<Program> runner(context, options.runner);
  const Rectangle all{0, 0, view.width, view.height};
  if (view.width >= kSmall && view.height >= kSmall) {
    runner.enqueue<Border>(all);
  } else {
    runner.enqueue<Pixels>(all);
  }
  const engine::Report report = runner.run({view, dwells.data(), computed.data()}, options.run);
  return {report, dwells.download(), computed.download()[0]};
}

}  // namespace mandelbrot
