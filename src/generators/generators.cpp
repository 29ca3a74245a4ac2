#include "taskdag/generators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "taskdag/error.hpp"

namespace taskdag {
namespace {

/// A neighbour's offset from a grid point, and the value that couples the two.
struct Leg {
  Index dx, dy, dz;
  double value;
};

/// The stencil's legs in the order of their columns, the centre included.
std::vector<Leg> stencil_legs(const StencilSpec& spec) {
  const bool flat = spec.stencil == Stencil::five_point;
  const bool corners = spec.stencil == Stencil::twenty_seven_point;
  std::vector<Leg> legs;
  double diagonal = (flat ? 2.0 : 3.0) * spec.wind;
  for (Index dz = flat ? 0 : -1; dz <= (flat ? 0 : 1); ++dz) {
    for (Index dy = -1; dy <= 1; ++dy) {
      for (Index dx = -1; dx <= 1; ++dx) {
        const int distance = std::abs(dx) + std::abs(dy) + std::abs(dz);
        if (distance > 1 && !corners) continue;
        const bool upstream = distance == 1 && dx + dy + dz < 0;
        legs.push_back({dx, dy, dz, upstream ? -1.0 - spec.wind : -1.0});
        if (distance > 0) diagonal += 1.0;
      }
    }
  }
  legs[legs.size() / 2].value = diagonal;
  return legs;
}

/// Grid points that have the neighbour at `step` along an axis of `points`.
std::int64_t points_with_neighbour(Index points, Index step) { return std::int64_t{points} - std::abs(step); }

void validate_spec(const StencilSpec& spec) {
  if (spec.nx < 1 || spec.ny < 1 || spec.nz < 1) {
    throw InvalidInput("a grid of " + std::to_string(spec.nx) + " x " + std::to_string(spec.ny) + " x " +
                       std::to_string(spec.nz) + " points has no unknowns");
  }
  if (spec.stencil == Stencil::five_point && spec.nz != 1) throw InvalidInput("the five-point stencil needs nz = 1");
  if (spec.unknowns_per_node < 1) throw InvalidInput("a node needs at least one unknown");
  if (!(spec.wind >= 0.0) || !std::isfinite(spec.wind)) throw InvalidInput("the wind must be finite and not negative");
}

/// The product of the extents, refused as soon as it leaves 32 bits.
Index checked_rows(const StencilSpec& spec) {
  std::int64_t rows = 1;
  for (const Index extent : {spec.nx, spec.ny, spec.nz, spec.unknowns_per_node}) {
    rows *= extent;
    if (rows > std::numeric_limits<Index>::max()) {
      throw InvalidInput("the grid has more unknowns than 32-bit indices can address");
    }
  }
  return static_cast<Index>(rows);
}

Offset checked_stencil_entries(const StencilSpec& spec, const std::vector<Leg>& legs) {
  std::int64_t blocks = 0;
  for (const Leg& leg : legs) {
    blocks += points_with_neighbour(spec.nx, leg.dx) * points_with_neighbour(spec.ny, leg.dy) *
              points_with_neighbour(spec.nz, leg.dz);
  }
  const std::int64_t block_size = std::int64_t{spec.unknowns_per_node} * spec.unknowns_per_node;
  checked_offset(block_size, "a block of the stencil matrix");  // with this, the product below fits 64 bits
  return checked_offset(blocks * block_size, "the stencil matrix");
}

void append(CsrMatrix& a, Index column, double value) {
  a.col_indices.push_back(column);
  a.values.push_back(value);
}

void reserve(CsrMatrix& a, std::int64_t entries) {
  a.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
  a.col_indices.reserve(static_cast<std::size_t>(entries));
  a.values.reserve(static_cast<std::size_t>(entries));
}

void finish_row(CsrMatrix& a, const std::string& what) {
  a.row_offsets.push_back(checked_offset(std::ssize(a.col_indices), what));
}

/// The random numbers of the triangles. The engine's sequence is fixed by the C++ standard and the distributions are
/// written out here (the standard leaves them open), so that a seed means the same matrix everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, 1), 53 bits.
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double off_diagonal() { return 4.0 * unit() - 2.0; }
  double diagonal() {
    const double magnitude = std::exp2(2.0 * unit() - 1.0);
    return (engine_() >> 63) == 0 ? magnitude : -magnitude;
  }
  /// Failures before the first success of trials with `probability`, at most `limit`. The inverse of the geometric
  /// distribution; Batagelj & Brandes 2005, doi:10.1103/PhysRevE.71.036113, walk over a random graph's edges this way.
  std::int64_t failures(double probability, Index limit) {
    if (!(probability > 0.0)) return limit;
    const double count = std::log1p(-unit()) / std::log1p(-probability);
    return count < limit ? static_cast<std::int64_t>(count) : limit;
  }

