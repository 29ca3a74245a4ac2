// The simplest rival: one thread, level by level, vertex by vertex. For the test of the interface.
#include <chrono>
#include <cstring>
#include <vector>

#include "../rival_interface.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

const char* taskdag_graph_rival_form(int form) {
  return form == 0 ? "rival: serial" : form == 1 ? "rival: serial, searches alone" : nullptr;
}

int taskdag_graph_rival_has(int form, const char* algorithm) {
  return std::strcmp(algorithm, "bfs") == 0 || (form == 0 && std::strcmp(algorithm, "pagerank") == 0) ? 1 : 0;
}

void* taskdag_graph_rival_prepare(const taskdag_graph_rival_graph* graph) {
  return new taskdag_graph_rival_graph(*graph);
}

double taskdag_graph_rival_bfs(void* prepared, int /*form*/, int source, int* depths, int* iterations) {
  const auto& graph = *static_cast<taskdag_graph_rival_graph*>(prepared);
  const auto begin = std::chrono::steady_clock::now();
  for (int v = 0; v < graph.vertices; ++v) depths[v] = 0x7FFFFFFF;
  depths[source] = 0;
  std::vector<int> frontier{source};
  for (*iterations = 0; !frontier.empty(); ++*iterations) {
    std::vector<int> next;
    for (const int v : frontier) {
      for (int e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
        const int u = graph.neighbours[e];
        if (depths[u] != 0x7FFFFFFF) continue;
        depths[u] = *iterations + 1;
        next.push_back(u);
      }
    }
    frontier.swap(next);
  }
  return seconds_since(begin);
}

double taskdag_graph_rival_pagerank(void* prepared, int /*form*/, float damping, int iterations, float* ranks) {
  const auto& graph = *static_cast<taskdag_graph_rival_graph*>(prepared);
  const auto begin = std::chrono::steady_clock::now();
  const auto vertices = static_cast<std::size_t>(graph.vertices);
  std::vector<double> now(vertices, 1.0 / graph.vertices);
  std::vector<double> share(vertices);
  for (int k = 0; k < iterations; ++k) {
    double alone = 0;
    for (std::size_t v = 0; v < vertices; ++v) {
      const int degree = graph.row_offsets[v + 1] - graph.row_offsets[v];
      share[v] = degree == 0 ? 0 : damping * now[v] / degree;
      if (degree == 0) alone += damping * now[v];
    }
    for (std::size_t v = 0; v < vertices; ++v) {
      now[v] = (1 - damping + alone) / graph.vertices;
      for (int e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e)
        now[v] += share[static_cast<std::size_t>(graph.neighbours[e])];
    }
  }
  for (std::size_t v = 0; v < vertices; ++v) ranks[v] = static_cast<float>(now[v]);
  return seconds_since(begin);
}

void taskdag_graph_rival_free(void* prepared) { delete static_cast<taskdag_graph_rival_graph*>(prepared); }
