// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/regex.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace roce::analyze {
namespace {

using re2::RE2;

RE2::Options regex_options(bool case_sensitive) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_case_sensitive(case_sensitive);
  options.set_max_mem(Regex::max_memory);
  options.set_never_capture(true);
  options.set_log_errors(false);
  return options;
}

/// Size of the escape that `rest` begins with; \Q is one with all that it quotes.
std::size_t escape_size(std::string_view rest) {
  constexpr std::string_view octal = "01234567";
  const std::string_view after = rest.substr(1);
  std::size_t size = 2;
  if (after.starts_with('Q')) {
    const std::size_t end = rest.find("\\E");
    size = end == std::string_view::npos ? rest.size() : end + 2;
  } else if (after.starts_with("x{")) {
    size = std::min(rest.find('}'), rest.size() - 1) + 1;
  } else if (after.starts_with('x')) {
    size = 4;
  } else if (!after.empty() && octal.find(after.front()) != std::string_view::npos) {
    size = std::min<std::size_t>(rest.find_first_not_of(octal, 1), 4);
  }
  return std::min(size, rest.size());
}

/// Size of the class in brackets that `rest` begins with.
std::size_t class_size(std::string_view rest) {
  std::size_t at = rest.substr(1).starts_with('^') ? 2 : 1;
  if (rest.substr(at).starts_with(']')) ++at;
  while (at < rest.size() && rest[at] != ']') {
    const std::string_view item = rest.substr(at);
    const std::size_t close = item.starts_with("[:") ? item.find(":]", 2) : std::string_view::npos;
    if (item.front() == '\\') {
      at += escape_size(item);
    } else {
      at += close == std::string_view::npos ? 1 : close + 2;
    }
  }
  return std::min(at + 1, rest.size());
}

/// The characters of a pattern; escapes, quotations and classes in brackets are one each.
std::vector<std::string_view> regex_pieces(std::string_view pattern) {
  std::vector<std::string_view> pieces;
  while (!pattern.empty()) {
    const char c = pattern.front();
    const std::size_t size = c == '\\' ? escape_size(pattern) : c == '[' ? class_size(pattern) : 1;
    pieces.push_back(pattern.substr(0, size));
    pattern.remove_prefix(size);
  }
  return pieces;
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

/// Whether the piece can name a byte from 0x80 up.
bool names_bytes(std::string_view piece) {
  if (!std::all_of(piece.begin(), piece.end(), is_ascii)) return true;
  for (std::size_t at = 0; (at = piece.find('\\', at)) < piece.size() - 1; at += 2) {
    if (piece[at + 1] == 'x' || (piece[at + 1] >= '0' && piece[at + 1] <= '7')) return true;
  }
  return false;
}

/// The same piece with those of its bytes apart that have no case here.
std::string cases_of_ascii_only(std::string_view piece) {
  const bool negated = piece.starts_with("[^");
  const RE2 one(negated ? "[" + std::string(piece.substr(2)) : std::string(piece), regex_options(true));
  std::string ascii, others;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (RE2::FullMatch(std::string_view(&c, 1), one))
      (is_ascii(c) ? ascii : others) += fmt::format("\\x{:02x}", byte);
  }
  if (negated) return fmt::format("(?:[^{}\\x80-\\xff]|(?-i:[^\\x00-\\x7f{}]))", ascii, others);
  if (others.empty()) return fmt::format("[{}]", ascii);
  if (ascii.empty()) return fmt::format("(?-i:[{}])", others);
  return fmt::format("(?:[{}]|(?-i:[{}]))", ascii, others);
}

/// RE2 takes bytes for Latin-1, in which 0xe0 and 0xc0 are one letter. Here they are bytes.
std::string without_cases_of_latin1(std::string_view pattern) {
  std::string out;
  for (const std::string_view piece : regex_pieces(pattern)) {
    if (!names_bytes(piece)) {
      out += piece;
    } else if (piece.starts_with("\\Q")) {
      const std::size_t end = piece.ends_with("\\E") ? piece.size() - 2 : piece.size();
      for (const char& c : piece.substr(2, end - 2)) {
        const std::string quoted = RE2::QuoteMeta(std::string_view(&c, 1));
        out += is_ascii(c) ? quoted : fmt::format("(?-i:{})", quoted);
      }
    } else {
      out += cases_of_ascii_only(piece);
    }
  }
  return out;
}

/// Where the '(' is that nothing closes: the innermost, if several.
std::size_t open_parenthesis(std::string_view pattern) {
  std::vector<std::size_t> open;
  for (const std::string_view piece : regex_pieces(pattern)) {
    const auto at = static_cast<std::size_t>(piece.data() - pattern.data());
    if (piece == "(") open.push_back(at);
    if (piece == ")" && !open.empty()) open.pop_back();
  }
  return open.empty() ? 0 : open.back();
}

