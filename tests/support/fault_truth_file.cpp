// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_truth_file.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include "tests/support/fault_frames.hpp"

namespace roce::support {
namespace {

constexpr const char* kind_names[] = {
    "write",           "send", "read_request", "atomic_request", "read_response",
    "atomic_response", "ack",  "sequence_nak", "rnr_nak",        "access_nak"};
constexpr const char* cause_names[] = {"none", "nak", "timeout", "rnr", "read_retry"};
constexpr const char* where_names[] = {"before_capture", "after_capture", "by_capture", "trimmed"};
constexpr const char* state_names[] = {"working", "retries_exceeded", "rnr_exceeded", "access_error"};

template <std::size_t Count, class Value>
std::string name(const char* const (&names)[Count], Value value) {
  return std::string("\"") + names[static_cast<std::size_t>(value)] + '"';
}

class Object {
 public:
  Object& raw(const char* key, const std::string& value) {
    text_ += text_.empty() ? "{\"" : ",\"";
    text_ += key;
    text_ += "\":";
    text_ += value;
    return *this;
  }
  Object& number(const char* key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  Object& number_if(const char* key, std::uint64_t value) { return value == 0 ? *this : number(key, value); }
  Object& flag(const char* key, bool value) { return value ? raw(key, "true") : *this; }
  Object& denial(const char* key, bool value) { return value ? *this : raw(key, "false"); }
  std::string close() const { return text_ + "}\n"; }

 private:
  std::string text_;
};

template <class Items, class Text>
std::string list(const Items& items, const Text& text) {
  std::string out = "[";
  for (const auto& item : items) {
    out += (out.size() > 1 ? "," : "") + text(item);
  }
  return out + ']';
}

std::string numbers(const std::array<std::uint64_t, 2>& values) {
  return list(values, [](std::uint64_t value) { return std::to_string(value); });
}

Object& place(Object& object, SpaceId space, Kind kind, std::uint32_t psn) {
  const bool a_to_b = (requester_of(space) == End::a) != is_response(kind);
  return object.number("connection", space / 2)
      .raw("direction", a_to_b ? "\"a_to_b\"" : "\"b_to_a\"")
      .raw("kind", name(kind_names, kind))
      .number("psn", psn);
}

std::string causes(std::uint8_t bits) {
  std::string out = "[";
  for (const Cause cause : {Cause::nak, Cause::timeout, Cause::rnr, Cause::read_retry}) {
    if ((bits & cause_bit(cause)) != 0) {
      out += (out.size() > 1 ? "," : "") + name(cause_names, cause);
    }
  }
  return out + ']';
}

std::string address(std::uint32_t host, bool ipv6) {
  char text[64];
  if (ipv6) {  // as host_ipv6, RFC 5952
    std::snprintf(text, sizeof text, "\"fd78::%x\"", host);
  } else {
    const Ipv4Address ip = host_ipv4(host);
    std::snprintf(text, sizeof text, "\"%d.%d.%d.%d\"", ip[0], ip[1], ip[2], ip[3]);
  }
  return text;
}

std::string end_text(const Endpoints& ends, unsigned end, bool ipv6) {
  std::string text = Object()
                         .raw("address", address(ends.host[end], ipv6))
                         .number("qp", ends.qp[end])
                         .number("psn", ends.first_psn[end])
                         .close();
  text.pop_back();
  return text;
}

}  // namespace

TruthFile::TruthFile(const std::string& path, bool ipv6) : path_(path), ipv6_(ipv6) {
  if (!path.empty()) {
    file_ = std::fopen(path.c_str(), "we");
    if (file_ == nullptr) {
      throw std::system_error(errno, std::generic_category(), path_);
    }
  }
}

TruthFile::~TruthFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

void TruthFile::line(const std::string& text) {
  if (file_ != nullptr && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

void TruthFile::close() {
  std::FILE* const file = file_;
  file_ = nullptr;
  if (file != nullptr && std::fclose(file) != 0) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

void TruthFile::frame(const FrameTruth& truth) {
  if (file_ == nullptr) {
    return;
  }
  Object object;
  place(object.number("frame", truth.frame), truth.space, truth.kind, truth.psn);
  if (truth.repeat.repeated) {
    object.raw("retransmission", name(cause_names, truth.repeat.cause))
        .number_if("original", truth.original)
        .number_if("previous", truth.previous)
        .denial("decidable", truth.decidable)
        .denial("cause_decidable", truth.cause_decidable);
    if (truth.repeat.also != 0) {
      object.raw("also", causes(truth.repeat.also));
    }
  }
  object.flag("contract_silent", truth.repeat.contract_silent)
      .flag("first_answer", truth.repeat.first_answer)
      .flag("late_original", truth.late_original)
      .flag("out_of_order", truth.out_of_order);
  if (truth.duplicate_network || truth.duplicate_capture) {
    object.number(truth.duplicate_network ? "duplicate_network" : "duplicate_capture", truth.duplicate_of);
  }
  line(object.close());
}

void TruthFile::lost(const LossTruth& truth) {
  if (file_ == nullptr) {
    return;
  }
  Object object;
  object.raw("lost", name(where_names, truth.where))
      .raw("frame", truth.frame == 0 ? "null" : std::to_string(truth.frame));
  place(object, truth.space, truth.kind, truth.psn);
  line(object.raw("repeat", truth.repeat ? "true" : "false")
           .raw("decidable", truth.decidable ? "true" : "false")
           .flag("damaged", truth.damaged)
           .close());
}

void TruthFile::connection(const ConnectionTruth& truth) {
  if (file_ == nullptr) {
    return;
  }
  Object object;
  line(object.number("connection", truth.id)
           .raw("a", end_text(truth.endpoints, 0, ipv6_))
           .raw("b", end_text(truth.endpoints, 1, ipv6_))
           .number("udp_port", truth.endpoints.port)
           .raw("posted", numbers(truth.posted))
           .raw("completed", numbers(truth.completed))
           .raw("answered", numbers(truth.answered))
           .raw("frames", numbers(truth.frames))
           .raw("state", list(truth.state, [](EndState state) { return name(state_names, state); }))
           .close());
}

void TruthFile::totals(const SimulatorTotals& totals) {
  Object object;
  object.number("sent", totals.sent)
      .number("doubled_before", totals.doubled_before)
      .number("lost_before", totals.lost_before)
      .number("at_capture", totals.at_capture)
      .number("out_of_scope", totals.out_of_scope)
      .number("capture_dropped", totals.capture_dropped)
      .number("capture_copies", totals.capture_copies)
      .number("cm_messages", totals.cm_messages)
      .number("frames", totals.frames)
      .number("doubled_after", totals.doubled_after)
      .number("lost_after", totals.lost_after)
      .number("delivered", totals.delivered)
      .number("damaged", totals.damaged)
      .number_if("trimmed", totals.trimmed)
      .number_if("remarked", totals.remarked);
  std::string text = object.close();
  text.pop_back();
  line("{\"totals\":" + text + "}\n");
}

}  // namespace roce::support
