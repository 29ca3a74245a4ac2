/// \file
/// A study: what several candidates in the search of reverse Cuthill–McKee's start node gain in bandwidth and profile,
/// and how many searches, levels and how much time they take. Rows of CSV on the standard output.
///
/// usage: taskdag_candidates_bench [--only NAME]... [--candidates N]... [--repeat N]
/// Without --only: the generated problems, and the files of TASKDAG_MATRIX_DIR. Without --candidates: 1, 2, 4, 8.
/// Milliseconds are the processor's, of one thread, search and ordering together, the median of the repeats; the graph
/// is made before. Exit status 1 where one candidate does not give the library's permutation, or a result is no
/// permutation.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "csv_text.hpp"
#include "problems.hpp"
#include "start.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

struct Arguments {
  std::vector<std::string> names;
  std::vector<Index> candidates;
  int repeat = 3;
};

std::vector<StartRule> list_rules(const std::vector<Index>& numbers) {
  std::vector<StartRule> rules;
  for (const Index number : numbers) {
    for (const Pick pick : {Pick::least, Pick::degrees}) {
      if (number == 1 && pick == Pick::degrees) continue;  // the same candidate
      for (const Begin begin : {Begin::first, Begin::narrowest, Begin::least_bandwidth}) {
        rules.push_back({number, pick, begin});
      }
    }
  }
  return rules;
}

/// @returns whether the results are what they have to be
bool measure(const std::string& name, const Arguments& arguments) {
  bool repaired = false;
  const CsrMatrix a = make_problem(name, repaired);
  host::ThreadPool alone(1);
  const kernels::HostGraph graph = kernels::symmetrised_graph(a.pattern(), alone);
  const std::vector<Index> library = reverse_cuthill_mckee(a.pattern());
  bool well = true;
  for (const StartRule& rule : list_rules(arguments.candidates)) {
    StartCounts counts;
    std::vector<Index> order;
    std::vector<double> times;
    for (int k = 0; k < arguments.repeat; ++k) {
      counts = {};
      const std::clock_t begin = std::clock();
      order = order_from_candidates(graph.view(), rule, counts);
      times.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    std::ranges::sort(times);
    const bool same = order == library;
    const bool right = same || rule.candidates > 1 || rule.begin != Begin::first;
    const OrderingQuality quality = ordering_quality(a.pattern(), order);  // throws where it is no permutation
    char milliseconds[32];
    std::snprintf(milliseconds, sizeof milliseconds, "%.4g", times[times.size() / 2]);
    std::printf("%s\n",
                csv_line({"candidates", name, std::to_string(a.rows), std::to_string(a.entries()),
                          std::to_string(rule.candidates), to_string(rule.pick), to_string(rule.begin),
                          std::to_string(counts.searches), std::to_string(counts.levels), std::to_string(counts.visits),
                          std::to_string(counts.orderings), std::to_string(counts.depth), milliseconds,
                          std::to_string(quality.bandwidth), std::to_string(quality.profile), same ? "yes" : "no",
                          right ? "ok" : "wrong", commit_name()})
                    .c_str());
    std::fflush(stdout);
    well = well && right;
  }
  return well;
}

int run(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    const std::string value = k + 1 < argc ? argv[++k] : "";
    if (option == "--only" && !value.empty()) {
      arguments.names.push_back(value);
    } else if (option == "--candidates" && std::atoi(value.c_str()) > 0) {
      arguments.candidates.push_back(std::atoi(value.c_str()));
    } else if (option == "--repeat" && std::atoi(value.c_str()) > 0) {
      arguments.repeat = std::atoi(value.c_str());
    } else {
      std::fprintf(stderr, "usage: %s [--only NAME]... [--candidates N]... [--repeat N]\n", argv[0]);
      return 2;
    }
  }
  if (arguments.names.empty()) arguments.names = list_problems(false);
  if (arguments.candidates.empty()) arguments.candidates = {1, 2, 4, 8};
  std::printf(
      "program,problem,rows,entries,candidates,pick,begin,searches,levels,visits,orderings,depth,milliseconds,"
      "bandwidth,"
      "profile,library_order,status,commit\n");
  bool well = true;
  for (const std::string& name : arguments.names) well = measure(name, arguments) && well;
  return well ? 0 : 1;
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    return taskdag::benchmark::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
