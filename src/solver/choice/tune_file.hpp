/// \file
/// Choices of schedules that outlive a run: a JSON file, by device and pattern.
///
/// Several processes may use one file: it is replaced as a whole, so a reader never sees half of it. Of two that add at
/// the same moment one may be lost, which costs a later run its trials again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "taskdag/schedule.hpp"

namespace taskdag {

/// What a choice holds for.
struct TuneKey {
  std::string device;
  Triangle triangle = Triangle::lower;
  Index rows = 0;
  Offset entries = 0;  ///< strictly triangular ones
  Index levels = 0;
  std::uint64_t pattern = 0;  ///< hash of the strictly triangular entries
  bool operator==(const TuneKey&) const = default;
};

/// The choice that `path` holds for `key`, if any. `may_be_absent`: a file that does not exist holds none.
/// @throws Error if the file cannot be read, ParseError if it is no tune file
std::optional<std::string> find_tuned(const std::string& path, const TuneKey& key, bool may_be_absent);

/// Adds a choice to the file, or replaces the key's. `microseconds`: what a solve took.
/// @throws as find_tuned(), Error if the file cannot be written
void save_tuned(const std::string& path, const TuneKey& key, const std::string& choice, double microseconds);

}  // namespace taskdag
