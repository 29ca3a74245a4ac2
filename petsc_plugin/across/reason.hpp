/// \file
/// Why a solve is not ours.
#pragma once

#include <array>
#include <cstdio>

namespace taskdag::petsc {

/// A clause, or none. Without memory of its own, so that nothing can fail.
class Reason {
 public:
  void set(const char* text) { set(text, ""); }
  /// The text with another one behind it.
  void set(const char* text, const char* more) {
    // What does not fit is cut off.
    if (std::snprintf(text_.data(), text_.size(), "%s%s", text, more ? more : "none") < 0) text_[0] = '\0';
  }
  [[nodiscard]] bool given() const { return text_.front() != '\0'; }
  [[nodiscard]] const char* text() const { return text_.data(); }

 private:
  std::array<char, 256> text_{};
};

}  // namespace taskdag::petsc
