/// \file
/// GoogleTest between PetscInitialize() and PetscFinalize(), on any number of ranks.
#include <cstdio>

#include "support.hpp"

namespace {

/// On ranks other than the first: failures only.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("rank %d: %s:%d: %s\n", taskdag::test::rank(), result.file_name() ? result.file_name() : "",
                result.line_number(), result.summary());
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // A PETSc with CUDA refuses to start over an MPI without, unless told so.
  if (PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "0")) return 1;
  if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
  if (PetscLogDefaultBegin()) return 1;
  if (TaskDAGInitializePackage()) return 1;
  if (taskdag::test::rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  const int failed = RUN_ALL_TESTS();
  if (PetscFinalize()) return 1;
  return failed;
}