/// The part of the pattern that RE2 complains of, a character for each byte. RE2 quotes it as UTF-8.
std::string complaint(const RE2& failed) {
  std::string part;
  for (const char c : failed.error_arg()) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) part.push_back(is_ascii(c) ? c : '?');
  }
  return part;
}

/// Where the part begins that RE2 complains of: it ends the shortest beginning of the pattern that RE2, which
/// reads from left to right, complains of in the same way.
std::size_t start_of_error(std::string_view pattern, const RE2& failed, std::size_t size) {
  std::size_t low = size, high = pattern.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const RE2 beginning(pattern.substr(0, middle), failed.options());
    // Of a ')' it quotes the whole pattern.
    const bool same =
        beginning.error_code() == failed.error_code() &&
        (failed.error_code() == RE2::ErrorUnexpectedParen || beginning.error_arg() == failed.error_arg());
    (same ? high : low) = same ? middle : middle + 1;
  }
  return high - std::min(size, high);
}

std::string bad_escape(std::string_view escape) {
  if (escape.starts_with("\\x")) return "expected two hexadecimal digits after \\x";
  if (escape.size() == 2 && escape[1] >= '1' && escape[1] <= '9')
    return "back-references are not supported in regular expressions";
  return fmt::format("unknown escape '{}' in the regular expression", escape);
}

std::string bad_class(std::string_view part) {
  const bool named = part.starts_with("[:") || part.starts_with("\\p") || part.starts_with("\\P");
  return named ? "unknown class in brackets of the regular expression"
               : "a range in brackets of the regular expression is in the wrong order";
}

unsigned count_of(std::string_view digits) {
  unsigned count = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return count;
}

/// {m}, {m,} or {m,n}, all of them digits.
std::string bad_repeat(std::string_view counts) {
  const std::size_t comma = counts.find(',');
  const unsigned least = count_of(counts.substr(1)), most = count_of(counts.substr(comma + 1));
  if (comma != counts.npos && most < least) return "the counts of a repetition are in the wrong order";
  if (std::max(least, most) > Regex::max_repeat)
    return fmt::format("a count in the regular expression is above {}", Regex::max_repeat);
  return "the regular expression is too large";
}

RegexError error_of(std::string_view pattern, const RE2& failed) {
  const std::string what = complaint(failed);
  const auto start = [&](std::size_t size) { return start_of_error(pattern, failed, size); };
  switch (failed.error_code()) {
    case RE2::ErrorBadEscape:
      return {start(what.size()), bad_escape(what)};
    case RE2::ErrorBadCharClass:
    case RE2::ErrorBadCharRange:
      return {start(what.size()), bad_class(what)};
    case RE2::ErrorMissingBracket:
      return {pattern.size() - what.size(), "this '[' of the regular expression is not closed"};
    case RE2::ErrorMissingParen:
      return {open_parenthesis(pattern), "this '(' of the regular expression is not closed"};
    case RE2::ErrorUnexpectedParen:
      return {start(1), "unexpected ')' in the regular expression"};
    case RE2::ErrorTrailingBackslash:
      return {pattern.size() - 1, "the regular expression ends with a backslash"};
    case RE2::ErrorRepeatArgument:
      return {start(what.size()), fmt::format("'{}' in the regular expression repeats nothing", what)};
    case RE2::ErrorRepeatOp:
      return {start(what.size()), fmt::format("'{}' in the regular expression repeats a repetition", what)};
    case RE2::ErrorRepeatSize:
      return {start(what.size()), bad_repeat(what)};
    case RE2::ErrorBadPerlOp:
      return {start(what.size()), fmt::format("'{}' is not supported in regular expressions", what)};
    case RE2::ErrorPatternTooLarge:
      return {0, "the regular expression is too large"};
    default:
      if (what.empty()) return {pattern.size() - 1, "the regular expression ends too early"};  // after \x{
      return {start(what.size()), fmt::format("'{}' is not valid in a regular expression", what)};
  }
}

}  // namespace

Regex::Regex(std::shared_ptr<const RE2> compiled) : compiled_(std::move(compiled)) {}

tl::expected<Regex, RegexError> Regex::compile(std::string_view pattern) {
  auto compiled = std::make_shared<const RE2>(pattern, regex_options(false));
  if (!compiled->ok()) return tl::unexpected(error_of(pattern, *compiled));
  const std::string exact = without_cases_of_latin1(pattern);
  if (exact != pattern) compiled = std::make_shared<const RE2>(exact, regex_options(false));
  if (!compiled->ok()) return tl::unexpected(RegexError{0, "the regular expression is too large"});
  return Regex(std::move(compiled));
}

bool Regex::search(std::string_view subject) const {
  return compiled_->Match(subject, 0, subject.size(), RE2::UNANCHORED, nullptr, 0);
}

}  // namespace roce::analyze
