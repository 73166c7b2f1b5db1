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

  [[nodiscard, gnu::always_inline]] std::uint64_t hash() const noexcept {
    // The last words hold the address, the ports and the queue pair; the first ones hardly differ.
    static_assert(Count >= 3);
    std::uint64_t h = words[Count - 3] * 0x9e3779b97f4a7c15U +
                      std::rotl(words[Count - 2], 32) * 0xff51afd7ed558ccdU +
                      std::rotl(words[Count - 1], 32) * 0xd6e8feb86659fd93U;
    h = (h ^ h >> 32U) * 0xe7037ed1a0b428dbU;
    return h ^ h >> 32U;
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

  struct Found {
    std::uint32_t image = 0;  ///< its number; 0: there is none
    std::uint32_t place = 0;  ///< of the flow
    std::uint32_t path = 0;   ///< PacketBrief::path of all such frames
  };
  template <std::size_t Count>
  [[nodiscard, gnu::always_inline]] Found find(const HeaderWords<Count>& header) const noexcept {
    static_assert(Count <= most_words);
    const Set& set = sets_[header.hash() % set_count];
    for (const Image& image : set) {
      const std::uint32_t number = image.number.load(std::memory_order_acquire);
      const std::uint64_t differs = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((image.point.load(std::memory_order_acquire) ^ header.point) | ... |
                (image.words[I].load(std::memory_order_acquire) ^ header.words[I]));
      }
      (std::make_index_sequence<Count>());
      if (differs != 0) continue;
      const Found found{number, image.place.load(std::memory_order_acquire),
                        image.path.load(std::memory_order_acquire)};
      // put() clears the number before it changes anything else.
      if (number != 0 && image.number.load(std::memory_order_relaxed) == number) return found;
    }
    return {};
  }
  /// Frames with these headers belong to the flow at `place`. Returns the image's number: never 0, and
  /// another each time.
  template <std::size_t Count>
  std::uint32_t put(const HeaderWords<Count>& header, std::uint32_t place, std::uint32_t path) {
    return put(header.hash(), header.words, header.point, place, path);
  }

 private:
  static constexpr std::size_t most_words = 9;
  struct alignas(64) Image {
    std::atomic<std::uint32_t> number = 0;
    std::atomic<std::uint32_t> place = 0;
    std::atomic<std::uint32_t> point = 0;
    std::atomic<std::uint32_t> path = 0;
    std::array<std::atomic<std::uint64_t>, most_words> words{};  ///< of IPv4 all in one line
  };
  using Set = std::array<Image, 2>;
  static constexpr std::size_t set_count = 4096;

  std::uint32_t put(std::uint64_t hash, std::span<const std::uint64_t> words, std::uint32_t point,
                    std::uint32_t place, std::uint32_t path);

  std::vector<Set> sets_;
  std::uint32_t last_number_ = 0;
};

}  // namespace roce::analyze
