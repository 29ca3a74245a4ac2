#include "base/shared_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

namespace taskdag {

namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPause{2};

std::string last_error() { return std::generic_category().message(errno); }

/// An open file.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  /// Whether all that was written has arrived.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// A lock on a file that is there while a process holds it or waits for it.
class SideLock {
 public:
  explicit SideLock(std::string path) : path_(std::move(path)) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!take() && problem_.empty()) {
      if (std::chrono::steady_clock::now() > end) {
        problem_ = "another process holds the lock " + path_;
      } else {
        std::this_thread::sleep_for(kPause);
      }
    }
  }
  ~SideLock() {
    if (file_) ::unlink(path_.c_str());  // before the lock goes: who waits for it then sees that its file has gone
  }
  SideLock(const SideLock&) = delete;
  SideLock& operator=(const SideLock&) = delete;
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool take() {
    auto file = std::make_unique<Descriptor>(path_, O_RDWR | O_CREAT);
    if (!*file) {
      problem_ = last_error();
      return false;
    }
    if (::flock(file->number(), LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) return false;
    struct stat mine {};
    struct stat there {};
    const bool same = ::fstat(file->number(), &mine) == 0 && ::stat(path_.c_str(), &there) == 0 &&
                      mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
    if (same) file_ = std::move(file);
    return same;
  }

  std::string path_;
  std::unique_ptr<Descriptor> file_;
  std::string problem_;
};

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return false;
    done += written < 0 ? 0 : static_cast<std::size_t>(written);
  }
  return true;
}

/// Owner and mode of the file that is replaced, as far as the process may give them.
void take_after(int file, const struct stat& old) {
  if (::fchown(file, old.st_uid, old.st_gid) != 0) errno = 0;
  static_cast<void>(::fchmod(file, old.st_mode & 07777U));
}

std::string replace(const std::string& path, const std::string& text) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return "it is no regular file";
  std::random_device random;
  const std::string beside = path + "." + std::to_string(random()) + std::to_string(random());
  Descriptor file(beside, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return last_error();
  if (exists) take_after(file.number(), old);
  if (write_all(file.number(), text) && file.close() && ::rename(beside.c_str(), path.c_str()) == 0) return "";
  std::string problem = last_error();
  ::unlink(beside.c_str());
  return problem;
}

/// What a symbolic link stands for, there or not.
std::string behind_links(std::filesystem::path path) {
  constexpr int kMost = 40;  // as the system's: there are rings
  std::error_code none;
  for (int links = 0; links < kMost && std::filesystem::is_symlink(path, none); ++links) {
    path = path.parent_path() / std::filesystem::read_symlink(path, none);
  }
  return path;
}

}  // namespace

std::string change_shared_file(const std::string& path, const std::function<std::string()>& content) {
  const std::string target = behind_links(path);
  const SideLock lock(target + ".lock");
  return lock.problem().empty() ? replace(target, content()) : lock.problem();
}

}  // namespace taskdag
