// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_line.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <ctime>

#include "analyze/base/address_text.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/show/packet_words.hpp"
#include "dissect/aeth.hpp"
#include "dissect/dissect.hpp"
#include "dissect/fast_cnp.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/mrc.hpp"

namespace roce::analyze {
namespace {

using dissect::Dissection;
using dissect::HeaderId;
using dissect::read;
namespace ch = std::chrono;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::string_view arrow = " \xe2\x86\x92 ";

struct TimeWord {
  std::string_view word;
  TimeFormat format;
};
constexpr TimeWord time_words[] = {
    {"r", TimeFormat::relative},  {"d", TimeFormat::delta},          {"e", TimeFormat::epoch},
    {"a", TimeFormat::absolute},  {"ad", TimeFormat::absolute_date}, {"u", TimeFormat::utc},
    {"ud", TimeFormat::utc_date},
};

ch::sys_seconds seconds_of(std::int64_t ns) {
  return ch::sys_seconds(ch::floor<ch::seconds>(ch::nanoseconds(ns)));
}

void append_two_digits(std::string& out, std::int64_t value) {
  out.push_back(static_cast<char>('0' + value / 10 % 10));
  out.push_back(static_cast<char>('0' + value % 10));
}

void append_date(std::string& out, const ch::year_month_day& date) {
  const int year = static_cast<int>(date.year());
  append_two_digits(out, year / 100);
  append_two_digits(out, year % 100);
  out.push_back('-');
  append_two_digits(out, static_cast<unsigned>(date.month()));
  out.push_back('-');
  append_two_digits(out, static_cast<unsigned>(date.day()));
  out.push_back(' ');
}

/// Decimal places of the capture's timestamps.
unsigned decimals_of(const PacketView& packet) {
  constexpr std::uint64_t microseconds = 1'000'000;
  return packet.interface != nullptr && packet.interface->ticks_per_second <= microseconds ? 6 : 9;
}

void append_clock(std::string& out, std::int64_t ns, unsigned decimals, bool date) {
  const ch::sys_seconds seconds = seconds_of(ns);
  const ch::sys_days day = ch::floor<ch::days>(seconds);
  const ch::hh_mm_ss clock(seconds - day);
  if (date) append_date(out, day);
  append_two_digits(out, clock.hours().count());
  out.push_back(':');
  append_two_digits(out, clock.minutes().count());
  out.push_back(':');
  append_two_digits(out, clock.seconds().count());
  std::string fraction;
  append_seconds(fraction, (ns % second + second) % second, decimals);
  out.append(fraction, 1);  // without the 0 before the point
}

void append_mac_or_ip(std::string& out, dissect::Bytes bytes) {
  if (bytes.size() == 4) {
    append_ipv4(out, bytes.data());
  } else if (bytes.size() == 16) {
    append_ipv6(out, bytes.data());
  } else if (bytes.size() == 6) {
    append_mac(out, bytes.data());
  }
}

/// Addresses for the two columns: IP or GID, else MAC, else LID.
void append_endpoint(std::string& out, const PacketView& packet, bool source) {
  const Dissection& d = *packet.dissection;
  const Endpoints ends = endpoints(packet);
  if (!ends.source.empty()) {
    append_mac_or_ip(out, source ? ends.source : ends.destination);
  } else if (d.network != Dissection::none) {
    const std::uint8_t* lrh = layer_bytes(packet, d.network);
    out += "LID ";
    append_decimal(out, source ? read<dissect::Lrh::slid>(lrh) : read<dissect::Lrh::dlid>(lrh));
  } else if (d.ethernet != Dissection::none) {
    append_mac(out, layer_bytes(packet, d.ethernet) + (source ? 6 : 0));
  } else {
    out += '-';
  }
}

void append_key(std::string& out, std::string_view name, std::uint64_t value, unsigned digits) {
  out += "  ";
  out += name;
  append_hex_number(out, value, digits);
}

/// What a SACK says: all up to one PSN, and which of the 64 from another on.
void append_sack(std::string& out, const std::uint8_t* p) {
  using dissect::MrcSeth;
  out += "  all to ";
  append_decimal(out, read<MrcSeth::cack_psn>(p));
  if (const std::uint64_t bitmap = read<MrcSeth::bitmap>(p); bitmap != 0) {
    out += "  and ";
    append_decimal(out, static_cast<std::uint64_t>(std::popcount(bitmap)));
    out += " behind";
  }
  if (MrcSeth::of_probe(p)) {
    out += "  probe ";
    append_decimal(out, read<MrcSeth::probe_id>(p));
  }
  append_key(out, "EV ", read<MrcSeth::ev>(p), 8);
  if (const auto hint = read<MrcSeth::m>(p); hint != 0) {
    out += "  ";
    out += dissect::name_of(dissect::mrc_path_hint_names, hint);
  }
}

/// Extended headers, in wire order.
void append_extended_header(std::string& out, HeaderId id, const std::uint8_t* p) {
  switch (id) {
    case HeaderId::deth:
      append_key(out, "from QP ", read<dissect::Deth::srcqp>(p), 6);
      break;
    case HeaderId::xrceth:
      append_key(out, "SRQ ", read<dissect::Xrceth::srqn>(p), 6);
      break;
    case HeaderId::feth:
      out += "  ";
      out += dissect::name_of(dissect::placement_names, read<dissect::Feth::placement>(p));
      break;
    case HeaderId::reth:
      append_key(out, "VA ", read<dissect::Reth::va>(p), 16);
      append_key(out, "rkey ", read<dissect::Reth::r_key>(p), 8);
      out += "  DMA ";
      append_decimal(out, read<dissect::Reth::dmalen>(p));
      break;
    case HeaderId::atomiceth:
      append_key(out, "VA ", read<dissect::AtomicEth::va>(p), 16);
      append_key(out, "rkey ", read<dissect::AtomicEth::r_key>(p), 8);
      out += "  swap/add ";
      append_decimal(out, read<dissect::AtomicEth::swapdt>(p));
      out += "  compare ";
      append_decimal(out, read<dissect::AtomicEth::cmpdt>(p));
      break;
    case HeaderId::aeth: {
      const std::uint8_t syndrome = read<dissect::Aeth::syndrome>(p);
      out += "  ";
      out += dissect::syndrome_text(syndrome);
      out += "  MSN ";
      append_decimal(out, read<dissect::Aeth::msn>(p));
      if (dissect::aeth_kind(syndrome) != dissect::AethKind::ack) break;
      if (const auto credits = dissect::credits(dissect::aeth_code(syndrome))) {
        out += "  credits ";
        append_decimal(out, *credits);
      }
      break;
    }
    case HeaderId::atomicacketh:
      out += "  was ";
      append_decimal(out, read<dissect::AtomicAckEth::origremdt>(p));
      break;
    case HeaderId::immdt:
      append_key(out, "imm ", read<dissect::ImmDt::data>(p), 8);
      break;
    case HeaderId::ieth:
      append_key(out, "invalidates rkey ", read<dissect::Ieth::r_key>(p), 8);
      break;
    case HeaderId::mrc_meth:
      out += "  MSN ";
      append_decimal(out, read<dissect::MrcMeth::msn>(p));
      break;
    case HeaderId::mrc_seth:
      append_sack(out, p);
      break;
    case HeaderId::mrc_neth:
      out += "  ";
      if (const auto reason =
              dissect::name_of(dissect::mrc_nack_reason_names, read<dissect::MrcNeth::reason>(p));
          !reason.empty()) {
        out += reason;
      } else {
        append_key(out, "reason ", read<dissect::MrcNeth::reason>(p), 2);
      }
      out += "  of ";
      append_decimal(out, read<dissect::MrcNeth::nack_psn>(p));
      append_key(out, "EV ", read<dissect::MrcNeth::ev>(p), 8);
      break;
    case HeaderId::mrc_peth:
      out += "  probe ";
      append_decimal(out, read<dissect::MrcPeth::probe_id>(p));
      break;
    default:
      break;
  }
}

void append_markings(std::string& out, const PacketView& packet) {
  if (const auto vlan = vlan_id(packet)) {
    out += "  VLAN ";
    append_decimal(out, *vlan);
    if (const auto pcp = priority_code_point(packet); pcp && *pcp != 0) {
      out += " PCP ";
      append_decimal(out, *pcp);
    }
  }
  const std::uint8_t tos = traffic_class(packet).value_or(0);
  if (const unsigned dscp = tos >> 2U; dscp != 0) {
    const std::string_view name = dissect::name_of(dissect::dscp_names, dscp);
    out += "  DSCP ";
    if (name.empty()) {
      append_decimal(out, dscp);
    } else {
      out += name;
    }
  }
  if (const unsigned ecn = tos & 3U; ecn != 0) {
    out += "  ";
    out += dissect::name_of(dissect::ecn_names, ecn);
  }
}

void append_tunnels(std::string& out, const PacketView& packet) {
  for (std::size_t i = 0; i < dissect::tunnel_count; ++i) {
    const auto tunnel = static_cast<dissect::Tunnel>(i);
    if (!packet.dissection->in(tunnel)) continue;
    out += "  in ";
    out += dissect::tunnel_name(tunnel);
  }
}

}  // namespace

std::optional<TimeFormat> time_format_of(std::string_view word) noexcept {
  for (const TimeWord& row : time_words) {
    if (row.word == word) return row.format;
  }
  return std::nullopt;
}

void PacketLine::pad(std::string& out, Column column, std::size_t width, bool right, std::size_t begin) {
  constexpr std::size_t widest = 40;  // one long value must not widen all lines after it
  std::size_t& wanted = widths_[column];
  wanted = std::max(wanted, std::min(width, widest));
  if (width >= wanted) return;
  if (right) {
    out.insert(begin, wanted - width, ' ');
  } else {
    out.append(wanted - width, ' ');
  }
}

void PacketLine::append_time(std::string& out, const PacketView& packet) {
  if (!packet.has_time()) {
    out += '-';
    return;
  }
  const unsigned decimals = decimals_of(packet);
  const std::int64_t now = packet.frame->time_ns;
  // Unsigned: in invalid captures the difference of two times may exceed a signed number.
  const auto since = [now](std::int64_t earlier) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(earlier));
  };
  switch (time_) {
    case TimeFormat::relative:
      append_seconds(out, since(packet.first_time_ns), decimals);
      return;
    case TimeFormat::delta:
      append_seconds(out, since(packet.previous_time_ns), decimals);
      return;
    case TimeFormat::epoch:
      append_seconds(out, now, decimals);
      return;
    case TimeFormat::utc:
    case TimeFormat::utc_date:
      append_clock(out, now, decimals, time_ == TimeFormat::utc_date);
      return;
    case TimeFormat::absolute:
    case TimeFormat::absolute_date: {
      // No zone changes its offset inside a quarter of an hour; localtime_r is too slow for each line.
      using Quarters = ch::duration<std::int64_t, std::ratio<900>>;
      const ch::seconds since_1970 = seconds_of(now).time_since_epoch();
      const std::int64_t quarter = ch::floor<Quarters>(since_1970).count();
      if (quarter != zone_quarter_) {
        const std::time_t seconds = since_1970.count();
        std::tm local{};
        zone_seconds_ = localtime_r(&seconds, &local) == nullptr ? 0 : local.tm_gmtoff;
        zone_quarter_ = quarter;
      }
      const auto local = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) +
                                                   static_cast<std::uint64_t>(zone_seconds_ * second));
      append_clock(out, local, decimals, time_ == TimeFormat::absolute_date);
      return;
    }
  }
}

