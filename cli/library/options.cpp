// SPDX-License-Identifier: Apache-2.0
#include "cli/library/options.hpp"

#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/library/failure.hpp"

namespace roce::library {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& value, const std::string& wanted) {
  throw Failure(ROCE_MISUSE, std::string(name), "not " + wanted + ": '" + value + "'");
}

std::uint64_t number_between(std::string_view name, const std::string& value, std::uint64_t least,
                             std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, number);
  if (failure != std::errc() || stop != end || number < least || number > most)
    refuse(name, value, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

bool truth(std::string_view name, const std::string& value) {
  if (value != "true" && value != "false") refuse(name, value, "true or false");
  return value == "true";
}

void refuse_if(std::string_view name, const std::string& error) {
  if (!error.empty()) throw Failure(ROCE_MISUSE, std::string(name), error);
}

/// An option, and how its value is taken; the value is not empty.
struct OptionRow {
  std::string_view name;
  void (*take)(roce_options& options, std::string_view name, const std::string& value);
};
using O = roce_options&;
using Name = std::string_view;
using Text = const std::string&;

constexpr OptionRow option_rows[] = {
    {"filter",
     [](O o, Name name, Text value) {
       if (const auto compiled = analyze::Filter::compile(value); !compiled)
         throw Failure(ROCE_MISUSE, std::string(name),
                       "not a valid filter:\n" + compiled.error().describe(value));
       o.filter = value;
     }},
    {"policy", [](O o, Name, Text value) { o.policy = value; }},
    {"jobs",
     [](O o, Name name, Text value) { o.jobs = static_cast<unsigned>(number_between(name, value, 1, 256)); }},
    {"max-packets",
     [](O o, Name name, Text value) { o.max_packets = number_between(name, value, 1, UINT64_MAX); }},
    {"no-icrc", [](O o, Name name, Text value) { o.no_icrc = truth(name, value); }},
    {"trimmed-dscp",
     [](O o, Name name, Text value) {
       refuse_if(name, analyze::dscps_error(value));
       o.dissecting.trimmed_dscp = value;
     }},
    {"mrc-port",
     [](O o, Name name, Text value) {
       o.dissecting.mrc_port = static_cast<std::uint16_t>(number_between(name, value, 0, 65535));
     }},
    {"decode-as",
     [](O o, Name name, Text value) {
       refuse_if(name, analyze::named_numbers_error(value));
       o.dissecting.decode_as = value;
     }},
    {"roce-ip-protocol",
     [](O o, Name name, Text value) {
       o.dissecting.roce_ip_protocol = static_cast<unsigned>(number_between(name, value, 1, 255));
     }},
};

/// Sets an option to what it is in `defaults`.
void reset(roce_options& options, std::string_view name) {
  const roce_options defaults;
  if (name == "filter") options.filter = defaults.filter;
  if (name == "policy") options.policy = defaults.policy;
  if (name == "jobs") options.jobs = defaults.jobs;
  if (name == "max-packets") options.max_packets = defaults.max_packets;
  if (name == "no-icrc") options.no_icrc = defaults.no_icrc;
  if (name == "trimmed-dscp") options.dissecting.trimmed_dscp = defaults.dissecting.trimmed_dscp;
  if (name == "mrc-port") options.dissecting.mrc_port = defaults.dissecting.mrc_port;
  if (name == "decode-as") options.dissecting.decode_as = defaults.dissecting.decode_as;
  if (name == "roce-ip-protocol") options.dissecting.roce_ip_protocol = defaults.dissecting.roce_ip_protocol;
}

std::shared_ptr<const analyze::MarkingPolicy> policy_of(const std::string& name) {
  if (name.empty()) return nullptr;
  auto policy = analyze::load_policy(name);
  if (policy) return *policy;
  std::string lines;
  for (const analyze::PolicyError& error : policy.error())
    lines += (lines.empty() ? "" : "\n") + error.describe();
  throw Failure(ROCE_INPUT, "policy", lines);
}

}  // namespace

Prepared::Prepared(const roce_options* chosen) : options(chosen != nullptr ? *chosen : roce_options()) {
  if (!options.filter.empty()) {
    auto compiled = analyze::Filter::compile(options.filter);
    if (!compiled) throw Failure(ROCE_MISUSE, "filter", compiled.error().describe(options.filter));
    filter.emplace(std::move(*compiled));
  }
  policy = policy_of(options.policy);
  dissecting = options.dissecting.with(policy.get());
}

std::vector<std::string> texts_of(const char* const* texts, std::size_t count, const char* name) {
  require(texts, name);
  if (count == 0) throw Failure(ROCE_MISUSE, name, "none given");
  std::vector<std::string> all;
  if (count > all.max_size()) throw Failure(ROCE_MISUSE, name, "more than there can be");
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    require(texts[i], name);
    all.emplace_back(texts[i]);
  }
  return all;
}

}  // namespace roce::library

using namespace roce::library;

roce_status roce_options_new(roce_options** options, roce_error** error) {
  if (options != nullptr) *options = nullptr;
  return guarded(error, [&] {
    require(options, "options");
    *options = new roce_options();
    return ROCE_OK;
  });
}

roce_status roce_options_set(roce_options* options, const char* name, const char* value, roce_error** error) {
  return guarded(error, [&] {
    require(options, "options");
    require(name, "name");
    require(value, "value");
    for (const OptionRow& row : option_rows) {
      if (row.name != name) continue;
      if (*value == '\0') {
        reset(*options, name);
      } else {
        row.take(*options, row.name, value);
      }
      return ROCE_OK;
    }
    throw Failure(ROCE_MISUSE, name, "no such option");
  });
}

roce_status roce_stop_new(roce_stop** stop, roce_error** error) {
  if (stop != nullptr) *stop = nullptr;
  return guarded(error, [&] {
    require(stop, "stop");
    *stop = new roce_stop();
    return ROCE_OK;
  });
}

void roce_stop_request(roce_stop* stop) {
  if (stop != nullptr) stop->requested = true;
}

roce_status roce_options_set_stop(roce_options* options, const roce_stop* stop, roce_error** error) {
  return guarded(error, [&] {
    require(options, "options");
    options->stop = stop;
    return ROCE_OK;
  });
}

void roce_stop_free(roce_stop* stop) {
  delete stop;
}

void roce_options_free(roce_options* options) {
  delete options;
}
