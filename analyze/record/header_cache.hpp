// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// Internal to the pipeline.
namespace roce::analyze {

/// The header bytes that nearly all packets of a flow have in common, as words of memory: everything up to
/// the BTH's destination queue pair except lengths, checksums, the IPv4 ID and the BTH fields of the single
/// packet. The ethertypes among them determine their number.
template <std::size_t Count>
struct HeaderWords {
  std::array<std::uint64_t, Count> words;
  std::uint32_t point;  ///< capture::Frame::point

  /// The high bits are the best mixed ones.
  [[nodiscard, gnu::always_inline]] std::uint64_t hash() const noexcept {
    // The last words hold the address, the ports and the queue pair; the first ones hardly differ. The bits
    // that differ most are in high halves, most of which a product loses.
    static_assert(Count >= 3);
    return (std::rotl(words[Count - 3], 32) + words[Count - 2]) * 0x9e3779b97f4a7c15U +
           std::rotl(words[Count - 1], 32) * 0xd6e8feb86659fd93U;
  }
};

/// Cached headers of flows: filled by the thread that follows the packets, read by the threads that dissect.
/// A frame with cached headers needs no flow key. The cache only saves work: an entry may be evicted or
/// outdated, which its number reveals. find() on any thread, put() on one thread at a time. Fixed size.
class HeaderCache {
 public:
  HeaderCache();
  ~HeaderCache();
  HeaderCache(const HeaderCache&) = delete;
  HeaderCache& operator=(const HeaderCache&) = delete;

  /// Facts common to all frames with the same headers.
  struct Alike {
    std::uint32_t place = 0;  ///< of the flow in the FlowTable
    std::uint32_t path = 0;   ///< PacketBrief::path
    std::uint64_t facts = 0;  ///< opaque here: BriefFacts
  };
  struct Found {
    std::uint32_t image = 0;  ///< number of the cache entry; 0: none
    Alike alike;
  };
  template <std::size_t Count>
  [[nodiscard, gnu::always_inline]] Found find(const HeaderWords<Count>& header) const noexcept {
    static_assert(Count <= most_words);
    constexpr auto acquire = std::memory_order_acquire;
    const std::uint64_t hash = header.hash();
    for (unsigned way = 0; way < ways; ++way) {
      const Image& image = images_[slot_of(hash, way)];
      const std::uint64_t name = image.name.load(acquire);
      // One by one, last first: different headers mostly differ there.
      const bool alike = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((image.words[Count - 1 - I].load(acquire) == header.words[Count - 1 - I]) && ...);
      }
      (std::make_index_sequence<Count>());
      if (!alike) continue;
      const auto seen = std::bit_cast<SeenAt>(image.seen.load(acquire));
      const std::uint64_t facts = image.facts.load(acquire);
      const auto [number, place] = std::bit_cast<Name>(name);
      // put() clears the name before it changes anything else; the name of an entry being changed is 0.
      if (seen.point == header.point && image.name.load(std::memory_order_relaxed) == name) {
        return {number, {place, seen.path, facts}};
      }
    }
    return {};
  }
  /// Adds an entry. Returns its number: never 0, and another one each time.
  template <std::size_t Count>
  std::uint32_t put(const HeaderWords<Count>& header, const Alike& alike) {
    return put(header.hash(), header.words, header.point, alike);
  }

 private:
  static constexpr std::size_t most_words = 9;
  // Pairs that are read and written atomically.
  struct Name {
    std::uint32_t number = 0;
    std::uint32_t place = 0;
  };
  struct SeenAt {
    std::uint32_t path = 0;
    std::uint32_t point = 0;
  };
  struct alignas(64) Image {
    std::atomic<std::uint64_t> name = 0;
    std::atomic<std::uint64_t> seen = 0;
    std::atomic<std::uint64_t> facts = 0;
    std::array<std::atomic<std::uint64_t>, most_words> words{};  ///< untagged IPv4 fits the cache line
  };
  // Each entry has one possible slot in either half, by different bits of its hash. Sets of two slots would
  // do for few flows only: of a thousand some would share a set with two others and evict each other
  // repeatedly.
  static constexpr unsigned ways = 2;
  static constexpr unsigned slot_bits = 12;
  [[nodiscard, gnu::always_inline]] static std::size_t slot_of(std::uint64_t hash, unsigned way) noexcept {
    constexpr std::uint64_t mask = (std::uint64_t{1} << slot_bits) - 1;
    return (std::size_t{way} << slot_bits) + (hash >> (64U - (way + 1) * slot_bits) & mask);
  }

  std::uint32_t put(std::uint64_t hash, std::span<const std::uint64_t> words, std::uint32_t point,
                    const Alike& alike);

  std::vector<Image> images_;
  std::uint32_t last_number_ = 0;
};

}  // namespace roce::analyze
