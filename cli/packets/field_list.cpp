// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/field_list.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "analyze/filter/field_registry.hpp"
#include "cli/core/output.hpp"
#include "dissect/enum_names.hpp"

namespace roce::cli {
namespace {

std::string_view type_name(analyze::ValueType type) {
  using enum analyze::ValueType;
  static constexpr EnumNames<analyze::ValueType, 12> names({{number, "number"},
                                                            {boolean, "boolean"},
                                                            {time, "time"},
                                                            {date, "date"},
                                                            {text, "text"},
                                                            {mac, "mac"},
                                                            {ipv4, "ipv4"},
                                                            {ipv6, "ipv6"},
                                                            {ip, "ip"},
                                                            {eui64, "eui64"},
                                                            {bytes, "bytes"},
                                                            {presence, "presence"}});
  return names[type];
}

}  // namespace

int list_fields() {
  Output out(Encoding::utf8);
  for (const analyze::FieldRef field : analyze::all_fields()) {
    const analyze::FieldFacts& facts = analyze::field_facts(field);
    fmt::format_to(std::back_inserter(out.buffer()), "{}\t{}\t{}\n", facts.name, type_name(facts.type),
                   facts.label);
  }
  return out.finish();
}

}  // namespace roce::cli
