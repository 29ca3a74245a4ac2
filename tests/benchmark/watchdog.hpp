/// \file
/// Ends the program when a step does not end: a kernel that hangs cannot be stopped from inside its process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace taskdag::benchmark {

/// Exit status of a program that the watchdog has ended.
inline constexpr int kHung = 4;

class Watchdog {
 public:
  /// A step may take `seconds`. If it takes longer: its name goes to stderr, `on_hang` is called on the watchdog's
  /// thread, and the program ends with status kHung, without destructors.
  Watchdog(int seconds, std::function<void()> on_hang);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The next step starts now; what it is goes into the message.
  void step(std::string what);
  /// No step: nothing is waited for.
  void rest();

 private:
  void watch();

  std::chrono::seconds limit_;
  std::function<void()> on_hang_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::chrono::steady_clock::time_point deadline_;
  bool armed_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace taskdag::benchmark
