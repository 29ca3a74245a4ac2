// How much memory a small file can make the reader take. operator new counts, so this is a program of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "compress.hpp"
#include "io/input_file.hpp"
#include "io/text_limit.hpp"
#include "scratch_file.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace {

std::atomic<std::size_t> now = 0;
std::atomic<std::size_t> peak = 0;

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  now += malloc_usable_size(memory);
  peak = std::max(peak.load(), now.load());
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) now -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace taskdag {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;
/// How many of them a text expands to that is refused: more than any limit here.
constexpr std::size_t kBomb = 200 / test::kSmaller;
const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";
const std::string kArray = "%%MatrixMarket matrix array real general\n";

/// @returns the most memory that a call held at one time.
template <class Call>
std::size_t memory_of(const Call& call) {
  const std::size_t before = now;
  peak = before;
  call();
  return peak - before;
}

/// The call is refused with a message that holds `words`, and takes less than `most` bytes.
template <class Call>
void expect_small_refusal(const Call& call, const std::string& words, std::size_t most) {
  const std::size_t memory = memory_of([&] {
    try {
      call();
      ADD_FAILURE() << "accepted";
    } catch (const ParseError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(words));
    }
  });
  EXPECT_LT(memory, most) << words;
}

void parse(const std::string& text, const ReadOptions& options = {}) {
  parse_matrix_market(text.data(), text.size(), "f", options);
}

TEST(InputMemoryTest, CountsWhatTheReaderTakes) {
  const std::string text = kReal + "4000000 1 1\n1 1 1\n";
  EXPECT_GT(memory_of([&] { parse(text); }), 15 * kMebi);
}

TEST(InputMemoryTest, AnnouncedRowsBeyondTheTextAreRefused) {
  const std::string many = "500000000 500000000 1\n1 1 1\n";
  expect_small_refusal([&] { parse(kReal + many); },
                       "f:2: 500000000 rows are announced, too many for the 7 bytes that follow; "
                       "ReadOptions::trusted_rows takes more",
                       kMebi);
  expect_small_refusal([&] { parse("%%MatrixMarket matrix coordinate real symmetric\n" + many); },
                       "ReadOptions::trusted_rows", kMebi);
  const std::string vector = kReal + "500000000 1 1\n1 1 1\n";
  expect_small_refusal([&] { parse_matrix_market_vector(vector.data(), vector.size(), "f"); },
                       "ReadOptions::trusted_rows", kMebi);
}

TEST(InputMemoryTest, RowsAreTakenUpToTheBound) {
  const std::string entry = " 1 1\n1 1 1\n";  // 7 bytes after the sizes
  EXPECT_LT(memory_of([&] { parse(kReal + "4194416" + entry); }), 40 * kMebi);
  EXPECT_THROW(parse(kReal + "4194417" + entry), ParseError);
  EXPECT_NO_THROW(parse(kReal + "5000000" + entry, {.trusted_rows = 5000000}));
  EXPECT_THROW(parse(kReal + "113" + entry, {.trusted_rows = 0}), ParseError);
  EXPECT_NO_THROW(parse(kReal + "112" + entry, {.trusted_rows = 0}));
}

TEST(InputMemoryTest, NegativeOptionsAreRefused) {
  EXPECT_THROW(parse(kReal + "0 0 0\n", {.trusted_rows = -1}), InvalidInput);
  EXPECT_THROW(parse(kReal + "0 0 0\n", {.max_text_bytes = -1}), InvalidInput);
}

class InputExpansionTest : public testing::TestWithParam<test::Ending> {
 protected:
  /// The text and `count` MiB of blank lines after it, under a compressed name.
  static test::ScratchFile bomb(const std::string& text, std::size_t count) {
    std::string data = test::compressed(text, GetParam().add_filter);
    const std::string blank = test::compressed(std::string(kMebi, '\n'), GetParam().add_filter);
    for (std::size_t part = 0; part < count; ++part) data += blank;
    return test::ScratchFile(std::string("bomb.mtx") + GetParam().name, data);
  }
};

