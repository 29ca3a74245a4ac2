// The simplest rival: one thread, row by row. For the test of the interface.
#include "../rival_interface.h"

const char* taskdag_rival_name() { return "rival: serial"; }

void* taskdag_rival_schedule(const taskdag_rival_triangle* triangle, int /*threads*/, int* supersteps) {
  *supersteps = 0;
  return new taskdag_rival_triangle(*triangle);
}

void taskdag_rival_pack(void* /*schedule*/) {}

void taskdag_rival_solve(void* schedule, const double* b, double* x) {
  const auto& a = *static_cast<const taskdag_rival_triangle*>(schedule);
  for (int i = 0; i < a.rows; ++i) {
    double sum = b[i];
    for (int e = a.row_offsets[i]; e < a.row_offsets[i + 1] - 1; ++e) sum -= a.values[e] * x[a.columns[e]];
    x[i] = sum;
  }
}

void taskdag_rival_free(void* schedule) { delete static_cast<taskdag_rival_triangle*>(schedule); }
