#include "backends/host/processors.hpp"

#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <thread>

namespace taskdag {
namespace host {

namespace {

/// Calls work(line) for each line.
template <class Work>
void each_line(std::string_view text, const Work& work) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    work(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool has_word(std::string_view list, std::string_view word) {
  const std::vector<std::string> words = split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

/// A control group's place in a hierarchy that has processors' time.
struct Membership {
  bool unified;
  std::string path;
};

std::vector<Membership> memberships(std::string_view cgroup) {
  std::vector<Membership> found;
  each_line(cgroup, [&](std::string_view line) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty() || has_word(controllers, "cpu")) {
      found.push_back({controllers.empty(), std::string(line.substr(second + 1))});
    }
  });
  return found;
}

/// Where a hierarchy is mounted, and which of its groups stands there.
struct Mount {
  bool unified;
  std::string root;
  std::string point;
};

std::vector<Mount> mounts(std::string_view mountinfo) {
  std::vector<Mount> found;
  each_line(mountinfo, [&](std::string_view line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return;
    const std::vector<std::string> before = split(line.substr(0, dash), ' ');
    const std::vector<std::string> after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) return;
    const bool unified = after[0] == "cgroup2";
    if (unified || (after[0] == "cgroup" && has_word(after[2], "cpu")))
      found.push_back({unified, before[3], before[4]});
  });
  return found;
}

/// The folder of `path`, and those above it up to where the hierarchy is mounted. A group that is not below what stands
/// there (another namespace's name for it) has that one for its own.
void add_folders(const Mount& mount, std::string_view path, std::vector<GroupFolder>& folders) {
  const std::string root = mount.root == "/" ? "" : mount.root;
  const bool below = path.starts_with(root + "/") && path.find("/..") == std::string_view::npos;
  std::string rest(below ? path.substr(root.size()) : "");
  while (!rest.empty() && rest != "/") {
    folders.push_back({mount.point + rest, mount.unified});
    rest.resize(rest.rfind('/'));
  }
  folders.push_back({mount.point, mount.unified});
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double quota_in(const std::string& folder, bool unified) {
  return unified ? quota_of(text_of(folder + "/cpu.max"))
                 : quota_of(text_of(folder + "/cpu.cfs_quota_us"), text_of(folder + "/cpu.cfs_period_us"));
}

/// A positive whole number at the beginning of the text, 0 if there is none.
std::int64_t number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::max<std::int64_t>(number, 0) : 0;
}

void read_mask(ProcessorClaim& claim) {
  const bool read = sched_getaffinity(0, sizeof claim.mask, reinterpret_cast<cpu_set_t*>(claim.mask.data())) == 0;
  if (read) return;
  const std::size_t all = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, claim.most_processors);
  for (std::size_t p = 0; p < all; ++p) claim.mask[p / 64] |= std::uint64_t{1} << (p % 64);
}

}  // namespace

std::vector<GroupFolder> group_folders(std::string_view cgroup, std::string_view mountinfo) {
  std::vector<GroupFolder> folders;
  const std::vector<Mount> mounted = mounts(mountinfo);
  for (const Membership& member : memberships(cgroup)) {
    const auto mount = std::ranges::find(mounted, member.unified, &Mount::unified);
    if (mount != mounted.end()) add_folders(*mount, member.path, folders);
  }
  return folders;
}

double quota_of(std::string_view cpu_max) {
  const std::size_t space = cpu_max.find(' ');
  return space == std::string_view::npos ? 0.0 : quota_of(cpu_max.substr(0, space), cpu_max.substr(space + 1));
}

double quota_of(std::string_view quota, std::string_view period) {
  const std::int64_t time = number_at(quota);
  const std::int64_t of = number_at(period);
  return of == 0 ? 0.0 : static_cast<double>(time) / static_cast<double>(of);
}

int threads_of(const char* text) {
  if (text == nullptr) return 0;
  std::string_view rest(text);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return static_cast<int>(std::min<std::int64_t>(number_at(rest), std::numeric_limits<int>::max()));
}

void read_quotas(const std::string& root, ProcessorClaim& claim) {
  std::size_t count = 0;
  for (const GroupFolder& folder :
       group_folders(text_of(root + "/proc/self/cgroup"), text_of(root + "/proc/self/mountinfo"))) {
    const double processors = quota_in(root + folder.path, folder.unified);
    struct stat identity {};
    if (processors <= 0.0 || count == claim.quotas.size() || ::stat((root + folder.path).c_str(), &identity) != 0) {
      continue;
    }
    claim.quotas[count++] = {identity.st_ino, processors};
  }
}

int processors_of(const ProcessorClaim& claim) {
  ProcessorClaim any = claim;
  any.threads = 0;
  return share_of_processors({&any, 1}, 0);
}

}  // namespace host

namespace {

/// Processors, some of them in part: each divided by how many may run on it.
double share_of_mask(std::span<const ProcessorClaim> node, std::size_t mine) {
  std::vector<int> by_holders(node.size() + 1, 0);
  for (std::size_t word = 0; word < node[mine].mask.size(); ++word) {
    for (std::uint64_t remaining = node[mine].mask[word]; remaining != 0; remaining &= remaining - 1) {
      const std::uint64_t bit = remaining & ~(remaining - 1);
      ++by_holders[static_cast<std::size_t>(
          std::ranges::count_if(node, [&](const ProcessorClaim& one) { return (one.mask[word] & bit) != 0; }))];
    }
  }
  double share = 0.0;
  for (std::size_t holders = 1; holders < by_holders.size(); ++holders) {
    share += by_holders[holders] / static_cast<double>(holders);
  }
  return share;
}

bool is_in(const ProcessorClaim& claim, std::uint64_t group) {
  return std::ranges::any_of(
      claim.quotas, [&](const ProcessorClaim::Quota& quota) { return quota.processors > 0.0 && quota.group == group; });
}

}  // namespace

ProcessorClaim claim_processors() {
  ProcessorClaim claim;
  host::read_mask(claim);
  host::read_quotas("", claim);
  for (const char* name : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    const int threads = host::threads_of(std::getenv(name));  // NOLINT(concurrency-mt-unsafe): nothing here sets it
    if (threads > 0) claim.threads = claim.threads > 0 ? std::min(claim.threads, threads) : threads;
  }
  return claim;
}

int share_of_processors(std::span<const ProcessorClaim> node, std::size_t mine) {
  double share = share_of_mask(node, mine);
  for (const ProcessorClaim::Quota& quota : node[mine].quotas) {
    if (quota.processors <= 0.0) continue;
    const auto members =
        std::ranges::count_if(node, [&](const ProcessorClaim& one) { return is_in(one, quota.group); });
    share = std::min(share, quota.processors / static_cast<double>(members));
  }
  if (node[mine].threads > 0) share = std::min<double>(share, node[mine].threads);
  constexpr double kRounding = 1e-9;  // of sums of fractions
  return std::max(1, static_cast<int>(share + kRounding));
}

}  // namespace taskdag
