#include "solver/choice/tune_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <system_error>

#include "taskdag/error.hpp"

namespace taskdag {

namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "taskdag-tune-1";
constexpr int kDeepest = 16;  // ours has 3; values are copied and compared level by level, each on the stack

std::string to_hex(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

Json to_json(const TuneKey& key) {
  return {{"device", key.device}, {"triangle", key.triangle == Triangle::lower ? "lower" : "upper"},
          {"rows", key.rows},     {"entries", key.entries},
          {"levels", key.levels}, {"pattern", to_hex(key.pattern)}};
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ParseError(path, 0, "this is not a file of tuned schedules: " + why);
}

/// The list of choices, each with a key and the name of a schedule.
Json read(const std::string& path, bool may_be_absent) {
  std::ifstream file(path);
  if (!file) {
    if (may_be_absent && !std::filesystem::exists(path)) return Json::array();
    throw Error("the tune file " + path + " cannot be read: " + std::generic_category().message(errno));
  }
  const auto check_depth = [&path](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    if (depth > kDeepest) refuse(path, "it is nested too deeply");
    return true;
  };
  Json content;
  try {
    content = Json::parse(file, check_depth);
  } catch (const Json::exception& error) {
    refuse(path, error.what());
  }
  if (!content.is_object() || content.value("format", Json()) != kFormat) {
    refuse(path, std::string("it lacks \"format\": \"") + kFormat + "\"");
  }
  const auto choices = content.find("choices");
  if (choices == content.end() || !choices->is_array()) refuse(path, "it lacks the list \"choices\"");
  for (const Json& choice : *choices) {
    if (!choice.is_object() || !choice.contains("key") || !choice.value("schedule", Json()).is_string()) {
      refuse(path, "a choice lacks its key or its schedule");
    }
  }
  return *choices;
}

Json* find(Json& choices, const Json& key) {
  for (Json& choice : choices) {
    if (choice.at("key") == key) return &choice;
  }
  return nullptr;
}

/// Writes a file beside `path` and puts it in its place.
void replace(const std::string& path, const std::string& text) {
  std::random_device random;
  const std::string beside = path + "." + to_hex((std::uint64_t{random()} << 32U) | random());
  std::ofstream file(beside);
  file << text;
  file.close();
  std::string problem;
  if (file) {
    std::error_code code;
    std::filesystem::rename(beside, path, code);
    if (!code) return;
    problem = code.message();
  } else {
    problem = std::generic_category().message(errno);
  }
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  throw Error("the tune file " + path + " cannot be written: " + problem);
}

}  // namespace

std::optional<std::string> find_tuned(const std::string& path, const TuneKey& key, bool may_be_absent) {
  Json choices = read(path, may_be_absent);
  const Json* const found = find(choices, to_json(key));
  if (found == nullptr) return {};
  return found->at("schedule").get<std::string>();
}

void save_tuned(const std::string& path, const TuneKey& key, const std::string& choice, double microseconds) {
  Json choices = read(path, true);
  const Json entry = {{"key", to_json(key)}, {"schedule", choice}, {"microseconds", microseconds}};
  if (Json* const found = find(choices, to_json(key))) {
    *found = entry;
  } else {
    choices.push_back(entry);
  }
  const Json content = {{"format", kFormat}, {"choices", choices}};
  replace(path, content.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace taskdag
