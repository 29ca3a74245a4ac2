#include "solver/choice/tune_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "base/shared_file.hpp"
#include "base/warning.hpp"
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

/// What a file of tuned schedules begins with, spaces left out: as it is written here, and by hand.
bool begins_as_ours(const std::string& text) {
  std::string begin;
  for (const char c : text) {
    if (begin.size() < 32 && !std::isspace(static_cast<unsigned char>(c))) begin += c;
  }
  const std::string by_hand = std::string(R"({"format":")") + kFormat + '"';
  return std::ranges::any_of(std::array{std::string(R"({"choices":[)"), by_hand}, [&](const std::string& ours) {
    return begin.starts_with(ours) || ours.starts_with(begin);
  });
}

/// Why the content is none, if so; else its choices are left in `choices`.
std::string take_choices(const std::string& text, Json& choices) {
  const auto check_depth = [](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    if (depth > kDeepest) throw InvalidInput("it is nested too deeply");
    return true;
  };
  Json content;
  try {
    content = Json::parse(text, check_depth);
  } catch (const std::exception& error) {
    return error.what();
  }
  if (!content.is_object() || content.value("format", Json()) != kFormat) {
    return std::string("it lacks \"format\": \"") + kFormat + "\"";
  }
  const auto found = content.find("choices");
  if (found == content.end() || !found->is_array()) return "it lacks the list \"choices\"";
  const bool whole = std::ranges::all_of(*found, [](const Json& choice) {
    return choice.is_object() && choice.contains("key") && choice.value("schedule", Json()).is_string();
  });
  if (!whole) return "a choice lacks its key or its schedule";
  choices = std::move(*found);
  return "";
}

/// The text of the file. An absent one that may be absent is empty: who looked a second time might find another
/// process's.
std::string read_text(const std::string& path, bool may_be_absent) {
  std::ifstream file(path, std::ios::binary);
  if (file) {
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!std::filesystem::is_directory(path)) return text;
    errno = EISDIR;
  } else if (may_be_absent && errno == ENOENT) {
    return "";
  }
  throw Error("the tune file " + path + " cannot be read: " + std::generic_category().message(errno));
}

/// The list of choices, each with a key and the name of a schedule.
Json read(const std::string& path, bool may_be_absent) {
  const std::string text = read_text(path, may_be_absent);
  Json choices = Json::array();
  if (text.empty()) return choices;
  const std::string problem = take_choices(text, choices);
  if (problem.empty()) return choices;
  if (!begins_as_ours(text)) throw ParseError(path, 0, "this is not a file of tuned schedules: " + problem);
  warn_of_tune_file(path, "is damaged, and nothing is taken from it: " + problem);
  return choices;
}

Json* find(Json& choices, const Json& key) {
  for (Json& choice : choices) {
    if (choice.at("key") == key) return &choice;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> find_tuned(const std::string& path, const TuneKey& key, bool may_be_absent) {
  Json choices = read(path, may_be_absent);
  const Json* const found = find(choices, to_json(key));
  if (found == nullptr) return {};
  return found->at("schedule").get<std::string>();
}

void warn_of_tune_file(const std::string& path, const std::string& what) {
  warn_once("the tune file " + path + " " + what);
}

void save_tuned(const std::string& path, const TuneKey& key, const std::string& choice, double microseconds) {
  const Json entry = {{"key", to_json(key)}, {"schedule", choice}, {"microseconds", microseconds}};
  const std::string problem = change_shared_file(path, [&] {
    Json choices = read(path, true);
    if (Json* const found = find(choices, to_json(key))) {
      *found = entry;
    } else {
      choices.push_back(entry);
    }
    const Json content = {{"format", kFormat}, {"choices", choices}};
    return content.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  });
  if (!problem.empty()) warn_of_tune_file(path, "cannot be written: " + problem);
}

}  // namespace taskdag
