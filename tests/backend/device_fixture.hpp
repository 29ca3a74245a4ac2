/// \file
/// The fixture of tests that call CUDA code directly.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "backends/cuda/stream.hpp"
#include "taskdag/context.hpp"

namespace taskdag::test {

/// `Base`, with a stream of its own; skipped, with the reason, where there is no GPU.
template <class Base = testing::Test>
class OnDevice : public Base {
 protected:
  void SetUp() override {
    if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
    stream_ = std::make_unique<cuda::UniqueStream>();
  }
  [[nodiscard]] cudaStream_t stream() const { return stream_->get(); }

 private:
  std::unique_ptr<cuda::UniqueStream> stream_;
};

}  // namespace taskdag::test
