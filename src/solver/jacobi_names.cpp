/// \file
/// The names of the forms of Jacobi sweeps and of their weights.
#include <array>
#include <string>
#include <utility>

#include "taskdag/error.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag {

namespace {

constexpr std::array<std::pair<JacobiForm, const char*>, 9> kForms = {{{JacobiForm::automatic, "auto"},
                                                                       {JacobiForm::kernels, "kernels"},
                                                                       {JacobiForm::turning, "turning"},
                                                                       {JacobiForm::stages_phases, "stages-phases"},
                                                                       {JacobiForm::stages, "stages"},
                                                                       {JacobiForm::checkpoints, "checkpoints"},
                                                                       {JacobiForm::autonomous, "autonomous"},
                                                                       {JacobiForm::tiles, "tiles"},
                                                                       {JacobiForm::resident, "resident"}}};

}  // namespace

const char* to_string(JacobiForm form) {
  for (const auto& [value, name] : kForms) {
    if (value == form) return name;
  }
  return "unknown";
}

const char* to_string(JacobiWeights weights) { return weights == JacobiWeights::constant ? "constant" : "chebyshev"; }

JacobiForm jacobi_form_from(std::string_view name) {
  for (const auto& [form, own] : kForms) {
    if (name == own) return form;
  }
  throw InvalidInput("no form of Jacobi sweeps is called \"" + std::string(name) +
                     "\": auto, kernels, turning, stages-phases, stages, checkpoints, autonomous, tiles, resident");
}

bool is_program(JacobiForm form) {
  return form == JacobiForm::stages_phases || form == JacobiForm::stages || form == JacobiForm::checkpoints ||
         form == JacobiForm::autonomous;
}

}  // namespace taskdag
