/// \file
/// What stands behind engine::Memory: one subclass per backend.
#pragma once

#include "taskdag/engine/memory.hpp"

namespace taskdag::engine {

struct Memory::Impl {
  virtual ~Impl() = default;
  virtual void clear() = 0;
  virtual void copy_in(std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(std::size_t offset, void* to, std::size_t bytes) const = 0;
  virtual void copy_from(const Impl& other, std::size_t bytes) = 0;
  void* data = nullptr;
  std::size_t size = 0;

  /// On the device of a CUDA context; cuda_memory.cu, and a refusal in cuda_absent.cpp.
  static std::unique_ptr<Impl> on_device(const Context& context, std::size_t bytes);
};

}  // namespace taskdag::engine
