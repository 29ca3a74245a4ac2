/// \file
/// What the facade asks of the device; a build without CUDA has stand-ins.
#pragma once

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::krylov {

/// How many threads share a row of a product on CUDA, by the mean number of its entries. Synchronises `stream`.
int threads_of_row(const CsrPattern& pattern, Stream stream);

/// @throws InvalidInput where `stream` is being captured: a solve waits for its outcome
void require_not_captured(const Context& context, Stream stream);

}  // namespace taskdag::krylov
