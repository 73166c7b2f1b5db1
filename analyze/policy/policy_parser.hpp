// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "analyze/policy/policy_error.hpp"
#include "analyze/policy/policy_model.hpp"

namespace roce::analyze {

/// Returns the content of a file that a policy refers to, or an error message.
using ReadPolicyFile = std::function<tl::expected<std::string, std::string>(const std::string& path)>;

/// Parses a policy in TOML or an OFED traffic_class file, whichever the text is. `file` is its name for error
/// messages; `read` reads other files that it refers to.
[[nodiscard]] tl::expected<PolicyModel, PolicyErrors> parse_policy(std::string_view text,
                                                                   const std::string& file,
                                                                   const ReadPolicyFile& read);

/// Comments for policy_toml(): whole lines without the #, separated by newlines.
struct PolicyComments {
  std::string top;
  std::array<std::string, traffic_class_count> classes;
  std::string map;
  std::string allow;
};
/// The policy as TOML; parse_policy() returns the same model for it.
[[nodiscard]] std::string policy_toml(const PolicyModel& model, const PolicyComments& comments = {});
/// Appends the keys of a MarkRule, one line each.
void append_mark_rule(std::string& out, const MarkRule& marks);

}  // namespace roce::analyze
