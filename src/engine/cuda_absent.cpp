/// \file
/// The engine's device memory in builds without CUDA, which refuse.
#include "engine/memory_impl.hpp"

namespace taskdag::engine {

std::unique_ptr<Memory::Impl> Memory::Impl::on_device(const Context& /*context*/, std::size_t /*bytes*/) {
  throw DeviceError("this library was built without CUDA");
}

}  // namespace taskdag::engine
