/// \file
/// Reverse Cuthill-McKee by tasks of the engine: rows of CSV, a form each, every result compared with the serial one.
/// Beside them the library's own form and, on CUDA, cuSOLVER's ordering, whose result is checked to be a permutation.
///
/// usage: taskdag_rcm_tasks_bench [--backend cuda|host] [--threads N] [--repeat N] [--only NAME]...
/// Without --only: the problems of the table. A NAME that is no generated problem is a file of TASKDAG_MATRIX_DIR.
/// Exit status 1 if a result is wrong or a form fails, 77 without a GPU where one is asked for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "problems.hpp"
#include "rcm_device.hpp"
#include "rcm_tasks_forms.hpp"
#include "rcm_tasks_rivals.hpp"
#include "rows.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

struct Arguments {
  ContextOptions context{.backend = Backend::cuda};
  int repeat = 5;
  std::vector<std::string> names;
};

int usage(const char* program) {
  std::fprintf(stderr, "usage: %s [--backend cuda|host] [--threads N] [--repeat N] [--only NAME]...\n", program);
  return 2;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// @returns whether all is well
bool measure(const std::string& name, const Context& context, int repeat) {
  bool repaired = false;
  const CsrMatrix a = make_problem(name, repaired);
  if (a.rows != a.cols) return true;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
  const double serial = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const char* const commit = std::getenv("TASKDAG_COMMIT");
  const DeviceWords words = describe_device();
  bool well = true;
  const auto write = [&](const TaskFormTime& time) {
    well = well && time.status == "ok";
    std::printf("%s\n", csv_line({"rcm_tasks",
                                  name,
                                  std::to_string(a.rows),
                                  std::to_string(a.entries()),
                                  context.device_name(),
                                  time.form,
                                  time.steps,
                                  time.compression,
                                  time.narrow,
                                  time.scheduler,
                                  number(time.total),
                                  number(time.least),
                                  number(time.most),
                                  std::to_string(time.repeats),
                                  number(time.search),
                                  number(time.permutation),
                                  number(time.preparation),
                                  std::to_string(time.work.levels),
                                  std::to_string(time.work.searches),
                                  std::to_string(time.work.tasks),
                                  number(serial),
                                  time.status,
                                  commit != nullptr ? commit : "unknown",
                                  words.driver,
                                  words.cuda})
                            .c_str());
    std::fflush(stdout);
  };
  write(time_walk(context, a, expected, repeat));
  if (context.backend() == Backend::cuda) {  // cuSOLVER makes no handle without a device
    if (const auto rival = time_cusolver(a, repeat)) write(*rival);
  }
  time_task_forms(context, a, expected, measured_task_forms(context), repeat, write);
  return well;
}

int run(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    if (k + 1 == argc) return usage(argv[0]);
    const std::string option = argv[k];
    const std::string value = argv[++k];
    if (option == "--backend" && (value == "cuda" || value == "host")) {
      arguments.context.backend = value == "cuda" ? Backend::cuda : Backend::host;
    } else if (option == "--threads") {
      arguments.context.threads = std::atoi(value.c_str());
    } else if (option == "--repeat") {
      arguments.repeat = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--only") {
      arguments.names.push_back(value);
    } else {
      return usage(argv[0]);
    }
  }
  if (arguments.context.backend == Backend::cuda && probe_devices().devices == 0) {
    std::fprintf(stderr, "skipped: %s\n", probe_devices().message.c_str());
    return 77;
  }
  if (arguments.names.empty()) arguments.names = list_problems(true);
  const Context context = Context::create(arguments.context);
  std::printf(
      "program,problem,rows,entries,device,form,steps,compression,narrow_levels,scheduler,milliseconds,least,most,"
      "repeats,search_ms,"
      "permutation_ms,preparation_ms,levels,searches,tasks,serial_ms,status,commit,driver,cuda\n");
  bool well = true;
  for (const std::string& name : arguments.names) well = measure(name, context, arguments.repeat) && well;
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
