// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/sidecar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "analyze/base/value_format.hpp"
#include "capture/core/frame.hpp"
#include "capture/write/output_rules.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/output_files.hpp"

namespace roce::cli {
namespace {

constexpr std::string_view sidecar_magic = "roceanalyze sidecar 1\n";

bool is_sidecar(const capture::ExistingFile& file) {
  return file.head.starts_with(sidecar_magic);
}

/// Addresses are in the headers, which Wireshark shows.
std::vector<analyze::FieldRef> sidecar_fields() {
  std::vector<analyze::FieldRef> fields;
  for (const analyze::FieldRef field : analyze::all_fields()) {
    const analyze::FieldFacts& facts = analyze::field_facts(field);
    if ((facts.name == "roce" || facts.name.starts_with("roce.")) && facts.type != analyze::ValueType::ip)
      fields.push_back(field);
  }
  return fields;
}

/// So that a value neither ends its column nor its row.
void append_sidecar_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '\\' || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
}

void append_sidecar_value(std::string& out, const analyze::Value& value) {
  if (value.type == analyze::ValueType::text) {
    append_sidecar_text(out, value.text);
  } else if (value.type == analyze::ValueType::time) {
    analyze::append_seconds(out, static_cast<std::int64_t>(value.number));
  } else {
    analyze::append_decimal(out, value.number);
  }
}

}  // namespace

std::string sidecar_error(const PacketsOptions& options) {
  if (options.sidecar.empty()) return {};
  if (options.sidecar == "-") return "--sidecar needs the name of a file";
  if (options.sidecar == options.write) return "--sidecar and -w name the same file";
  if (!can_read_twice(options.files))
    return "--sidecar needs files that can be read twice: what is said of a packet may depend on later ones";
  if (!(options.filter.empty() && options.from.empty() && options.to.empty()))
    return "--sidecar is of all packets of the capture: without -Y, --from and --to";
  if (options.no_analysis) return "--sidecar has the results of the analysis: without --no-analysis";
  if (options.clock == "switch")
    return "--sidecar names packets by the times that Wireshark shows: without --time switch";
  return {};
}

capture::Expected<std::unique_ptr<Sidecar>> Sidecar::create(const PacketsOptions& options) {
  auto file = capture::OutputFile::create(options.sidecar,
                                          {.inputs = inputs_of(options.files, {options.policy}),
                                           .may_replace = is_sidecar,
                                           .force = options.force},
                                          capture::Readers::owner_only);
  if (!file) return tl::make_unexpected(file.error());
  return std::unique_ptr<Sidecar>(new Sidecar(std::move(*file)));
}

Sidecar::Sidecar(std::unique_ptr<capture::OutputFile> file)
    : file_(std::move(file)), fields_(sidecar_fields()) {
  std::string head(sidecar_magic);
  for (const analyze::FieldRef field : fields_) {
    if (field != fields_.front()) head.push_back('\t');
    head += analyze::field_facts(field).name;
  }
  head.push_back('\n');
  append_text(head);
}

void Sidecar::append_text(const std::string& text) {
  if (written_) written_ = file_->append(text.data(), text.size());
}

void Sidecar::append(const analyze::PacketView& packet) {
  const capture::Frame& frame = *packet.frame;
  ++rows_;
  row_.clear();
  analyze::append_decimal(row_, packet.number);
  row_.push_back('\t');
  if (frame.time_ns == capture::no_time) {
    row_.push_back('-');
  } else {
    analyze::append_seconds(row_, frame.time_ns);
  }
  row_.push_back('\t');
  analyze::append_decimal(row_, frame.wire);
  row_.push_back('\t');
  const std::size_t tail = std::min<std::size_t>(frame.captured, 4);
  analyze::append_hex(row_, packet.bytes().last(tail));
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    values_.clear();
    analyze::extract(packet, fields_[i], values_);
    for (const analyze::Value& value : values_) {
      row_.push_back('\t');
      analyze::append_decimal(row_, i + 1);
      row_.push_back('=');
      append_sidecar_value(row_, value);
    }
  }
  row_.push_back('\n');
  append_text(row_);
}

capture::Expected<void> Sidecar::finish(bool whole) {
  append_text(fmt::format("end\t{}\t{}\n", rows_, whole ? "whole" : "partial"));
  return written_ ? file_->finish() : written_;
}

}  // namespace roce::cli
