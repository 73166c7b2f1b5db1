// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/cached_frames.hpp"

#include <algorithm>
#include <array>

#include "analyze/record/common_frame.hpp"
#include "analyze/record/common_packet.hpp"
#include "analyze/record/fill_record.hpp"
#include "dissect/icrc.hpp"
#include "dissect/ip_checksum.hpp"
#include "dissect/opcode.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

template <class Word>
[[gnu::always_inline]] inline std::uint64_t part_at(const std::uint8_t* p) noexcept {
  Word word = 0;
  std::memcpy(&word, p, sizeof word);
  return word;
}
[[gnu::always_inline]] inline std::uint64_t word_at(const std::uint8_t* p) noexcept {
  return part_at<std::uint64_t>(p);
}

/// The headers of a plain frame, as words for HeaderCache.
template <class Plain, bool Tagged>
[[gnu::always_inline]] inline auto words_of(const capture::Frame& frame, std::uint32_t network) noexcept {
  constexpr bool is_v4 = Plain::Header::id == HeaderId::ipv4;
  const std::uint8_t* const base = frame.data;
  const std::uint8_t* const ip = base + network;
  const std::uint8_t* const udp = ip + Plain::Header::size;
  const std::uint8_t* const bth = udp + Udp::size;
  constexpr std::size_t count = (is_v4 ? 5U : 8U) + (Tagged ? 1U : 0U);
  HeaderWords<count> header;
  header.point = frame.point;
  std::size_t used = 0;
  const auto add = [&](std::uint64_t word) { header.words[used++] = word; };
  add(word_at(base));  // MAC addresses, ethertype, and two bytes more
  add(word_at(base + 8));
  if constexpr (Tagged) add(word_at(ip - 6));  // the inner tag, with the first two bytes of the datagram
  if constexpr (is_v4) {
    static_assert(Ipv4::flags.first_byte() == 6 && Ipv4::ttl.first_byte() == 8 &&
                  Ipv4::proto.end_byte() == 10 && Ipv4::src.first_byte() == 12 && Ipv4::dst.end_byte() == 20);
    add(word_at(ip + 12));
    // Fragments, TTL, protocol; ports.
    add(part_at<std::uint32_t>(ip + 6) | part_at<std::uint32_t>(udp) << 32U);
  } else {
    static_assert(Ipv6::plen.first_byte() == 4 && Ipv6::src.first_byte() == 8 && Ipv6::dst.end_byte() == 40);
    add(word_at(ip + 8));
    add(word_at(ip + 16));
    add(word_at(ip + 24));
    add(word_at(ip + 32));
    // Flow label; next header, hop limit; ports.
    add(part_at<std::uint16_t>(ip + 2) | part_at<std::uint16_t>(ip + 6) << 16U |
        part_at<std::uint32_t>(udp) << 32U);
  }
  // All behind the opcode but the solicited event, migration and padding of the packet, up to the reserved
  // bits of byte 8, which some senders use.
  static_assert(Bth::opcode.first_byte() == 0 && Bth::tver.end_byte() == 2 && Bth::destqp.end_byte() == 8);
  static_assert(Bth::reserved7.first_byte() == 8 && Bth::reserved7.bits == 7);
  constexpr std::array<std::uint8_t, 8> of_flow{15, 255, 255, 255, 255, 255, 255, 127};
  add(word_at(bth + 1) & std::bit_cast<std::uint64_t>(of_flow));
  return header;
}

/// Properties of an opcode that take() needs for a packet with cached headers.
struct KnownOpcode {
  enum class What : std::uint8_t {
    unknown,  ///< not common: not taken here
    bare,     ///< neither of the following
    with_reth,
    with_atomic_eth,
    with_aeth,
  };
  std::uint64_t facts = 0;         ///< BriefFacts
  std::uint32_t payload_bits = 0;  ///< a mask: all ones if the packet may have a payload
  What what = What::unknown;
  bool shows_upper = false;         ///< its payload may begin with an upper-layer header
  std::uint8_t headers_size = 0;    ///< bytes between BTH and payload
  std::uint8_t extended_begin = 0;  ///< offset of RETH, AtomicETH or AETH after the BTH
};
static_assert(sizeof(KnownOpcode) == 16);

