// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/numbered_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/results/pause_facts.hpp"
#include "dissect/field.hpp"
#include "dissect/headers/mad.hpp"
#include "dissect/headers/other_transport.hpp"

namespace roce::analyze {
namespace {

using StreamIn = const NumberedStream&;

template <std::uint64_t NumberedStream::*member>
double stream_number(StreamIn s) {
  return static_cast<double>(s.*member);
}
template <std::uint64_t NumberedStream::*member>
std::string stream_count(StreamIn s) {
  return std::to_string(s.*member);
}
/// Nothing where the numbers do not count.
template <std::uint64_t NumberedStream::*member>
std::string stream_figure(StreamIn s) {
  return s.counts && s.*member != 0 ? std::to_string(s.*member) : std::string();
}
template <std::uint64_t NumberedStream::*member>
std::string stream_figure_exact(StreamIn s) {
  return s.counts ? std::to_string(s.*member) : std::string();
}
template <std::uint64_t NumberedStream::*member>
constexpr NumberedColumn figure_column(std::string_view name, std::string_view heading, std::string_view help,
                                       std::uint8_t priority) {
  return {name,
          heading,
          help,
          true,
          priority,
          stream_number<member>,
          stream_figure<member>,
          stream_figure_exact<member>};
}
double stream_rate(StreamIn s) {
  return s.first_ns == capture::no_time ? 0 : mean_rate_bps(s.bytes, s.first_ns, s.last_ns);
}
std::string stream_end(StreamIn s, const dissect::IpAddress& end) {
  return s.key.kind == NumberedKind::macsec ? std::string() : address_text(end);
}

constexpr NumberedColumn columns_of_streams[] = {
    {"kind", "kind", "esp, ah, psp, macsec, erspan or gre", false, hidden_column, nullptr,
     [](StreamIn s) { return std::string(numbered_kind_names[s.key.kind]); }, nullptr},
    {"name", "shell or mirror", "kind with SPI, SCI and AN, session or GRE key", false, 0, nullptr,
     [](StreamIn s) { return numbered_text(s.key); }, nullptr},
    {"src", "source", "outer source address", false, 0, nullptr,
     [](StreamIn s) { return stream_end(s, s.key.src); }, nullptr},
    {"dst", "destination", "outer destination address", false, 1, nullptr,
     [](StreamIn s) { return stream_end(s, s.key.dst); }, nullptr},
    {"id", "id", "SPI, SCI, session or GRE key", true, hidden_column,
     [](StreamIn s) { return static_cast<double>(s.key.id); },
     [](StreamIn s) { return std::to_string(s.key.id); }, nullptr, CellType::text},
    {"packets", "packets", "packets", true, 0, stream_number<&NumberedStream::packets>,
     stream_count<&NumberedStream::packets>, nullptr},
    {"bytes", "bytes", "bytes on the wire", true, 2, stream_number<&NumberedStream::bytes>,
     [](StreamIn s) { return bytes_text(s.bytes); }, stream_count<&NumberedStream::bytes>},
    {"rate_bps", "rate", "mean rate from first to last packet", true, 2, stream_rate,
     [](StreamIn s) {
       return s.packets > 1 && stream_rate(s) > 0 ? rate_text(stream_rate(s)) : std::string();
     },
     [](StreamIn s) { return fmt::format("{:.0f}", stream_rate(s)); }},
    {"roce", "RoCE", "of mirrors: packets with RoCE inside", true, 3, stream_number<&NumberedStream::roce>,
     [](StreamIn s) { return s.mirror() ? std::to_string(s.roce) : std::string(); }, nullptr},
    {"counts", "numbered", "whether its numbers rise by one from packet to packet", false, hidden_column,
     nullptr, [](StreamIn s) { return std::string(s.counts ? "yes" : "no"); }, nullptr},
    figure_column<&NumberedStream::missing>("missing", "missing", "numbers that never came", 0),
    figure_column<&NumberedStream::gaps>("gaps", "gaps", "places where numbers are missing", 3),
    figure_column<&NumberedStream::late>("late", "late", "packets behind higher numbers", 3),
    figure_column<&NumberedStream::late_by>("late_by", "late by", "at most so many numbers", hidden_column),
    figure_column<&NumberedStream::duplicates>("duplicates", "again", "numbers that came again", 4),
    figure_column<&NumberedStream::restarts>("restarts", "restarts", "jumps of the numbers", hidden_column),
    {"ce", "CE", "packets with CE in the outer header", true, 4, stream_number<&NumberedStream::ce>,
     [](StreamIn s) { return s.ce != 0 ? std::to_string(s.ce) : std::string(); },
     stream_count<&NumberedStream::ce>},
    {"dscp", "DSCP", "DSCP values of the outer header", false, 4, nullptr,
     [](StreamIn s) {
       std::string text;
       for (const auto& entry : s.dscp.sorted())
         text += (text.empty() ? "" : " ") + std::to_string(entry.key);
       return text;
     },
     nullptr},
    {"first_packet", "first packet", "number of the first packet", true, hidden_column,
     [](StreamIn s) { return -static_cast<double>(s.first_packet); },
     [](StreamIn s) { return std::to_string(s.first_packet); }, nullptr},
};

template <std::size_t Size>
std::string counts_text(std::string_view title, const std::array<std::uint64_t, Size>& counts,
                        std::span<const dissect::ValueName> names, std::string_view of) {
  std::string text;
  for (std::size_t i = 0; i < Size; ++i) {
    if (counts[i] == 0) continue;
    const std::string_view name = dissect::name_of(names, i);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i],
                        name.empty() ? fmt::format("{} 0x{:02x}", of, i) : std::string(name));
  }
  return text.empty() ? text : fmt::format("{}: {}", title, text);
}

}  // namespace