void PacketLine::append_operation(std::string& out, const PacketView& packet) {
  const std::uint8_t* bth = bth_of(packet);
  if (bth == nullptr) return;
  const std::uint8_t opcode = read<dissect::Bth::opcode>(bth);
  const dissect::OpcodeInfo& info = dissect::opcode_info(opcode);
  scratch_.clear();
  append_cm_words(scratch_, packet);
  out += scratch_.empty() ? dissect::opcode_name(opcode) : std::string_view{"CM"};
  if (!info.defined) {
    out += ' ';
    out += dissect::service_name(info.service);
  }
}

void PacketLine::append_transport(std::string& out, const PacketView& packet) {
  const std::uint8_t* bth = bth_of(packet);
  if (bth == nullptr) return;
  const std::size_t begin = out.size();
  append_operation(out, packet);
  pad(out, operation, out.size() - begin);
  out += " QP ";
  append_hex_number(out, read<dissect::Bth::destqp>(bth), 6);
  out += "  PSN ";
  append_decimal(out, read<dissect::Bth::psn>(bth), 8);
  append_transport_words(out, packet);
}

/// The details after the PSN, each after two spaces.
void PacketLine::append_transport_words(std::string& out, const PacketView& packet) {
  const Dissection& d = *packet.dissection;
  const std::uint8_t* bth = bth_of(packet);
  if (bth == nullptr) return;
  const dissect::OpcodeInfo& info = dissect::opcode_info(read<dissect::Bth::opcode>(bth));
  if (!scratch_.empty()) {
    out += "  ";
    out += scratch_;
  } else {
    for (std::size_t i = d.bth + std::size_t{1}; i < d.layer_count; ++i) {
      if (d.layers[i].id >= HeaderId::payload) break;
      append_extended_header(out, d.layers[i].id, packet.frame->data + d.layers[i].offset);
    }
    const std::uint32_t bytes = message_bytes(packet);
    if (bytes != 0 || info.has_payload) {
      out += "  ";
      append_decimal(out, bytes);
      out += " B";
    }
    append_upper_words(out, packet);
  }
  if (const auto named = dissect::fast_cnp_address(packet.bytes(), d)) {
    out += "  Fast CNP for packets to ";
    append_address(out, dissect::IpAddress::v6(packet.frame->data + *named));
  }
  if (read<dissect::Bth::se>(bth) != 0) out += "  SE";
  if (read<dissect::Bth::a>(bth) != 0) out += "  AckReq";
  if (dissect::Bth::is_mrc(bth) && read<dissect::Bth::rtx>(bth) != 0) out += "  RTX";
  if (read<dissect::Bth::fecn>(bth) != 0) out += "  FECN";
  if (read<dissect::Bth::becn>(bth) != 0 && info.operation != dissect::Operation::cnp) out += "  BECN";
  append_markings(out, packet);
  append_tunnels(out, packet);
  if (packet.icrc && packet.icrc->status == dissect::CrcStatus::mismatch) {
    out += "  [ICRC mismatch: ";
    append_hex_number(out, packet.icrc->found, 8);
    out += ", computed ";
    append_hex_number(out, packet.icrc->computed, 8);
    out += ']';
  } else if (packet.icrc && packet.icrc->soft_roce_flush) {
    out += "  [ICRC of Soft-RoCE]";
  }
}

