/// \file
/// The test program's operator new: it counts, and fails where a test wants it to.
#pragma once

namespace taskdag::test {

/// Blocks that operator new gave out and that are not given back, of all threads.
long live_allocations();

/// While one lives, calls of operator new on any thread are counted, and one of them throws std::bad_alloc. PETSc's own
/// memory is not affected: it comes from malloc(). One at a time.
class AllocationFault {
 public:
  /// `place`: the call that fails, from 1 on.
  explicit AllocationFault(long place);
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;
  ~AllocationFault();
  /// Whether that call has come.
  [[nodiscard]] bool happened() const;

 private:
  long place_;
};

}  // namespace taskdag::test
