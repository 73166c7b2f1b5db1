// SPDX-License-Identifier: Apache-2.0
#include "dissect/opcode.hpp"

#include <cstddef>
#include <iterator>

namespace roce::dissect {
namespace {

constexpr std::uint16_t header_bit(HeaderId id) {
  for (std::size_t i = 0; i < extended_headers.size(); ++i) {
    if (extended_headers[i].id == id) return static_cast<std::uint16_t>(1U << i);
  }
  return 0;
}

constexpr std::uint16_t rdeth = header_bit(HeaderId::rdeth), deth = header_bit(HeaderId::deth),
                        xrceth = header_bit(HeaderId::xrceth), feth = header_bit(HeaderId::feth),
                        reth = header_bit(HeaderId::reth), atomiceth = header_bit(HeaderId::atomiceth),
                        aeth = header_bit(HeaderId::aeth), atomicacketh = header_bit(HeaderId::atomicacketh),
                        immdt = header_bit(HeaderId::immdt), ieth = header_bit(HeaderId::ieth),
                        meth = header_bit(HeaderId::mrc_meth), seth = header_bit(HeaderId::mrc_seth),
                        neth = header_bit(HeaderId::mrc_neth), peth = header_bit(HeaderId::mrc_peth),
                        erth = header_bit(HeaderId::mrc_erth), eeth = header_bit(HeaderId::mrc_eeth);

constexpr unsigned rc = 1U, uc = 2U, rd = 4U, ud = 8U, xrc = 16U, mrc = 32U;  // which services have a row

/// One operation of the low five bits, for all services that have it.
struct Row {
  std::uint8_t code;
  Operation operation;
  Position position;
  std::uint16_t headers;
  bool payload;
  unsigned services;
  std::string_view name;
};

constexpr Row rows[] = {
    {0x00, Operation::send, Position::first, 0, true, rc | uc | rd | xrc, "SEND First"},
    {0x01, Operation::send, Position::middle, 0, true, rc | uc | rd | xrc, "SEND Middle"},
    {0x02, Operation::send, Position::last, 0, true, rc | uc | rd | xrc, "SEND Last"},
    {0x03, Operation::send, Position::last, immdt, true, rc | uc | rd | xrc, "SEND Last with Immediate"},
    {0x04, Operation::send, Position::only, 0, true, rc | uc | rd | ud | xrc, "SEND Only"},
    {0x05, Operation::send, Position::only, immdt, true, rc | uc | rd | ud | xrc, "SEND Only with Immediate"},
    {0x06, Operation::write, Position::first, reth, true, rc | uc | rd | xrc, "RDMA WRITE First"},
    {0x07, Operation::write, Position::middle, 0, true, rc | uc | rd | xrc, "RDMA WRITE Middle"},
    {0x08, Operation::write, Position::last, 0, true, rc | uc | rd | xrc, "RDMA WRITE Last"},
    {0x09, Operation::write, Position::last, immdt, true, rc | uc | rd | xrc,
     "RDMA WRITE Last with Immediate"},
    {0x0a, Operation::write, Position::only, reth, true, rc | uc | rd | xrc, "RDMA WRITE Only"},
    {0x0b, Operation::write, Position::only, reth | immdt, true, rc | uc | rd | xrc,
     "RDMA WRITE Only with Immediate"},
    {0x0c, Operation::read_request, Position::only, reth, false, rc | rd | xrc, "RDMA READ Request"},
    {0x0d, Operation::read_response, Position::first, aeth, true, rc | rd | xrc, "RDMA READ Response First"},
    {0x0e, Operation::read_response, Position::middle, 0, true, rc | rd | xrc, "RDMA READ Response Middle"},
    {0x0f, Operation::read_response, Position::last, aeth, true, rc | rd | xrc, "RDMA READ Response Last"},
    {0x10, Operation::read_response, Position::only, aeth, true, rc | rd | xrc, "RDMA READ Response Only"},
    {0x11, Operation::acknowledge, Position::only, aeth, false, rc | rd | xrc, "Acknowledge"},
    {0x12, Operation::atomic_acknowledge, Position::only, aeth | atomicacketh, false, rc | rd | xrc,
     "ATOMIC Acknowledge"},
    {0x13, Operation::compare_swap, Position::only, atomiceth, false, rc | rd | xrc, "CmpSwap"},
    {0x14, Operation::fetch_add, Position::only, atomiceth, false, rc | rd | xrc, "FetchAdd"},
    {0x15, Operation::resync, Position::only, 0, false, rd, "RESYNC"},
    {0x16, Operation::send, Position::last, ieth, true, rc | xrc, "SEND Last with Invalidate"},
    {0x17, Operation::send, Position::only, ieth, true, rc | xrc, "SEND Only with Invalidate"},
    {0x1c, Operation::flush, Position::only, feth | reth, false, rc | rd | xrc, "FLUSH"},
    {0x1d, Operation::atomic_write, Position::only, reth, true, rc | rd | xrc, "ATOMIC WRITE"},
    // MRC 1.0: a WRITE has a RETH in each packet, and a TSETH before it if the BTH says so.
    {0x06, Operation::write, Position::first, meth | reth, true, mrc, "RDMA WRITE First"},
    {0x07, Operation::write, Position::middle, meth | reth, true, mrc, "RDMA WRITE Middle"},
    {0x08, Operation::write, Position::last, meth | reth, true, mrc, "RDMA WRITE Last"},
    {0x09, Operation::write, Position::last, meth | reth | immdt, true, mrc,
     "RDMA WRITE Last with Immediate"},
    {0x0a, Operation::write, Position::only, meth | reth, true, mrc, "RDMA WRITE Only"},
    {0x0b, Operation::write, Position::only, meth | reth | immdt, true, mrc,
     "RDMA WRITE Only with Immediate"},
    {0x11, Operation::acknowledge, Position::only, aeth, false, mrc, "Acknowledge"},
    {0x18, Operation::endpoint_request, Position::only, erth, false, mrc, "Endpoint Request"},
    {0x19, Operation::endpoint_response, Position::only, eeth, false, mrc, "Endpoint Response"},
    {0x1c, Operation::sack, Position::only, seth, false, mrc, "Reliability SACK"},
    {0x1d, Operation::nack, Position::only, neth, false, mrc, "Reliability NACK"},
    {0x1e, Operation::probe, Position::only, peth, false, mrc, "Reliability Probe Request"},
};

constexpr const Row* find_row(std::uint8_t opcode) {
  constexpr unsigned bit_of_service[8] = {rc, uc, rd, ud, 0, xrc, mrc, 0};
  for (const Row& row : rows) {
    if (row.code == (opcode & 0x1fU) && (row.services & bit_of_service[opcode >> 5U]) != 0) return &row;
  }
  return nullptr;
}

constexpr bool is_response(Operation operation) {
  return operation == Operation::read_response || operation == Operation::acknowledge ||
         operation == Operation::atomic_acknowledge || operation == Operation::sack ||
         operation == Operation::nack || operation == Operation::endpoint_response;
}

/// The headers that a service adds to those of the operation.
constexpr std::uint16_t service_headers(Service service, Operation operation) {
  const bool response = is_response(operation);
  switch (service) {
    case Service::rd:
      // FLUSH and ATOMIC WRITE over RD: drawn without DETH in the operation table of Annex A19.
      if (response || operation == Operation::flush || operation == Operation::atomic_write) return rdeth;
      return rdeth | deth;
    case Service::ud:
      return deth;
    case Service::xrc:
      return response ? std::uint16_t{0} : xrceth;
    default:
      return 0;
  }
}

consteval std::array<OpcodeInfo, 256> derive() {
  std::array<OpcodeInfo, 256> table{};
  for (unsigned code = 0; code < 256; ++code) {
    OpcodeInfo& info = table[code];
    info.service = static_cast<Service>(code >> 5U);
    if (code == opcode_cnp) {
      info.operation = Operation::cnp;
      info.defined = true;
      continue;
    }
    const Row* row = find_row(static_cast<std::uint8_t>(code));
    if (row == nullptr) continue;
    info.operation = row->operation;
    info.position = row->position;
    info.defined = true;
    info.response = is_response(row->operation);
    info.request = !info.response;
    info.has_payload = row->payload;
    const unsigned around = service_headers(info.service, row->operation);
    info.headers = static_cast<std::uint16_t>(row->headers | around);
    info.immediate = (info.headers & immdt) != 0;
    info.invalidate = (info.headers & ieth) != 0;
    info.variable = info.service == Service::mrc;
    for (std::size_t i = 0; i < extended_headers.size(); ++i) {
      const unsigned bit = info.headers & (1U << i);
      if (bit == 0) continue;
      if (bit == reth || bit == atomiceth) {
        info.remote_offset = info.headers_size;
        info.remote_size = extended_headers[i].size;
        info.atomic = bit == atomiceth;
      }
      if (bit == aeth) info.aeth_offset = info.headers_size;
      info.headers_size = static_cast<std::uint8_t>(info.headers_size + extended_headers[i].size);
    }
  }
  return table;
}

/// Names are built at compile time: "RC " and the row's name, or "unknown 0xnn".
struct Name {
  std::array<char, 40> text{};
  std::uint8_t length = 0;
  std::uint8_t operation = 0;  // where the part without the service begins

