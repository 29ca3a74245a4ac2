#include "fault/say.hpp"

#include <cstdio>

namespace taskdag::test {
namespace {

int count = 0;

void say(const char* kind, const std::string& what) {
  std::printf("%s: %s\n", kind, what.c_str());
  static_cast<void>(std::fflush(stdout));
}

}  // namespace

void wrong(const std::string& what) {
  ++count;
  say("wrong", what);
}
int wrongs() { return count; }
void note(const std::string& what) { say("note", what); }

}  // namespace taskdag::test
