// The file that keeps tuned schedules between runs.
#include "solver/choice/tune_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "scratch_file.hpp"
#include "solver/choice/request.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

TuneKey key_of(Index rows) {
  TuneKey key;
  key.device = "a device";
  key.rows = rows;
  key.entries = 3 * rows;
  key.levels = 5;
  key.pattern = 0xFEDCBA9876543210ULL;
  return key;
}

/// The name of a file that does not exist, until its scope ends.
class AbsentFile : public ScratchFile {
 public:
  explicit AbsentFile(const std::string& name) : ScratchFile(name) { std::filesystem::remove(path()); }
};

TEST(TuneFile, KeepsOneChoicePerKey) {
  const AbsentFile file("tune_keeps");
  EXPECT_FALSE(find_tuned(file.path(), key_of(1), true));
  save_tuned(file.path(), key_of(1), "flat", 12.5);
  save_tuned(file.path(), key_of(2), "cells", 1.5);
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "flat");
  EXPECT_EQ(find_tuned(file.path(), key_of(2), false), "cells");
  save_tuned(file.path(), key_of(1), "cusparse", 11.0);
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "cusparse");
  EXPECT_EQ(find_tuned(file.path(), key_of(2), false), "cells");
  EXPECT_EQ(file.content().find("flat"), std::string::npos) << file.content();
}

TEST(TuneFile, EveryPartOfTheKeyCounts) {
  const AbsentFile file("tune_key");
  save_tuned(file.path(), key_of(1), "flat", 1.0);
  std::vector<TuneKey> others(6, key_of(1));
  others[0].device = "another device";
  others[1].triangle = Triangle::upper;
  others[2].rows = 7;
  others[3].entries = 7;
  others[4].levels = 7;
  others[5].pattern += 1;
  for (std::size_t k = 0; k < others.size(); ++k) EXPECT_FALSE(find_tuned(file.path(), others[k], false)) << k;
}

TEST(TuneFile, AbsentFileIsAnErrorWhereItMustExist) {
  const AbsentFile file("tune_absent");
  try {
    static_cast<void>(find_tuned(file.path(), key_of(1), false));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(file.path()), std::string::npos) << error.what();
  }
}

TEST(TuneFile, ForeignAndBrokenFilesAreErrorsAndStayAsTheyAre) {
  for (const char* const content :
       {"", "not JSON", R"({"format": "taskdag-tune-1", "choices": [)", "[]", R"({"format": "another"})",
        R"({"format": 3, "choices": []})", R"({"format": "taskdag-tune-1"})",
        R"({"format": "taskdag-tune-1", "choices": {}})", R"({"format": "taskdag-tune-1", "choices": [3]})",
        R"({"format": "taskdag-tune-1", "choices": [{"key": {}}]})",
        R"({"format": "taskdag-tune-1", "choices": [{"key": {}, "schedule": 3}]})"}) {
    const ScratchFile file("tune_foreign", content);
    EXPECT_THROW(static_cast<void>(find_tuned(file.path(), key_of(1), true)), ParseError) << content;
    try {
      save_tuned(file.path(), key_of(1), "flat", 1.0);
      ADD_FAILURE() << "nothing was thrown for " << content;
    } catch (const ParseError& error) {
      EXPECT_EQ(std::string(error.what()).find(file.path()), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find("not a file of tuned schedules"), std::string::npos) << error.what();
    }
    EXPECT_EQ(file.content(), content);
  }
}

// Values that are copied, compared and written level by level would use up the stack.
TEST(TuneFile, DeepNestingIsRefused) {
  const std::size_t levels = 1000000;
  for (const std::string& nested : {std::string(levels, '[') + std::string(levels, ']'), std::string(levels, '[')}) {
    const ScratchFile file(
        "tune_nested", R"({"format": "taskdag-tune-1", "choices": [{"key": )" + nested + R"(, "schedule": "flat"}]})");
    try {
      static_cast<void>(find_tuned(file.path(), key_of(1), true));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ParseError& error) {
      EXPECT_NE(std::string(error.what()).find("nested too deeply"), std::string::npos) << error.what();
    }
    EXPECT_THROW(save_tuned(file.path(), key_of(1), "flat", 1.0), ParseError);
  }
}

TEST(ScheduleChoice, NamesLeadBack) {
  for (const SolveSchedule schedule : solve_schedules(Backend::automatic)) {
    EXPECT_EQ(choice_from(name_of({schedule})), ScheduleChoice{schedule});
  }
  const ScheduleChoice counted{SolveSchedule::cells, 66};
  EXPECT_EQ(name_of(counted), "cells:66");
  EXPECT_EQ(choice_from("cells:66"), counted);
  for (const char* const name : {"cells:", "cells:0", "cells:-1", "cells:6x", "cells:99999999999", "flat:3"}) {
    EXPECT_THROW(static_cast<void>(choice_from(name)), InvalidInput) << name;
  }
}

TEST(TuneFile, UnwritableFolderIsAnErrorThatNamesTheFile) {
  const std::string path = testing::TempDir() + "taskdag_no_such_folder/tune.json";
  try {
    save_tuned(path, key_of(1), "flat", 1.0);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path + " cannot be written: "), std::string::npos) << error.what();
  }
}

TEST(TuneFile, ReadersBesideWritersSeeWholeFiles) {
  const AbsentFile file("tune_writers");
  save_tuned(file.path(), key_of(0), "flat", 1.0);
  std::vector<std::thread> writers;
  writers.reserve(3);
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&file, t] {
      for (Index k = 1; k <= 40; ++k) save_tuned(file.path(), key_of(100 * t + k), "cells", 1.0);
    });
  }
  for (int k = 0; k < 200; ++k) EXPECT_NO_THROW(static_cast<void>(find_tuned(file.path(), key_of(1), false)));
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(find_tuned(file.path(), key_of(0), false), "flat");
  int left_over = 0;
  const std::filesystem::path path(file.path());
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    const std::string name = entry.path().filename();
    left_over += name.find(path.filename().string() + ".") == 0 ? 1 : 0;
  }
  EXPECT_EQ(left_over, 0);
}

}  // namespace
}  // namespace taskdag::test
