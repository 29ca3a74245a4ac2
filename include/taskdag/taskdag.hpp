/// \file
/// The solvers' public interface. The task engine's is taskdag/engine/runner.hpp.
#pragma once

#include "taskdag/block_jacobi.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/device_order.hpp"
#include "taskdag/dominance.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/narrowed_pattern.hpp"
#include "taskdag/ordering.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/row_blocks.hpp"
#include "taskdag/schedule.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/sor.hpp"
#include "taskdag/status.hpp"
#include "taskdag/triangular.hpp"
#include "taskdag/version.hpp"
