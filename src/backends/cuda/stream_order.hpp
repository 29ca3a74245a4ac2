/// \file
/// The order of the calls on one object, whatever streams they are on.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "backends/cuda/stream.hpp"

namespace taskdag::cuda {

/// Lets the work of a call begin after that of all earlier calls on the same object. While the stream stays the same it
/// does that by itself, and nothing is submitted for it. The first call on another stream waits for the device, since
/// the stream before may be gone; from then on each call leaves an event behind.
///
/// A call that is captured is ordered inside its graph alone.
class StreamOrder {
 public:
  /// The part of a call in which it submits work: from here to the end of the scope. @throws DeviceError
  class Call {
   public:
    Call(StreamOrder& order, cudaStream_t stream) : order_(order), stream_(stream) { order_.begin(stream); }
    ~Call() { order_.end(stream_); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    /// It has waited for all that it submitted.
    void waited() { order_.in_flight_ = false; }

   private:
    StreamOrder& order_;
    cudaStream_t stream_;
  };

  /// Whether any call has been captured.
  [[nodiscard]] bool captured() const { return captured_; }

 private:
  void begin(cudaStream_t stream);
  void end(cudaStream_t stream) noexcept;

  bool in_flight_ = false;           ///< work that has not been waited for
  bool captures_ = false;            ///< the present call is captured
  bool captured_ = false;            ///< one of all calls was
  unsigned long long last_ = 0;      ///< the stream with the last work
  std::optional<UniqueEvent> done_;  ///< behind that, from the first change of stream on
  bool recorded_ = false;
};

/// @throws Unsupported where `stream` is being captured: `what` says what needs the host, and cannot be captured
void refuse_capture(cudaStream_t stream, const char* what);

}  // namespace taskdag::cuda
