#include "watchdog.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace taskdag::benchmark {

Watchdog::Watchdog(int seconds, std::function<void()> on_hang)
    : limit_(seconds), on_hang_(std::move(on_hang)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::step(std::string what) {
  {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    deadline_ = std::chrono::steady_clock::now() + limit_;
    armed_ = true;
  }
  changed_.notify_one();
}

void Watchdog::rest() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!armed_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < deadline_) {
      changed_.wait_until(lock, deadline_);
    } else {
      std::fprintf(stderr, "HUNG: %s: no end after %lld s\n", what_.c_str(), static_cast<long long>(limit_.count()));
      on_hang_();
      std::fflush(nullptr);
      std::_Exit(kHung);
    }
  }
}

}  // namespace taskdag::benchmark
