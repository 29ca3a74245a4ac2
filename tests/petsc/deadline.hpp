/// \file
/// A limit for tests on several ranks.
#pragma once

#include <unistd.h>

#include <csignal>

namespace taskdag::test {

/// A rank that waits longer than this in one test waits for ever: the program ends, and mpirun ends the others.
class Deadline {
 public:
  Deadline() {
    (void)std::signal(SIGALRM, [](int) {
      constexpr char text[] = "a rank waits for ever: the others have left after an error\n";
      (void)!write(STDERR_FILENO, text, sizeof text - 1);
      _exit(1);
    });
    (void)alarm(60);
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { (void)alarm(0); }
};

}  // namespace taskdag::test
