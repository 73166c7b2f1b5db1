// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/regex_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace roce::analyze {
namespace {

using Kind = RegexNode::Kind;
using Set = Regex::Set;

Set range_set(unsigned char low, unsigned char high) {
  Set set;
  for (unsigned c = low; c <= high; ++c) set.set(c);
  return set;
}

Set digits() {
  return range_set('0', '9');
}
Set letters() {
  return range_set('a', 'z') | range_set('A', 'Z');
}
Set space() {
  return range_set('\t', '\r') | range_set(' ', ' ');
}
Set word() {
  return digits() | letters() | range_set('_', '_');
}
Set punctuation() {
  return range_set('!', '~') & ~(digits() | letters());
}
Set hex() {
  return digits() | range_set('a', 'f') | range_set('A', 'F');
}
Set controls() {
  return range_set(0, 31) | range_set(127, 127);
}
Set printable() {
  return range_set(' ', '~');
}
Set graphic() {
  return range_set('!', '~');
}
Set blank() {
  return range_set(' ', ' ') | range_set('\t', '\t');
}
Set alnum() {
  return digits() | letters();
}

struct NamedSet {
  std::string_view name;
  Set (*set)();
};
// Case does not matter, so upper and lower are letters.
constexpr NamedSet posix_classes[] = {
    {"alpha", letters},   {"digit", digits},  {"alnum", alnum},       {"upper", letters}, {"lower", letters},
    {"space", space},     {"blank", blank},   {"punct", punctuation}, {"xdigit", hex},    {"cntrl", controls},
    {"print", printable}, {"graph", graphic}, {"word", word}};

struct ShortSet {
  char letter;
  Set (*set)();
};
constexpr ShortSet short_classes[] = {{'d', digits}, {'w', word}, {'s', space}};

Set both_cases(Set set) {
  for (unsigned c = 'a'; c <= 'z'; ++c) {
    const unsigned upper = c - 'a' + 'A';
    if (set[c] || set[upper]) set.set(c).set(upper);
  }
  return set;
}

constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  tl::expected<RegexTree, RegexError> run() {
    if (pattern_.starts_with("(?i)")) at_ = 4;  // it is so anyway
    tree_.root = choice(0);
    if (!error_ && at_ < pattern_.size()) fail(at_, "unexpected ')' in the regular expression");
    if (error_) return tl::unexpected(std::move(*error_));
    return std::move(tree_);
  }

 private:
  [[nodiscard]] bool more() const { return at_ < pattern_.size() && !error_; }
  [[nodiscard]] char peek() const { return pattern_[at_]; }
  bool accept(char c) {
    if (!more() || peek() != c) return false;
    ++at_;
    return true;
  }
  void fail(std::size_t offset, std::string message) {
    if (!error_) error_ = RegexError{offset, std::move(message)};
  }

  std::uint32_t add(RegexNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }
  std::uint32_t add(Kind kind) {
    RegexNode node;
    node.kind = kind;
    return add(std::move(node));
  }
  std::uint32_t add(const Set& set) {
    RegexNode node;
    node.kind = Kind::set;
    node.set = static_cast<std::uint32_t>(tree_.sets.size());
    tree_.sets.push_back(set);
    return add(std::move(node));
  }

  std::uint32_t choice(std::size_t depth) {
    if (depth > Regex::max_depth) {
      fail(at_, "the regular expression is nested too deeply");
      return 0;
    }
    RegexNode node;
    node.kind = Kind::choice;
    do {
      node.children.push_back(sequence(depth));
    } while (accept('|'));
    return node.children.size() == 1 ? node.children.front() : add(std::move(node));
  }

  std::uint32_t sequence(std::size_t depth) {
    RegexNode node;
    node.kind = Kind::sequence;
    while (more() && peek() != '|' && peek() != ')') node.children.push_back(repeat(depth));
    return add(std::move(node));
  }

  std::uint32_t repeat(std::size_t depth) {
    const std::size_t start = at_;
    std::uint32_t index = atom(depth);
    // A chain such as a**** deepens the tree, so it counts.
    for (std::size_t chained = depth; more(); ++chained) {
      RegexNode node;
      node.kind = Kind::repeat;
      if (accept('*')) {
        node.at_most = RegexNode::unlimited;
      } else if (accept('+')) {
        node.at_least = 1;
        node.at_most = RegexNode::unlimited;
      } else if (accept('?')) {
        node.at_most = 1;
      } else if (!counts(node)) {
        break;
      }
      if (chained > Regex::max_depth) fail(start, "the regular expression is nested too deeply");
      accept('?');  // lazy or possessive: the same set of subjects for a search without back-references
      node.children.push_back(index);
      index = add(std::move(node));
    }
    return index;
  }

  std::optional<unsigned> number() {
    std::optional<unsigned> value;
    while (more() && peek() >= '0' && peek() <= '9') {
      value = std::min(value.value_or(0) * 10 + static_cast<unsigned>(peek() - '0'), 1'000'000U);
      ++at_;
    }
    return value;
  }

  /// {m}, {m,}, {m,n}; any other brace is a character, as in PCRE.
  bool counts(RegexNode& node) {
    const std::size_t start = at_;
    if (!accept('{')) return false;
    const std::optional<unsigned> least = number();
    std::optional<unsigned> most = least;
    if (accept(',')) most = number().value_or(RegexNode::unlimited);
    if (!least || !accept('}')) {
      at_ = start;
      return false;
    }
    node.at_least = *least;
    node.at_most = *most;
    if (*least > Regex::max_repeat || (*most != RegexNode::unlimited && *most > Regex::max_repeat)) {
      fail(start, fmt::format("a count in the regular expression is above {}", Regex::max_repeat));
    } else if (*most < *least) {
      fail(start, "the counts of a repetition are in the wrong order");
    }
    return true;
  }

