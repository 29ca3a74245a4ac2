/// \file
/// What a claim on processors is read from: texts of the system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "taskdag/processors.hpp"

namespace taskdag::host {

/// A folder of a control group that may limit the processors' time, those above it behind it.
struct GroupFolder {
  std::string path;
  bool unified = false;  ///< version 2
  bool operator==(const GroupFolder&) const = default;
};

/// The folders of the groups that /proc/self/cgroup names, where /proc/self/mountinfo says that they are.
std::vector<GroupFolder> group_folders(std::string_view cgroup, std::string_view mountinfo);

/// Processors that cpu.max of version 2 allows ("200000 100000": 2), 0 for no limit or another text.
double quota_of(std::string_view cpu_max);
/// The same of version 1: cpu.cfs_quota_us and cpu.cfs_period_us.
double quota_of(std::string_view quota, std::string_view period);

/// The first number of OMP_NUM_THREADS ("4,2") or SLURM_CPUS_PER_TASK; 0 for null, or what does not begin with a number
/// above 0.
int threads_of(const char* text);

/// The quotas of the process, with `root` before all paths: "" but in tests.
void read_quotas(const std::string& root, ProcessorClaim& claim);

/// Processors that can run this process' threads at the same time: those of its mask, and no more than its quotas
/// allow.
int processors_of(const ProcessorClaim& claim);

}  // namespace taskdag::host
