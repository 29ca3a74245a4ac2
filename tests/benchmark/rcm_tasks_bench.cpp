/// \file
/// Reverse Cuthill-McKee by tasks of the engine: rows of CSV, a form each, every result compared with the serial one.
/// Beside them the library's own form and, on CUDA, cuSOLVER's ordering, whose result is checked to be a permutation.
///
/// usage: taskdag_rcm_tasks_bench [--backend cuda|host] [--threads N] [--repeat N] [--only NAME]... [--types FILE]
/// --types: rows of the time by task type of MHive's program to FILE, from further runs.
/// Without --only: the problems of the table. A NAME that is no generated problem is a file of TASKDAG_MATRIX_DIR.
/// Exit status 1 if a result is wrong or a form fails, 77 without a GPU where one is asked for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "problems.hpp"
#include "rcm_device.hpp"
#include "rcm_tasks_forms.hpp"
#include "rcm_tasks_rivals.hpp"
#include "rcm_tasks_types.hpp"
#include "rows.hpp"
#include "taskdag/error.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

struct Arguments {
  ContextOptions context{.backend = Backend::cuda};
  int repeat = 5;
  std::vector<std::string> names;
  std::string types;
};

int usage(const char* program) {
  std::fprintf(stderr, "usage: %s [--backend cuda|host] [--threads N] [--repeat N] [--only NAME]... [--types FILE]\n",
               program);
  return 2;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Of the kernels of a form the one that leaves room for the fewest blocks; empty on the host.
std::vector<std::string> tightest_kernel(const std::vector<engine::KernelInfo>& kernels) {
  const engine::KernelInfo* tightest = nullptr;
  for (const engine::KernelInfo& kernel : kernels) {
    if (kernel.registers == 0) continue;
    if (tightest == nullptr || kernel.blocks_per_sm < tightest->blocks_per_sm) tightest = &kernel;
  }
  if (tightest == nullptr) return {"", "", ""};
  return {tightest->name, std::to_string(tightest->registers), std::to_string(tightest->blocks_per_sm)};
}

/// Where the time of MHive's program goes, under each scheduler.
void write_types(std::ofstream& file, const std::string& name, const Context& context, const CsrMatrix& a,
                 const std::vector<Index>& expected) {
  const DeviceWords words = describe_device();
  for (const engine::Scheduler scheduler :
       {engine::Scheduler::megakernel, engine::Scheduler::device_controller, engine::Scheduler::timesliced}) {
    const kernels::TaskOrderingTimes times = trace_types(context, a, expected, scheduler);
    for (const kernels::TaskTypeTime& type : times.types) {
      file << csv_line({"rcm_types", name, context.device_name(), engine::to_string(scheduler), type.name,
                        std::to_string(type.tasks), number(1e3 * type.seconds), std::to_string(times.dropped_events),
                        "ok", commit_name(), words.driver, words.cuda})
           << std::endl;
    }
  }
}

/// @returns whether all is well
bool measure(const std::string& name, const Context& context, int repeat, std::ofstream& types) {
  bool repaired = false;
  const CsrMatrix a = make_problem(name, repaired);
  if (a.rows != a.cols) return true;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
  const double serial = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const DeviceWords words = describe_device();
  bool well = true;
  const auto write = [&](const TaskFormTime& time) {
    well = well && time.status == "ok";
    const std::vector<std::string> kernel = tightest_kernel(time.work.kernels);
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
                                  time.device_bytes == 0 ? "" : number(1e-6 * static_cast<double>(time.device_bytes)),
                                  kernel[0],
                                  kernel[1],
                                  kernel[2],
                                  time.status,
                                  commit_name(),
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
  if (types.is_open()) write_types(types, name, context, a, expected);
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
    } else if (option == "--types") {
      arguments.types = value;
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
      "permutation_ms,preparation_ms,levels,searches,tasks,serial_ms,device_mb,"
      "tightest_kernel,registers,blocks_per_sm,status,commit,driver,cuda\n");
  std::ofstream types;
  if (!arguments.types.empty()) {
    types.open(arguments.types);
    if (!types) throw Error("cannot write " + arguments.types);
    types << "program,problem,device,scheduler,type,tasks,worker_ms,dropped,status,commit,driver,cuda\n";
  }
  bool well = true;
  for (const std::string& name : arguments.names) well = measure(name, context, arguments.repeat, types) && well;
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
