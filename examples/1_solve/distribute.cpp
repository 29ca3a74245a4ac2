#include "distribute.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string>

#include "problem.hpp"

namespace example {
namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Throws on all ranks if rank 0 has something to say.
void throw_together(MPI_Comm comm, std::string message) {
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  if (length == 0) return;
  message.resize(static_cast<std::size_t>(length));
  MPI_Bcast(message.data(), length, MPI_CHAR, 0, comm);
  throw InputError(message);
}

/// Rank 0's result of `make`, an empty object elsewhere; exceptions are shared.
template <class T>
T make_on_rank_0(MPI_Comm comm, const std::function<T()>& make) {
  T result;
  std::string message;
  if (rank_of(comm) == 0) {
    try {
      result = make();
    } catch (const std::exception& e) {
      message = e.what();
    }
  }
  throw_together(comm, message);
  return result;
}

/// Every rank's part of rank 0's array: counts[r] elements from displacements[r] on.
template <class T>
std::vector<T> scatter(MPI_Comm comm, MPI_Datatype type, const T* all, const std::vector<int>& counts,
                       const std::vector<int>& displacements) {
  std::vector<T> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_of(comm))]));
  MPI_Scatterv(all, counts.data(), displacements.data(), type, mine.data(), static_cast<int>(mine.size()), type, 0,
               comm);
  return mine;
}

/// Only types of AIJ take rows in compressed form: another one is replaced by AIJ, and named.
std::string take_aij(Mat a) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscBool aij = PETSC_FALSE;
  MatType type = nullptr;
  PetscCallAbort(comm, PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(a), &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (aij) return "";
  PetscCallAbort(comm, MatGetType(a, &type));
  std::string other = type;
  PetscCallAbort(comm, MatSetType(a, MATAIJ));
  return other;
}

/// To another type, some of which are for symmetric matrices only, and some of which cannot tell any more.
void convert(Mat* a, const std::string& type) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(*a));
  PetscBool symmetric = PETSC_FALSE;
  PetscCallAbort(comm, MatIsSymmetric(*a, 0.0, &symmetric));
  PetscCallAbort(comm, MatSetOption(*a, MAT_SYMMETRIC, symmetric));
  PetscCallAbort(comm, MatConvert(*a, type.c_str(), MAT_INPLACE_MATRIX, a));
  PetscCallAbort(comm, MatSetOption(*a, MAT_SYMMETRIC, symmetric));
}

}  // namespace

Mat distribute_matrix(MPI_Comm comm, const std::function<taskdag::CsrMatrix()>& make) {
  const taskdag::CsrMatrix whole = make_on_rank_0(comm, make);
  std::array<int, 2> size = {whole.rows, whole.cols};
  MPI_Bcast(size.data(), 2, MPI_INT, 0, comm);
  if (size[0] != size[1]) {
    throw InputError("the matrix is " + std::to_string(size[0]) + " x " + std::to_string(size[1]) +
                     ", a square one is needed");
  }

  Mat a = nullptr;
  PetscCallAbort(comm, MatCreate(comm, &a));
  PetscCallAbort(comm, MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, size[0], size[0]));
  PetscCallAbort(comm, MatSetType(a, MATAIJ));
  PetscCallAbort(comm, MatSetFromOptions(a));
  const std::string other = take_aij(a);
  PetscCallAbort(comm, MatSetUp(a));
  const PetscInt* first_rows = nullptr;
  PetscCallAbort(comm, MatGetOwnershipRanges(a, &first_rows));

  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> row_counts, row_starts, entry_counts, entry_starts;
  std::vector<taskdag::Offset> offsets(whole.row_offsets);
  offsets.resize(static_cast<std::size_t>(size[0]) + 1);
  MPI_Bcast(offsets.data(), size[0] + 1, MPI_INT32_T, 0, comm);
  for (int r = 0; r < ranks; ++r) {
    const int first = static_cast<int>(first_rows[r]), last = static_cast<int>(first_rows[r + 1]);
    row_counts.push_back(last - first);
    row_starts.push_back(first);
    entry_counts.push_back(offsets[static_cast<std::size_t>(last)] - offsets[static_cast<std::size_t>(first)]);
    entry_starts.push_back(offsets[static_cast<std::size_t>(first)]);
  }
  const auto cols = scatter(comm, MPI_INT32_T, whole.col_indices.data(), entry_counts, entry_starts);
  const auto values = scatter(comm, MPI_DOUBLE, whole.values.data(), entry_counts, entry_starts);

  const auto me = static_cast<std::size_t>(rank_of(comm));
  const auto begin = offsets.begin() + row_starts[me];
  std::vector<PetscInt> my_offsets(begin, begin + row_counts[me] + 1);
  for (PetscInt& offset : my_offsets) offset -= entry_starts[me];
  const std::vector<PetscInt> my_cols(cols.begin(), cols.end());
  // The call that does not fit the type of the matrix does nothing.
  PetscCallAbort(comm, MatSeqAIJSetPreallocationCSR(a, my_offsets.data(), my_cols.data(), values.data()));
  PetscCallAbort(comm, MatMPIAIJSetPreallocationCSR(a, my_offsets.data(), my_cols.data(), values.data()));
  if (!other.empty()) convert(&a, other);
  return a;
}

Vec distribute_vector(Mat a, const std::function<std::vector<double>()>& make) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscInt rows = 0;
  PetscCallAbort(comm, MatGetSize(a, &rows, nullptr));
  const auto make_checked = [&] {
    std::vector<double> values = make();
    if (values.size() != static_cast<std::size_t>(rows)) {
      throw InputError("the right-hand side has " + std::to_string(values.size()) + " rows, the matrix has " +
                       std::to_string(rows));
    }
    return values;
  };
  const std::vector<double> whole = make_on_rank_0<std::vector<double>>(comm, make_checked);

  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const PetscInt* first_rows = nullptr;
  PetscCallAbort(comm, MatGetOwnershipRanges(a, &first_rows));
  std::vector<int> counts, starts;
  for (int r = 0; r < ranks; ++r) {
    starts.push_back(static_cast<int>(first_rows[r]));
    counts.push_back(static_cast<int>(first_rows[r + 1] - first_rows[r]));
  }
  const auto mine = scatter(comm, MPI_DOUBLE, whole.data(), counts, starts);

  Vec v = nullptr;
  PetscCallAbort(comm, MatCreateVecs(a, nullptr, &v));
  PetscScalar* target = nullptr;
  PetscCallAbort(comm, VecGetArrayWrite(v, &target));
  std::copy(mine.begin(), mine.end(), target);
  PetscCallAbort(comm, VecRestoreArrayWrite(v, &target));
  return v;
}

}  // namespace example
