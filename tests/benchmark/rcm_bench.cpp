/// \file
/// Reverse Cuthill-McKee: CUDA, host threads and the serial reference against cuSOLVER, PETSc and the task engine's
/// forms. Rows of CSV on the standard output.
///
/// usage: taskdag_rcm_bench [--only NAME]... [--threads N]... [--repeat N] [--tasks] [--no-rivals]
///        taskdag_rcm_bench [--only NAME]... --patterns FILE      patterns before and after, to draw (rcm_patterns.py)
/// Without --only: the problems of the table and the files of TASKDAG_MATRIX_DIR. A NAME that is no generated problem
/// is a file of that folder. --threads: of the host backend, 0 for all processors. --tasks: the task engine's forms
/// too. The matrix is in device memory for CUDA, in host memory for all others, and so is the result. Milliseconds; of
/// the repeats, the one with the median total. Our results are compared with the serial one, entry by entry; a rival's
/// must be a permutation. Exit status 1 if one is not.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problems.hpp"
#include "rcm_device.hpp"
#include "rcm_patterns.hpp"
#include "rcm_rivals.hpp"
#include "rcm_tasks_forms.hpp"
#include "rows.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::benchmark {
namespace {

struct Arguments {
  std::vector<std::string> names;
  std::vector<int> threads;
  int repeat = 5;
  bool tasks = false;
  bool rivals = true;
  std::string patterns;  ///< file for patterns, in place of times
};

struct Timing {
  double total = 0.0;
  double least = 0.0;
  double most = 0.0;
  OrderingTimes parts;  ///< of the repeat whose total it is; zeros where there are none
};

using Order = std::vector<Index>;
/// Orders once; fills in the parts, if it knows them.
using Method = std::function<void(OrderingTimes&)>;

Timing time_it(int repeat, const Method& method) {
  using Clock = std::chrono::steady_clock;
  std::vector<Timing> times;
  for (int k = -1; k < repeat; ++k) {  // one warm-up
    Timing time;
    const Clock::time_point start = Clock::now();
    method(time.parts);
    time.total = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (k >= 0) times.push_back(time);
  }
  std::sort(times.begin(), times.end(), [](const Timing& a, const Timing& b) { return a.total < b.total; });
  Timing result = times[times.size() / 2];
  result.least = times.front().total;
  result.most = times.back().total;
  return result;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The rows of one problem.
class Sheet {
 public:
  Sheet(std::string name, const CsrMatrix& a, int repeat) : name_(std::move(name)), a_(a), repeat_(repeat) {
    natural_ = ordering_quality(a.pattern());
  }

  /// `ours`: the order must be the expected one. result() gives it when all is measured. @returns whether all is well
  bool add(const std::string& method, const std::string& where, bool ours, const Method& run,
           const std::function<Order()>& result) {
    Timing time;
    std::string status;
    Order order;
    try {
      time = time_it(repeat_, run);
      order = result();
      status = verdict(order, ours);
    } catch (const std::exception& error) {
      status = error.what();
    }
    OrderingQuality quality;
    if (status == "equal" || status == "permutation") quality = ordering_quality(a_.pattern(), order);
    write(method, where, time, quality, status);
    return status == "equal" || status == "permutation";
  }

  bool add(const TaskFormTime& form, const std::string& where) {
    Timing time{.total = form.total, .least = form.least, .most = form.most, .parts = {}};
    time.parts.search = 1e-3 * form.search;
    time.parts.ordering = 1e-3 * form.permutation;
    const bool well = form.status == "ok";
    std::string method = "tasks " + form.form;
    for (const std::string& word : {form.steps, form.compression, form.narrow, form.scheduler}) {
      if (!word.empty()) method += ", " + word;
    }
    write(method, where, time, well ? ordering_quality(a_.pattern(), expected_) : OrderingQuality{},
          well ? "equal" : form.status);
    return well;
  }

  void expect(const Order& order) { expected_ = order; }
  [[nodiscard]] const Order& expected() const { return expected_; }

 private:
  [[nodiscard]] std::string verdict(const Order& order, bool ours) const {
    if (ours) return order == expected_ ? "equal" : "wrong";
    if (std::ssize(order) != a_.rows) return "wrong";
    static_cast<void>(invert_permutation(order));  // throws where it is none
    return "permutation";
  }

  void write(const std::string& method, const std::string& where, const Timing& time, const OrderingQuality& quality,
             const std::string& status) const {
    const DeviceWords device = describe_device();
    const auto part = [](double seconds) { return seconds > 0.0 ? number(1e3 * seconds) : std::string(); };
    std::printf("%s\n", csv_line({"rcm",
                                  name_,
                                  std::to_string(a_.rows),
                                  std::to_string(a_.entries()),
                                  method,
                                  where,
                                  number(time.total),
                                  number(time.least),
                                  number(time.most),
                                  std::to_string(repeat_),
                                  part(time.parts.graph),
                                  part(time.parts.search),
                                  part(time.parts.ordering),
                                  time.parts.handed_to_host ? "host" : "",
                                  std::to_string(natural_.bandwidth),
                                  std::to_string(natural_.profile),
                                  std::to_string(quality.bandwidth),
                                  std::to_string(quality.profile),
                                  status,
                                  commit_name(),
                                  device.gpu,
                                  device.driver,
                                  device.cuda})
                            .c_str());
    std::fflush(stdout);
  }

  std::string name_;
  const CsrMatrix& a_;
  int repeat_;
  OrderingQuality natural_;
  Order expected_;
};

/// A method that leaves its result on the host.
bool add_on_host(Sheet& sheet, const std::string& method, const std::string& where, bool ours,
                 const std::function<Order(OrderingTimes&)>& run) {
  Order order;
  return sheet.add(
      method, where, ours, [&](OrderingTimes& times) { order = run(times); }, [&] { return order; });
}

bool add_rival(Sheet& sheet, const std::string& version, RcmRival* rival) {
  return !rival || add_on_host(sheet, version, "host", false, [&](OrderingTimes&) { return rival->order(); });
}

bool add_cuda(Sheet& sheet, const CsrMatrix& a, const Context& cuda, const Arguments& arguments) {
  const std::unique_ptr<OnDevice> device = make_on_device(a);
  bool well = sheet.add(
      "ours", cuda.device_name(), true,
      [&](OrderingTimes& times) {
        reverse_cuthill_mckee(cuda, device->pattern(), MemorySpace::device, device->order(), MemorySpace::device,
                              &times);
      },
      [&] { return device->fetch(); });
  if (!arguments.tasks) return well;
  time_task_forms(cuda, a, sheet.expected(), measured_task_forms(cuda), arguments.repeat,
                  [&](const TaskFormTime& form) { well = sheet.add(form, cuda.device_name()) && well; });
  return well;
}

/// @returns whether all is well
bool measure(const std::string& name, const Arguments& arguments, const std::optional<Context>& cuda) {
  bool repaired = false;
  const CsrMatrix a = make_problem(name, repaired);
  if (a.rows != a.cols || a.rows == 0) return true;
  Sheet sheet(name, a, arguments.repeat);
  sheet.expect(reverse_cuthill_mckee(a.pattern()));
  bool well =
      add_on_host(sheet, "serial", "host", true, [&](OrderingTimes&) { return reverse_cuthill_mckee(a.pattern()); });
  if (cuda) well = add_cuda(sheet, a, *cuda, arguments) && well;
  for (const int threads : arguments.threads) {
    const Context host = Context::create({.backend = Backend::host, .threads = threads});
    well = add_on_host(sheet, "ours", host.device_name(), true,
                       [&](OrderingTimes& times) {
                         return reverse_cuthill_mckee(host, a.pattern(), MemorySpace::host, &times);
                       }) &&
           well;
  }
  if (!arguments.rivals) return well;
  std::string version;
  std::unique_ptr<RcmRival> rival;
  if (cuda) rival = make_cusolver_rcm(a, version);  // works on the host, but makes no handle without a device
  well = add_rival(sheet, version, rival.get()) && well;
  rival = make_petsc_rcm(a, version);
  return add_rival(sheet, version, rival.get()) && well;
}

void write_all_patterns(const Arguments& arguments) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(arguments.patterns.c_str(), "w"), std::fclose);
  if (!file) throw Error("cannot write " + arguments.patterns);
  write_pattern_head(file.get());
  for (const std::string& name : arguments.names) {
    bool repaired = false;
    write_patterns(file.get(), name, make_problem(name, repaired));
  }
}

