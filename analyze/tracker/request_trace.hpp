// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/record/packet_record.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// What a flow has requested lately, so that an answer can be asked whether it may be to these requests.
/// Bounded: the oldest are forgotten.
class RequestTrace {
 public:
  static constexpr std::size_t first_size = 8;
  static constexpr std::size_t usual_size = 512;
  static constexpr std::size_t largest_size = 16 * 1024;  ///< what a long way holds
  static constexpr std::size_t most_reads = 16;

  /// What a request is answered by, besides NAKs.
  enum class Answer : std::uint8_t { none, acknowledge, read_response, atomic_acknowledge };

  /// Where a PSN lies.
  enum class Place : std::uint8_t {
    elsewhere,  ///< in no sequence that this could be
    before,     ///< a little before the first request seen: it may have been sent
    among,      ///< it was sent
    beyond,     ///< a little further than anything sent yet
  };
  struct Found {
    Place place = Place::elsewhere;
    Answer answer = Answer::none;             ///< none: forgotten
    std::int64_t time_ns = capture::no_time;  ///< of the last request that covers the PSN
    std::optional<std::uint32_t> messages;    ///< that end at or before it, from an arbitrary start
    std::uint32_t begins = 0;                 ///< PSNs, at most, of the READ that begins there; 0: none does
    bool of_read = false;                     ///< it is one of a READ's
  };

  /// `budget`: bytes that all traces may still take together. The second half is for all: one may take more
  /// than usual only of the first.
  static constexpr std::size_t whole_budget = std::size_t{16} << 20U;
  void add(const PacketRecord& request, const dissect::OpcodeInfo& info, std::size_t& budget);
  [[nodiscard]] Found find(std::uint32_t psn) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return !started_; }
  /// The first PSN seen is below that.
  [[nodiscard]] bool begins_below(std::uint32_t psn) const noexcept { return first_ < psn; }
  void release(std::size_t& budget) noexcept;

 private:
  struct Slot {
    std::uint32_t psn = 0;
    std::uint32_t messages : 30 = 0;
    std::uint32_t answer : 2 = 0;  ///< Answer
    std::int64_t time_ns = 0;
  };
  static_assert(sizeof(Slot) == 16);
  /// A READ takes as many PSNs as it has responses.
  struct Read {
    Slot slot;
    std::uint32_t psns = 0;  ///< at most, until the next request tells; 0 = unused
  };
  [[nodiscard]] const Slot* slot_of(std::uint32_t psn) const noexcept;
  [[nodiscard]] const Read* read_of(std::uint32_t psn) const noexcept;
  [[nodiscard]] std::uint32_t messages_before(std::uint32_t psn) const noexcept;
  void count_behind(std::uint32_t psn) noexcept;
  void put(const Slot& slot, std::size_t& budget);

  std::vector<Slot> slots_;  ///< by PSN
  std::vector<Read> reads_;  ///< the last ones, in turns
  std::uint32_t next_read_ = 0;
  std::uint32_t first_ = 0, next_ = 0;  ///< PSNs; `next_` is behind the highest
  std::uint32_t messages_ = 0;          ///< up to `next_`
  bool started_ = false;
  std::optional<std::uint32_t> stray_;  ///< the last request, if it was far off the others
  bool open_read_ = false;              ///< the highest is a READ whose number of PSNs is not known yet
};

}  // namespace roce::analyze
