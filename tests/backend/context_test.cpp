// Contexts: which backend is chosen, and what they say about themselves.
#include "backends.hpp"

namespace taskdag {
namespace {

TEST(ContextTest, AutomaticTakesTheDeviceIfThereIsOneAndSaysWhy) {
  const Context context = Context::create();
  const DeviceProbe& probe = probe_devices();
  EXPECT_EQ(context.backend(), probe.devices > 0 ? Backend::cuda : Backend::host);
  EXPECT_EQ(context.reason(), probe.message);
  if (!probe.built_with_cuda) {
    EXPECT_EQ(context.reason(), "built without CUDA");
  }
}

TEST(ContextTest, DemandedHostHasTheThreadsThatWereAskedFor) {
  const Context context = Context::create({.backend = Backend::host, .threads = 3});
  EXPECT_EQ(context.backend(), Backend::host);
  EXPECT_EQ(context.reason(), "asked for");
  EXPECT_EQ(context.threads(), 3);
  EXPECT_EQ(context.device(), -1);
  EXPECT_EQ(context.device_name(), "3 host threads");
  EXPECT_EQ(Context::create({.backend = Backend::host, .threads = 1}).device_name(), "1 host thread");
  EXPECT_GE(Context::create({.backend = Backend::host}).threads(), 1);
}

TEST(ContextTest, NegativeNumbersAreRefused) {
  EXPECT_THROW(Context::create({.backend = Backend::host, .threads = -1}), InvalidInput);
  EXPECT_THROW(Context::create({.threads = -2}), InvalidInput);
  EXPECT_THROW(Context::create({.device = -2}), InvalidInput);
}

// At once: a system may start tens of thousands before it refuses one.
TEST(ContextTest, MoreThreadsThanMakeSenseAreRefused) {
  for (const Backend backend : {Backend::host, Backend::automatic}) {
    for (const int threads : {100000, 2147483647}) {
      try {
        static_cast<void>(Context::create({.backend = backend, .threads = threads}));
        FAIL() << "no exception";
      } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find(std::to_string(threads) + " host threads are more than the "),
                  std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_EQ(Context::create({.backend = Backend::host, .threads = 100}).threads(), 100);
}

TEST(ContextTest, DemandedDeviceThatIsNotThereIsAnError) {
  if (probe_devices().devices == 0) {
    try {
      static_cast<void>(Context::create({.backend = Backend::cuda}));
      FAIL() << "no exception";
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find(probe_devices().message), std::string::npos) << error.what();
    }
  } else {
    EXPECT_THROW(Context::create({.backend = Backend::cuda, .device = probe_devices().devices}), DeviceError);
  }
}

TEST(ContextTest, NamesOfBackendsAreThoseOfTheOptions) {
  EXPECT_STREQ(to_string(Backend::automatic), "auto");
  EXPECT_STREQ(to_string(Backend::cuda), "cuda");
  EXPECT_STREQ(to_string(Backend::host), "host");
}

TASKDAG_BACKEND_SUITE(ContextOnBackends, test::everywhere());

TEST_P(ContextOnBackends, DescribesItself) {
  EXPECT_EQ(context().backend(), GetParam().backend);
  EXPECT_EQ(context().reason(), "asked for");
  EXPECT_FALSE(context().device_name().empty());
  if (GetParam().backend == Backend::cuda) {
    EXPECT_GE(context().device(), 0);
    EXPECT_EQ(context().threads(), 1);
  } else {
    EXPECT_EQ(context().threads(), GetParam().threads);
  }
}

}  // namespace
}  // namespace taskdag
