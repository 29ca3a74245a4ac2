#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace taskdag::benchmark {
namespace {

std::vector<std::string> distinct(const std::vector<Row>& rows, const std::function<std::string(const Row&)>& name) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (std::ranges::find(names, name(row)) == names.end()) names.push_back(name(row));
  }
  return names;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A row per variant and a column per set; a variant without any value is left out.
void print_table(const std::vector<Row>& rows, const char* title,
                 const std::function<std::optional<double>(const Row&)>& value,
                 const std::function<double(const std::vector<double>&)>& reduce) {
  const auto sets = distinct(rows, [](const Row& row) { return row.set; });
  std::printf("\n| %s |", title);
  for (const std::string& set : sets) std::printf(" %s |", set.c_str());
  std::printf("\n|---|");
  for (std::size_t k = 0; k < sets.size(); ++k) std::printf("---|");
  for (const std::string& variant : distinct(rows, [](const Row& row) { return std::string(row.variant); })) {
    std::string line;
    bool any = false;
    for (const std::string& set : sets) {
      std::vector<double> values;
      for (const Row& row : rows) {
        if (row.set != set || row.variant != variant) continue;
        if (const auto v = value(row)) values.push_back(*v);
      }
      any = any || !values.empty();
      char cell[32];
      std::snprintf(cell, sizeof cell, values.empty() ? " |" : " %.2f |", values.empty() ? 0.0 : reduce(values));
      line += cell;
    }
    if (any) std::printf("\n| %s |%s", variant.c_str(), line.c_str());
  }
  std::printf("\n");
}

}  // namespace

double amortisation(const Row& row) {
  const double gain = row.serial_ms - row.measured.solving->median;
  return gain > 0.0 ? row.measured.schedule_ms / gain : std::numeric_limits<double>::infinity();
}

void write_csv(std::FILE* file, const std::string& commit, int cores, const std::vector<Row>& rows) {
  std::fprintf(file,
               "commit,cores,set,matrix,rows,entries,wavefronts,schedule,supersteps,wavefronts_per_superstep,balance,"
               "schedule_ms,pack_ms,threads,solve_ms,lower_quartile_ms,upper_quartile_ms,speedup,amortisation,error\n");
  for (const Row& row : rows) {
    const Measurement& m = row.measured;
    std::fprintf(file, "%s,%d,%s,\"%s\",%d,%d,%d,\"%s\",", commit.c_str(), cores, row.set.c_str(), row.matrix.c_str(),
                 row.rows, row.entries, m.wavefronts, row.variant);
    if (m.supersteps > 0) {
      std::fprintf(file, "%d,%.4g,%.4g,", m.supersteps, static_cast<double>(m.wavefronts) / m.supersteps, m.balance);
    } else {
      std::fprintf(file, ",,,");
    }
    std::fprintf(file, "%.4g,", m.schedule_ms);
    if (m.solving) {
      const Solving& s = *m.solving;
      std::fprintf(file, "%.4g,%d,%.5g,%.5g,%.5g,%.4g,%.4g,%.2g\n", s.pack_ms, s.threads, s.median, s.lower_quartile,
                   s.upper_quartile, row.serial_ms / s.median, amortisation(row), s.error);
    } else {
      std::fprintf(file, ",,,,,,,\n");
    }
  }
}

void print_tables(const std::vector<Row>& rows) {
  print_table(
      rows, "wavefronts / supersteps",
      [](const Row& row) -> std::optional<double> {
        if (row.measured.supersteps == 0) return std::nullopt;
        return static_cast<double>(row.measured.wavefronts) / row.measured.supersteps;
      },
      geometric_mean);
  print_table(
      rows, "speed-up over serial",
      [](const Row& row) -> std::optional<double> {
        if (!row.measured.solving) return std::nullopt;
        return row.serial_ms / row.measured.solving->median;
      },
      geometric_mean);
  print_table(
      rows, "amortisation, solves (median)",
      [](const Row& row) -> std::optional<double> {
        if (!row.measured.solving || std::string(row.variant) == "serial") return std::nullopt;
        return amortisation(row);
      },
      median);
}

}  // namespace taskdag::benchmark
