#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>

namespace taskdag::benchmark {
namespace {

std::vector<std::string> distinct(const std::vector<Row>& rows, const std::function<std::string(const Row&)>& name) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (std::ranges::find(names, name(row)) == names.end()) names.push_back(name(row));
  }
  return names;
}

std::string to_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 100.0 ? "%.2f" : "%.0f", value);
  return text;
}

std::string geometric_mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += std::log(value);
  return to_text(std::exp(sum / static_cast<double>(values.size())));
}

std::string quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  std::ostringstream text;
  text << to_text(values[n / 4]) << " / " << to_text(values[n / 2]) << " / " << to_text(values[n * 3 / 4]);
  return text.str();
}

/// A row per variant and a column per set; a variant without any value is left out, and so is a table of those.
void print_table(const std::vector<Row>& rows, const char* title,
                 const std::function<std::optional<double>(const Row&)>& value,
                 const std::function<std::string(const std::vector<double>&)>& reduce) {
  const auto sets = distinct(rows, [](const Row& row) { return row.set; });
  std::ostringstream table;
  for (const std::string& variant : distinct(rows, [](const Row& row) { return std::string(row.variant); })) {
    std::ostringstream line;
    bool any = false;
    for (const std::string& set : sets) {
      std::vector<double> values;
      for (const Row& row : rows) {
        if (row.set != set || row.variant != variant) continue;
        if (const auto v = value(row)) values.push_back(*v);
      }
      any = any || !values.empty();
      if (!values.empty()) line << " " << reduce(values);
      line << " |";
    }
    if (any) table << "| " << variant << " |" << line.str() << "\n";
  }
  if (table.str().empty()) return;
  std::ostringstream names;
  std::ostringstream rule;
  for (const std::string& set : sets) {
    names << " " << set << " |";
    rule << "---|";
  }
  std::printf("\n| %s |%s\n|---|%s\n%s", title, names.str().c_str(), rule.str().c_str(), table.str().c_str());
}

}  // namespace

std::optional<double> amortisation(const Row& row) {
  if (!row.measured.schedule_ms) return std::nullopt;
  const double gain = row.serial_ms - row.measured.solving->median;
  return gain > 0.0 ? *row.measured.schedule_ms / gain : std::numeric_limits<double>::infinity();
}

void write_names(std::FILE* file) {
  std::fprintf(
      file,
      "commit,cores,set,matrix,rows,entries,wavefronts,schedule,supersteps,wavefronts_per_superstep,balance,"
      "schedule_ms,pack_ms,threads,solve_ms,lower_quartile_ms,upper_quartile_ms,speedup,amortisation,error,machine\n");
}

void write_row(std::FILE* file, const Origin& origin, const Row& row) {
  const Measurement& m = row.measured;
  std::fprintf(file, "%s,%d,%s,\"%s\",%d,%d,%d,\"%s\",", origin.commit.c_str(), origin.cores, row.set.c_str(),
               row.matrix.c_str(), row.rows, row.entries, m.wavefronts, row.variant);
  const auto put = [&](const char* format, double value, bool known) {
    if (known) std::fprintf(file, format, value);
    std::fprintf(file, ",");
  };
  put("%.0f", m.supersteps, m.supersteps > 0);
  put("%.4g", static_cast<double>(m.wavefronts) / m.supersteps, m.supersteps > 0);
  put("%.4g", m.balance, m.balance > 0.0);
  put("%.4g", m.schedule_ms.value_or(0.0), m.schedule_ms.has_value());
  if (m.solving) {
    const Solving& s = *m.solving;
    std::fprintf(file, "%.4g,%d,%.5g,%.5g,%.5g,%.4g,", s.pack_ms, s.threads, s.median, s.lower_quartile,
                 s.upper_quartile, row.serial_ms / s.median);
    const std::optional<double> solves = amortisation(row);
    put("%.4g", solves.value_or(0.0), solves.has_value());
    put("%.2g", s.error, true);
  } else {
    std::fprintf(file, ",,,,,,,,");
  }
  std::fprintf(file, "\"%s\"\n", origin.machine.c_str());
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
      rows, "amortisation, solves (quartiles)",
      [](const Row& row) -> std::optional<double> {
        if (!row.measured.solving || std::string(row.variant) == "serial") return std::nullopt;
        return amortisation(row);
      },
      quartiles);
}

}  // namespace taskdag::benchmark
