#include "common/options.hpp"

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

namespace example {

namespace {

using taskdag::Backend;
using taskdag::engine::ControllerForm;
using taskdag::engine::FullPolicy;
using taskdag::engine::PhaseChange;
using taskdag::engine::Scheduler;

/// An option that takes one of some names.
template <class T>
void add_choice(CLI::App& app, const std::string& name, T& value, const std::map<std::string, T>& choices,
                const std::string& help) {
  std::string names;
  std::string now;
  for (const auto& [text, choice] : choices) {
    names += names.empty() ? text : "|" + text;
    if (choice == value) now = text;
  }
  app.add_option(name, value, help)
      ->transform(CLI::CheckedTransformer(choices).description(""))
      ->option_text(names + " [" + now + "]");
}

}  // namespace

void add_engine_options(CLI::App& app, EngineOptions& options) {
  const std::string group = "Engine";
  CLI::Option_group& engine = *app.add_option_group(group);
  add_choice<Backend>(engine, "--backend", options.context.backend,
                      {{"auto", Backend::automatic}, {"cuda", Backend::cuda}, {"host", Backend::host}},
                      "where the tasks run");
  engine.add_option("--threads", options.context.threads, "host threads, 0: all of this process")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  engine.add_option("--device", options.context.device, "number of the GPU, -1: the current one")
      ->capture_default_str();
  std::map<std::string, Scheduler> schedulers;
  for (const Scheduler scheduler :
       {Scheduler::automatic, Scheduler::timesliced, Scheduler::megakernel, Scheduler::device_controller}) {
    schedulers[taskdag::engine::to_string(scheduler)] = scheduler;
  }
  add_choice(engine, "--scheduler", options.run.scheduler, schedulers, "who decides what runs when");
  add_choice<ControllerForm>(engine, "--controller", options.run.controller,
                             {{"chain", ControllerForm::chain}, {"graph", ControllerForm::graph}},
                             "form of the GPU's controller");
  add_choice<PhaseChange>(
      engine, "--phases", options.run.phases,
      {{"auto", PhaseChange::automatic}, {"workers", PhaseChange::by_workers}, {"host", PhaseChange::on_host}},
      "who goes from one phase of a megakernel to the next");
  engine.add_option("--blocks", options.run.blocks, "blocks of a persistent kernel, 0: all that are resident")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  engine
      .add_option("--slice", options.run.slice_items, "most items of a type in a slice (timesliced), 0: all that queue")
      ->capture_default_str();
  add_choice<FullPolicy>(engine, "--on-full", options.run.on_full,
                         {{"grow", FullPolicy::grow}, {"wait", FullPolicy::wait}, {"report", FullPolicy::report}},
                         "what to do when a queue is above its capacity");
  engine.add_option("--queue-capacity", options.runner.queue_capacity, "items per task type, to begin with")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  engine
      .add_option("--storage-capacity", options.runner.storage_capacity, "waiting items per task type, to begin with")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  engine
      .add_option("--rings", options.runner.rings, "of a multi-queue, 0: 256, or as many as there are teams of workers")
      ->capture_default_str();
  engine
      .add_option("--watchdog", options.run.watchdog_ms, "end the run after so many ms in which no task ended, 0: no")
      ->capture_default_str();
  engine.add_flag(
      "--no-continue", [&options](std::int64_t) { options.run.continues = false; },
      "no child of a task stays with its worker");
}

bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return false;
  }
  return true;
}

void print_report(const taskdag::Context& context, const EngineOptions& options,
                  const taskdag::engine::Report& report) {
  std::printf("%s, scheduler %s\n%s", context.device_name().c_str(), taskdag::engine::to_string(options.run.scheduler),
              taskdag::engine::describe(report).c_str());
}

void require_finished(const taskdag::engine::Report& report) {
  if (!report.finished()) throw std::runtime_error(report.message);
}

int guarded_main(const char* name, int argc, char** argv, int (*body)(int argc, char** argv)) {
  try {
    return body(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace example
