#include <utility>

#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/choice.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"
#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"

namespace taskdag::kernels::cells {

namespace {

/// A row of more entries takes all lanes of a fetcher by itself, and waits for one load of operands after the other.
constexpr Index kLongestRow = 128;

}  // namespace

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int cells) {
  if (cells > 0) return make_cells_sweep(input, CellsOptions{.cells = cells}, selection.stream);
  const auto found = selection.kept<Estimate>(SolveSchedule::cells);
  return found ? make_sweep_of_cells(input, found->cut, selection.stream)
               : make_cells_sweep(input, {}, selection.stream);
}

std::optional<Expectation> expect(Selection& selection) {
  const TriangleFeatures& features = selection.features;
  if (features.levels < kFewLevels || features.longest_row > kLongestRow || !cells_supported()) return {};
  auto found = std::make_shared<Estimate>(estimate(selection.input, selection.stream));
  if (!found->cut.has(selection.input.precision)) return {};
  // Thin levels take much memory: an automatic choice must not be what makes a problem too large.
  if (found->bytes >= kShareOfFreeMemory * free_memory()) return {};
  const double microseconds = found->microseconds;
  selection.keep(SolveSchedule::cells, std::move(found));
  return expected_of_cells(microseconds);
}

double at_least(const Selection& selection) {
  constexpr double kOverFlat = 0.3;  // where the estimate has not been made
  const auto found = selection.kept<Estimate>(SolveSchedule::cells);
  return found ? found->microseconds : kOverFlat * flat::least_microseconds(selection.features, cuda::device_rates());
}

std::vector<int> trials(const Selection& /*selection*/) {
  const int all = cuda::device_limits().multiprocessors;
  return {0, all, all / 2, all / 4};
}

bool fits_large_pencils(const SweepInput& input, cudaStream_t stream) {
  const std::optional<Lines> lines = find_lines(input, stream);
  if (!lines || lines->shear == 0) return false;  // rows wait for one line of the plane before, as with seven points
  const auto fits = [](const auto& pencils) {
    return pencils && bytes_of(*pencils) < kShareOfFreeMemory * free_memory();
  };
  return fits(find_pencils<TwentySevenPoints>(input, *lines, stream)) ||
         fits(find_pencils<ThreeUnknowns>(input, *lines, stream));
}

}  // namespace taskdag::kernels::cells
