#include "backends/ranks/agree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <string>

#include "taskdag/error.hpp"

namespace taskdag {

RankGroup::~RankGroup() = default;

}  // namespace taskdag

namespace taskdag::ranks {
namespace {

enum class Kind : std::uint8_t { none, invalid_input, unsupported, out_of_memory, device, other };

struct Verdict {
  Kind kind = Kind::none;
  std::array<char, 255> text{};
};

Verdict verdict_of(Kind kind, const char* text) {
  Verdict verdict{kind, {}};
  const std::string words(text);
  std::copy_n(words.begin(), std::min(words.size(), verdict.text.size() - 1), verdict.text.begin());
  return verdict;
}

Verdict verdict_of(const std::exception_ptr& exception) {
  if (!exception) return {};
  try {
    std::rethrow_exception(exception);
  } catch (const InvalidInput& error) {
    return verdict_of(Kind::invalid_input, error.what());
  } catch (const Unsupported& error) {
    return verdict_of(Kind::unsupported, error.what());
  } catch (const OutOfMemory& error) {
    return verdict_of(Kind::out_of_memory, error.what());
  } catch (const std::bad_alloc& error) {
    return verdict_of(Kind::out_of_memory, error.what());
  } catch (const DeviceError& error) {
    return verdict_of(Kind::device, error.what());
  } catch (const std::exception& error) {
    return verdict_of(Kind::other, error.what());
  } catch (...) {
    return verdict_of(Kind::other, "an error without words");
  }
}

[[noreturn]] void raise(const Verdict& verdict, std::size_t rank) {
  const std::string text = "rank " + std::to_string(rank) + ": " + verdict.text.data();
  switch (verdict.kind) {
    case Kind::invalid_input:
      throw InvalidInput(text);
    case Kind::unsupported:
      throw Unsupported(text);
    case Kind::out_of_memory:
      throw OutOfMemory(text);
    case Kind::device:
      throw DeviceError(text);
    default:
      throw Error(text);
  }
}

}  // namespace

void share_exception(const RankGroup& group, const std::exception_ptr& mine) {
  const std::vector<Verdict> all = gather(group, verdict_of(mine));
  if (mine) std::rethrow_exception(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].kind != Kind::none) raise(all[rank], rank);
  }
}

}  // namespace taskdag::ranks
