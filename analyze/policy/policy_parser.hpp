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

/// A file that a policy names, or what is wrong with it (one sentence).
using ReadPolicyFile = std::function<tl::expected<std::string, std::string>(const std::string& path)>;

/// A policy in TOML, or an OFED traffic_class file, whichever the text is. `file` is its name in messages;
/// `read` gives other files that it names.
[[nodiscard]] tl::expected<PolicyModel, PolicyErrors> parse_policy(std::string_view text,
                                                                   const std::string& file,
                                                                   const ReadPolicyFile& read);

/// Comments in a policy that is written: whole lines without the #, separated by line breaks.
struct PolicyComments {
  std::string top;
  std::array<std::string, traffic_class_count> classes;
  std::string map;
  std::string allow;
};
/// The policy as TOML; parse_policy() makes the same model of it.
[[nodiscard]] std::string policy_toml(const PolicyModel& model, const PolicyComments& comments = {});
/// The keys of a MarkRule, a line each.
void append_mark_rule(std::string& out, const MarkRule& marks);

}  // namespace roce::analyze
