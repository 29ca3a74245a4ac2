/// \file
/// A file that is read from its begin to its end, in pieces. Pipes are files, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace taskdag::input {

class InputFile {
 public:
  /// @throws ParseError (line 0) where the file cannot be opened
  explicit InputFile(const std::string& path);
  /// Takes over an open descriptor; `name` stands for it in messages.
  InputFile(int descriptor, std::string name) : name_(std::move(name)), descriptor_(descriptor) {}
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Of a regular file; 0 where none can be told.
  [[nodiscard]] std::int64_t size() const;
  /// @returns how many bytes there were, at most `count`; 0 at the end. @throws ParseError (line 0)
  std::size_t read(char* into, std::size_t count);
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_read_; }
  /// @throws ParseError with this name and no line
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  std::string name_;
  int descriptor_;
  std::int64_t bytes_read_ = 0;
};

}  // namespace taskdag::input