const std::array<KnownOpcode, 256>& known_opcodes() noexcept {
  static const std::array<KnownOpcode, 256> table = [] {
    using What = KnownOpcode::What;
    std::array<KnownOpcode, 256> rows{};
    for (unsigned i = 0; i < rows.size(); ++i) {
      const auto opcode = static_cast<std::uint8_t>(i);
      const OpcodeInfo& info = opcode_info(opcode);
      const CommonPacket common = common_by_opcode(opcode);
      if (common == CommonPacket::no) continue;
      KnownOpcode& row = rows[i];
      BriefFacts facts;
      facts.opcode = opcode;
      facts.common = static_cast<std::uint8_t>(common);
      row.headers_size = info.headers_size;
      row.payload_bits = info.has_payload ? 0xffff'ffff : 0;
      row.shows_upper = may_show_upper(info);
      if (info.aeth_offset != OpcodeInfo::absent) {
        row.what = What::with_aeth;
        row.extended_begin = info.aeth_offset;
        facts.flags = PacketBrief::has_aeth;
      } else if (info.remote_offset != OpcodeInfo::absent) {
        row.what = info.atomic ? What::with_atomic_eth : What::with_reth;
        row.extended_begin = info.remote_offset;
        facts.more = PacketBrief::has_reth;
      } else {
        row.what = What::bare;
      }
      row.facts = facts.word();
    }
    return rows;
  }();
  return table;
}

/// One call of CachedFrames::take().
template <bool CheckIcrc>
struct TakeKnown {
  const HeaderCache& images;
  const std::array<KnownOpcode, 256>& opcodes;
  PacketBrief& brief;
  Totals& totals;
  Totals::Run& run;

  template <class Plain, bool Tagged>
  [[gnu::always_inline]] bool take(const capture::Frame& frame, PlainStart start) const noexcept {
    using What = KnownOpcode::What;
    constexpr auto not_checkable = static_cast<std::uint8_t>(CrcStatus::not_checkable);
    if (!has_headers<Plain>(frame, start)) return false;
    const std::uint8_t* const base = frame.data;
    const std::uint8_t* const ip = base + start.network;
    const std::uint8_t* const udp = ip + Plain::Header::size;
    const std::uint8_t* const bth = udp + Udp::size;
    const KnownOpcode& row = opcodes[bth[0]];
    if (row.what == What::unknown) return false;
    const HeaderCache::Found known = images.find(words_of<Plain, Tagged>(frame, start.network));
    if (known.image == 0) return false;

    // The lengths are consistent and cover the headers, which were captured.
    constexpr std::uint32_t network_size = Plain::Header::size, udp_and_bth = Udp::size + Bth::size,
                            icrc_size = Icrc::size, most_payload = 0xffff;
    const std::uint32_t wire = frame.wire;
    const std::uint32_t ip_length = Plain::length(ip);
    const std::uint32_t udp_length = read<Udp::length>(udp);
    const std::uint32_t end = start.network + network_size + udp_length;
    const std::uint32_t payload_begin = start.network + network_size + udp_and_bth + row.headers_size;
    const std::uint32_t payload = end - payload_begin - icrc_size - read<Bth::padcnt>(bth);
    if (start.network + ip_length > wire || network_size + udp_length > ip_length ||
        payload > most_payload /* below 0 */ || frame.captured < payload_begin ||
        static_cast<std::uint64_t>(frame.time_ns) > PacketBrief::latest_ns) {
      return false;
    }

    const std::uint8_t* const extended = bth + Bth::size + row.extended_begin;
    if (row.what == What::with_reth || row.what == What::with_atomic_eth) {
      static_assert(Reth::va.bit == AtomicEth::va.bit && Reth::r_key.bit == AtomicEth::r_key.bit);
      brief.virtual_address = read<Reth::va>(extended);
      brief.r_key = read<Reth::r_key>(extended);
      brief.dma_length =
          row.what == What::with_reth ? read<Reth::dmalen>(extended) : PacketBrief::atomic_bytes;
      brief.aeth = 0;
    } else {
      brief.virtual_address = 0;
      brief.r_key = brief.dma_length = brief.aeth = 0;
      if (row.what == What::with_aeth) {
        // Any other syndrome grants credits.
        constexpr std::uint32_t syndrome_bits = 0x7f00'0000, no_credits = 0x1f00'0000;
        brief.aeth = load_be32(extended);
        if ((brief.aeth & syndrome_bits) != no_credits) return false;
      }
    }
    static_assert(Bth::a.bit % 32 == 0 && Bth::psn.end_byte() == Bth::size && Bth::psn.bits == 24);
    const std::uint32_t last = load_be32(bth + Bth::a.first_byte());
    brief.time_ns = frame.time_ns;
    brief.psn = last & 0xff'ffffU;
    brief.wire = wire;
    brief.payload = payload & row.payload_bits;
    brief.path = known.alike.path;
    brief.point = frame.point;
    brief.image = known.image;
    brief.place = known.alike.place;
    std::uint64_t facts = known.alike.facts | row.facts;
    facts |=
        BriefFacts::at<offsetof(BriefFacts, flags), 1>(unsigned{PacketBrief::ack_requested} * (last >> 31U));
    if constexpr (Plain::Header::id == HeaderId::ipv4) {
      facts |= BriefFacts::at<offsetof(BriefFacts, ip_id), 2>(read<Ipv4::ident>(ip));
    }
    if (row.shows_upper) [[unlikely]] {
      const std::uint32_t there = std::min(frame.captured, end - icrc_size) - payload_begin;
      facts |= BriefFacts::at<offsetof(BriefFacts, upper), 1>(
          upper_of(opcode_info(bth[0]), base + payload_begin, brief.payload, there));
    }
    Totals::Marks marks;
    marks.traffic_class = traffic_class_at(Plain::Header::id, ip);
    marks.transport = static_cast<std::uint8_t>(Plain::transport);
    marks.priority = Tagged ? read<Vlan::priority>(start.vlan) : Totals::Marks::untagged_priority;
    marks.icrc = Totals::Marks::unchecked;
    const bool cut = frame.captured < end;
    if constexpr (CheckIcrc) {
      IcrcResult icrc;
      if (!cut) icrc = check_icrc_at({base, frame.captured}, place_of<Plain>(start, end));
      if (icrc.status == CrcStatus::mismatch || icrc.soft_roce_flush) return false;
      if (Plain::Header::id == HeaderId::ipv4 && !ipv4_checksum_right({ip, frame.captured - start.network})) {
        return false;
      }
      marks.icrc = static_cast<std::uint8_t>(icrc.status);
      facts |= BriefFacts::at<offsetof(BriefFacts, icrc), 1>(marks.icrc);
    } else {
      facts |= BriefFacts::at<offsetof(BriefFacts, icrc), 1>(std::uint64_t{not_checkable});
    }
    BriefFacts::store(facts, brief);
    run.add(frame);
    totals.count_known(bth[0], marks, cut);
    return true;
  }

