#include <string>

#include "backends/cuda/stream_order.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

/// Never the same for two streams, unlike the handle of one that is gone.
unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  check(cudaStreamGetId(stream, &id), "asking for a stream's number");
  return id;
}

}  // namespace

void StreamOrder::begin(cudaStream_t stream) {
  captures_ = is_capturing(stream);
  captured_ = captured_ || captures_;
  if (captures_) return;
  const unsigned long long id = id_of(stream);
  if (in_flight_ && id != last_) {
    if (recorded_) {
      done_->delay(stream);
    } else {
      const RelaxedCapture relaxed;
      check(cudaDeviceSynchronize(), "waiting for the device");
    }
    if (!done_) done_.emplace(EventFor::order);
  }
  recorded_ = false;
  last_ = id;
  in_flight_ = true;
}

void StreamOrder::end(cudaStream_t stream) noexcept {
  if (captures_ || !in_flight_ || !done_) return;
  recorded_ = cudaEventRecord(done_->get(), stream) == cudaSuccess;
  if (!recorded_) static_cast<void>(cudaGetLastError());  // the next call on another stream waits for the device
}

void refuse_capture(cudaStream_t stream, const char* what) {
  if (is_capturing(stream)) {
    throw Unsupported(std::string(what) + ": this needs the host, so that it cannot be captured into a CUDA graph");
  }
}

}  // namespace taskdag::cuda
