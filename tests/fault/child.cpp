#include "fault/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "fault/say.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

constexpr const char* kChild = "--child";

/// A child process and the lines that it writes.
class Child {
 public:
  Child(const std::string& kind, int first) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("no pipe to a child");
    read_end_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = "/proc/self/exe";
    std::string child = kChild;
    std::string of_kind = kind;
    std::string number = std::to_string(first);
    char* const words[] = {program.data(), child.data(), of_kind.data(), number.data(), nullptr};
    const int error = ::posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, words, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) throw Error("no child process");
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { ::close(read_end_); }

  enum class Read { line, end, quiet };
  /// The next line. end: there is none any more; quiet: none has come for so long.
  Read line(int seconds, std::string& text) {
    for (;;) {
      if (const std::size_t at = buffer_.find('\n'); at != std::string::npos) {
        text = buffer_.substr(0, at);
        buffer_.erase(0, at + 1);
        return Read::line;
      }
      pollfd wait{read_end_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, 1000 * seconds);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return Read::quiet;
      std::array<char, 4096> piece{};
      const ssize_t size = ::read(read_end_, piece.data(), piece.size());
      if (size <= 0) return Read::end;
      buffer_.append(piece.data(), static_cast<std::size_t>(size));
    }
  }

  void kill() const { static_cast<void>(::kill(id_, SIGKILL)); }
  /// How it ended, in words; empty: well. A process that the driver holds may not end at all: it is left behind then.
  [[nodiscard]] std::string ending() const {
    int status = 0;
    for (int k = 0; k < 200; ++k) {
      if (::waitpid(id_, &status, WNOHANG) == id_) {
        if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
        return WEXITSTATUS(status) == 0 ? "" : "ended with status " + std::to_string(WEXITSTATUS(status));
      }
      ::usleep(50'000);
    }
    return "does not end";
  }

 private:
  pid_t id_ = -1;
  int read_end_ = -1;
  std::string buffer_;
};

}  // namespace

int run_in_children(const std::string& kind, int quiet_seconds) {
  int begun = 0;
  for (int first = 0;;) {
    Child child(kind, first);
    int number = -1;
    std::string at = "its start";
    std::string text;
    Child::Read read = Child::Read::line;
    while ((read = child.line(quiet_seconds, text)) == Child::Read::line) {
      if (text.rfind("at ", 0) == 0) {
        number = std::atoi(text.c_str() + 3);
        at = text.substr(text.find(' ', 3) + 1);
        ++begun;
      } else if (text.rfind("wrong: ", 0) == 0) {
        ADD_FAILURE() << kind << ", " << at << ": " << text.substr(7);
      } else {
        std::cout << kind << ", " << at << ": " << text << std::endl;
      }
    }
    if (read == Child::Read::quiet) {
      ADD_FAILURE() << kind << ", " << at << ": hangs";
      child.kill();
    }
    const std::string ending = child.ending();
    if (ending.empty()) return begun;
    if (read == Child::Read::end) ADD_FAILURE() << kind << ", " << at << ": the process " << ending;
    if (number < first) return begun;  // it did not even start: nothing to go on with
    first = number + 1;
  }
}

int run_cases(const std::vector<ChildCase>& cases, int first) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  for (int k = first; k < static_cast<int>(cases.size()); ++k) {
    const ChildCase& one = cases[static_cast<std::size_t>(k)];
    std::printf("at %d %s\n", k, one.name.c_str());
    try {
      one.run();
    } catch (const std::exception& error) {
      wrong(std::string("an exception: ") + error.what());
      std::_Exit(EXIT_FAILURE);  // without destructors: they may wait for what does not end
    }
  }
  return EXIT_SUCCESS;
}

bool is_child(int count, char** words, std::string& kind, int& first) {
  if (count != 4 || words[1] != std::string(kChild)) return false;
  kind = words[2];
  first = std::atoi(words[3]);
  return true;
}

}  // namespace taskdag::test
