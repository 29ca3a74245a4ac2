/// \file
/// Exceptions: the first error tier (misuse, broken input, device and memory failures). What a computation finds out
/// about its numbers (a zero pivot, a NaN) is not an exception but a value, see status.hpp.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "taskdag/export.hpp"

namespace taskdag {

/// Base of everything that this library throws.
class TASKDAG_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// An argument breaks the contract of the function: shape, range, ordering, duplicates, a missing diagonal.
class TASKDAG_API InvalidInput : public Error {
 public:
  using Error::Error;
  ~InvalidInput() override;
};

/// A file does not hold what its format demands. what() starts with "FILE:LINE: ".
class TASKDAG_API ParseError : public Error {
 public:
  ParseError(const std::string& file, std::int64_t line, const std::string& message);
  ~ParseError() override;
  /// 1-based line of the file, 0 where no line can be named (the file cannot be opened, say).
  [[nodiscard]] std::int64_t line() const noexcept { return line_; }

 private:
  std::int64_t line_;
};

/// A request that is understood and not built yet, or not possible on this backend.
class TASKDAG_API Unsupported : public Error {
 public:
  using Error::Error;
  ~Unsupported() override;
};

/// The GPU or its runtime failed, is absent, or the library was built without CUDA.
class TASKDAG_API DeviceError : public Error {
 public:
  using Error::Error;
  ~DeviceError() override;
};

/// Host or device memory is exhausted. what() says which, how much was asked for and what for.
class TASKDAG_API OutOfMemory : public Error {
 public:
  using Error::Error;
  ~OutOfMemory() override;
};

}  // namespace taskdag
