/// \file
/// Ranks of a test: threads of its process, or two processes.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "taskdag/rank_group.hpp"

namespace taskdag::test {

/// Threads as ranks. One that does not come to a gather() within a minute fails the others.
class ThreadRanks {
 public:
  explicit ThreadRanks(int count) : count_(count) {}

  class Member final : public RankGroup {
   public:
    Member(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int count() const override { return all_.count_; }
    void gather(const void* mine, std::size_t bytes, void* all) const override {
      all_.gather(rank_, static_cast<const char*>(mine), bytes, static_cast<char*>(all));
    }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  /// body(member) on a thread for each rank. Returns what each has thrown, null where it has not.
  template <class Body>
  std::vector<std::exception_ptr> run(const Body& body) {
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count_; ++rank) {
      threads.emplace_back([&, rank] {
        const Member member(*this, rank);
        try {
          body(member);
        } catch (...) {
          thrown[static_cast<std::size_t>(rank)] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return thrown;
  }

 private:
  void gather(int rank, const char* mine, std::size_t bytes, char* all) {
    std::unique_lock lock(mutex_);
    if (arrived_ == 0) gathered_.assign(bytes * static_cast<std::size_t>(count_), 0);
    if (gathered_.size() != bytes * static_cast<std::size_t>(count_)) throw std::logic_error("ranks do not agree");
    std::memcpy(gathered_.data() + bytes * static_cast<std::size_t>(rank), mine, bytes);
    const unsigned now = turn_;
    if (++arrived_ == count_) {
      result_ = gathered_;
      arrived_ = 0;
      ++turn_;
      all_here_.notify_all();
    } else if (!all_here_.wait_for(lock, std::chrono::minutes(1), [&] { return turn_ != now; })) {
      throw std::runtime_error("a rank has not come");
    }
    std::memcpy(all, result_.data(), result_.size());
  }

  int count_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<char> gathered_;
  std::vector<char> result_;  ///< of the last turn: nobody ends the next before all have this
  int arrived_ = 0;
  unsigned turn_ = 0;
};

/// A process and its child as ranks 0 and 1, by a pair of sockets.
class PairOfProcesses final : public RankGroup {
 public:
  PairOfProcesses(int rank, int socket) : rank_(rank), socket_(socket) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return 2; }
  void gather(const void* mine, std::size_t bytes, void* all) const override {
    char* const both = static_cast<char*>(all);
    const auto own = static_cast<std::size_t>(rank_);
    std::memcpy(both + own * bytes, mine, bytes);
    if (send(socket_, mine, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes) ||
        recv(socket_, both + (1 - own) * bytes, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes))
      throw std::runtime_error("the other process has gone");
  }

 private:
  int rank_;
  int socket_;
};

}  // namespace taskdag::test