int usage(const char* program) {
  std::fprintf(stderr, "usage: %s [--only NAME]... [--threads N]... [--repeat N] [--tasks] [--no-rivals]\n", program);
  std::fprintf(stderr, "       %s [--only NAME]... --patterns FILE\n", program);
  return 2;
}

int run(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (option == "--tasks") {
      arguments.tasks = true;
      continue;
    }
    if (option == "--no-rivals") {
      arguments.rivals = false;
      continue;
    }
    if (k + 1 == argc) return usage(argv[0]);
    const std::string value = argv[++k];
    if (option == "--only") {
      arguments.names.push_back(value);
    } else if (option == "--threads") {
      arguments.threads.push_back(std::atoi(value.c_str()));
    } else if (option == "--repeat") {
      arguments.repeat = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--patterns") {
      arguments.patterns = value;
    } else {
      return usage(argv[0]);
    }
  }
  if (arguments.names.empty()) arguments.names = list_problems(false);
  if (!arguments.patterns.empty()) {
    write_all_patterns(arguments);
    return 0;
  }
  if (arguments.threads.empty()) arguments.threads = {1, 0};
  std::optional<Context> cuda;
  if (probe_devices().devices > 0) cuda = Context::create({.backend = Backend::cuda});
  std::printf(
      "program,problem,rows,entries,method,where,milliseconds,least,most,repeats,graph_ms,search_ms,ordering_ms,"
      "handed_to,bandwidth_before,profile_before,bandwidth,profile,status,commit,gpu,driver,cuda\n");
  bool well = true;
  for (const std::string& name : arguments.names) well = measure(name, arguments, cuda) && well;
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
