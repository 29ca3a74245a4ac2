/// \file
/// The options that every example of the engine has, without the command line: for the files that hold tasks.
#pragma once

#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"

namespace example {

struct EngineOptions {
  taskdag::ContextOptions context;
  taskdag::engine::RunOptions run;
  taskdag::engine::RunnerOptions runner;
};

}  // namespace example
