// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/base/value_format.hpp"

namespace roce::analyze {

/// Appends JSON to a string, on one line or indented. It writes the commas and the nesting; the caller is
/// responsible for valid names and their order. Text is escaped and always valid UTF-8.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out, bool pretty = false) : out_(out), pretty_(pretty) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  /// Begins an array of plain values that stays on one line even if the rest is indented.
  JsonWriter& begin_row() {
    open('[');
    in_row_ = true;
    return *this;
  }
  JsonWriter& end_row() {
    close(']');
    in_row_ = false;
    return *this;
  }

  JsonWriter& key(std::string_view name) {
    separate();
    quoted(name);
    out_ += pretty_ ? ": " : ":";
    after_key_ = true;
    return *this;
  }

  JsonWriter& value(std::string_view text) {
    separate();
    quoted(text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) JsonWriter& value(Number number) {
    return raw(std::to_string(number));
  }
  /// The shortest digits that read back as the same number; null for NaN and infinity.
  JsonWriter& value(double number) {
    char digits[32];
    const auto [end, failure] = std::to_chars(digits, digits + sizeof digits, number);
    if (failure != std::errc() || !std::isfinite(number)) return null();
    return raw({digits, static_cast<std::size_t>(end - digits)});
  }
  /// A number that is written already, as JSON wants it.
  JsonWriter& number(std::string_view digits) { return raw(digits); }
  JsonWriter& null() { return raw("null"); }

  /// key() and value() in one.
  template <class T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  JsonWriter& null_field(std::string_view name) { return key(name).null(); }

 private:
  JsonWriter& raw(std::string_view text) {
    separate();
    out_ += text;
    return *this;
  }
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    ++depth_;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    --depth_;
    if (!first_) line_break();
    out_ += bracket;
    first_ = false;
    return *this;
  }
  void quoted(std::string_view text) {
    out_ += '"';
    append_json_escaped(out_, text);
    out_ += '"';
  }
  void separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (depth_ == 0) return;
    if (!first_) out_ += in_row_ && pretty_ ? ", " : ",";
    first_ = false;
    line_break();
  }
  void line_break() {
    if (!pretty_ || in_row_) return;
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  std::string& out_;
  bool pretty_;
  bool first_ = true;
  bool after_key_ = false;
  bool in_row_ = false;
  std::size_t depth_ = 0;
};

}  // namespace roce::analyze
