/// \file
/// Running a static program.
#pragma once

#include <memory>

#include "taskdag/engine/static/host.hpp"
#if defined(__CUDACC__)
#include "taskdag/engine/static/cuda.cuh"
#endif

TASKDAG_ENGINE_BEGIN

namespace detail {

/// What a StaticRunner holds.
template <class P>
class StaticBase {
 public:
  StaticBase() = default;
  StaticBase(const StaticBase&) = delete;
  StaticBase& operator=(const StaticBase&) = delete;
  virtual ~StaticBase() = default;
  virtual void enqueue_run(const typename P::Data& data, Stream stream) = 0;
  virtual Report report(Stream stream) = 0;
};

template <class P>
class StaticOnHost final : public StaticBase<P> {
 public:
  StaticOnHost(const Context& context, const StaticOrder& order, const StaticOptions& options)
      : program_(context, order, options) {}
  void enqueue_run(const typename P::Data& data, Stream /*stream*/) override { program_.run(data); }
  Report report(Stream /*stream*/) override { return program_.report(); }

 private:
  HostStatic<P> program_;
};

#if defined(__CUDACC__)
template <class P>
class StaticOnDevice final : public StaticBase<P> {
 public:
  StaticOnDevice(const Context& context, const StaticOrder& order, const StaticOptions& options)
      : device_(context.device()), program_(context, order, options) {}
  void enqueue_run(const typename P::Data& data, Stream stream) override {
    const CurrentDevice current(device_);
    program_.enqueue(data, static_cast<cudaStream_t>(stream.handle));
  }
  Report report(Stream stream) override {
    const CurrentDevice current(device_);
    check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle)), "waiting for a static program");
    return program_.report();
  }

 private:
  int device_;
  CudaStatic<P> program_;
};
#endif

}  // namespace detail

template <class P>
class Runner;

/// A static program with its order, on the backend of a context. One thread at a time.
template <class P>
requires P::is_static class Runner<P> {
 public:
  /// Makes all that runs need. Synchronises the device.
  /// @throws InvalidInput where the order says nothing of what options.dependencies needs, or contradicts itself, and
  /// for a task type that the device cannot hold; Unsupported for a CUDA context in a program that no CUDA compiler has
  /// seen, and for a scheduler that this build does not have; OutOfMemory, DeviceError
  Runner(const Context& context, const StaticOrder& order, const StaticOptions& options = {}) {
    if (context.backend() == Backend::host) {
      program_ = std::make_unique<detail::StaticOnHost<P>>(context, order, options);
      return;
    }
#if defined(__CUDACC__)
    program_ = std::make_unique<detail::StaticOnDevice<P>>(context, order, options);
#else
    throw Unsupported("this program was compiled without CUDA: compile it with nvcc, or run it on the host");
#endif
  }

  /// One run of all tasks. Asynchronous on `stream`: launches alone, no copy, no allocation, nothing waits for the
  /// host; runs of one runner must be in order (one stream, or ordered by the caller). May be captured, but for the
  /// device controller. On the host: returns when the run has ended.
  /// @throws DeviceError, for good where a run of several launches (timesliced) was cut short by one that failed;
  /// Unsupported where the device controller is to be captured
  void enqueue_run(const typename P::Data& data, Stream stream = {}) { program_->enqueue_run(data, stream); }

  /// Runs and waits. @returns report(stream)
  [[nodiscard]] Report run(const typename P::Data& data, Stream stream = {}) {
    enqueue_run(data, stream);
    return report(stream);
  }

  /// Waits for `stream`, on which the last run was; of all runs so far, replays of graphs included. `slices` is their
  /// number.
  [[nodiscard]] Report report(Stream stream = {}) { return program_->report(stream); }

 private:
  std::unique_ptr<detail::StaticBase<P>> program_;
};

TASKDAG_ENGINE_END
