/// \file
/// A file that several processes change, one after the other.
#pragma once

#include <functional>
#include <string>

namespace taskdag {

/// Replaces the file as a whole by what content() returns, which is called while no other process changes it here: so
/// it may read it, and nothing that others add is lost. Readers see the old file or the new one. A link stays one, and
/// the file keeps its mode. Others are kept out by a lock on "<path>.lock", which is there meanwhile; a process that
/// has held it for ten seconds is not waited for any longer, and on file systems without locks none is.
/// @returns why the file has not been changed, "" where it has. @throws what content() throws
std::string change_shared_file(const std::string& path, const std::function<std::string()>& content);

}  // namespace taskdag
