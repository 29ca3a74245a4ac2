#include "io/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "taskdag/error.hpp"

namespace taskdag::input {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

}  // namespace

InputFile::InputFile(const std::string& path) : InputFile(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path) {
  if (descriptor_ < 0) refuse("cannot be opened: " + system_message(errno));
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::int64_t InputFile::size() const {
  struct stat status = {};
  return ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

std::size_t InputFile::read(char* into, std::size_t count) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, into, count);
    if (got >= 0) {
      bytes_read_ += got;
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) refuse("cannot be read: " + system_message(errno));
  }
}

void InputFile::refuse(const std::string& message) const { throw ParseError(name_, 0, message); }

}  // namespace taskdag::input
