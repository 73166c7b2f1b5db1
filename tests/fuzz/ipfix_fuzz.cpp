// SPDX-License-Identifier: Apache-2.0
// What follows UDP to port 4739: a message of IPFIX or NetFlow. The first two bytes are how many more bytes
// the wire had.
#include "dissect/ipfix.hpp"
#include "tests/fuzz/parts.hpp"

namespace {

using namespace roce::dissect;
using roce::fuzz::check;
using namespace roce::dissect::ipfix;

void read_templates(const Set& set, bool netflow9) {
  Templates templates(set, netflow9);
  Template each;
  while (templates.next(each)) {
    check(each.rows, set.body);
    Elements rows(each, netflow9);
    Element element;
    std::size_t count = 0;
    while (rows.next(element)) ++count;
    require(count == each.count, "a template that was read has all of its rows");
  }
}

/// As if a template had said so: short, long and variable values in turn.
void read_values(const Set& set) {
  Part rest = set.body, value;
  constexpr std::uint16_t lengths[] = {1, 2, 4, 8, Element::variable, 3, Element::variable};
  for (const std::uint16_t length : lengths) {
    if (take_value(rest, length, value) != End::complete) return;
    check(value, set.body);
    check(rest, set.body);
    (void)number_of(value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 9000) return 0;
  const Bytes bytes{data + 2, size - 2};
  const Part payload{bytes, bytes.size() + load_be16(data)};
  (void)resembles_ipfix(payload);
  Message message;
  if (read_message(payload, message) != End::complete) return 0;
  check(message.list, payload);
  Sets sets = message.sets();
  Set set;
  std::size_t count = 0;
  while (sets.next(set)) {
    check(set.body, message.list);
    require(++count <= bytes.size() / Set::head, "more sets than bytes");
    DropMirror drop;
    if (read_drop_mirror(message, set, drop) == End::complete) {
      check(drop.section, set.body);
      (void)mirror_reason_name(drop.reason());
    }
    if (set.kind == SetKind::templates || set.kind == SetKind::options_templates) {
      read_templates(set, message.netflow9);
    } else {
      read_values(set);
    }
  }
  return 0;
}
