/// \file
/// What the facade asks of the device; a build without CUDA has stand-ins.
#pragma once

#include <cstdint>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::krylov {

/// Entries of a matrix in device memory. Synchronises `stream`.
std::int64_t count_entries(const CsrPattern& pattern, Stream stream);

/// Sets a bit for each row of a matrix in device memory, from the lowest of each word on: whether it has entries.
/// Asynchronous.
void mark_rows(const CsrPattern& pattern, std::uint32_t* words, Stream stream);

/// @throws InvalidInput where `stream` is being captured: a solve waits for its outcome
void require_not_captured(const Context& context, Stream stream);

}  // namespace taskdag::krylov
