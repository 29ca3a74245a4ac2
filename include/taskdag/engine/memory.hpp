/// \file
/// Memory of a context's backend, for the engine and for the data of its programs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/error.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// Bytes where the context's tasks can reach them, zeroed, aligned to 128. The functions return when the copy is done.
/// @throws OutOfMemory, DeviceError
class TASKDAG_API Memory {
 public:
  Memory();
  Memory(const Context& context, std::size_t bytes);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  [[nodiscard]] void* data() const;
  [[nodiscard]] std::size_t size() const;
  void clear();
  void copy_in(std::size_t offset, const void* from, std::size_t bytes);
  void copy_out(std::size_t offset, void* to, std::size_t bytes) const;
  /// From the beginning of another piece of the same context's memory.
  void copy_from(const Memory& other, std::size_t bytes);

  struct Impl;  ///< one per backend, inside the library

 private:
  std::unique_ptr<Impl> impl_;
};

/// An array that a program's tasks work on.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>, "arrays are copied as bytes");

 public:
  Array() = default;
  /// `size` zeroed elements.
  // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
  Array(const Context& context, std::size_t size) : memory_(context, size * sizeof(T)), size_(size) {}
  Array(const Context& context, std::span<const T> values) : Array(context, values.size()) { upload(values); }

  /// For the program's Data; the host may use it only if the context is a host context.
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { memory_.clear(); }
  /// @throws InvalidInput for more values than elements
  void upload(std::span<const T> values) {
    if (values.size() > size_) throw InvalidInput("more values than the array has elements");
    memory_.copy_in(0, values.data(), values.size_bytes());
  }
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> values(size_);
    memory_.copy_out(0, values.data(), size_ * sizeof(T));
    return values;
  }

 private:
  Memory memory_;
  std::size_t size_ = 0;
};

}  // namespace taskdag::engine
