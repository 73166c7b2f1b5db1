// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/numbered_packet.hpp"

#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/shell.hpp"
#include "dissect/headers/tunnel.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

/// Takes from the layers of a frame what numbers it.
class Reader {
 public:
  Reader(std::uint64_t number, const capture::Frame& frame, const Dissection& d,
         std::vector<NumberedPacket>& out)
      : frame_(frame), out_(out) {
    packet_.number = number;
    packet_.time_ns = frame.time_ns;
    packet_.wire = frame.wire;
    packet_.roce = d.is_transport();
    encrypted_ = d.stop == Stop::encrypted;
  }

  void read(const Layer& layer) {
    const std::uint8_t* const p = frame_.data + layer.offset;
    switch (layer.id) {
      case HeaderId::ethernet:
        source_mac_ = dissect::read<Ethernet::src>(p);
        break;
      case HeaderId::ipv4:
        finish_gre();
        packet_.key.src = IpAddress::v4(p + Ipv4::src.first_byte());
        packet_.key.dst = IpAddress::v4(p + Ipv4::dst.first_byte());
        packet_.traffic_class = dissect::read<Ipv4::dsfield>(p);
        break;
      case HeaderId::ipv6:
        finish_gre();
        packet_.key.src = IpAddress::v6(p + Ipv6::src.first_byte());
        packet_.key.dst = IpAddress::v6(p + Ipv6::dst.first_byte());
        packet_.traffic_class = dissect::read<Ipv6::tclass>(p);
        break;
      case HeaderId::gre_key:
        gre_key_ = dissect::read<GreKey::key>(p);
        break;
      case HeaderId::gre_sequence:
        numbered_ = true;
        packet_.sequence = dissect::read<GreSequence::sequence>(p);
        break;
      case HeaderId::erspan2:
        add_mirror(NumberedKind::erspan, dissect::read<Erspan2::spanid>(p));
        break;
      case HeaderId::erspan3:
        add_mirror(NumberedKind::erspan, dissect::read<Erspan3::spanid>(p));
        break;
      case HeaderId::esp:
        add(NumberedKind::esp, dissect::read<Esp::spi>(p), dissect::read<Esp::sequence>(p));
        break;
      case HeaderId::ah:
        add(NumberedKind::ah, dissect::read<Ah::spi>(p), dissect::read<Ah::sequence>(p));
        break;
      case HeaderId::psp:  // the number is what counts the packets, if anything of it does
        add(NumberedKind::psp, dissect::read<Psp::spi>(p),
            static_cast<std::uint32_t>(dissect::read<Psp::iv>(p)));
        break;
      case HeaderId::macsec:
        if (encrypted_) add_macsec(p);
        break;
      default:
        break;
    }
  }
  void finish_gre() {
    if (numbered_) add_mirror(NumberedKind::gre, gre_key_);
  }

 private:
  void add(NumberedKind kind, std::uint64_t id, std::uint32_t sequence) {
    packet_.key.kind = kind;
    packet_.key.id = id;
    packet_.sequence = sequence;
    out_.push_back(packet_);
  }
  /// ERSPAN and GRE are numbered by the GRE header, if at all.
  void add_mirror(NumberedKind kind, std::uint64_t id) {
    if (numbered_) add(kind, id, packet_.sequence);
    numbered_ = false;
    gre_key_ = 0;
  }
  void add_macsec(const std::uint8_t* p) {
    constexpr std::uint64_t port_1 = 1;
    const std::uint64_t sci =
        dissect::read<MacSec::sc>(p) != 0 ? load_be<8>(p + MacSec::size) : source_mac_ << 16U | port_1;
    packet_.key = {};
    packet_.key.association = dissect::read<MacSec::an>(p);
    packet_.traffic_class = 0;
    add(NumberedKind::macsec, sci, dissect::read<MacSec::pn>(p));
  }

  const capture::Frame& frame_;
  std::vector<NumberedPacket>& out_;
  NumberedPacket packet_;
  std::uint64_t source_mac_ = 0;
  std::uint32_t gre_key_ = 0;
  bool numbered_ = false;  ///< a GRE header has a sequence number
  bool encrypted_ = false;
};

}  // namespace

void note_numbered(std::uint64_t number, const capture::Frame& frame, const Dissection& d,
                   std::vector<NumberedPacket>& out) {
  const bool shell = d.stop == Stop::encrypted || d.find(HeaderId::ah) != nullptr;
  if (!shell && !d.in(Tunnel::erspan) && !d.in(Tunnel::gre)) return;
  Reader reader(number, frame, d, out);
  for (const Layer& layer : d.all()) {
    if (!layer.sampled) reader.read(layer);
  }
  reader.finish_gre();
}

}  // namespace roce::analyze