 private:
  std::mt19937_64 engine_;
};

void validate_triangle(Index n, double p) {
  if (n < 0) throw InvalidInput("the order " + std::to_string(n) + " is negative");
  if (!(p >= 0.0 && p <= 1.0)) throw InvalidInput("the probability " + std::to_string(p) + " is outside [0, 1]");
}

/// Expected entries with a margin of six standard deviations, for the reserve; refuses what cannot be held.
std::int64_t expected_entries(Index n, double off_diagonal, const std::string& what) {
  const double expected = n + off_diagonal;
  if (expected > std::numeric_limits<Offset>::max()) checked_offset(static_cast<std::int64_t>(expected), what);
  return static_cast<std::int64_t>(expected + 6.0 * std::sqrt(off_diagonal)) + 1;
}

}  // namespace

// Several unknowns per node: the scalar stencil's Kronecker product with B = I + (1 1ᵀ − I)/u, ones on the diagonal and
// 1/u elsewhere. Every block is dense. B is positive definite (eigenvalues 1 − 1/u and 2 − 1/u), so the product is
// positive definite where the scalar matrix is, that is for wind 0.
CsrMatrix make_stencil(const StencilSpec& spec) {
  validate_spec(spec);
  const std::vector<Leg> legs = stencil_legs(spec);
  const Index unknowns = spec.unknowns_per_node;
  const double coupling = 1.0 / unknowns;
  CsrMatrix a;
  a.rows = a.cols = checked_rows(spec);
  reserve(a, checked_stencil_entries(spec, legs));
  const auto inside = [](Index position, Index extent) { return position >= 0 && position < extent; };
  for (Index z = 0; z < spec.nz; ++z) {
    for (Index y = 0; y < spec.ny; ++y) {
      for (Index x = 0; x < spec.nx; ++x) {
        for (Index unknown = 0; unknown < unknowns; ++unknown) {
          for (const Leg& leg : legs) {
            if (!inside(x + leg.dx, spec.nx) || !inside(y + leg.dy, spec.ny) || !inside(z + leg.dz, spec.nz)) continue;
            const Index node = ((z + leg.dz) * spec.ny + y + leg.dy) * spec.nx + x + leg.dx;
            for (Index other = 0; other < unknowns; ++other) {
              append(a, node * unknowns + other, other == unknown ? leg.value : leg.value * coupling);
            }
          }
          finish_row(a, "the stencil matrix");
        }
      }
    }
  }
  return a;
}

CsrMatrix make_erdos_renyi_lower(Index n, double p, std::uint64_t seed) {
  const std::string what = "the Erdős–Rényi matrix";
  validate_triangle(n, p);
  Random random(seed);
  CsrMatrix a;
  a.rows = a.cols = n;
  reserve(a, expected_entries(n, 0.5 * p * n * (n - 1.0), what));
  for (Index i = 0; i < n; ++i) {
    for (std::int64_t j = random.failures(p, i); j < i; j += 1 + random.failures(p, i)) {
      append(a, static_cast<Index>(j), random.off_diagonal());
    }
    append(a, i, random.diagonal());
    finish_row(a, what);
  }
  return a;
}

// Thinning: from one distance to the next the probability falls, so the one at hand bounds those to come. The walk
// jumps to the next success under that bound and keeps it with the ratio of the true probability to the bound.
CsrMatrix make_narrow_band_lower(Index n, double p, double b, std::uint64_t seed) {
  const std::string what = "the narrow-band matrix";
  validate_triangle(n, p);
  if (!(b > 0.0) || !std::isfinite(b)) throw InvalidInput("the band parameter must be finite and positive");
  Random random(seed);
  CsrMatrix a;
  a.rows = a.cols = n;
  const double per_row = std::min(p / -std::expm1(-1.0 / b), 0.5 * p * std::max(n - 1.0, 0.0));
  reserve(a, expected_entries(n, per_row * n, what));
  for (Index i = 0; i < n; ++i) {
    const auto row_begin = static_cast<std::ptrdiff_t>(a.col_indices.size());
    double bound = p;
    for (std::int64_t distance = 1 + random.failures(bound, i); distance <= i;
         distance += 1 + random.failures(bound, i)) {
      const double probability = p * std::exp((1.0 - static_cast<double>(distance)) / b);
      if (random.unit() * bound < probability) append(a, i - static_cast<Index>(distance), random.off_diagonal());
      bound = probability;
    }
    std::reverse(a.col_indices.begin() + row_begin, a.col_indices.end());
    std::reverse(a.values.begin() + row_begin, a.values.end());
    append(a, i, random.diagonal());
    finish_row(a, what);
  }
  return a;
}

}  // namespace taskdag
