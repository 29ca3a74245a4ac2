#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace taskdag::benchmark {

const char* const kUsage =
    "[--cores N] [--counts | --schedule-times] [--set NAME]... [--only MATRIX]... [--group NAME]...\n"
    "  [--schedule NAME]... [--first-seed N] [--seeds N] [--rows N] [--repeat N] [--solve-ms N] [--attempts N]\n"
    "  [--least-flops N] [--least-wavefront N] [--most-work N] [--at-once N] [--seconds N] [--rival FILE]...\n"
    "  [--csv FILE] [--append]";

bool parse(int argc, char** argv, Options& options) {
  const auto flag = [&](const char* argument) -> bool* {
    constexpr auto kFlags = std::to_array<std::pair<const char*, bool Options::*>>({
        {"--counts", &Options::counts},
        {"--schedule-times", &Options::schedule_times},
        {"--append", &Options::append},
    });
    const auto* const found =
        std::ranges::find_if(kFlags, [&](const auto& f) { return std::strcmp(f.first, argument) == 0; });
    return found == kFlags.end() ? nullptr : &(options.*found->second);
  };
  for (int k = 1; k < argc; ++k) {
    if (bool* const set = flag(argv[k])) {
      *set = true;
      continue;
    }
    if (k + 1 == argc) return false;
    const auto is = [&](const char* name) { return std::strcmp(argv[k], name) == 0; };
    const char* const value = argv[k + 1];
    if (is("--cores")) {
      options.cores = std::atoi(value);
    } else if (is("--set")) {
      options.sets.emplace_back(value);
    } else if (is("--only")) {
      options.only.emplace_back(value);
    } else if (is("--group")) {
      options.groups.emplace_back(value);
    } else if (is("--schedule")) {
      options.schedules.emplace_back(value);
    } else if (is("--first-seed")) {
      options.first_seed = std::atoi(value);
    } else if (is("--seeds")) {
      options.seeds = std::atoi(value);
    } else if (is("--rows")) {
      options.rows = std::atoi(value);
    } else if (is("--repeat")) {
      options.repetition.solves = std::max(1, std::atoi(value));
    } else if (is("--solve-ms")) {
      options.repetition.most_ms = std::atof(value);
    } else if (is("--attempts")) {
      options.repetition.attempts = std::max(1, std::atoi(value));
    } else if (is("--least-flops")) {
      options.least_flops = std::atof(value);
    } else if (is("--least-wavefront")) {
      options.least_wavefront = std::atof(value);
    } else if (is("--most-work")) {
      options.most_work = std::atof(value);
    } else if (is("--at-once")) {
      options.at_once = std::max(1, std::atoi(value));
    } else if (is("--seconds")) {
      options.seconds = std::atof(value);
    } else if (is("--rival")) {
      options.rivals.emplace_back(value);
    } else if (is("--csv")) {
      options.csv = value;
    } else {
      return false;
    }
    ++k;
  }
  if (options.least_wavefront < 0.0) options.least_wavefront = 2.0 * options.cores;
  if (options.groups.empty() && options.schedules.empty()) options.groups.emplace_back("usual");
  return options.cores >= 1 && !(options.append && options.csv.empty());
}

}  // namespace taskdag::benchmark
