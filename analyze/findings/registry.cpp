// SPDX-License-Identifier: Apache-2.0
#include "analyze/finding.hpp"
#include "analyze/findings/rules.hpp"

namespace roce::analyze {
namespace {

using enum Severity;

constexpr FindingRule rules[] = {
    {"loss_before_capture", error, "packets lost before the capture point", find_loss_before_capture},
    {"loss_after_capture", error, "packets lost after the capture point", find_loss_after_capture},
    {"loss_by_capture", warning, "packets missed by the capture itself", find_loss_by_capture},
    {"go_back_n_storm", error, "go-back-N storm", find_go_back_n_storm},
    {"livelock", error, "livelock: the same packets again and again", find_livelock},
    {"timeouts", error, "retransmission timeouts", find_timeouts},
    {"retries_exhausted", error, "transport retries exhausted", find_retries_exhausted},
    {"rnr", warning, "receiver not ready", find_rnr},
    {"rnr_exhausted", error, "receiver not ready until the sender gave up", find_rnr_exhausted},
    {"remote_access_error", error, "remote access error", find_remote_access_error},
    {"invalid_request", error, "invalid request", find_invalid_request},
    {"remote_operational_error", error, "remote operational error", find_remote_operational_error},
    {"invalid_rd_request", error, "invalid RD request", find_invalid_rd_request},
};

}  // namespace

std::span<const FindingRule> finding_rules() noexcept {
  return rules;
}

}  // namespace roce::analyze
