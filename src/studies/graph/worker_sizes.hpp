/// \file
/// The pairs of lanes and fetched items that the asynchronous forms are compiled for.
#pragma once

#if defined(TASKDAG_GRAPH_FEW_WORKERS)
/// Those that tests ask for by their numbers, and the largest: for a build that is to compile, not to measure.
#define TASKDAG_GRAPH_WORKERS(macro) macro(1, 1) macro(32, 8) macro(128, 32) macro(256, 64)
#define TASKDAG_GRAPH_WRITTEN_WORKERS(macro) macro(32, 1) macro(32, 32) macro(256, 64) macro(256, 256) macro(1024, 1024)
#else
/// Calls macro(lanes, fetch) for each.
#define TASKDAG_GRAPH_WORKERS(macro)                                                                             \
  macro(1, 1) macro(32, 1) macro(32, 4) macro(32, 8) macro(32, 32) macro(128, 32) macro(256, 64) macro(256, 256) \
      macro(512, 128) macro(1024, 256)

/// The same for the forms that are the paper's: as in its figure 4, no more items than lanes.
#define TASKDAG_GRAPH_WRITTEN_WORKERS(macro)                                                                           \
  macro(32, 1) macro(32, 32) macro(64, 32) macro(128, 64) macro(256, 1) macro(256, 64) macro(256, 256) macro(512, 128) \
      macro(512, 512) macro(1024, 64) macro(1024, 256) macro(1024, 1024)
#endif
