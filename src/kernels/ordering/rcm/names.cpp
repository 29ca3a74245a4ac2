/// \file
/// The names of the forms of reverse Cuthill-McKee.
#include "taskdag/ordering.hpp"

namespace taskdag {

const char* to_string(RcmForm form) {
  switch (form) {
    case RcmForm::walk:
      return "walk";
    case RcmForm::tasks:
      return "tasks";
    case RcmForm::automatic:
      break;
  }
  return "auto";
}

const char* to_string(RcmSort sort) {
  switch (sort) {
    case RcmSort::cub:
      return "cub";
    case RcmSort::cpu_gpu:
      return "cpu-gpu";
    case RcmSort::bitonic:
      break;
  }
  return "bitonic";
}

const char* to_string(RcmSteps steps) { return steps == RcmSteps::phases ? "phases" : "dependencies"; }

}  // namespace taskdag
