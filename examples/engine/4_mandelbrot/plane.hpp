/// \file
/// The Mandelbrot set on a grid of pixels, in fixed-point numbers: the same on every processor, to the last bit.
#pragma once

#include <cstdint>

#include "taskdag/engine/platform.hpp"

namespace mandelbrot {

/// Of a fixed-point number, behind the point. Products of numbers below 11 stay below 2^63 with it.
inline constexpr int kFractionBits = 28;
using Fixed = std::int64_t;

/// Which part of the plane the image shows.
struct View {
  int width = 0;            ///< pixels
  int height = 0;           ///< pixels
  Fixed left = 0;           ///< real part of pixel (0, 0)
  Fixed top = 0;            ///< imaginary part of pixel (0, 0)
  Fixed step = 0;           ///< from one pixel to the next; rows go down
  std::uint16_t dwell = 0;  ///< steps after which a point counts as one of the set
};

/// Steps of z -> z^2 + c from 0 until |z| > 2, at most view.dwell.
TASKDAG_TASK inline std::uint16_t dwell_of(const View& view, int x, int y) {
  const Fixed real = view.left + view.step * x;
  const Fixed imaginary = view.top - view.step * y;
  constexpr Fixed four = Fixed{4} << kFractionBits;
  Fixed a = 0;
  Fixed b = 0;
  std::uint16_t steps = 0;
  for (; steps < view.dwell; ++steps) {
    const Fixed aa = (a * a) >> kFractionBits;
    const Fixed bb = (b * b) >> kFractionBits;
    if (aa + bb > four) break;
    b = ((a * b) >> (kFractionBits - 1)) + imaginary;
    a = aa - bb + real;
  }
  return steps;
}

}  // namespace mandelbrot
