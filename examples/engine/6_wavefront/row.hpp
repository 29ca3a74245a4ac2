/// \file
/// A run as a line of CSV.
#pragma once

#include <string>

#include "settings.hpp"

namespace wavefront {

/// The names of the columns.
std::string header();

/// A checked run. `variant`: as the user named it. A field is empty where the run has not measured it.
std::string row(const std::string& variant, const taskdag::Context& context, const Settings& settings,
                const taskdag::engine::Report& report);

}  // namespace wavefront
