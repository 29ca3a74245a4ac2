// Destructors are out of line so that each class has one home for its vtable and type information: exceptions cross the
// boundary of the shared library and must be caught by type there.
#include "taskdag/error.hpp"

namespace taskdag {

Error::~Error() = default;
InvalidInput::~InvalidInput() = default;
Unsupported::~Unsupported() = default;
DeviceError::~DeviceError() = default;
OutOfMemory::~OutOfMemory() = default;

ParseError::ParseError(const std::string& file, std::int64_t line, const std::string& message)
    : Error(file + ":" + std::to_string(line) + ": " + message), line_(line) {}
ParseError::~ParseError() = default;

}  // namespace taskdag
