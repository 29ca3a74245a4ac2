/// \file
/// The pairs of lanes and fetched items that the asynchronous forms are compiled for.
#pragma once

/// Calls macro(lanes, fetch) for each.
#define TASKDAG_GRAPH_WORKERS(macro) \
  macro(1, 1) macro(32, 1) macro(32, 4) macro(32, 8) macro(32, 32) macro(128, 32) macro(256, 64) macro(256, 256)