std::span<const NumberedColumn> numbered_columns() noexcept {
  return columns_of_streams;
}

std::vector<const NumberedStream*> numbered_rows(const Snapshot& snapshot, NumberedRows which) {
  std::vector<const NumberedStream*> rows;
  for (const NumberedStream& stream : snapshot.numbered.streams) {
    if (stream.mirror() == (which == NumberedRows::mirrors)) rows.push_back(&stream);
  }
  return rows;
}

std::vector<std::string> numbered_notes(const Snapshot& snapshot, NumberedRows which) {
  const std::vector<const NumberedStream*> rows = numbered_rows(snapshot, which);
  std::vector<std::string> notes;
  if (rows.empty()) return notes;
  if (which == NumberedRows::shells) {
    notes.emplace_back("what is missing was lost on the way here or not captured, of whatever is inside");
  } else if (const std::string lost = mirror_loss_text(snapshot.numbered); !lost.empty()) {
    notes.push_back(lost + ": not lost by the network");
  } else {
    notes.emplace_back("none of them lost packets, as far as they number them");
  }
  const auto uncounted =
      std::count_if(rows.begin(), rows.end(), [](const NumberedStream* each) { return !each->counts; });
  if (uncounted != 0)
    notes.push_back(
        fmt::format("{} not numbered by one: several senders share a number, or it does not count; nothing "
                    "is said of what is missing there",
                    uncounted == 1 ? "1 is" : fmt::format("{} are", uncounted)));
  return notes;
}

std::string numbered_filter(const NumberedStream& stream) {
  const NumberedKey& key = stream.key;
  if (key.kind == NumberedKind::macsec) {
    // Without an SCI in the frame it is made of the source address and port 1.
    constexpr unsigned port_bits = 16;
    return fmt::format(
        "(macsec.SCI == {:#018x} || (macsec && !macsec.SCI && eth.src == {})) && macsec.AN == {}", key.id,
        mac_text(key.id >> port_bits), key.association);
  }
  std::string filter = fmt::format("{0}.src == {1} && {0}.dst == {2}", key.src.is_v4_mapped() ? "ip" : "ipv6",
                                   address_text(key.src), address_text(key.dst));
  switch (key.kind) {
    case NumberedKind::esp:
    case NumberedKind::ah:
    case NumberedKind::psp:
      return filter + fmt::format(" && {}.spi == 0x{:08x}", numbered_kind_names[key.kind], key.id);
    case NumberedKind::erspan:
      return filter + fmt::format(" && erspan.spanid == {}", key.id);
    case NumberedKind::gre:
    case NumberedKind::macsec:
    case NumberedKind::count_:
      break;
  }
  return filter +
         (key.id == 0 ? std::string(" && gre && !gre.key") : fmt::format(" && gre.key == {:#x}", key.id));
}

std::vector<std::string> named_packets(const Snapshot& s) {
  std::vector<std::string> lines;
  const auto add = [&](std::string text) {
    if (!text.empty()) lines.push_back(std::move(text));
  };
  add(counts_text("UET", s.totals.uet, dissect::uet_type_names, "type"));
  add(counts_text("Falcon", s.totals.falcon, dissect::falcon_type_names, "type"));
  add(counts_text("veRoCE", s.totals.veroce, {}, "opcode"));
  if (s.totals.ifa != 0)
    add(fmt::format("IFA: {} with metadata of switches, of which the ICRC cannot be checked",
                    packets_text(s.totals.ifa)));
  std::array<std::uint64_t, 256> others = s.mad_classes;
  others[dissect::mad_class_cm] = 0;  // the report has their exchanges
  add(counts_text("MADs", others, dissect::mad_class_names, "class"));
  return lines;
}

}  // namespace roce::analyze
