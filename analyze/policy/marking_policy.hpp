// SPDX-License-Identifier: Apache-2.0
// Validates packets against a policy (docs/policy.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/policy/policy_error.hpp"
#include "analyze/policy/policy_model.hpp"

namespace roce::analyze {

/// The checks of a policy.
enum class MarkCheck : std::uint8_t {
  dscp,
  ecn,
  pcp,
  vlan,
  ttl,
  priority,       ///< switches map it to a priority that is not allowed
  lossless,       ///< that priority is not lossless, or is although it must not be
  pcp_from_tos,   ///< PCP is not (TOS >> 5) & 7
  pcp_from_dscp,  ///< PCP is not the priority of the DSCP
  address,        ///< not on the allow list
  p_key,
  version,  ///< of RoCE
  count_
};
inline constexpr std::size_t mark_check_count = static_cast<std::size_t>(MarkCheck::count_);

/// Result of a policy for one packet, without texts, so that it is cheap.
class Judgement {
 public:
  [[nodiscard]] bool broken() const noexcept { return broken_ != 0; }
  [[nodiscard]] bool broken(MarkCheck check) const noexcept {
    return (broken_ >> static_cast<unsigned>(check) & 1U) != 0;
  }
  [[nodiscard]] bool operator==(const Judgement&) const noexcept = default;

 private:
  friend class MarkingPolicy;
  void fail(MarkCheck check) noexcept {
    broken_ = static_cast<std::uint16_t>(broken_ | 1U << static_cast<unsigned>(check));
  }
  std::uint16_t broken_ = 0;  ///< violated checks, bits by MarkCheck
  std::uint16_t rule_ = 0;    ///< 1 + index of the compiled rule that applies; 0: none
};

/// One rule that a packet violates.
struct Violation {
  MarkCheck check{};
  std::string_view key;  ///< "class.data.dscp", "rule.storage.pcp"; valid as long as the policy
  std::string expected;  ///< "DSCP 26"
  std::string found;     ///< "DSCP 0"
};

/// A compiled policy. Immutable once it is in use, so threads may share it.
class MarkingPolicy {
 public:
  explicit MarkingPolicy(PolicyModel model);

  [[nodiscard]] const PolicyModel& model() const noexcept { return model_; }
  /// The name under which it was loaded: a profile or a file. Empty: the model's name applies.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  /// Checks one packet. Native InfiniBand is checked for address and P_Key only, RoCE v1 not for DSCP, ECN
  /// and TTL, because switches do not evaluate its GRH.
  [[nodiscard]] Judgement test(const MarkingSubject& subject) const noexcept;
  /// Key of the rule of a violated check of `judgement`.
  [[nodiscard]] std::string_view key(const MarkingSubject& subject, const Judgement& judgement,
                                     MarkCheck check) const noexcept;
  /// The priorities of packets by the policy.
  [[nodiscard]] PriorityMap priority_map() const noexcept;
  /// See dissect::Options::mrc_port.
  [[nodiscard]] std::optional<std::uint16_t> mrc_port() const noexcept { return model_.mrc_port; }
  /// As bits: dissect::Options::trimmed_dscps.
  [[nodiscard]] std::uint64_t trimmed_dscps() const noexcept {
    std::uint64_t bits = 0;
    model_.trimmed_dscp.for_each_run([&](std::size_t first, std::size_t last) {
      for (std::size_t dscp = first; dscp <= last; ++dscp) bits |= std::uint64_t{1} << dscp;
    });
    return bits;
  }
  /// The violations that test() finds, with texts.
  [[nodiscard]] std::vector<Violation> judge(const MarkingSubject& subject) const;
  /// Intended markings of the packet: "DSCP 26, ECN ECT(0) or CE, PCP 3"; empty if the policy has none.
  [[nodiscard]] std::string expected(const MarkingSubject& subject) const;

 private:
  /// A rule of the model, or of its traffic_class lines, in the order of evaluation.
  struct Rule {
    FlowRule match;
    std::array<std::string, mark_check_count> keys;
    bool v2_only = false;
    int rank = 0;
  };
  /// The rules that apply to a packet.
  struct Effective {
    const MarkRule* rule = nullptr;  ///< of the matching FlowRule; overrides of_class
    const MarkRule* of_class = nullptr;
    std::size_t class_index = 0;    ///< the class of of_class
    std::uint16_t rule_number = 0;  ///< as in Judgement
  };

  [[nodiscard]] Effective effective(const MarkingSubject& subject) const noexcept;
  /// The requirement on one marking; nullptr if there is none.
  template <class Field>
  [[nodiscard]] static const Field* field(const Effective& e,
                                          std::optional<Field> MarkRule::*member) noexcept {
    if (e.rule != nullptr && (e.rule->*member).has_value()) return &*(e.rule->*member);
    if (e.of_class != nullptr && (e.of_class->*member).has_value()) return &*(e.of_class->*member);
    return nullptr;
  }
  [[nodiscard]] std::uint8_t priority_of(const MarkingSubject& subject) const noexcept;
  [[nodiscard]] bool allowed(const dissect::IpAddress& address) const noexcept;
  void test_marks(const MarkingSubject& subject, const Effective& e, Judgement& out) const noexcept;
  void test_priority(const MarkingSubject& subject, const Effective& e, Judgement& out) const noexcept;
  void add_rules();
  void add_traffic_class();
  [[nodiscard]] std::string expected_text(const MarkingSubject& subject, const Effective& e,
                                          MarkCheck check) const;
  [[nodiscard]] std::string found_text(const MarkingSubject& subject, MarkCheck check) const;

  PolicyModel model_;
  std::string name_;
  std::vector<Rule> rules_;
  std::array<std::array<std::string, mark_check_count>, traffic_class_count> class_keys_;
  std::vector<std::uint64_t> p_keys_;  ///< allowed P_Keys as bits; empty: all
};

/// Loads a policy from a profile of that name, else from a file of at most 4 MiB.
[[nodiscard]] tl::expected<std::shared_ptr<const MarkingPolicy>, PolicyErrors> load_policy(
    const std::string& file_or_profile);

/// A built-in policy.
struct PolicyProfile {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view text;     ///< TOML, with comments
};
[[nodiscard]] std::span<const PolicyProfile> policy_profiles() noexcept;
[[nodiscard]] const PolicyProfile* find_profile(std::string_view name) noexcept;

}  // namespace roce::analyze
