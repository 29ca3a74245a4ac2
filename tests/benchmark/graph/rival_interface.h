/// \file
/// What a shared library exports to be measured beside the forms of graph algorithms: taskdag_graph_bench --rival FILE.
/// In C, so that it can be built apart, by another compiler and from sources that are not ours.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// A symmetric graph by rows, in the host's memory; a vertex may be its own neighbour. The arrays outlive what is made
/// of them.
struct taskdag_graph_rival_graph {
  int vertices;
  const int* row_offsets;
  const int* neighbours;
};

/// For tables, forms from 0 on; null where there are no more.
const char* taskdag_graph_rival_form(int form);

/// Not 0 where that form has "bfs" or "pagerank".
int taskdag_graph_rival_has(int form, const char* algorithm);

/// The graph where runs want it, in a GPU's memory say; null where it cannot be had.
void* taskdag_graph_rival_prepare(const struct taskdag_graph_rival_graph* graph);

/// A search. Seconds from its first launch to its end, without preparing memory; negative: it failed. depths: in the
/// host's memory, one a vertex, 0x7FFFFFFF where the source does not reach it. *iterations: how many it took.
double taskdag_graph_rival_bfs(void* prepared, int form, int source, int* depths, int* iterations);

/// So many iterations of PageRank, seconds as above. ranks: in the host's memory, of the sum 1 at the fixed point; what
/// vertices without neighbours have is shared out to all.
double taskdag_graph_rival_pagerank(void* prepared, int form, float damping, int iterations, float* ranks);

void taskdag_graph_rival_free(void* prepared);

#ifdef __cplusplus
}
#endif
