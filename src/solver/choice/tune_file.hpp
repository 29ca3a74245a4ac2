/// \file
/// Choices of schedules that outlive a run: a JSON file, by device and pattern.
///
/// Several processes may use one file, and none of their choices is lost (base/shared_file.hpp). A damaged file is an
/// empty one, and a file that cannot be written stays as it is, with a warning: what the file is for is to save time,
/// so it ends no set-up. Only a file of another kind, or one that is not there where it has to be, is an error.
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
/// @throws Error if the file cannot be read, ParseError if it is no tune file, nor the remains of one
std::optional<std::string> find_tuned(const std::string& path, const TuneKey& key, bool may_be_absent);

/// Adds a choice to the file, or replaces the key's. `microseconds`: what a solve took.
/// Warns where the file cannot be written. @throws as find_tuned()
void save_tuned(const std::string& path, const TuneKey& key, const std::string& choice, double microseconds);

/// Says on the standard error that the file `path` `what`, once a process.
void warn_of_tune_file(const std::string& path, const std::string& what);

}  // namespace taskdag
