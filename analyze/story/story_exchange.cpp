// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/story/story_parts.hpp"

namespace roce::analyze {
namespace {

struct Message {
  std::string_view name;
  CmSeen CmExchange::*seen;
};
constexpr Message set_up_messages[] = {{"REQ", &CmExchange::req},
                                       {"MRA", &CmExchange::mra},
                                       {"REP", &CmExchange::rep},
                                       {"RTU", &CmExchange::rtu},
                                       {"REJ", &CmExchange::rej}};

/// "REQ 3 times (from packet 1), REP (packet 2)"
std::string messages_text(const CmExchange& exchange) {
  std::string text;
  for (const Message& message : set_up_messages) {
    const CmSeen& seen = exchange.*message.seen;
    if (!seen) continue;
    text += text.empty() ? "" : ", ";
    text += seen.count > 1
                ? fmt::format("{} {} (from packet {})", message.name, times_text(seen.count), seen.frame)
                : fmt::format("{} (packet {})", message.name, seen.frame);
  }
  return text;
}

std::string timeout_text(std::uint8_t code) {
  constexpr double unit_ns = 4096;
  if (code == 0) return "no ACK timeout";
  return fmt::format("ACK timeout {} (4.096 µs · 2^{})",
                     duration_text(static_cast<std::int64_t>(std::ldexp(unit_ns, code))), code);
}

std::string parameters_text(const CmExchange& exchange) {
  constexpr unsigned unlimited = 7;
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (exchange.pmtu != 0) add(fmt::format("path MTU {}", exchange.pmtu));
  if (exchange.ack_timeout_code) add(timeout_text(*exchange.ack_timeout_code));
  if (exchange.retry_count) add(fmt::format("retry count {}", *exchange.retry_count));
  if (exchange.rnr_retry)
    add(*exchange.rnr_retry == unlimited ? "RNR retries without limit"
                                         : fmt::format("RNR retry count {}", *exchange.rnr_retry));
  return text;
}

StoryLine line_of_messages(StoryKind kind, const CmSeen& first, std::string text) {
  StoryLine line = line_at(kind, first.frame, first.frame, std::move(text));
  line.time_ns = line.end_ns = first.time_ns;
  return line;
}

}  // namespace

std::string failed_exchange_text(const CmExchange& exchange) {
  const std::string client = address_text(exchange.client);
  const std::string server = address_text(exchange.server);
  if (exchange.reject_reason) {
    const std::string_view name = dissect::reject_reason_name(*exchange.reject_reason);
    return fmt::format("{} rejected the connection (REJ, reason {}{}{})",
                       exchange.rejected_by_server ? server : client, *exchange.reject_reason,
                       name.empty() ? "" : ": ", name);
  }
  if (exchange.sidr_status.value_or(0) != 0) {
    return fmt::format("{} refused the lookup (SIDR_REP, status {}: {})", server, *exchange.sidr_status,
                       dissect::sidr_status_name(*exchange.sidr_status));
  }
  if (unanswered(exchange)) return fmt::format("{} never answered {}", server, client);
  return {};
}

std::string disconnect_text(const CmExchange& exchange) {
  if (!exchange.dreq && !exchange.drep) return {};
  std::string text = "the connection is closed by the CM:";
  if (exchange.dreq) text += fmt::format(" DREQ in packet {}", exchange.dreq.frame);
  if (exchange.dreq.count > 1) text += ", " + times_text(exchange.dreq.count);
  if (exchange.drep)
    text += fmt::format("{} DREP in packet {}", exchange.dreq ? "," : "", exchange.drep.frame);
  return exchange.drep ? text : text + ", not answered";
}

void tell_exchange(const CmExchange& exchange, std::vector<StoryLine>& lines) {
  const CmSeen& first = exchange.req ? exchange.req : exchange.rep ? exchange.rep : exchange.rtu;
  if (first) {
    std::string text = fmt::format("{} sets up {} with {}: {}", address_text(exchange.client),
                                   exchange.sidr ? "a lookup" : "a connection", address_text(exchange.server),
                                   messages_text(exchange));
    if (const auto took = connect_time_ns(exchange); took && *took != 0)
      text += fmt::format(", in {}", wait_text(*took));
    if (const std::string parameters = parameters_text(exchange); !parameters.empty())
      text += "; " + parameters;
    lines.push_back(line_of_messages(StoryKind::set_up, first, std::move(text)));
  }
  if (const std::string failed = failed_exchange_text(exchange); !failed.empty()) {
    const CmSeen& rej = exchange.rej ? exchange.rej : exchange.rep ? exchange.rep : first;
    lines.push_back(line_of_messages(StoryKind::end, rej, failed));
  }
  if (const std::string closed = disconnect_text(exchange); !closed.empty())
    lines.push_back(line_of_messages(StoryKind::end, exchange.dreq ? exchange.dreq : exchange.drep, closed));
}

}  // namespace roce::analyze
