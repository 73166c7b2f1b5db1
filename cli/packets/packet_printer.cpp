// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/packet_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/show/packet_json.hpp"
#include "analyze/show/packet_line.hpp"
#include "analyze/show/packet_tree.hpp"

namespace roce::cli {
namespace {

using Fields = std::vector<analyze::FieldRef>;

bool any_needs_icrc(const Fields& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](analyze::FieldRef f) { return analyze::field_facts(f).needs_icrc; });
}
bool any_needs_flow(const Fields& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](analyze::FieldRef f) { return analyze::field_facts(f).needs_flow; });
}
bool any_needs_analysis(const Fields& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](analyze::FieldRef f) { return analyze::field_facts(f).needs_analysis; });
}

/// Prints lines, trees and hex dumps.
class TextPrinter final : public PacketPrinter {
 public:
  TextPrinter(analyze::TimeFormat time, bool tree, bool hex) : line_(time), tree_(tree), hex_(hex) {}

  void append(std::string& out, const analyze::PacketView& packet) override {
    if (tree_) {
      analyze::append_tree(out, packet);
    } else {
      line_.append(out, packet);
      out.push_back('\n');
    }
    if (hex_) {
      if (tree_) out.push_back('\n');
      analyze::append_hex_dump(out, packet.bytes());
    }
    if (tree_ || hex_) out.push_back('\n');
  }
  [[nodiscard]] bool needs_icrc() const override { return true; }
  [[nodiscard]] bool needs_flow() const override { return false; }
  [[nodiscard]] bool needs_analysis() const override { return true; }

 private:
  analyze::PacketLine line_;
  bool tree_;
  bool hex_;
};

class JsonPrinter final : public PacketPrinter {
 public:
  JsonPrinter(const Fields& fields, bool bytes)
      : json_(fields.empty() ? analyze::PacketJson(bytes) : analyze::PacketJson(with_bytes(fields, bytes))),
        icrc_(fields.empty() || any_needs_icrc(fields)),
        flow_(fields.empty() || any_needs_flow(fields)),
        analysis_(fields.empty() || any_needs_analysis(fields)) {}

  void append(std::string& out, const analyze::PacketView& packet) override { json_.append(out, packet); }
  [[nodiscard]] bool needs_icrc() const override { return icrc_; }
  [[nodiscard]] bool needs_flow() const override { return flow_; }
  [[nodiscard]] bool needs_analysis() const override { return analysis_; }

 private:
  static Fields with_bytes(Fields fields, bool bytes) {
    if (const auto frame = analyze::find_field("frame"); bytes && frame) fields.push_back(*frame);
    return fields;
  }

  analyze::PacketJson json_;
  bool icrc_;
  bool flow_;
  bool analysis_;
};

/// Options of -E, as in tshark.
struct FieldStyle {
  bool header = false;
  char separator = '\t';
  char aggregator = ',';
  char quote = 0;
  char occurrence = 'a';
};

class FieldsPrinter final : public PacketPrinter {
 public:
  FieldsPrinter(Fields fields, std::vector<std::string> names, const FieldStyle& style)
      : fields_(std::move(fields)), names_(std::move(names)), style_(style) {}

  void begin(std::string& out) override {
    if (!style_.header) return;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i != 0) out.push_back(style_.separator);
      out += names_[i];
    }
    out.push_back('\n');
  }

  void append(std::string& out, const analyze::PacketView& packet) override {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (i != 0) out.push_back(style_.separator);
      values_.clear();
      analyze::extract(packet, fields_[i], values_);
      if (!values_.empty()) append_values(out, analyze::field_facts(fields_[i]));
    }
    out.push_back('\n');
  }
  [[nodiscard]] bool needs_icrc() const override { return any_needs_icrc(fields_); }
  [[nodiscard]] bool needs_flow() const override { return any_needs_flow(fields_); }
  [[nodiscard]] bool needs_analysis() const override { return any_needs_analysis(fields_); }

 private:
  void append_values(std::string& out, const analyze::FieldFacts& facts) const {
    std::size_t begin = 0, end = values_.size();
    if (style_.occurrence == 'f') end = 1;
    if (style_.occurrence == 'l') begin = end - 1;
    if (style_.quote != 0) out.push_back(style_.quote);
    const std::size_t start = out.size();
    for (std::size_t i = begin; i < end; ++i) {
      if (i != begin) out.push_back(style_.aggregator);
      analyze::append_value(out, facts, values_[i]);
    }
    if (style_.quote == 0) return;
    // Quotes inside are doubled, as in RFC 4180 and tshark.
    for (std::size_t i = start; (i = out.find(style_.quote, i)) != std::string::npos; i += 2)
      out.insert(i, 1, style_.quote);
    out.push_back(style_.quote);
  }

  Fields fields_;
  std::vector<std::string> names_;
  FieldStyle style_;
  analyze::Values values_;
};

