/// \file
/// Running a program.
#pragma once

#include <memory>
#include <span>

#include "taskdag/engine/engine.hpp"
#include "taskdag/engine/host/backend.hpp"
#if defined(__CUDACC__)
#include "taskdag/engine/cuda/backend.cuh"
#endif

TASKDAG_ENGINE_BEGIN

/// A program with its queues, on the backend of a context. What a run leaves in the queues (Outcome::queue_full, say)
/// the next run goes on with. One thread at a time.
template <class P>
class Runner {
 public:
  /// @throws Unsupported for a CUDA context in a program that no CUDA compiler has seen; InvalidInput for a task type
  /// that the device cannot hold; OutOfMemory
  explicit Runner(const Context& context, const RunnerOptions& options = {}) {
    if (context.backend() == Backend::host) {
      engine_ = std::make_unique<detail::Engine<P, detail::HostBackend>>(context, options);
      return;
    }
#if defined(__CUDACC__)
    engine_ = std::make_unique<detail::Engine<P, detail::CudaBackend>>(context, options);
#else
    throw Unsupported("this program was compiled without CUDA: compile it with nvcc, or run it on the host");
#endif
  }

  /// Adds tasks from outside, before a run. The queue grows to hold them.
  template <class T>
  void enqueue(std::span<const typename T::Item> items) {
    engine_->enqueue(P::template number_of<T>(), items.data(), items.size());
  }
  template <class T>
  void enqueue(const typename T::Item& item) {
    engine_->enqueue(P::template number_of<T>(), &item, 1);
  }

  /// Runs until no task is left, or until the run cannot go on; the report says which. Returns when all has ended.
  /// @throws DeviceError, OutOfMemory; Unsupported for a scheduler that this build does not have
  [[nodiscard]] Report run(const typename P::Data& data, const RunOptions& options = {}) {
    return engine_->run(data, options);
  }

  /// Empties all queues and storages.
  void clear() { engine_->clear(); }

 private:
  std::unique_ptr<detail::EngineBase<P>> engine_;
};

TASKDAG_ENGINE_END