TEST_P(InputExpansionTest, TextWithoutAHeaderIsRefusedEarly) {
  const test::ScratchFile file = bomb(kReal, kBomb);
  expect_small_refusal([&] { read_matrix_market(file.path()); },
                       "the text is longer than 16777216 bytes, and has no line of sizes so far; "
                       "ReadOptions::max_text_bytes takes longer texts",
                       40 * kMebi);
}

TEST_P(InputExpansionTest, TextIsHeldAgainstWhatItsHeaderAnnounces) {
  const test::ScratchFile file = bomb(kReal + "2 2 2\n1 1 1\n", kBomb);
  expect_small_refusal([&] { read_matrix_market(file.path()); },
                       "the text is longer than 16777728 bytes, too many for the 2 entries that it announces",
                       40 * kMebi);
  const test::ScratchFile vector = bomb(kArray + "2 1\n1\n1\n", kBomb);
  expect_small_refusal([&] { read_matrix_market_vector(vector.path()); }, "for the 2 entries that it announces",
                       40 * kMebi);
}

TEST_P(InputExpansionTest, BrokenHeaderEndsTheDecompression) {
  const test::ScratchFile file = bomb(kReal + "2 x 2\n", kBomb);
  expect_small_refusal([&] { read_matrix_market(file.path()); }, ":2: the number of columns is not a whole number",
                       4 * kMebi);
}

TEST_P(InputExpansionTest, OptionIsTheOnlyBound) {
  const std::string text = kReal + "1 1 1\n1 1 7\n";
  const test::ScratchFile file = bomb(text, 20);
  EXPECT_THROW(read_matrix_market(file.path()), ParseError);
  const auto size = static_cast<std::int64_t>(text.size() + 20 * kMebi);
  EXPECT_EQ(read_matrix_market(file.path(), {.max_text_bytes = size}).values.at(0), 7.0);
  expect_small_refusal([&] { read_matrix_market(file.path(), {.max_text_bytes = size - 1}); },
                       "the text is longer than " + std::to_string(size - 1) + " bytes, ReadOptions::max_text_bytes",
                       64 * kMebi);
  expect_small_refusal([&] { read_matrix_market(file.path(), {.max_text_bytes = 10}); },
                       "longer than 10 bytes, ReadOptions::max_text_bytes", kMebi);
}

INSTANTIATE_TEST_SUITE_P(Endings, InputExpansionTest, testing::ValuesIn(test::kEndings),
                         [](const auto& ending) { return std::string(ending.param.name + 1); });

TEST(TextLimitTest, BytesOfTheFileBoundTheTextWhateverItsHeaderSays) {
  const std::string text = kReal + "2 2 2000000000\n";
  const test::ScratchFile scratch("limit.mtx", std::string(1000, 'x'));
  input::InputFile file(scratch.path());
  input::TextLimit limit{ReadOptions{}};
  EXPECT_EQ(limit.most_bytes(text, file), 256 * static_cast<std::int64_t>(kMebi));
  std::string read(1000, ' ');
  ASSERT_EQ(file.read(read.data(), read.size()), 1000U);
  const auto most = static_cast<std::size_t>(limit.most_bytes(text, file));
  EXPECT_EQ(most, 256 * kMebi + 1000 * 1000);
  std::string longer = text;
  longer.resize(most + 1, '\n');
  EXPECT_EQ(limit.most_bytes(std::string_view(longer).substr(0, most), file), static_cast<std::int64_t>(most));
  try {
    limit.most_bytes(longer, file);
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.what(), scratch.path() +
                                ":0: the text is longer than 269435456 bytes, too many for the 1000 bytes of "
                                "the file that it comes from; ReadOptions::max_text_bytes takes longer texts");
  }
}

TEST(TextLimitTest, EndlessFilesAreNoText) {
  expect_small_refusal([] { read_matrix_market("/dev/zero"); }, "has no line of sizes so far", 40 * kMebi);
}

}  // namespace
}  // namespace taskdag
