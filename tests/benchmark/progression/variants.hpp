/// \file
/// What the task progression study sets side by side: the paper's algorithms, changes of them, the engine's queues.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "studies/progression/own_queues.hpp"
#include "studies/progression/progression.hpp"

namespace taskdag::benchmark {

enum class Family {
  paper,   ///< its listings
  change,  ///< one thing about them is another
  own,     ///< programs of the engine
  workers  ///< the engine's defaults but for one thing
};

struct Variant {
  std::string name;
  Family family = Family::paper;
  std::string algorithm;
  std::string hash = {};       ///< empty: none
  std::uint32_t percent = 0;   ///< queues for each hundred blocks; 0: one or none
  std::string order = "lifo";  ///< of a queue; empty: there is none
  bool slow = false;           ///< one place for all
  std::function<progression::RunResult(const Context&, const progression::Dag&, progression::Form)> run = {};
};

struct VariantChoice {
  progression::Settings settings = {};                      ///< blocks, threads, limit
  std::vector<std::uint32_t> percents = {100, 50, 25, 75};  ///< of queues
  std::vector<std::string> also;                            ///< families beside the paper's
  std::vector<std::string> names;                           ///< those that begin so; empty: all
};

bool contains(const std::vector<std::string>& names, const std::string& name);

/// "own", and each change by its name.
const std::vector<std::string>& list_families();
std::vector<Variant> list_variants(const VariantChoice& choice);

}  // namespace taskdag::benchmark
