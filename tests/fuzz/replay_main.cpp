// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer: runs the target over every file of the files and folders given, so
// that each build exercises the corpus and a reproducer needs no special build.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_under(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same order everywhere
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t replayed = 0;
  try {
    for (int i = 1; i < argc; ++i) {
      if (!fs::exists(argv[i])) {
        std::fprintf(stderr, "%s: no such file or folder\n", argv[i]);
        return 1;
      }
      for (const fs::path& file : files_under(argv[i])) {
        std::ifstream in(file, std::ios::binary);
        if (!in) {
          std::fprintf(stderr, "%s: cannot be opened\n", file.c_str());
          return 1;
        }
        const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        // In memory of exactly this size, so that a sanitizer sees one byte too far.
        const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
        LLVMFuzzerTestOneInput(input.data(), input.size());
        ++replayed;
      }
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
  std::printf("replayed %zu inputs\n", replayed);
  return 0;
}
