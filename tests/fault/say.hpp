/// \file
/// What programs outside GoogleTest say of their findings, a line each, unbuffered.
#pragma once

#include <string>

namespace taskdag::test {

/// `wrong: …`
void wrong(const std::string& what);
/// How often something was wrong.
int wrongs();
/// `note: …`
void note(const std::string& what);

}  // namespace taskdag::test