  constexpr void append(std::string_view part) {
    for (const char c : part) text[length++] = c;
  }
};

constexpr std::string_view service_names[] = {"RC",  "UC",  "RD",           "UD",      "CNP",
                                              "XRC", "MRC", "manufacturer", "reserved"};

consteval std::array<Name, 256> derive_names() {
  std::array<Name, 256> table{};
  for (unsigned code = 0; code < 256; ++code) {
    Name& name = table[code];
    const Row* row = find_row(static_cast<std::uint8_t>(code));
    if (code == opcode_cnp) {
      name.append("CNP");
    } else if (row != nullptr) {
      name.append(service_names[code >> 5U]);
      name.append(" ");
      name.operation = name.length;
      name.append(row->name);
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      name.append("unknown 0x");
      name.append(digits.substr(code >> 4U, 1));
      name.append(digits.substr(code & 15U, 1));
    }
  }
  return table;
}

constexpr std::array<Name, 256> names = derive_names();

}  // namespace

constinit const std::array<OpcodeInfo, 256> opcode_table = derive();

std::string_view opcode_name(std::uint8_t opcode) noexcept {
  const Name& name = names[opcode];
  return {name.text.data(), name.length};
}

std::string_view operation_name(std::uint8_t opcode) noexcept {
  return opcode_name(opcode).substr(names[opcode].operation);
}

std::string_view service_name(Service service) noexcept {
  const auto i = static_cast<std::size_t>(service);
  return service_names[i < std::size(service_names) ? i : static_cast<std::size_t>(Service::reserved)];
}

}  // namespace roce::dissect
