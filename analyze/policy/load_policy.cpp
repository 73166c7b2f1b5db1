// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/policy_parser.hpp"
#include "analyze/policy/policy_text.hpp"
#include "capture/core/edit_distance.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t longest_policy = 4U << 20U;  // bytes

tl::expected<std::string, std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return tl::unexpected(std::string("is a folder"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(std::string(std::strerror(errno != 0 ? errno : ENOENT)));
  std::string text(longest_policy + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return tl::unexpected(std::string("cannot be read"));
  if (text.size() > longest_policy)
    return tl::unexpected(fmt::format("is larger than {} MiB", longest_policy >> 20U));
  return text;
}

PolicyErrors no_such(const std::string& name, const std::string& reason) {
  std::vector<std::string_view> names;
  std::string all;
  for (const PolicyProfile& profile : policy_profiles()) {
    names.push_back(profile.name);
    all += (all.empty() ? "" : ", ") + std::string(profile.name);
  }
  const std::string_view meant = capture::nearest_word(name, names);
  return {{name, 0, 0,
           fmt::format("{}; nor is it one of the profiles {}{}", reason, all,
                       meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant))}};
}

}  // namespace

tl::expected<std::shared_ptr<const MarkingPolicy>, PolicyErrors> load_policy(
    const std::string& file_or_profile) {
  std::string text;
  if (const PolicyProfile* profile = find_profile(file_or_profile)) {
    text = profile->text;
  } else if (auto read = read_file(file_or_profile)) {
    text = std::move(*read);
  } else {
    return tl::unexpected(no_such(file_or_profile, read.error()));
  }
  return policy_of_text(text, file_or_profile);
}

tl::expected<std::shared_ptr<const MarkingPolicy>, PolicyErrors> policy_of_text(std::string_view text,
                                                                                const std::string& name) {
  if (text.size() > longest_policy)
    return tl::unexpected(
        PolicyErrors{{name, 0, 0, fmt::format("is larger than {} MiB", longest_policy >> 20U)}});
  auto model = parse_policy(text, name, read_file);
  if (!model) return tl::unexpected(std::move(model.error()));
  auto policy = std::make_shared<MarkingPolicy>(std::move(*model));
  policy->set_name(name);
  return policy;
}

tl::expected<std::string, std::string> policy_text(const std::string& file_or_profile) {
  if (const PolicyProfile* profile = find_profile(file_or_profile)) return std::string(profile->text);
  return read_file(file_or_profile);
}

}  // namespace roce::analyze
