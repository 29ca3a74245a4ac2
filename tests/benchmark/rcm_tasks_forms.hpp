/// \file
/// Times of reverse Cuthill-McKee by tasks, form by form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "papers/pichler/rcm/rcm_tasks.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// One form on one matrix. Milliseconds; of the repeats, the one with the median total.
struct TaskFormTime {
  std::string
      form;  ///< "bitonic", "bitonic 4096" (with other than 1024 keys a block), "cub", "cpu-gpu"; a rival's name
  std::string steps;         ///< "phases", "dependencies"; empty for cpu-gpu
  std::string compression;   ///< "all nodes", "candidates"; empty for cpu-gpu
  std::string narrow;        ///< levels: "tasks", "in place"; empty for cpu-gpu
  std::string scheduler;     ///< as engine::to_string
  double preparation = 0.0;  ///< once per graph: its copy, the nodes' ranks, the queues
  double total = 0.0;        ///< of a call: search, permutation, the copy of the result
  double search = 0.0;
  double permutation = 0.0;
  double least = 0.0;  ///< least and largest total
  double most = 0.0;
  int repeats = 0;
  std::uint64_t device_bytes = 0;   ///< the most device memory at once, copies of the graph included; 0 on the host
  kernels::TaskOrderingTimes work;  ///< what one call did
  std::string status;               ///< "ok", "wrong", or an error's words
};

/// The library's programs (bitonic and CUB by phases and by dependencies) under each scheduler, what they are made of
/// one by one, and the CPU-GPU form.
std::vector<kernels::TaskOrderingOptions> measured_task_forms(const Context& context);

/// Times each of `forms` on the graph of `a`, and hands on its time at once. @param expected the serial permutation
void time_task_forms(const Context& context, const CsrMatrix& a, const std::vector<Index>& expected,
                     const std::vector<kernels::TaskOrderingOptions>& forms, int repeats,
                     const std::function<void(const TaskFormTime&)>& visit);

}  // namespace taskdag::benchmark
