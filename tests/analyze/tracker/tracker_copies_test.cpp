// SPDX-License-Identifier: Apache-2.0
// Second copies that a mirror shows long after the first ones.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_copies_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

/// Packets of which each is shown again by a mirror, 40 us later. IPv4 IDs tell which is which, and no more.
class Mirrored {
 public:
  void request(std::int64_t at_ns, std::uint32_t psn) { show(at_ns, wire_.make(a, b, write_only, psn)); }
  void answer(std::int64_t at_ns, std::uint32_t psn, std::uint8_t syndrome) {
    PacketRecord r = wire_.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = std::uint32_t{syndrome} << 24U | (psn - 59);
    show(at_ns, r);
  }
  /// Sends all; the PSNs of those that were told as repeats since then, in order.
  std::vector<std::uint32_t> repeats_since(std::int64_t at_ns) {
    std::stable_sort(shown_.begin(), shown_.end(),
                     [](const PacketRecord& x, const PacketRecord& y) { return x.time_ns < y.time_ns; });
    for (const PacketRecord& r : shown_) wire_.send(r);
    wire_.finish();
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i].time_ns >= begins_ns + at_ns && wire_.verdict(i + 1).has(Verdict::retransmission))
        found.push_back(shown_[i].psn);
    }
    return found;
  }

 private:
  static constexpr std::int64_t begins_ns = 1'000'000'000;
  void show(std::int64_t at_ns, PacketRecord r) {
    r.ip_id = static_cast<std::uint16_t>(++count_ * 40503U);
    r.time_ns = begins_ns + at_ns;
    shown_.push_back(r);
    r.time_ns += 40'000;
    shown_.push_back(r);
  }

  Wire wire_;
  std::vector<PacketRecord> shown_;
  std::uint32_t count_ = 0;
};

/// The connection rests before the copies of what was sent before a repeat come.
TEST(TrackerCopies, OfWhatWasRepeatedMeanwhile) {
  Mirrored mirror;
  for (const std::uint32_t begins : {60U, 100U}) {  // so that the mirror is known
    for (std::uint32_t i = 0; i < 40; ++i) {
      mirror.request((begins - 60) * 2500 + i * 1000, begins + i);
      mirror.answer((begins - 60) * 2500 + i * 1000 + 500, begins + i, 0x1f);
    }
  }
  constexpr std::int64_t then = 300'000;
  mirror.request(then, 140);
  for (std::uint32_t psn = 142; psn < 152; ++psn) mirror.request(then + (psn - 140) * 500, psn);
  mirror.answer(then + 6500, 141, nak_sequence);
  for (std::uint32_t psn = 141; psn < 152; ++psn) mirror.request(then + 8000 + (psn - 141) * 500, psn);
  mirror.answer(then + 13'800, 151, 0x1f);
  for (std::uint32_t psn = 152; psn < 192; ++psn) mirror.request(then + 14'000 + (psn - 152) * 500, psn);
  mirror.answer(then + 35'000, 191, 0x1f);
  const std::vector<std::uint32_t> sent_again{141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151};
  EXPECT_EQ(mirror.repeats_since(then), sent_again);
}

}  // namespace
}  // namespace tracker_copies_test
}  // namespace roce::analyze
