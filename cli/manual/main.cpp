// SPDX-License-Identifier: Apache-2.0
// Writes the manual pages when the packages are built: roceanalyze_manual DOCS FOLDER YYYY-MM-DD.
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <string>

#include "cli/core/output.hpp"
#include "cli/manual/pages.hpp"

int main(int argc, char** argv) {
  using namespace roce::cli;
  constexpr int arguments = 4;
  if (argc != arguments) {
    print_error("usage: roceanalyze_manual DOCS FOLDER DATE");
    return exit_usage;
  }
  try {
    for (const ManualPage& page : manual_pages(argv[1], argv[3])) {
      const std::string path = fmt::format("{}/{}", argv[2], page.name);
      std::ofstream file(path, std::ios::binary);
      if (!(file << page.text).flush()) {
        print_error(path + ": cannot be written");
        return exit_input;
      }
    }
  } catch (const std::exception& error) {
    print_error(error.what());
    return exit_input;
  }
  return exit_ok;
}