/// One character, or one of tshark's escapes.
std::optional<char> parse_character(std::string_view text) {
  if (text == "/t" || text == "\\t") return '\t';
  if (text == "/s") return ' ';
  if (text == "//") return '/';
  if (text.size() == 1) return text.front();
  return std::nullopt;
}

std::optional<bool> parse_yes(std::string_view text) {
  if (text == "y" || text == "Y" || text == "1") return true;
  if (text == "n" || text == "N" || text == "0") return false;
  return std::nullopt;
}

/// Applies one option of -E. False: unknown option or value.
bool apply(FieldStyle& style, std::string_view key, std::string_view value) {
  if (key == "header") {
    const auto yes = parse_yes(value);
    if (yes) style.header = *yes;
    return yes.has_value();
  }
  if (key == "separator" || key == "aggregator") {
    const auto character = parse_character(value);
    if (character) (key == "separator" ? style.separator : style.aggregator) = *character;
    return character.has_value();
  }
  if (key == "quote") {
    if (value != "d" && value != "s" && value != "n") return false;
    style.quote = value == "d" ? '"' : value == "s" ? '\'' : '\0';
    return true;
  }
  if (key == "occurrence") {
    if (value != "f" && value != "l" && value != "a") return false;
    style.occurrence = value.front();
    return true;
  }
  return false;
}

tl::expected<FieldStyle, std::string> parse_style(const std::vector<std::string>& options) {
  FieldStyle style;
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    const std::string_view key = std::string_view(option).substr(0, equals);
    const std::string_view value =
        equals == std::string::npos ? std::string_view{} : std::string_view(option).substr(equals + 1);
    if (!apply(style, key, value)) {
      return tl::make_unexpected(
          fmt::format("-E {}: expected header=y|n, separator=C, aggregator=C, quote=d|s|n or "
                      "occurrence=f|l|a (C: one character, /t or /s)",
                      option));
    }
  }
  return style;
}

tl::expected<Fields, std::string> parse_fields(const std::vector<std::string>& names) {
  Fields fields;
  for (const std::string& name : names) {
    const auto field = analyze::find_field(name);
    if (!field) {
      const auto similar = analyze::similar_fields(name, 3);
      std::string message = fmt::format("-e {}: no such field", name);
      if (!similar.empty()) message += fmt::format("; did you mean {}?", fmt::join(similar, ", "));
      message += " (packets --list-fields lists all)";
      return tl::make_unexpected(std::move(message));
    }
    fields.push_back(*field);
  }
  return fields;
}

}  // namespace

tl::expected<std::unique_ptr<PacketPrinter>, std::string> make_printer(const PacketsOptions& options) {
  using Result = tl::expected<std::unique_ptr<PacketPrinter>, std::string>;
  auto fields = parse_fields(options.fields);
  if (!fields) return tl::make_unexpected(fields.error());
  const auto style = parse_style(options.field_options);
  if (!style) return tl::make_unexpected(style.error());
  if (options.no_analysis && any_needs_analysis(*fields)) {
    return tl::make_unexpected(
        std::string("-e: roce.connection, roce.direction and roce.analysis.* cannot be used with "
                    "--no-analysis"));
  }
  const auto time = analyze::time_format_of(options.time);
  if (!time) return tl::make_unexpected(fmt::format("-t {}: expected r, d, e, a, ad, u or ud", options.time));

  if (options.format == "fields") {
    if (fields->empty()) return tl::make_unexpected(std::string("-T fields needs at least one -e FIELD"));
    return Result(std::make_unique<FieldsPrinter>(std::move(*fields), options.fields, *style));
  }
  if (options.format == "json") return Result(std::make_unique<JsonPrinter>(*fields, options.hex));
  if (options.format != "text")
    return tl::make_unexpected(fmt::format("-T {}: expected text, fields or json", options.format));
  if (!fields->empty()) return tl::make_unexpected(std::string("-e needs -T fields or -T json"));
  const bool writes = !options.write.empty() || !options.sidecar.empty();
  if (writes && !options.print && !options.tree && !options.hex) return Result(nullptr);
  return Result(std::make_unique<TextPrinter>(*time, options.tree, options.hex));
}

}  // namespace roce::cli
