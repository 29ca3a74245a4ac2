// Draws the Mandelbrot set by subdivision, and compares the image with the one that is computed pixel by pixel.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "subdivision.hpp"

namespace {

struct Place {
  double real = -0.75;
  double imaginary = 0;
  double width = 3;  ///< of the part of the plane that the image shows
};

mandelbrot::Fixed fixed(double number) {
  return static_cast<mandelbrot::Fixed>(std::llround(std::ldexp(number, mandelbrot::kFractionBits)));
}

/// The view with `place` in its middle.
mandelbrot::View view_of(const Place& place, int width, int height, std::uint16_t dwell) {
  mandelbrot::View view;
  view.width = width;
  view.height = height;
  view.dwell = dwell;
  view.step = fixed(place.width / width);
  if (view.step == 0) throw std::runtime_error("the pixels are closer than 2^-28");
  view.left = fixed(place.real) - view.step * (width / 2);
  view.top = fixed(place.imaginary) + view.step * (height / 2);
  const mandelbrot::Fixed edge = mandelbrot::Fixed{3} << mandelbrot::kFractionBits;
  const auto within = [edge](mandelbrot::Fixed number) { return -edge <= number && number <= edge; };
  if (!within(view.left) || !within(view.top) || !within(view.left + view.step * (width - 1)) ||
      !within(view.top - view.step * (height - 1))) {
    throw std::runtime_error("the image leaves the square from -3 to 3");
  }
  return view;
}

/// @param tolerated pixels that may differ
/// @throws std::runtime_error that names the first pixel which differs and how many do
void compare_with_direct_computation(const mandelbrot::View& view, const std::vector<std::uint16_t>& dwells,
                                     std::size_t tolerated) {
  std::size_t different = 0;
  std::string first;
  std::size_t i = 0;
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x, ++i) {
      if (dwells[i] == mandelbrot::dwell_of(view, x, y)) continue;
      if (different == 0) first = std::to_string(x) + ", " + std::to_string(y);
      ++different;
    }
  }
  if (different > 0) std::printf("%zu pixels differ from the direct computation\n", different);
  if (different <= tolerated) return;
  throw std::runtime_error(std::to_string(different) + " pixels differ from the direct computation, the first at " +
                           first + " (subdivision misses what crosses a border between two pixels)");
}

/// A grey image, PGM: the set is black, what leaves early is bright.
void write_pgm(const std::string& path, const mandelbrot::View& view, const std::vector<std::uint16_t>& dwells) {
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << view.width << " " << view.height << "\n255\n";
  for (const std::uint16_t dwell : dwells) {
    const double escaped = std::log1p(dwell) / std::log1p(view.dwell);
    file.put(static_cast<char>(static_cast<unsigned char>(std::lround(255 * (1 - escaped)))));
  }
  file.close();
  if (!file) throw std::runtime_error(path + " cannot be written");
}

int run(int argc, char** argv) {
  CLI::App app{"Draws the Mandelbrot set by subdivision, and compares it with the direct computation."};
  example::EngineOptions options;
  Place place;
  int width = 768;
  int height = 512;
  std::uint16_t dwell = 256;
  std::size_t tolerated = 0;
  std::string output;
  app.add_option("--width", width, "pixels")->check(CLI::Range(1, 1 << 15))->capture_default_str();
  app.add_option("--height", height, "pixels")->check(CLI::Range(1, 1 << 15))->capture_default_str();
  app.add_option("--dwell", dwell, "steps after which a point counts as one of the set")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--real", place.real, "middle of the image")->capture_default_str();
  app.add_option("--imaginary", place.imaginary, "middle of the image")->capture_default_str();
  app.add_option("--extent", place.width, "of the plane, from the left of the image to its right")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--tolerate", tolerated,
                 "pixels that subdivision may miss: threads of the set are thinner than a pixel")
      ->capture_default_str();
  app.add_option("--output", output, "write the image to this file (PGM)");
  example::add_engine_options(app, options);
  if (!example::parse(app, argc, argv)) return 0;

  const mandelbrot::View view = view_of(place, width, height, dwell);
  const taskdag::Context context = taskdag::Context::create(options.context);
  const mandelbrot::Image image = mandelbrot::subdivide(context, options, view);
  example::print_report(context, options, image.report);
  example::require_finished(image.report);
  if (!output.empty()) write_pgm(output, view, image.dwells);
  compare_with_direct_computation(view, image.dwells, tolerated);
  std::printf("%zu pixels compared with the direct computation, %.1f %% of them computed\n", image.dwells.size(),
              100.0 * static_cast<double>(image.computed) / static_cast<double>(image.dwells.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("mandelbrot", argc, argv, run); }
