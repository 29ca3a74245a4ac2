#include "backends/ranks/watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "backends/ranks/agree.hpp"
#include "taskdag/error.hpp"

namespace taskdag::ranks {
namespace {

#if defined(SYS_pidfd_open)
/// A descriptor that can be read once the process has ended, also before its parent has taken notice.
int open_process(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0U)); }
#else
int open_process(pid_t /*process*/) { return -1; }
#endif

std::vector<pollfd> open_processes(const std::vector<pid_t>& processes) {
  std::vector<pollfd> result;
  for (const pid_t process : processes) {
    const int descriptor = process == getpid() ? -1 : open_process(process);
    if (descriptor >= 0) result.push_back({descriptor, POLLIN, 0});
  }
  return result;
}

/// The last one is the pipe that ends it.
void watch(std::vector<pollfd> watched, const std::function<void()>& lost) {
  int found = 0;
  do {
    found = poll(watched.data(), watched.size(), -1);
  } while (found < 0 && errno == EINTR);
  const bool asked_to_end = watched.back().revents != 0;
  watched.pop_back();
  if (found > 0 && !asked_to_end) lost();
  for (const pollfd& one : watched) close(one.fd);
}

}  // namespace

Watch::Watch(const RankGroup& group, std::function<void()> lost) : Watch() {
  const std::vector<pid_t> processes = gather(group, getpid());
  agree(group, [&] {
    std::vector<pollfd> watched = open_processes(processes);
    if (watched.empty()) return;
    if (pipe2(end_, O_CLOEXEC) != 0) throw OutOfMemory("watching the processes of other ranks: no pipe is left");
    watched.push_back({end_[0], POLLIN, 0});
    thread_ = std::thread(watch, std::move(watched), std::move(lost));
  });
}

Watch::~Watch() {
  if (thread_.joinable()) {
    static_cast<void>(!write(end_[1], "", 1));  // not by closing it: a forked child may have it, too
    thread_.join();
  }
  for (const int end : end_) {
    if (end >= 0) close(end);
  }
}

}  // namespace taskdag::ranks