void PacketLine::append_other(std::string& out, const PacketView& packet) {
  const std::size_t begin = out.size();
  append_mac_control_words(out, packet);
  append_lldp_words(out, packet);
  append_export_words(out, packet);
  append_unknown_words(out, packet);
  if (out.size() == begin) {
    const Dissection& d = *packet.dissection;
    if (d.stop == dissect::Stop::fragment) {
      out += "later IP fragment";
    } else if (d.has(dissect::Note::cut_before_bth)) {
      out += "RoCE, truncated";
    } else {
      out += "not RoCE";
    }
  }
  out += "  ";
  append_decimal(out, packet.frame->wire);
  out += " B";
  append_markings(out, packet);
  append_tunnels(out, packet);
}

void PacketLine::append(std::string& out, const PacketView& packet) {
  const auto column = [&](Column which, bool right, auto&& write) {
    const std::size_t begin = out.size();
    write();
    pad(out, which, out.size() - begin, right, begin);
  };
  column(number, true, [&] { append_decimal(out, packet.number); });
  out += ' ';
  column(time, true, [&] { append_time(out, packet); });
  out += ' ';
  column(source, true, [&] { append_endpoint(out, packet, true); });
  out += arrow;
  column(destination, false, [&] { append_endpoint(out, packet, false); });
  out += "  ";
  if (packet.dissection->is_transport()) {
    append_transport(out, packet);
  } else {
    append_other(out, packet);
  }
  append_analysis_marks(out, packet);
  append_dissection_notes(out, packet);
}

void PacketLine::append_source(std::string& out, const PacketView& packet) {
  append_endpoint(out, packet, true);
}

void PacketLine::append_destination(std::string& out, const PacketView& packet) {
  append_endpoint(out, packet, false);
}

void PacketLine::append_info(std::string& out, const PacketView& packet) {
  const std::size_t begin = out.size();
  if (packet.dissection->is_transport() && bth_of(packet) != nullptr) {
    std::string column_of_its_own;
    append_operation(column_of_its_own, packet);
    append_transport_words(out, packet);
  } else {
    append_other(out, packet);
  }
  append_analysis_marks(out, packet);
  append_dissection_notes(out, packet);
  const std::size_t first = out.find_first_not_of(' ', begin);
  out.erase(begin, (first == std::string::npos ? out.size() : first) - begin);
}

}  // namespace roce::analyze