  std::uint32_t atom(std::size_t depth) {
    const std::size_t start = at_;
    const char c = pattern_[at_++];
    switch (c) {
      case '.':
        return add(~range_set('\n', '\n'));
      case '^':
        return add(Kind::begin);
      case '$':
        return add(Kind::end);
      case '(':
        return group(start, depth);
      case '[':
        return add(bracket(start));
      case '\\':
        return escaped(start);
      case '*':
      case '+':
      case '?':
        fail(start, fmt::format("'{}' in the regular expression repeats nothing", c));
        return 0;
      default:
        return add(both_cases(range_set(static_cast<unsigned char>(c), static_cast<unsigned char>(c))));
    }
  }

  std::uint32_t group(std::size_t start, std::size_t depth) {
    if (accept('?') && !accept(':')) {
      fail(start, "look-around and inline options are not supported in regular expressions");
      return 0;
    }
    const std::uint32_t index = choice(depth + 1);
    if (!error_ && !accept(')')) fail(start, "this '(' of the regular expression is not closed");
    return index;
  }

  std::uint32_t escaped(std::size_t start) {
    if (!more()) {
      fail(start, "the regular expression ends with a backslash");
      return 0;
    }
    if (accept('b')) return add(Kind::word_edge);
    if (accept('B')) return add(Kind::no_word_edge);
    if (accept('A')) return add(Kind::begin);
    if (peek() == 'z' || peek() == 'Z') {
      ++at_;
      return add(Kind::end);
    }
    Set set;
    if (class_escape(set)) return add(set);
    const unsigned char c = character_escape(start);
    return add(both_cases(range_set(c, c)));
  }

  /// \d \w \s and their opposites, behind the backslash.
  bool class_escape(Set& set) {
    for (const ShortSet& row : short_classes) {
      if (accept(row.letter)) {
        set |= row.set();
        return true;
      }
      if (accept(static_cast<char>(row.letter - 'a' + 'A'))) {
        set |= ~row.set();
        return true;
      }
    }
    return false;
  }

  /// One character behind a backslash.
  unsigned char character_escape(std::size_t start) {
    const char c = pattern_[at_++];
    constexpr std::pair<char, char> known[] = {{'n', '\n'}, {'r', '\r'}, {'t', '\t'},   {'f', '\f'},
                                               {'v', '\v'}, {'a', '\a'}, {'e', '\x1b'}, {'0', '\0'}};
    for (const auto& [typed, meant] : known) {
      if (typed == c) return static_cast<unsigned char>(meant);
    }
    if (c == 'x') {
      int value = 0, count = 0;
      for (; count < 2 && more() && hex_value(peek()) >= 0; ++count)
        value = value * 16 + hex_value(pattern_[at_++]);
      if (count == 0) fail(start, "expected hexadecimal digits after \\x");
      return static_cast<unsigned char>(value);
    }
    if (c >= '1' && c <= '9') fail(start, "back-references are not supported in regular expressions");
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      fail(start, fmt::format("unknown escape '\\{}' in the regular expression", c));
    return static_cast<unsigned char>(c);
  }

  bool posix_class(Set& set) {
    const std::string_view rest = pattern_.substr(at_);
    if (!rest.starts_with("[:")) return false;
    const std::size_t close = rest.find(":]");
    if (close == std::string_view::npos) return false;
    const std::string_view name = rest.substr(2, close - 2);
    for (const NamedSet& row : posix_classes) {
      if (row.name == name) {
        set |= row.set();
        at_ += close + 2;
        return true;
      }
    }
    fail(at_, "unknown class in brackets of the regular expression");
    return true;
  }

  /// One character of a bracket, or a class (then nothing).
  std::optional<unsigned char> bracket_item(Set& set) {
    if (posix_class(set)) return std::nullopt;
    const std::size_t start = at_;
    if (!accept('\\')) return static_cast<unsigned char>(pattern_[at_++]);
    if (!more()) return std::nullopt;  // not closed: said by the caller
    if (class_escape(set)) return std::nullopt;
    if (accept('b')) return static_cast<unsigned char>('\b');
    return character_escape(start);
  }

  Set bracket(std::size_t start) {
    Set set;
    const bool negated = accept('^');
    for (bool first = true; more() && (first || peek() != ']'); first = false) {
      const std::optional<unsigned char> low = bracket_item(set);
      if (!low) continue;
      std::optional<unsigned char> high = low;
      const bool is_range = at_ + 1 < pattern_.size() && peek() == '-' && pattern_[at_ + 1] != ']';
      if (is_range) {
        const std::size_t dash = at_++;
        high = bracket_item(set);
        if (!high || *high < *low) {
          fail(dash, "a range in brackets of the regular expression is in the wrong order");
          return set;
        }
      }
      set |= range_set(*low, *high);
    }
    if (!error_ && !accept(']')) fail(start, "this '[' of the regular expression is not closed");
    set = both_cases(set);
    return negated ? ~set : set;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  RegexTree tree_;
  std::optional<RegexError> error_;
};

}  // namespace

tl::expected<RegexTree, RegexError> parse_regex(std::string_view pattern) {
  return Parser(pattern).run();
}

}  // namespace roce::analyze
