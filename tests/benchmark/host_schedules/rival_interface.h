/// \file
/// What a shared library exports to be measured beside the host's schedules: taskdag_host_schedules --rival FILE. In C,
/// so that it can be built apart, by another compiler and from sources that are not ours.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// A lower triangle by rows; columns ascend, so that the diagonal entry, which is 1, is the last one of its row. The
/// arrays outlive what is made of them.
struct taskdag_rival_triangle {
  int rows;
  const int* row_offsets;
  const int* columns;
  const double* values;
};

/// For tables.
const char* taskdag_rival_name(void);

/// The schedule for so many threads; null where there is none. *supersteps: how many it has, 0: it is not made of them.
void* taskdag_rival_schedule(const struct taskdag_rival_triangle* triangle, int threads, int* supersteps);

/// Copies the triangle as the schedule wants it. Before the first solve.
void taskdag_rival_pack(void* schedule);

/// Solves for x; b stays as it is. Two arrays.
void taskdag_rival_solve(void* schedule, const double* b, double* x);

void taskdag_rival_free(void* schedule);

#ifdef __cplusplus
}
#endif
