// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/regex.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "analyze/filter/regex_parser.hpp"

namespace roce::analyze {
namespace {

using Op = Regex::Op;
using Instruction = Regex::Instruction;

/// Turns the tree into instructions (Thompson's construction).
class Emitter {
 public:
  Emitter(const RegexTree& tree, std::vector<Instruction>& program) : tree_(tree), program_(program) {}

  /// False when the program grows beyond its limit.
  bool emit(std::uint32_t index) {
    // Copies of nothing cost no instruction, but time.
    if (++steps_ > 10 * Regex::max_instructions || program_.size() > Regex::max_instructions) return false;
    const RegexNode& node = tree_.nodes[index];
    switch (node.kind) {
      case RegexNode::Kind::empty:
        return true;
      case RegexNode::Kind::set:
        add(Op::set, node.set);
        return true;
      case RegexNode::Kind::begin:
        add(Op::begin);
        return true;
      case RegexNode::Kind::end:
        add(Op::end);
        return true;
      case RegexNode::Kind::word_edge:
        add(Op::word_edge);
        return true;
      case RegexNode::Kind::no_word_edge:
        add(Op::no_word_edge);
        return true;
      case RegexNode::Kind::sequence:
        for (const std::uint32_t child : node.children) {
          if (!emit(child)) return false;
        }
        return true;
      case RegexNode::Kind::choice:
        return emit_choice(node);
      case RegexNode::Kind::repeat:
        return emit_repeat(node);
    }
    return true;
  }

  std::uint32_t add(Op op, std::uint32_t a = 0, std::uint32_t b = 0) {
    program_.push_back({op, a, b});
    return here() - 1;
  }

 private:
  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(program_.size()); }

  bool emit_choice(const RegexNode& node) {
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i + 1 == node.children.size()) {
        if (!emit(node.children[i])) return false;
        break;
      }
      const std::uint32_t split = add(Op::split);
      program_[split].a = here();
      if (!emit(node.children[i])) return false;
      ends.push_back(add(Op::jump));
      program_[split].b = here();
    }
    for (const std::uint32_t jump : ends) program_[jump].a = here();
    return true;
  }

  bool emit_repeat(const RegexNode& node) {
    const std::uint32_t child = node.children.front();
    for (unsigned i = 0; i < node.at_least; ++i) {
      if (!emit(child)) return false;
    }
    if (node.at_most == RegexNode::unlimited) {
      const std::uint32_t split = add(Op::split);
      program_[split].a = here();
      if (!emit(child)) return false;
      add(Op::jump, split);
      program_[split].b = here();
      return true;
    }
    std::vector<std::uint32_t> splits;
    for (unsigned i = node.at_least; i < node.at_most; ++i) {
      splits.push_back(add(Op::split));
      program_[splits.back()].a = here();
      if (!emit(child)) return false;
    }
    for (const std::uint32_t split : splits) program_[split].b = here();
    return true;
  }

  const RegexTree& tree_;
  std::vector<Instruction>& program_;
  std::size_t steps_ = 0;
};

/// The states that are alive, each once: what keeps the search linear.
struct States {
  std::vector<std::uint32_t> list;
  std::vector<std::uint32_t> seen_at;  // by state: the round that added it
  std::uint32_t round = 0;

  void start(std::size_t size) {
    list.clear();
    if (seen_at.size() < size) seen_at.resize(size, 0);
    if (++round == 0) {  // wrapped after 2^32 rounds
      seen_at.assign(seen_at.size(), 0);
      round = 1;
    }
  }
  bool add(std::uint32_t state) {
    if (seen_at[state] == round) return false;
    seen_at[state] = round;
    return true;
  }
};

struct Scratch {
  States now, next;
  std::vector<std::uint32_t> stack;
};

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool at_word_edge(std::string_view subject, std::size_t at) {
  const bool before = at > 0 && is_word_byte(subject[at - 1]);
  const bool after = at < subject.size() && is_word_byte(subject[at]);
  return before != after;
}

/// Follows all instructions that take no character. True when the match is reached.
bool follow(const std::vector<Instruction>& program, std::uint32_t first, std::string_view subject,
            std::size_t at, States& states, std::vector<std::uint32_t>& stack) {
  stack.assign(1, first);
  while (!stack.empty()) {
    const std::uint32_t state = stack.back();
    stack.pop_back();
    if (!states.add(state)) continue;
    const Instruction& instruction = program[state];
    switch (instruction.op) {
      case Op::match:
        return true;
      case Op::set:
        states.list.push_back(state);
        break;
      case Op::split:
        stack.push_back(instruction.b);
        stack.push_back(instruction.a);
        break;
      case Op::jump:
        stack.push_back(instruction.a);
        break;
      case Op::begin:
        if (at == 0) stack.push_back(state + 1);
        break;
      case Op::end:
        if (at == subject.size()) stack.push_back(state + 1);
        break;
      case Op::word_edge:
        if (at_word_edge(subject, at)) stack.push_back(state + 1);
        break;
      case Op::no_word_edge:
        if (!at_word_edge(subject, at)) stack.push_back(state + 1);
        break;
    }
  }
  return false;
}

}  // namespace

tl::expected<Regex, RegexError> Regex::compile(std::string_view pattern) {
  tl::expected<RegexTree, RegexError> tree = parse_regex(pattern);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  Regex regex;
  Emitter emitter(*tree, regex.program_);
  if (!emitter.emit(tree->root) || regex.program_.size() > max_instructions)
    return tl::unexpected(RegexError{0, "the regular expression is too large"});
  emitter.add(Op::match);
  regex.sets_ = std::move(tree->sets);
  return regex;
}

bool Regex::search(std::string_view subject) const {
  thread_local Scratch scratch;
  scratch.now.start(program_.size());
  scratch.next.start(program_.size());
  for (std::size_t at = 0;; ++at) {
    // A match may begin at every place.
    if (follow(program_, 0, subject, at, scratch.now, scratch.stack)) return true;
    if (at == subject.size()) return false;
    const auto byte = static_cast<unsigned char>(subject[at]);
    scratch.next.start(program_.size());
    for (const std::uint32_t state : scratch.now.list) {
      if (!sets_[program_[state].a][byte]) continue;
      if (follow(program_, state + 1, subject, at + 1, scratch.next, scratch.stack)) return true;
    }
    std::swap(scratch.now, scratch.next);
  }
}

}  // namespace roce::analyze
