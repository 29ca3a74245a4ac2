/// \file
/// Whose device memory libtaskdag_papers takes.
#pragma once

namespace taskdag::cuda {

struct MemoryFunctions;

/// All arrays from now on are taken and given back by these functions, those of libtaskdag. It is there in the library
/// alone: where the papers' objects are linked with the product's, both have one memory anyway.
[[gnu::weak]] void use_memory(const MemoryFunctions* functions);

}  // namespace taskdag::cuda
