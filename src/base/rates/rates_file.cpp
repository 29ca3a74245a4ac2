#include "base/rates/rates_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "base/shared_file.hpp"
#include "base/warning.hpp"
#include "taskdag/error.hpp"

namespace taskdag::rates {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "taskdag-rates-1";

struct Entry {
  RatesKey key;
  DeviceTimes times;
};

void warn(const std::string& path, const std::string& what) {
  warn_once("the file of calibrations " + path + " " + what);
}

/// @throws Json::exception where it is none
Entry entry_from(const Json& device) {
  return {{device.at("device").get<std::string>(), device.at("driver").get<int>()},
          {device.at("launch").get<double>(), device.at("hop").get<double>(), device.at("step").get<double>(),
           device.at("megabyte").get<double>()}};
}

Json to_json(const Entry& entry) {
  return {{"device", entry.key.device}, {"driver", entry.key.driver}, {"launch", entry.times.launch},
          {"hop", entry.times.hop},     {"step", entry.times.step},   {"megabyte", entry.times.megabyte}};
}

/// Of all devices. @throws an exception that says why where the text is not whole
std::vector<Entry> entries_from(const std::string& text) {
  const Json content = Json::parse(text);
  if (content.at("format") != kFormat) throw InvalidInput(std::string("its format is not ") + kFormat);
  std::vector<Entry> entries;
  for (const Json& device : content.at("devices")) entries.push_back(entry_from(device));
  if (std::ranges::all_of(entries, [](const Entry& entry) { return are_plausible(rates_of(entry.times)); }))
    return entries;
  throw InvalidInput("no device takes such times");
}

std::vector<Entry> read(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    warn(path, "cannot be read");
    return {};
  }
  try {
    return entries_from({std::istreambuf_iterator<char>(file), {}});
  } catch (const std::exception& error) {
    warn(path, std::string("is damaged, and nothing is taken from it: ") + error.what());
    return {};
  }
}

Entry* find(std::vector<Entry>& entries, const RatesKey& key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

std::string text_of(const std::vector<Entry>& entries) {
  Json devices = Json::array();
  for (const Entry& entry : entries) devices.push_back(to_json(entry));
  const Json content = {{"format", kFormat}, {"devices", devices}};
  return content.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string file_of_user() {
  struct Folder {
    const char* variable;
    const char* below;
  };
  constexpr std::array<Folder, 3> kFolders{
      {{"TASKDAG_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/taskdag"}, {"HOME", "/.cache/taskdag"}}};
  for (const Folder& folder : kFolders) {
    const char* const value = std::getenv(folder.variable);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
    if (value != nullptr && *value != '\0') return std::string(value) + folder.below + "/rates.json";
  }
  return "";
}

std::optional<DeviceTimes> find_times(const std::string& path, const RatesKey& key) {
  std::vector<Entry> entries = read(path);
  const Entry* const found = find(entries, key);
  return found != nullptr ? std::optional(found->times) : std::nullopt;
}

DeviceTimes settle_times(const std::string& path, const RatesKey& key, bool again,
                         const std::function<DeviceTimes()>& measure) {
  if (path.empty()) {
    warn_once("a calibration is not kept: the environment names no folder for it");
    return measure();
  }
  // Many processes look, few measure: who finds it does not wait for others.
  std::optional<DeviceTimes> times = again ? std::nullopt : find_times(path, key);
  if (times) return *times;
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), none);
  const std::string problem = change_shared_file(path, [&] {
    std::vector<Entry> entries = read(path);
    Entry* const found = find(entries, key);
    times = found != nullptr && !again ? found->times : measure();
    if (found != nullptr) {
      found->times = *times;
    } else {
      entries.push_back({key, *times});
    }
    return text_of(entries);
  });
  if (!problem.empty()) warn(path, "cannot be written: " + problem);
  return times ? *times : measure();
}

}  // namespace taskdag::rates
