// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/marking.hpp"

#include <array>

#include "dissect/enum_names.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using dissect::Operation;

constexpr std::array<TrafficClass, static_cast<std::size_t>(Operation::unknown) + 1> by_operation = [] {
  std::array<TrafficClass, static_cast<std::size_t>(Operation::unknown) + 1> table{};  // data
  const auto set = [&](Operation operation, TrafficClass traffic_class) {
    table[static_cast<std::size_t>(operation)] = traffic_class;
  };
  for (const Operation answer : {Operation::acknowledge, Operation::sack, Operation::nack,
                                 Operation::endpoint_request, Operation::endpoint_response})
    set(answer, TrafficClass::ack);
  set(Operation::read_response, TrafficClass::response);
  set(Operation::compare_swap, TrafficClass::atomic);
  set(Operation::fetch_add, TrafficClass::atomic);
  set(Operation::atomic_write, TrafficClass::atomic);
  set(Operation::atomic_acknowledge, TrafficClass::atomic);
  set(Operation::cnp, TrafficClass::cnp);
  set(Operation::unknown, TrafficClass::other);
  return table;
}();

}  // namespace

std::string_view traffic_class_name(TrafficClass traffic_class) noexcept {
  using enum TrafficClass;
  static constexpr EnumNames<TrafficClass, 7> names({{data, "data"},
                                                     {ack, "ack"},
                                                     {response, "response"},
                                                     {atomic, "atomic"},
                                                     {cm, "cm"},
                                                     {cnp, "cnp"},
                                                     {other, "other"}});
  return names[traffic_class];
}

TrafficClass traffic_class(std::uint8_t opcode, std::uint32_t dst_qp) noexcept {
  if (dst_qp == dissect::gsi_qpn) return TrafficClass::cm;
  return by_operation[static_cast<std::size_t>(dissect::opcode_info(opcode).operation)];
}

std::string_view ecn_key(std::uint8_t ecn) noexcept {
  using enum dissect::Ecn;
  static constexpr EnumNames<dissect::Ecn, 4> keys(
      {{not_ect, "not_ect"}, {ect1, "ect1"}, {ect0, "ect0"}, {ce, "ce"}});
  return keys[static_cast<dissect::Ecn>(ecn & 3U)];
}

std::string_view ecn_text(std::uint8_t ecn) noexcept {
  return dissect::ecn_names[ecn & 3U].text;
}

}  // namespace roce::analyze