 private:
  template <class Plain>
  [[nodiscard]] static IcrcPlace place_of(PlainStart start, std::uint32_t end) noexcept {
    constexpr std::uint32_t network_size = Plain::Header::size, udp_size = Udp::size, icrc_size = Icrc::size;
    IcrcPlace place;
    place.network_id = Plain::Header::id;
    place.network = start.network;
    place.udp = start.network + network_size;
    place.bth = place.udp + udp_size;
    place.icrc = end - icrc_size;
    return place;
  }
};

template <bool CheckIcrc>
std::size_t take_known(const HeaderCache& images, std::span<const capture::Frame> frames, std::size_t begin,
                       PacketBrief* packets, Totals& totals) {
  const std::array<KnownOpcode, 256>& opcodes = known_opcodes();
  if (begin == frames.size()) return begin;
  Totals::Run run(frames[begin].time_ns);
  std::size_t i = begin;
  for (; i < frames.size(); ++i) {
    if (i + headers_ahead < frames.size()) prefetch_headers(frames[i + headers_ahead]);
    if (!take_frame(frames[i], TakeKnown<CheckIcrc>{images, opcodes, packets[i], totals, run})) break;
  }
  totals.count_run(i - begin, run);
  return i;
}

/// put_image() of a plain frame.
struct PutImage {
  HeaderCache& images;
  HeaderCache::Alike alike;
  std::uint32_t& number;

  template <class Plain, bool Tagged>
  bool take(const capture::Frame& frame, PlainStart start) const {
    // A packet of the general path may be in a tunnel: the outer headers must not be cached for it.
    if (!is_plain<Plain>(frame, start)) return false;
    number = images.put(words_of<Plain, Tagged>(frame, start.network), alike);
    return true;
  }
};

}  // namespace

std::size_t CachedFrames::take(std::span<const capture::Frame> frames, std::size_t begin,
                               PacketBrief* packets, Totals& totals) const {
  return check_icrc_ ? take_known<true>(images_, frames, begin, packets, totals)
                     : take_known<false>(images_, frames, begin, packets, totals);
}

std::uint32_t put_image(HeaderCache& images, const capture::Frame& frame, std::uint32_t place,
                        const PacketRecord& record) {
  if ((record.traffic_class & 3U) == static_cast<unsigned>(Ecn::ce)) return 0;  // not common, whatever it is
  constexpr unsigned flags_alike = PacketBrief::valid | PacketBrief::tagged | PacketBrief::fecn |
                                   PacketBrief::becn | PacketBrief::has_ports;
  constexpr unsigned more_alike = PacketBrief::has_ip_id | PacketBrief::dont_fragment;
  // A frame with cached headers is also selected, and its lengths are consistent.
  BriefFacts facts;
  facts.flags = static_cast<std::uint8_t>((record.flags & flags_alike) | PacketBrief::selected);
  facts.more = static_cast<std::uint8_t>((record.more & more_alike) | PacketBrief::payload_whole);
  std::uint32_t number = 0;
  take_frame(frame, PutImage{images, {place, record.path, facts.word()}, number});
  return number;
}

}  // namespace roce::analyze
