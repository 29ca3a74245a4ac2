#include "fault/nth_failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <new>

#include "backend/measure.hpp"
#include "fault/watchdog.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

enum class Thrown { nothing, out_of_memory, device_error, invalid_input, bad_alloc, something_else };

const char* name_of(Thrown thrown) {
  switch (thrown) {
    case Thrown::nothing:
      return "nothing";
    case Thrown::out_of_memory:
      return "OutOfMemory";
    case Thrown::device_error:
      return "DeviceError";
    case Thrown::invalid_input:
      return "InvalidInput";
    case Thrown::bad_alloc:
      return "std::bad_alloc";
    case Thrown::something_else:
      break;
  }
  return "something else";
}

template <class Work>
Thrown attempt(const Work& work) {
  try {
    work();
    return Thrown::nothing;
  } catch (const OutOfMemory&) {
    return Thrown::out_of_memory;
  } catch (const DeviceError&) {
    return Thrown::device_error;
  } catch (const InvalidInput&) {
    return Thrown::invalid_input;
  } catch (const std::bad_alloc&) {
    return Thrown::bad_alloc;
  } catch (...) {
    return Thrown::something_else;
  }
}

/// What one failure led to. No strings: they would be counted as held.
struct Findings {
  std::int64_t calls = 0;
  bool failed = false;
  bool was_memory = false;
  Thrown thrown = Thrown::nothing;
  Thrown refusal = Thrown::invalid_input;
  bool same_result = false;
};

Findings fail_once(const Call& call, Fault& fault, std::int64_t k, const std::vector<double>& expected) {
  Findings f;
  call.prepare();
  fault.arm(k);
  f.thrown = attempt(call.run);
  f.calls = fault.disarm();
  f.failed = !fault.failed().empty();
  f.was_memory = fault.was_memory();
  if (f.thrown != Thrown::nothing) {
    if (call.spoils) f.refusal = attempt([&] { static_cast<void>(call.result()); });
    call.run();
  }
  f.same_result = same_bits(call.result(), expected);
  call.drop();
  return f;
}

std::vector<double> without_failures(const Call& call) {
  call.prepare();
  call.run();
  std::vector<double> result = call.result();
  call.drop();
  return result;
}

void expect_to_survive(const Call& call, Fault& fault, std::int64_t most, std::int64_t& tried) {
  static_cast<void>(without_failures(call));  // what the process makes once, and keeps
  const std::vector<double> expected = without_failures(call);
  const std::int64_t calls = fail_once(call, fault, 0, expected).calls;
  const std::int64_t stride = std::max<std::int64_t>(1, calls / most);
  for (std::int64_t k = 1;; k += stride) {
    const Held before = fault.held();
    const Findings f = fail_once(call, fault, k, expected);
    const Held after = fault.held();
    const std::string where = call.name + ", failure " + std::to_string(k) + " of " + std::to_string(calls) + ", " +
                              (f.failed ? fault.failed() : "none");
    EXPECT_EQ(after, before) << where << ": something is held after all objects are gone";
    EXPECT_TRUE(f.same_result) << where << ": another result than without failures";
    if (!f.failed) {
      EXPECT_EQ(f.thrown, Thrown::nothing) << where << ": thrown without a failure: " << name_of(f.thrown);
      return;
    }
    ++tried;
    if (f.thrown == Thrown::nothing) continue;  // the library had another way, to the same result
    const Thrown right = f.was_memory ? Thrown::out_of_memory : Thrown::device_error;
    EXPECT_EQ(f.thrown, right) << where << ": thrown: " << name_of(f.thrown);
    EXPECT_EQ(f.refusal, Thrown::invalid_input) << where << ": a use after it threw " << name_of(f.refusal);
  }
}

}  // namespace

std::int64_t expect_to_survive(const std::vector<Call>& calls, Fault& fault, std::int64_t most) {
  std::int64_t tried = 0;
  for (const Call& call : calls) {
    watch(call.name);
    try {
      expect_to_survive(call, fault, most, tried);
    } catch (const std::exception& error) {
      static_cast<void>(fault.disarm());
      ADD_FAILURE() << call.name << ": not possible again after a failure: " << error.what();
      call.drop();
    }
  }
  watch("");
  return tried;
}

}  // namespace taskdag::test
