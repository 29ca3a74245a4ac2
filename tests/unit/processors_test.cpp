// How many threads a process takes: overlapping masks, quotas of control groups, the environment; all of them made up.
#include "backends/host/processors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace taskdag::host {
namespace {

ProcessorClaim mask(std::size_t first, std::size_t count) {
  ProcessorClaim claim;
  for (std::size_t p = first; p < first + count; ++p) claim.mask[p / 64] |= std::uint64_t{1} << (p % 64);
  return claim;
}

ProcessorClaim with_quota(ProcessorClaim claim, std::uint64_t group, double processors) {
  auto* free = claim.quotas.begin();
  while (free->processors > 0.0) ++free;
  *free = {group, processors};
  return claim;
}

ProcessorClaim with_threads(ProcessorClaim claim, int threads) {
  claim.threads = threads;
  return claim;
}

std::vector<int> shares(const std::vector<ProcessorClaim>& node) {
  std::vector<int> result;
  for (std::size_t k = 0; k < node.size(); ++k) result.push_back(share_of_processors(node, k));
  return result;
}

using Shares = std::vector<int>;

TEST(Processors, RanksThatAreBoundApartHaveTheirOwn) {
  EXPECT_EQ(shares({mask(0, 8), mask(8, 8), mask(16, 2), mask(18, 1)}), (Shares{8, 8, 2, 1}));
  EXPECT_EQ(shares({mask(60, 10)}), Shares{10}) << "over a word's end";
  EXPECT_EQ(shares({mask(8191, 1)}), Shares{1});
}

TEST(Processors, RanksThatAreNotBoundDivideTheMachine) {
  EXPECT_EQ(shares(std::vector(4, mask(0, 16))), (Shares{4, 4, 4, 4}));
  EXPECT_EQ(shares(std::vector(3, mask(0, 16))), (Shares{5, 5, 5}));
  EXPECT_EQ(shares(std::vector(5, mask(0, 2))), (Shares{1, 1, 1, 1, 1}));
  EXPECT_EQ(shares(std::vector(49, mask(0, 49))), Shares(49, 1)) << "49 times 1/49 is less than 1";
}

// Two sockets of 32: a mask is smaller than the machine, and still not the rank's own.
TEST(Processors, RanksThatAreBoundToASocketDivideIt) {
  std::vector<ProcessorClaim> node(16, mask(0, 32));
  node.resize(32, mask(32, 32));
  EXPECT_EQ(shares(node), Shares(32, 2));
  EXPECT_EQ(shares({mask(0, 32), mask(0, 32), mask(0, 32), mask(32, 32)}), (Shares{10, 10, 10, 32}));
}

TEST(Processors, MasksThatOverlapInPartAreSharedWhereTheyDo) {
  EXPECT_EQ(shares({mask(0, 4), mask(2, 2)}), (Shares{3, 1}));
  EXPECT_EQ(shares({mask(0, 8), mask(4, 8), mask(8, 8)}), (Shares{6, 4, 6}));
  EXPECT_EQ(shares({mask(0, 64), mask(0, 1)}), (Shares{63, 1}));
}

TEST(Processors, AProcessWithoutAMaskHasOneThread) {
  EXPECT_EQ(shares({ProcessorClaim{}, mask(0, 4)}), (Shares{1, 4}));
}

TEST(Processors, AQuotaIsDividedAmongItsGroup) {
  // A container with 6 of 64 processors.
  EXPECT_EQ(shares(std::vector(2, with_quota(mask(0, 64), 7, 6.0))), (Shares{3, 3}));
  EXPECT_EQ(shares(std::vector(4, with_quota(mask(0, 64), 7, 6.5))), (Shares{1, 1, 1, 1}));
  EXPECT_EQ(shares({with_quota(mask(0, 64), 7, 0.5)}), Shares{1});
  // A container each.
  EXPECT_EQ(shares({with_quota(mask(0, 64), 7, 6.0), with_quota(mask(0, 64), 8, 3.9)}), (Shares{6, 3}));
  // A job's quota above those of its tasks.
  const auto task = [](std::uint64_t group) { return with_quota(with_quota(mask(0, 64), group, 4.0), 1, 8.0); };
  EXPECT_EQ(shares({task(11), task(12)}), (Shares{4, 4}));
  EXPECT_EQ(shares({task(11), task(12), task(13), task(14)}), (Shares{2, 2, 2, 2}));
  // More than the mask has.
  EXPECT_EQ(shares({with_quota(mask(0, 2), 7, 16.0)}), Shares{2});
}

TEST(Processors, TheEnvironmentLimits) {
  EXPECT_EQ(shares({with_threads(mask(0, 16), 4), mask(16, 16)}), (Shares{4, 16}));
  EXPECT_EQ(shares(std::vector(4, with_threads(mask(0, 16), 8))), (Shares{4, 4, 4, 4}));
  EXPECT_EQ(processors_of(with_threads(mask(0, 16), 4)), 16) << "what could run, whatever is wanted";
}

TEST(Processors, QuotasAreReadOrAbsent) {
  EXPECT_EQ(quota_of("250000 100000\n"), 2.5);
  EXPECT_EQ(quota_of("max 100000\n"), 0.0);
  EXPECT_EQ(quota_of("400000\n", "100000\n"), 4.0);
  EXPECT_EQ(quota_of("-1\n", "100000\n"), 0.0);
  for (const char* const text : {"", "max", "100000", "100000 0", "100000 -1", "x y", "99999999999999999999 1", " "}) {
    EXPECT_EQ(quota_of(text), 0.0) << text;
  }
  EXPECT_EQ(quota_of("", ""), 0.0);
}

TEST(Processors, ThreadsOfTheEnvironmentAreReadOrAbsent) {
  EXPECT_EQ(threads_of("4"), 4);
  EXPECT_EQ(threads_of("4,2"), 4);
  EXPECT_EQ(threads_of(" 4 "), 4);
  EXPECT_EQ(threads_of("99999999999"), 2147483647);
  for (const char* const text : {"", "0", "-3", "all", ","}) EXPECT_EQ(threads_of(text), 0) << text;
  EXPECT_EQ(threads_of(nullptr), 0);
}

constexpr const char* kUnified =
    "22 1 0:21 / /proc rw,relatime shared:5 - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kSplit =
    "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 master:3 - cgroup cgroup rw,cpu,cpuacct\n";

TEST(Processors, FoldersOfGroupsAreThoseUpToTheMount) {
  using Folders = std::vector<GroupFolder>;
  EXPECT_EQ(group_folders("0::/slurm/job_3/task_0\n", kUnified), (Folders{{"/sys/fs/cgroup/slurm/job_3/task_0", true},
                                                                          {"/sys/fs/cgroup/slurm/job_3", true},
                                                                          {"/sys/fs/cgroup/slurm", true},
                                                                          {"/sys/fs/cgroup", true}}));
  EXPECT_EQ(group_folders("0::/\n", kUnified), (Folders{{"/sys/fs/cgroup", true}}));
  EXPECT_EQ(group_folders("12:memory:/a\n4:cpu,cpuacct:/docker/b\n0::/\n", kSplit),
            (Folders{{"/sys/fs/cgroup/cpu,cpuacct/docker/b", false},
                     {"/sys/fs/cgroup/cpu,cpuacct/docker", false},
                     {"/sys/fs/cgroup/cpu,cpuacct", false}}));
  // In a container its group is mounted itself, under the machine's name for it or another.
  const std::string inside = "32 24 0:28 /docker/b /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
  EXPECT_EQ(group_folders("4:cpu:/docker/b\n", inside), (Folders{{"/sys/fs/cgroup/cpu", false}}));
  EXPECT_EQ(group_folders("4:cpu:/docker/b/c\n", inside),
            (Folders{{"/sys/fs/cgroup/cpu/c", false}, {"/sys/fs/cgroup/cpu", false}}));
  EXPECT_EQ(group_folders("0::/../../elsewhere\n", kUnified), (Folders{{"/sys/fs/cgroup", true}}));
  for (const char* const text : {"", "x", "0:", ":::", "\n\n"}) {
    EXPECT_EQ(group_folders(text, ""), Folders{}) << text;
    EXPECT_EQ(group_folders("0::/\n", text), Folders{}) << text;
  }
}

/// A made-up system's files, in a folder that goes with the scope.
class System {
 public:
  System() : root_(testing::TempDir() + "taskdag_system_" + std::to_string(::getpid())) {}
  ~System() { std::filesystem::remove_all(root_); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] ProcessorClaim claim() const {
    ProcessorClaim claim = mask(0, 64);
    read_quotas(root_, claim);
    return claim;
  }

