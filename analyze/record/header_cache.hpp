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

/// The bytes of a frame's headers that nearly all packets of a flow have alike, as words of memory: all up
/// to the BTH's destination queue pair but lengths, checksums, the IPv4 ID and what the BTH says of the
/// single packet. The ethertypes among them determine how many there are.
template <std::size_t Count>
struct HeaderWords {
  std::array<std::uint64_t, Count> words;
  std::uint32_t point;  ///< capture::Frame::point

  /// Its high bits are the best.
  [[nodiscard, gnu::always_inline]] std::uint64_t hash() const noexcept {
    // The last words hold the address, the ports and the queue pair; the first ones hardly differ. What
    // differs most stands in high halves, most of which a product throws away.
    static_assert(Count >= 3);
    return (std::rotl(words[Count - 3], 32) + words[Count - 2]) * 0x9e3779b97f4a7c15U +
           std::rotl(words[Count - 1], 32) * 0xd6e8feb86659fd93U;
  }
};

/// Which headers belong to which flow: what the thread that follows has learned, for the threads that
/// dissect. A frame whose headers are known needs neither a key nor comparisons later on. It only saves
/// work: what it says may be outdated, which shows by the image's number, and it forgets. find() on any
/// thread, put() on one at a time.
class FlowImages {
 public:
  FlowImages();
  ~FlowImages();
  FlowImages(const FlowImages&) = delete;
  FlowImages& operator=(const FlowImages&) = delete;

  /// What all frames with the same headers have in common.
  struct Alike {
    std::uint32_t place = 0;  ///< of the flow
    std::uint32_t path = 0;   ///< PacketBrief::path
    std::uint64_t facts = 0;  ///< for the caller's use: BriefFacts
  };
  struct Found {
    std::uint32_t image = 0;  ///< its number; 0: there is none
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
      // One by one, last first: most of what is not alike differs there.
      const bool alike = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((image.words[Count - 1 - I].load(acquire) == header.words[Count - 1 - I]) && ...);
      }
      (std::make_index_sequence<Count>());
      if (!alike) continue;
      const auto seen = std::bit_cast<SeenAt>(image.seen.load(acquire));
      const std::uint64_t facts = image.facts.load(acquire);
      const auto [number, place] = std::bit_cast<Name>(name);
      // put() clears the name before it changes anything else; that of an image being changed is 0.
      if (seen.point == header.point && image.name.load(std::memory_order_relaxed) == name) {
        return {number, {place, seen.path, facts}};
      }
    }
    return {};
  }
  /// Frames with these headers are so. Returns the image's number: never 0, and another each time.
  template <std::size_t Count>
  std::uint32_t put(const HeaderWords<Count>& header, const Alike& alike) {
    return put(header.hash(), header.words, header.point, alike);
  }

 private:
  static constexpr std::size_t most_words = 9;
  // Pairs that are read and written at once.
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
    std::array<std::atomic<std::uint64_t>, most_words> words{};  ///< of untagged IPv4 all in one line
  };
  // Each has a slot in either half, by other bits of its hash. Two in one set would do for few flows only: of
  // a thousand some share their set with two others, and push each other out again and again.
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
