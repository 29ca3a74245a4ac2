#include "variants.hpp"

#include <algorithm>

namespace taskdag::benchmark {
namespace {

using progression::Algorithm;
using progression::Dag;
using progression::Form;
using progression::Hash;
using progression::OwnSettings;
using progression::RunResult;
using progression::Settings;

Variant variant_of(const Settings& settings, Family family) {
  Variant variant{.name = describe(settings), .family = family, .algorithm = to_string(settings.algorithm)};
  if (settings.algorithm == Algorithm::multi) {
    variant.hash = to_string(settings.hash);
    variant.percent = settings.rings_percent;
  }
  variant.order = settings.algorithm == Algorithm::scanning ? "" : settings.fifo ? "fifo" : "lifo";
  variant.slow = settings.algorithm != Algorithm::multi;
  variant.run = [settings](const Context& context, const Dag& dag, Form form) {
    Settings of_form = settings;
    of_form.form = form;
    return progression::run(context, dag, of_form);
  };
  return variant;
}

using OwnRun = RunResult (*)(const Context&, const Dag&, const OwnSettings&);

enum class Blocks { few, all };  ///< what the settings say, or all that are resident

/// The engine's watchdog costs time: it is there where operations are counted; the program's own is there always.
/// `percent`: queues for each hundred warps; 0: the engine's choice.
Variant own_variant(const std::string& name, std::uint32_t percent, OwnRun run, double limit_seconds,
                    Blocks blocks = Blocks::few, bool stay = false) {
  Variant variant{
      .name = "own " + name, .family = Family::own, .algorithm = "own", .percent = percent, .order = "fifo"};
  if (percent != 0) variant.hash = name.back();
  if (percent != 0 && percent != 100) {
    variant.family = Family::change;
    variant.name.append(" ").append(std::to_string(percent)).append(" %");
  }
  variant.run = [run, blocks, stay, percent, limit_seconds](const Context& context, const Dag& dag, Form form) {
    constexpr std::uint32_t kRowsPerBlock = 38;  // examples/engine/6_wavefront: what was measured to be fastest
    OwnSettings own{.form = form,
                    .rings_percent = percent,
                    .stay = stay,
                    .limit_seconds = form == Form::count ? limit_seconds : 0.0};
    if (blocks == Blocks::all) {
      own.blocks =
          dag.columns == 0 ? 0 : static_cast<int>((dag.tasks / dag.columns + kRowsPerBlock - 1) / kRowsPerBlock);
    }
    return run(context, dag, own);
  };
  return variant;
}

}  // namespace

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& list_families() {
  static const std::vector<std::string> names = {"own", "workers", "mixed", "fifo", "backoff", "spread"};
  return names;
}

std::vector<Variant> list_variants(const VariantChoice& choice) {
  std::vector<Variant> all;
  const auto add = [&](const Variant& variant) {
    if (choice.names.empty() || std::any_of(choice.names.begin(), choice.names.end(), [&](const std::string& begin) {
          return variant.name.rfind(begin, 0) == 0;
        })) {
      all.push_back(variant);
    }
  };
  const auto add_queues = [&](Settings settings, Family family, const std::vector<Hash>& hashes) {
    settings.algorithm = Algorithm::multi;
    for (const std::uint32_t percent : choice.percents) {
      for (const Hash hash : hashes) {
        settings.hash = hash;
        settings.rings_percent = percent;
        add(variant_of(settings, family));
      }
    }
  };
  Settings scanning = choice.settings;
  scanning.algorithm = Algorithm::scanning;
  Settings single = choice.settings;
  single.algorithm = Algorithm::single;
  add(variant_of(scanning, Family::paper));
  add(variant_of(single, Family::paper));
  add_queues(choice.settings, Family::paper, {Hash::a, Hash::b});
  if (contains(choice.also, "own")) {
    const double limit = choice.settings.limit_seconds;
    for (const std::uint32_t percent : {100U, 25U}) {
      add(own_variant("multi a", percent, progression::run_own_multi_a, limit));
      add(own_variant("multi b", percent, progression::run_own_multi_b, limit));
    }
    add(own_variant("shared", 0, progression::run_own_shared, limit));
    add(own_variant("stealing", 0, progression::run_own_stealing, limit));
    add(own_variant("best", 0, progression::run_own_threads, limit, Blocks::all, true));
  }
  if (contains(choice.also, "workers")) {
    const double limit = choice.settings.limit_seconds;
    const auto add_change = [&](const std::string& name, OwnRun run, Blocks blocks, bool stay) {
      Variant variant = own_variant(name, 0, run, limit, blocks, stay);
      variant.family = Family::workers;
      add(variant);
    };
    add_change("best, none stays", progression::run_own_threads, Blocks::all, false);
    add_change("best, a warp a worker", progression::run_own_stealing, Blocks::all, true);
    add_change("best, 28 blocks", progression::run_own_threads, Blocks::few, true);
  }
  if (contains(choice.also, "mixed")) add_queues(choice.settings, Family::change, {Hash::mixed});
  for (const auto& [name, member] : {std::pair{"fifo", &Settings::fifo}, std::pair{"backoff", &Settings::backoff},
                                     std::pair{"spread", &Settings::spread}}) {
    if (!contains(choice.also, name)) continue;
    Settings changed = single;
    changed.*member = true;
    if (member != &Settings::spread) add(variant_of(changed, Family::change));  // one lock is alone as it is
    add_queues(changed, Family::change, {Hash::a, Hash::b});
  }
  return all;
}

}  // namespace taskdag::benchmark
