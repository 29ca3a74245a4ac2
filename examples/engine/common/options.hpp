/// \file
/// What the main files of the engine's examples have in common: their options, their ending, their report.
#pragma once

#include <CLI/CLI.hpp>

#include "common/engine_options.hpp"

namespace example {

/// Adds --backend, --threads, --device, --scheduler, --blocks, --slice, --on-full, --queue-capacity,
/// --storage-capacity, --rings, --watchdog and --no-continue. `options` gets the values when the app parses its
/// arguments and must live until then; what it holds before are the defaults.
void add_engine_options(CLI::App& app, EngineOptions& options);

/// Parses the arguments. @returns false after --help, whose text has been printed
/// @throws CLI::ParseError
[[nodiscard]] bool parse(CLI::App& app, int argc, char** argv);

/// Prints where and how a run went (describe(report) and the backend) on stdout.
void print_report(const taskdag::Context& context, const EngineOptions& options, const taskdag::engine::Report& report);

/// @throws std::runtime_error with the report's message, unless every task was executed
void require_finished(const taskdag::engine::Report& report);

/// A main program: calls body; what body throws is printed as "name: message" on one line of stderr.
/// @returns body's exit status, or 1 after an exception
int guarded_main(const char* name, int argc, char** argv, int (*body)(int argc, char** argv));

}  // namespace example
