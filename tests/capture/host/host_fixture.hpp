// SPDX-License-Identifier: Apache-2.0
// Recorded trees of hosts (tests/capture/host_trees): expanded into a folder that goes away with its object.
#pragma once

#include <cstdlib>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "capture/host/read_host.hpp"

namespace roce::tests {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "roce_host_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

struct TreeEntry {
  std::string path;
  std::string value;  ///< of a file, or what a link points to
  bool link = false;
};

inline const std::vector<std::string>& tree_names() {
  static const std::vector<std::string> names{"connectx", "connectx_lag", "bnxt_re", "rxe"};
  return names;
}

/// The entries of host_trees/NAME.txt: "PATH=VALUE" or "PATH -> TARGET" a line.
inline std::vector<TreeEntry> read_tree(const std::string& name) {
  std::ifstream file(std::string(ROCE_SOURCE_DIR) + "/tests/capture/host_trees/" + name + ".txt");
  if (!file) throw std::runtime_error("no tree " + name);
  std::vector<TreeEntry> entries;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    TreeEntry entry;
    const std::size_t equals = line.find('='), arrow = line.find(" -> ");
    entry.link = arrow < equals;
    const std::size_t at = entry.link ? arrow : equals;
    if (at == std::string::npos) throw std::runtime_error(line);
    entry.path = line.substr(0, at);
    const std::string raw = line.substr(at + (entry.link ? 4 : 1));
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const bool escaped = raw[i] == '\\' && i + 1 < raw.size();
      if (escaped) ++i;
      entry.value += !escaped ? raw[i] : raw[i] == 'n' ? '\n' : raw[i] == 't' ? '\t' : raw[i];
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

inline void write_entry(const std::filesystem::path& root, const TreeEntry& entry) {
  const std::filesystem::path path = root / entry.path;
  std::filesystem::create_directories(path.parent_path());
  if (entry.link) {
    std::filesystem::create_symlink(entry.value, path);
  } else {
    std::ofstream(path) << entry.value << '\n';
  }
}

/// The whole tree below `root`.
inline void expand_tree(const std::string& name, const std::filesystem::path& root) {
  for (const TreeEntry& entry : read_tree(name)) write_entry(root, entry);
}

/// What is read of it, at that time.
inline capture::HostFacts host_of(const std::string& name, std::int64_t time_ns = 0) {
  const TemporaryFolder folder;
  expand_tree(name, folder.path());
  capture::HostOptions options;
  options.root = folder.path().string();
  options.time_ns = time_ns;
  return capture::read_host(options);
}

}  // namespace roce::tests