 private:
  std::string root_;
};

TEST(Processors, QuotasOfAUnifiedHierarchyAreFound) {
  const System system;
  system.write("/proc/self/mountinfo", kUnified);
  system.write("/proc/self/cgroup", "0::/job/task_0\n");
  system.write("/sys/fs/cgroup/job/task_0/cpu.max", "max 100000\n");
  system.write("/sys/fs/cgroup/job/cpu.max", "600000 100000\n");
  const ProcessorClaim first = system.claim();
  EXPECT_EQ(processors_of(first), 6);
  // Another task of the job, which has less for itself: 3 is its half, 2 its own.
  system.write("/proc/self/cgroup", "0::/job/task_1\n");
  system.write("/sys/fs/cgroup/job/task_1/cpu.max", "200000 100000\n");
  const ProcessorClaim second = system.claim();
  EXPECT_EQ(processors_of(second), 2);
  EXPECT_EQ(shares({first, second}), (Shares{3, 2}));
}

TEST(Processors, QuotasOfASplitHierarchyAreFound) {
  const System system;
  system.write("/proc/self/mountinfo", kSplit);
  system.write("/proc/self/cgroup", "4:cpu,cpuacct:/docker/b\n");
  system.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  system.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  system.write("/sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.cfs_quota_us", "350000\n");
  system.write("/sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processors_of(system.claim()), 3);
  EXPECT_EQ(shares({system.claim(), system.claim()}), (Shares{1, 1}));
}

TEST(Processors, ASystemWithoutGroupsHasNoQuotas) {
  const System system;
  EXPECT_EQ(processors_of(system.claim()), 64);
}

// NOLINTBEGIN(concurrency-mt-unsafe): this program has one thread
TEST(Processors, AClaimHasWhatTheProcessHas) {
  ::setenv("OMP_NUM_THREADS", "3,1", 1);
  ::setenv("SLURM_CPUS_PER_TASK", "5", 1);
  const ProcessorClaim claim = claim_processors();
  EXPECT_EQ(claim.threads, 3);
  EXPECT_GE(processors_of(claim), 1);
  ::setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_EQ(claim_processors().threads, 5);
  ::unsetenv("OMP_NUM_THREADS");
  ::unsetenv("SLURM_CPUS_PER_TASK");
  EXPECT_EQ(claim_processors().threads, 0);
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace
}  // namespace taskdag::host
