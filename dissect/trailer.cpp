// SPDX-License-Identifier: Apache-2.0
#include "dissect/trailer.hpp"

#include <cmath>

#include "dissect/headers/trailer.hpp"

namespace roce::dissect {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::uint32_t fcs_size = 4;

/// A stamp that is not so near to the time of the capture is no time, or none of a clock that was set.
bool is_near(std::int64_t stamp_ns, std::int64_t time_ns) noexcept {
  constexpr std::uint64_t near_ns = std::uint64_t{30 * 86'400} * second_ns;
  // Times of a capture may be anything: their difference need not be a signed number.
  const auto stamp = static_cast<std::uint64_t>(stamp_ns), time = static_cast<std::uint64_t>(time_ns);
  return (stamp_ns > time_ns ? stamp - time : time - stamp) <= near_ns;
}

/// An extension that ends at `end`: where it begins, whether it is the last one. They are read from behind,
/// as the tag is the last word of each.
struct MetamakoTag {
  std::uint32_t begin;
  bool last;
};
std::optional<MetamakoTag> metamako_tag(Bytes frame, std::uint32_t begin, std::uint32_t end) noexcept {
  constexpr std::uint32_t word_size = 4, long_tag = 0x1f, last = 0x20;
  if (end < begin + word_size) return std::nullopt;
  const std::uint32_t word = load_be32(frame.data() + end - word_size);
  const std::uint32_t words = (word & long_tag) == long_tag ? (word >> 6U & 0x3ffU) + 1 : word >> 6U & 3U;
  const std::uint32_t size = word_size * (words + 1);
  if (end - begin < size) return std::nullopt;
  return MetamakoTag{end - size, (word & last) != 0};
}

/// `begin`: the end of the packet; `end`: of the trailer.
std::optional<Trailer> find_metamako(Bytes frame, std::uint32_t begin, std::uint32_t end,
                                     std::int64_t time_ns) noexcept {
  if (end - begin < Metamako::size) return std::nullopt;
  Trailer found{HeaderId::metamako, end - std::uint32_t{Metamako::size}, end - std::uint32_t{Metamako::size},
                0};
  const std::uint8_t* const p = frame.data() + found.offset;
  const std::uint32_t ns = read<Metamako::nanoseconds>(p);
  found.time_ns = std::int64_t{read<Metamako::seconds>(p)} * second_ns + ns;
  if (ns >= second_ns || read<Metamako::reserved>(p) != 0 || !is_near(found.time_ns, time_ns))
    return std::nullopt;
  for (bool more = read<Metamako::extensions>(p) != 0; more;) {
    const auto tag = metamako_tag(frame, begin, found.begin);
    if (!tag) return std::nullopt;
    found.begin = tag->begin;
    more = !tag->last;
  }
  if (found.begin - begin >= fcs_size) found.begin -= fcs_size;
  return found;
}

std::optional<Trailer> find_exablaze(Bytes frame, std::uint32_t begin, std::uint32_t end,
                                     std::int64_t time_ns) noexcept {
  if (end - begin < Exablaze::size) return std::nullopt;
  Trailer found{HeaderId::exablaze, end - std::uint32_t{Exablaze::size}, end - std::uint32_t{Exablaze::size},
                0};
  const std::uint8_t* const p = frame.data() + found.offset;
  const double fraction = std::ldexp(static_cast<double>(read<Exablaze::fraction>(p)), -40);
  found.time_ns =
      std::int64_t{read<Exablaze::seconds>(p)} * second_ns + static_cast<std::int64_t>(fraction * second_ns);
  if (read<Exablaze::reserved>(p) != 0 || !is_near(found.time_ns, time_ns)) return std::nullopt;
  return found;
}

class Adder {
 public:
  explicit Adder(Dissection& out) noexcept : out_(out) {}
  void add(HeaderId id, std::uint32_t begin, std::uint32_t end) noexcept {
    if (out_.layer_count >= max_layers) return;
    out_.layers[out_.layer_count++] = {id, false, static_cast<std::uint16_t>(end - begin), begin};
  }

 private:
  Dissection& out_;
};

}  // namespace

std::optional<Trailer> find_trailer(Bytes frame, std::uint32_t wire, std::int64_t time_ns,
                                    const Dissection& d) noexcept {
  const auto captured = static_cast<std::uint32_t>(frame.size());
  if (captured < wire || d.declared_end >= captured) return std::nullopt;
  for (const std::uint32_t behind : {std::uint32_t{0}, fcs_size}) {
    if (captured - d.declared_end < behind) break;
    const std::uint32_t end = captured - behind;
    if (const auto found = find_exablaze(frame, d.declared_end, end, time_ns)) return found;
    if (const auto found = find_metamako(frame, d.declared_end, end, time_ns)) return found;
  }
  return std::nullopt;
}

void dissect_trailer(Bytes frame, std::uint32_t wire, std::int64_t time_ns, Dissection& d) noexcept {
  if (!d.is_transport()) return;
  const auto found = find_trailer(frame, wire, time_ns, d);
  if (!found) return;
  Adder out(d);
  if (found->id == HeaderId::exablaze) {
    out.add(found->id, found->offset, found->offset + std::uint32_t{Exablaze::size});
    return;
  }
  std::uint32_t end = found->offset;
  if (read<Metamako::extensions>(frame.data() + end) != 0) {
    for (auto tag = metamako_tag(frame, found->begin, end); tag;
         tag = metamako_tag(frame, found->begin, end)) {
      const bool is_long = end - tag->begin > MetamakoExtension::size;
      out.add(is_long ? HeaderId::metamako_long_extension : HeaderId::metamako_extension, tag->begin, end);
      end = tag->begin;
      if (tag->last) break;
    }
  }
  if (end > found->begin) out.add(HeaderId::metamako_fcs, found->begin, end);
  out.add(found->id, found->offset, found->offset + std::uint32_t{Metamako::size});
}

}  // namespace roce::dissect
