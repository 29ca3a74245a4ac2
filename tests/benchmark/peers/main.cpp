// How long numbers take from GPU to GPU: mpirun -n GPUS taskdag_peers, a GPU for each rank. Lines of CSV; exit status
// 77 where there are not as many GPUs as ranks, or fewer than two of either.
#include <cuda_runtime_api.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include "csv_text.hpp"
#include "machine.hpp"
#include "peers/hops.hpp"
#include "taskdag/rank_group.hpp"

namespace {

using taskdag::benchmark::Pattern;

class World final : public taskdag::RankGroup {
 public:
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }
  void gather(const void* mine, std::size_t bytes, void* all) const override {
    const int size = static_cast<int>(bytes);
    MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, MPI_COMM_WORLD);
  }

 private:
  int rank_ = 0;
  int count_ = 1;
};

void print(const World& ranks, const std::string& line) {
  if (ranks.rank() == 0) std::puts(line.c_str());
}

/// Whether all numbers came as they were sent.
bool measure(const World& ranks) {
  using taskdag::benchmark::csv_line;
  const taskdag::benchmark::Machine machine = taskdag::benchmark::describe_machine();
  print(ranks, csv_line({"gpus", "pattern", "numbers", "us", "result", "commit", "gpu", "driver", "cuda", "date"}));
  bool all_equal = true;
  for (const Pattern pattern : {Pattern::one_way, Pattern::among_all}) {
    for (const unsigned numbers : {1U, 64U, 1024U, 16384U}) {
      const auto time = taskdag::benchmark::measure_hops(ranks, ranks.rank(), pattern, numbers);
      all_equal = all_equal && time.equal;
      std::array<char, 32> us{};
      std::snprintf(us.data(), us.size(), "%.3f", time.us);
      print(ranks, csv_line({std::to_string(ranks.count()), to_string(pattern), std::to_string(numbers), us.data(),
                             time.equal ? "equal" : "wrong", machine.commit, machine.gpu, machine.driver, machine.cuda,
                             machine.date}));
    }
  }
  return all_equal;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    const World ranks;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < ranks.count() || ranks.count() < 2) {
      if (ranks.rank() == 0) std::fprintf(stderr, "skipped: needs two ranks or more, and a GPU for each\n");
      status = 77;
    } else {
      cudaSetDevice(ranks.rank());
      status = measure(ranks) ? 0 : 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
