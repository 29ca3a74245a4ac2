// Sorts keys with tasks that create tasks, and compares the result with std::sort.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>

#include "common/options.hpp"
#include "quicksort.hpp"

namespace {

/// random; few: 16 different keys; equal; rising; falling.
std::vector<std::uint32_t> make_keys(const std::string& kind, std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> keys(size);
  std::generate(keys.begin(), keys.end(), [&] { return static_cast<std::uint32_t>(random()); });
  if (kind == "few") std::for_each(keys.begin(), keys.end(), [](std::uint32_t& key) { key %= 16; });
  if (kind == "equal") std::fill(keys.begin(), keys.end(), 7);
  if (kind == "rising") std::sort(keys.begin(), keys.end());
  if (kind == "falling") std::sort(keys.begin(), keys.end(), std::greater<>());
  return keys;
}

int run(int argc, char** argv) {
  CLI::App app{"Sorts keys by quicksort, each range a task, and compares the result with std::sort."};
  example::EngineOptions options;
  std::size_t size = 100000;
  std::uint32_t seed = 1;
  std::string kind = "random";
  app.add_option("--size", size, "number of keys")->check(CLI::Range(0, 1 << 30))->capture_default_str();
  app.add_option("--keys", kind, "random, few (different ones), equal, rising, falling")
      ->check(CLI::IsMember({"random", "few", "equal", "rising", "falling"}))
      ->capture_default_str();
  app.add_option("--seed", seed, "of the keys")->capture_default_str();
  example::add_engine_options(app, options);
  if (!example::parse(app, argc, argv)) return 0;

  std::vector<std::uint32_t> keys = make_keys(kind, size, seed);
  const taskdag::Context context = taskdag::Context::create(options.context);
  const quicksort::Sorted sorted = quicksort::sort(context, options, keys);
  example::print_report(context, options, sorted.report);
  example::require_finished(sorted.report);

  const auto start = std::chrono::steady_clock::now();
  std::sort(keys.begin(), keys.end());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto [ours, theirs] = std::mismatch(sorted.keys.begin(), sorted.keys.end(), keys.begin(), keys.end());
  if (ours != sorted.keys.end() || theirs != keys.end()) {
    throw std::runtime_error("key " + std::to_string(theirs - keys.begin()) + " is not the one of std::sort");
  }
  std::printf("%zu keys sorted in %.4f s (std::sort: %.4f s)\n", size, sorted.report.seconds, seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("quicksort", argc, argv, run); }
