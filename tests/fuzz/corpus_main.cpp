// Runs a fuzzer over a corpus and over mutations of it, the same ones each time.
// usage: fuzz_NAME CORPUS-FOLDER MUTATIONS [FILE]
//   FILE: each input is left there before it is run, so that of a crash is there after it
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/mutation.hpp"
#include "fuzz/property.hpp"

namespace {

/// The files of a folder, in the order of their names.
std::vector<std::string> read_corpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

void run(const std::string& input, const std::string& kept) {
  if (!kept.empty()) std::ofstream(kept, std::ios::binary) << input;
  // An allocation that ends where the input ends: a sanitizer sees what reads past it.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int run_all(const std::string& folder, long mutations, const std::string& kept) {
  const std::vector<std::string> inputs = read_corpus(folder);
  if (inputs.empty()) {
    std::fprintf(stderr, "%s holds no inputs\n", folder.c_str());
    return 1;
  }
  for (const std::string& input : inputs) run(input, kept);
  std::mt19937_64 random(1);
  for (long k = 0; k < mutations; ++k) run(taskdag::fuzz::mutated(inputs, random), kept);
  std::printf("%zu inputs, %ld mutations\n", inputs.size(), mutations);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s CORPUS-FOLDER MUTATIONS [FILE]\n", argv[0]);
    return 2;
  }
  try {
    return run_all(argv[1], std::stol(argv[2]), argc > 3 ? argv[3] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "an exception that is none of the reader's: %s\n", error.what());
    return 1;
  }
}
