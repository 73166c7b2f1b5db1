// SPDX-License-Identifier: Apache-2.0
// The input is a policy, in TOML or as a traffic_class file. What is understood is the same when it is
// written and read again, and judges packets without contradiction; what is not says where.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/policy_parser.hpp"

namespace {

using namespace roce::analyze;
using roce::dissect::IpAddress;
using roce::dissect::Transport;

void require(bool condition) {
  if (!condition) std::abort();
}

void judge(const MarkingPolicy& policy, const MarkingSubject& subject) {
  const std::vector<Violation> violations = policy.judge(subject);
  require(policy.test(subject).broken() == !violations.empty());
  for (const Violation& violation : violations)
    require(!violation.key.empty() && !violation.expected.empty() && !violation.found.empty());
  (void)policy.expected(subject);
}

void judge_some(const MarkingPolicy& policy) {
  constexpr Transport transports[] = {Transport::roce_v1, Transport::roce_v2_ipv4, Transport::roce_v2_ipv6,
                                      Transport::native_ib};
  const std::uint8_t a[] = {10, 0, 0, 1}, b[] = {10, 0, 0, 2};
  MarkingSubject subject;
  for (unsigned i = 0; i < 64; ++i) {
    subject.traffic_class = static_cast<TrafficClass>(i % traffic_class_count);
    subject.transport = transports[i / 3 % 4];
    subject.src = i % 5 == 0 ? IpAddress{} : IpAddress::v4(i % 2 == 0 ? a : b);
    subject.dst = IpAddress::v4(i % 2 == 0 ? b : a);
    subject.dst_qp = i * 3;
    subject.p_key = static_cast<std::uint16_t>(0xffff - i);
    subject.marks.dscp = static_cast<std::uint8_t>(i);
    subject.marks.ecn = static_cast<std::uint8_t>(i % 4);
    subject.marks.ttl = static_cast<std::uint8_t>(i * 4);
    subject.marks.pcp.reset();
    subject.marks.vlan.reset();
    if (i % 3 == 0) {
      subject.marks.pcp = static_cast<std::uint8_t>(i % 8);
      subject.marks.vlan = static_cast<std::uint16_t>(i * 60);
    }
    judge(policy, subject);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // reinterpret_cast: the bytes are the policy's characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadPolicyFile read = [](const std::string& path) -> tl::expected<std::string, std::string> {
    if (path.size() % 2 == 0) return tl::unexpected(std::string("absent"));
    return "tclass=106\n" + path;
  };
  const auto model = parse_policy(text, "fuzz", read);
  if (!model) {
    require(!model.error().empty());
    for (const PolicyError& error : model.error()) {
      require(!error.message.empty() && error.line >= 1 && error.column >= 1 && !error.file.empty());
      require(error.describe().starts_with(error.file));
    }
    return 0;
  }
  const std::string written = policy_toml(*model);
  const auto again = parse_policy(written, "again", {});
  require(again.has_value() && *again == *model && policy_toml(*again) == written);
  judge_some(MarkingPolicy(*model));
  return 0;
}
