#include "session.hpp"

#include <cstdio>
#include <utility>

namespace taskdag::benchmark {

Session::Session(const Options& o, std::vector<std::string> key)
    : options(o),
      machine(describe_machine()),
      context(Context::create({Backend::cuda, 0, -1})),
      rows(o.csv, o.json, std::move(key), o.resume, machine),
      watchdog_(o.hang_seconds, [this] {
        if (current_.is_null()) return;
        current_["status"] = "hung";
        rows.add(current_);
      }) {
  std::printf("%s, driver %s, CUDA %s, cuSPARSE %s, commit %s; copy %.2f TB/s, hop %.3f us\n", machine.gpu.c_str(),
              machine.driver.c_str(), machine.cuda.c_str(), machine.cusparse.c_str(), machine.commit.c_str(),
              machine.bytes_per_ms * 1e-9, machine.hop_ms * 1e3);
}

void Session::for_each_problem(const std::function<void(const Problem&, const CsrMatrix&)>& visit) {
  const bool chosen = options.smoke || options.table || options.all || !options.only.empty();
  const std::vector<std::string> names = !options.only.empty() ? options.only
                                         : options.smoke       ? list_smoke_problems()
                                                               : list_problems(options.table);
  for (const std::string& name : names) {
    try {
      step("making " + name, nullptr);
      bool repaired = false;
      const CsrMatrix a = make_problem(name, repaired);
      const Problem problem{name, set_of(name, a.rows)};
      if (!chosen && problem.set == ProblemSet::other) continue;
      if (a.rows != a.cols) {
        std::printf("%s: not square, left out\n", name.c_str());
        continue;
      }
      if (repaired) std::printf("%s: a missing or zero diagonal was replaced\n", name.c_str());
      visit(problem, a);
    } catch (const std::exception& error) {
      fail(name + ": " + error.what());
    }
  }
  watchdog_.rest();
}

void Session::step(const std::string& what, const Row& row) {
  watchdog_.rest();
  current_ = row;
  watchdog_.step(what);
}

void Session::fail(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  failures_.push_back(what);
}

int Session::finish() {
  ratios.print();
  for (const std::string& what : failures_) std::printf("FAILED: %s\n", what.c_str());
  return failures_.empty() ? 0 : 1;
}

}  // namespace taskdag::benchmark
