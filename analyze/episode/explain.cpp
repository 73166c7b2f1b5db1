// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/explain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/episode/answers.hpp"
#include "analyze/episode/story.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

/// Less than retry timers take, and more than a network holds a packet back.
constexpr std::int64_t quiet_ns = 1'000'000;

/// What may have made the sender send again.
struct Trigger {
  Rule rule = Rule::not_captured;
  float bits = 14;
  std::int32_t note = -1;  ///< the NAK, if it is one
  bool long_ago = false;   ///< no reaction takes so long
};

/// What the IPv4 IDs of a stream tell.
enum class Ids : std::uint8_t {
  nothing,  ///< there are none, or they do not change
  same,     ///< equal IDs mean one transmission
  order,    ///< and they rise in the order of sending
};

/// A stream in the order of sending, and what each was.
struct Stream {
  std::vector<Sent> sent;  ///< in the order of sending, where IDs tell it, else of capture
  std::vector<Placed> story;
  Ids ids = Ids::nothing;
  std::vector<std::int32_t> copies;  ///< notes that are copies by their IDs
  /// By index in `sent`: the first note that was captured no earlier than it was sent. Of what was overtaken
  /// that is before its own.
  std::vector<std::int32_t> by_then;
  [[nodiscard]] bool overtaken(std::size_t i) const noexcept { return by_then[i] < sent[i].note; }
};

[[nodiscard]] bool timed(const Note& a, const Note& b) noexcept {
  return a.time_ns != capture::no_time && b.time_ns != capture::no_time;
}

/// Extends IPv4 IDs to numbers that order transmissions.
class IdOrder {
 public:
  std::int64_t of(const Note& note) noexcept {
    constexpr std::int64_t whole = 1 << 16U;
    constexpr std::int64_t turned_ns = 50'000'000;  // IDs may have gone once around
    if (!known_) {
      known_ = true;
      top_ = note.ip_id;
      last_ns_ = note.time_ns;
      return top_;
    }
    std::int64_t step = static_cast<std::int16_t>(static_cast<std::uint16_t>(note.ip_id - (top_ & 0xffff)));
    const bool long_ago = note.time_ns != capture::no_time && last_ns_ != capture::no_time &&
                          note.time_ns - last_ns_ >= turned_ns;
    if (step < 0 && long_ago) step += whole;
    const std::int64_t order = top_ + step;
    if (order > top_) top_ = order;
    last_ns_ = note.time_ns;
    return order;
  }

 private:
  bool known_ = false;
  std::int64_t top_ = 0;
  std::int64_t last_ns_ = capture::no_time;
};

/// The transmissions of a stream by PSN, as notes.
class ByPsn {
 public:
  explicit ByPsn(const Stream& stream) : stream_(stream) {
    for (std::size_t i = 0; i < stream.sent.size(); ++i) {
      const Placed& told = stream.story[i];
      if (told.move == Move::copy) continue;
      by_psn_[stream.sent[i].psn].push_back(i);
      by_note_[stream.sent[i].note] = i;
      captured_.emplace_back(stream.sent[i].note, i);
      const auto pass = static_cast<std::size_t>(told.pass);
      if (told.move == Move::late) continue;
      if (begins_.size() <= pass) begins_.resize(pass + 1, std::numeric_limits<std::int64_t>::max());
      begins_[pass] = std::min(begins_[pass], stream.sent[i].psn);
    }
    std::sort(captured_.begin(), captured_.end());
  }
  [[nodiscard]] std::int32_t last_before(std::int64_t psn, std::int32_t note) const {
    return pick(psn, [note](std::int32_t at, std::int32_t best) { return at < note && at > best; });
  }
  [[nodiscard]] std::int32_t first_behind(std::int64_t psn, std::int32_t note) const {
    return pick(psn,
                [note](std::int32_t at, std::int32_t best) { return at > note && (best < 0 || at < best); });
  }
  /// How the last one beyond `psn` between the two notes was sent; nullptr: there is none.
  [[nodiscard]] const Placed* last_beyond(std::int64_t psn, std::int32_t from, std::int32_t to) const {
    auto at =
        std::lower_bound(captured_.begin(), captured_.end(), std::pair<std::int32_t, std::size_t>{to, 0});
    while (at != captured_.begin() && (--at)->first > from) {
      if (stream_.sent[at->second].psn > psn) return &stream_.story[at->second];
    }
    return nullptr;
  }
  [[nodiscard]] const Placed* told(std::int32_t note) const { return &stream_.story[by_note_.at(note)]; }
  [[nodiscard]] std::int64_t begins_at(std::int32_t pass) const noexcept {
    return begins_[static_cast<std::size_t>(pass)];
  }

 private:
  template <class Better>
  [[nodiscard]] std::int32_t pick(std::int64_t psn, Better better) const {
    const auto all = by_psn_.find(psn);
    std::int32_t best = -1;
    if (all == by_psn_.end()) return best;
    for (const std::size_t i : all->second) {
      if (better(stream_.sent[i].note, best)) best = stream_.sent[i].note;
    }
    return best;
  }

  const Stream& stream_;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_psn_;
  std::unordered_map<std::int32_t, std::size_t> by_note_;
  std::vector<std::pair<std::int32_t, std::size_t>> captured_;
  std::vector<std::int64_t> begins_;
};

float bits_of_share(std::uint32_t part, std::uint32_t whole) noexcept {
  const float share = (static_cast<float>(part) + 0.05F) / (static_cast<float>(whole) + 8.0F);
  return std::clamp(-std::log2(share), 0.5F, 10.0F);
}

class Explainer {
 public:
  Explainer(std::span<const Note> notes, Facts& facts)
      : notes_(notes), facts_(facts), answers_(notes, facts.acked), rulings_(notes.size()) {}

  std::vector<Ruling> run() {
    explain_requests();
    explain_responses();
    return std::move(rulings_);
  }

 private:
  [[nodiscard]] const Note& note_at(std::int32_t i) const noexcept {
    return notes_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const Note& note_of(const Sent& sent) const noexcept { return note_at(sent.note); }
  [[nodiscard]] Ruling& ruling_at(std::int32_t i) noexcept { return rulings_[static_cast<std::size_t>(i)]; }

  // What both streams have in common.
  void find_previous(std::vector<Sent>& sent) const;
  void put_in_order(Stream& stream, const StreamFact& fact) const;
  void take_out_twins(Stream& stream) const;
  void tell_story(Stream& stream, const StreamFact& fact, std::int64_t bottom, std::int64_t acked) const;
  static void learn(const Stream& stream, StreamFact& fact);
  void weigh_copies(std::vector<Sent>& sent, const StreamFact& fact, Ids ids) const;
  [[nodiscard]] Ids ids_of(const std::vector<Sent>& sent, const StreamFact& fact) const;

  // Requests.
  void explain_requests();
  [[nodiscard]] Trigger trigger_of(const Stream& stream, std::size_t i) const;
  [[nodiscard]] std::int64_t end_of_read(std::size_t read) const;
  void learn_reactions(const Stream& stream);
  [[nodiscard]] bool begins_message_of(std::int64_t psn, std::int64_t first) const;
  void rule_requests(const Stream& stream);
  void lose_requests(const Stream& stream);
  void lose_named(const Stream& stream);
  void learn_keeping(const Stream& stream);
  [[nodiscard]] bool went_back_between(const Stream& stream, std::int32_t from, std::int32_t to) const;
  [[nodiscard]] bool came_late(const Asked& asked, std::int32_t repeat, const ByPsn& sent) const;

  // Responses.
  void explain_responses();
  [[nodiscard]] Trigger asked_again(const Sent& sent, std::size_t given) const;
  [[nodiscard]] std::size_t asked_times(std::int64_t psn, std::int32_t before) const noexcept;
  void rule_responses(const Stream& stream);
  void lose_responses(const Stream& stream);
  void lose_reissued(const Stream& stream);
  [[nodiscard]] std::int64_t dense(std::int64_t psn) const noexcept;
  void find_ranges();

  /// A request with answers of its own, each time that it was captured.
  struct Issue {
    std::int64_t first = 0, end = 0;
    std::int32_t note = 0;
  };
  [[nodiscard]] bool inside_issue(std::int64_t psn) const noexcept;
  [[nodiscard]] std::int32_t issue_of(std::int64_t psn, std::int32_t before) const noexcept;

  struct Range {
    std::int64_t first = 0, end = 0, base = 0;
  };

  std::span<const Note> notes_;
  Facts& facts_;
  Answers answers_;
  std::vector<Ruling> rulings_;
  std::vector<Trigger> triggers_;             ///< by note
  std::vector<std::int32_t> request_before_;  ///< by note: the request captured last before it; -1: none
  std::vector<std::int32_t> repeats_before_;  ///< by note: how many requests before it were no new ones
  std::set<std::int64_t> message_starts_;
  std::vector<Issue> issues_;
  /// READs by first PSN, each with the furthest end of those up to it.
  std::vector<std::pair<std::int64_t, std::int64_t>> read_ends_;
  std::vector<Range> ranges_;  ///< of PSNs that have responses
};

void Explainer::find_previous(std::vector<Sent>& sent) const {
  std::unordered_map<std::int64_t, std::int32_t> last;
  last.reserve(sent.size() * 2);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto [known, fresh] = last.try_emplace(sent[i].psn, static_cast<std::int32_t>(i));
    if (fresh) continue;
    if (note_of(sent[i]).opcode == note_of(sent[static_cast<std::size_t>(known->second)]).opcode)
      sent[i].previous = known->second;
    known->second = static_cast<std::int32_t>(i);
  }
}

/// IDs of packets that overtook each other fall by a little; those of a counter never by much.
Ids Explainer::ids_of(const std::vector<Sent>& sent, const StreamFact& fact) const {
  constexpr int near = 1024;
  constexpr std::uint32_t enough = 12;
  std::uint32_t forward = 0;
  std::uint32_t back = 0;
  std::uint32_t other = 0;
  std::uint32_t constant = 0;
  std::uint32_t far_forward = 0;
  std::int64_t progress = 0;
  const Note* last = nullptr;
  for (const Sent& each : sent) {
    const Note& note = note_of(each);
    if (!note.has_ip_id) return Ids::nothing;
    if (last != nullptr) {
      const int step = static_cast<std::int16_t>(static_cast<std::uint16_t>(note.ip_id - last->ip_id));
      ++(step == 0 ? constant : step > 0 ? forward : step >= -near ? back : other);
      if (step > near) ++far_forward;
      progress += step;
    }
    last = &note;
  }
  if (forward + back + other + constant < enough) {
    forward += fact.id_forward;
    other += fact.id_other;
    constant += fact.id_constant;
  }
  const std::uint32_t changes = forward + back + other;
  if (changes <= constant) return Ids::nothing;
  const bool rises = forward >= 4 && forward > back && forward > 8 * (std::uint64_t{other} + constant / 2);
  // A counter, shuffled on the way.
  const bool shuffled = forward + back >= enough &&
                        forward + back > 16 * (std::uint64_t{far_forward} + other + constant) &&
                        progress * 2 >= static_cast<std::int64_t>(changes);
  return rises || shuffled ? Ids::order : Ids::same;
}

/// How much it takes for each to be shown twice.
void Explainer::weigh_copies(std::vector<Sent>& sent, const StreamFact& fact, Ids ids) const {
  const float usual = bits_of_share(fact.doubled, fact.single) + 1;
  for (Sent& each : sent) {
    if (each.previous < 0) continue;
    const Note& now = note_of(each);
    const Note& before = note_of(sent[static_cast<std::size_t>(each.previous)]);
    if (ids != Ids::nothing && now.has_ip_id && before.has_ip_id) {
      each.copy = now.ip_id == before.ip_id ? 0 : Sent::never;
      continue;
    }
    each.copy = now.path != before.path ? std::min(usual, 2.0F) : usual;
    const std::int64_t lag = timed(now, before) ? now.time_ns - before.time_ns : 0;
    each.copy += lag >= quiet_ns ? 6.0F : lag >= quiet_ns / 50 && usual > 4 ? 3.0F : 0.0F;
  }
}

/// What has the ID, PSN and opcode of another is the same transmission.
void Explainer::take_out_twins(Stream& stream) const {
  std::map<std::tuple<std::int64_t, std::uint16_t, std::uint8_t>, std::int32_t> seen;
  std::erase_if(stream.sent, [&](const Sent& each) {
    const Note& note = note_of(each);
    const bool fresh = seen.try_emplace({note.psn, note.ip_id, note.opcode}, each.note).second;
    if (!fresh) stream.copies.push_back(each.note);
    return !fresh;
  });
}

/// Where IDs tell the order of sending, the stream is sorted by it.
void Explainer::put_in_order(Stream& stream, const StreamFact& fact) const {
  std::vector<Sent>& sent = stream.sent;
  stream.ids = ids_of(sent, fact);
  if (stream.ids != Ids::nothing) take_out_twins(stream);
  if (stream.ids == Ids::order) {
    IdOrder ids;
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    order.reserve(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) order.emplace_back(ids.of(note_of(sent[i])), i);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Sent> sorted;
    sorted.reserve(sent.size());
    for (const auto& [at, i] : order) sorted.push_back(sent[i]);
    sent = std::move(sorted);
  }
  stream.by_then.resize(sent.size());
  std::int32_t first = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = sent.size(); i-- > 0;) {
    first = std::min(first, sent[i].note);
    stream.by_then[i] = stream.ids == Ids::order ? first : sent[i].note;
  }
  find_previous(sent);
}

void Explainer::tell_story(Stream& stream, const StreamFact& fact, std::int64_t bottom,
                           std::int64_t acked) const {
  if (stream.ids == Ids::order) {
    stream.story = tell_in_order(stream.sent);
    return;
  }
  weigh_copies(stream.sent, fact, stream.ids);
  constexpr float at_most = 6;
  const float late = std::min(bits_of_share(fact.late, fact.single) + 1, at_most);
  for (Sent& each : stream.sent) each.late = late;
  StoryFacts story;
  const auto told = [&](const Sent& each) { return note_of(each).before; };
  story.before = static_cast<std::size_t>(std::find_if_not(stream.sent.begin(), stream.sent.end(), told) -
                                          stream.sent.begin());
  story.bottom = bottom;
  story.acked = acked;
  story.home = facts_.keeps > 0 ? 1.0F : 5.0F;
  stream.story = tell(stream.sent, story);
}

void Explainer::learn(const Stream& stream, StreamFact& fact) {
  const auto most = std::uint32_t{1} << 28U;
  std::uint32_t late = 0;
  auto doubled = static_cast<std::uint32_t>(stream.copies.size());
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    if (stream.story[i].move == Move::late || stream.overtaken(i)) ++late;
    if (stream.story[i].move == Move::copy) ++doubled;
  }
  if (fact.single > most || fact.doubled > most || fact.late > most) {
    fact.single /= 2;
    fact.doubled /= 2;
    fact.late /= 2;
  }
  fact.single += static_cast<std::uint32_t>(stream.sent.size());
  fact.doubled += doubled;
  fact.late += late;
}

/// Whether the message that takes `psn` begins at `first`.
bool Explainer::begins_message_of(std::int64_t psn, std::int64_t first) const {
  const auto start = message_starts_.upper_bound(psn);
  return start != message_starts_.begin() && *std::prev(start) == first;
}

/// How long reactions take, of those that must be some: no timer ran, or who went back knew what a NAK
/// confirmed.
void Explainer::learn_reactions(const Stream& stream) {
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Sent& sent = stream.sent[i];
    if (sent.previous < 0 || note_of(sent).before) continue;
    const std::int32_t before = stream.sent[static_cast<std::size_t>(sent.previous)].note;
    const std::int32_t at = stream.by_then[i];
    for (const Asked& asked : answers_.asked_before(at)) {
      if (asked.rnr || asked.psn != sent.psn || asked.note < before ||
          !timed(note_at(asked.note), note_at(at)))
        continue;
      const std::int64_t took = note_at(at).time_ns - note_at(asked.note).time_ns;
      const bool heard =
          answers_.acked_before(asked.note) < asked.psn && answers_.acked_before(at) == asked.psn;
      if (!heard && took >= quiet_ns) break;
      if (heard && (facts_.fast_reaction_ns == 0 || took < facts_.fast_reaction_ns))
        facts_.fast_reaction_ns = took;
      facts_.slow_reaction_ns = std::max(took, facts_.slow_reaction_ns - facts_.slow_reaction_ns / 64);
      break;
    }
  }
}

/// Why the sender may have gone back to that packet, if it did.
Trigger Explainer::trigger_of(const Stream& stream, std::size_t i) const {
  const Sent& sent = stream.sent[i];
  const std::int32_t at = stream.by_then[i];
  const Note& now = note_at(at);
  const Operation operation = dissect::opcode_info(note_of(sent).opcode).operation;
  const std::int32_t before =
      sent.previous >= 0 ? stream.by_then[static_cast<std::size_t>(sent.previous)] : -1;
  const std::int64_t acked = answers_.acked_before(at);
  const bool read = operation == Operation::read_request;
  const std::int32_t last_request = request_before_[static_cast<std::size_t>(at)];
  const bool silent = last_request >= 0 && timed(now, note_at(last_request)) &&
                      now.time_ns - note_at(last_request).time_ns >= quiet_ns;
  // What was confirmed before the episode had been sent, though that is forgotten.
  const bool sent_before = sent.previous >= 0 || (sent.psn < facts_.acked && sent.psn >= facts_.first);
  Trigger best;
  const auto offer = [&](Rule rule, float bits, std::int32_t note = -1) {
    if (bits < best.bits) best = {rule, bits, note};
  };
  // A NAK that comes twice makes a sender go back twice.
  std::size_t times_sent = 0;
  constexpr std::size_t looked_back = 8;
  for (std::int32_t k = sent.previous; k >= 0 && times_sent < looked_back; ++times_sent)
    k = stream.sent[static_cast<std::size_t>(k)].previous;
  std::size_t twins = 0;
  // Nor is what a pass that was under way sent anyhow the reaction to a NAK.
  const bool passed_by =
      sent.previous > 0 && stream.sent[static_cast<std::size_t>(sent.previous) - 1].end == sent.psn;
  for (const Asked& asked : answers_.asked_before(at)) {
    const bool exact = asked.psn == sent.psn;
    if (asked.psn > sent.psn + 4096 || asked.psn < sent.psn - 1024) continue;
    if (exact && before > asked.note) {  // it was sent since
      const bool twin = ++twins >= times_sent;
      if (!asked.rnr && (twin || passed_by)) offer(Rule::sequence_nak, twin ? 4 : 5, asked.note);
      continue;
    }
    const Note& nak = note_at(asked.note);
    const std::int64_t took = timed(now, nak) ? now.time_ns - nak.time_ns : 0;
    if (asked.rnr) {
      const bool waits = took * 2 < asked.wait_ns;
      if (exact) offer(Rule::rnr_nak, waits && !silent ? 9.0F : 1.0F, asked.note);
      if (asked.psn > sent.psn && begins_message_of(asked.psn, sent.psn) && before < asked.note && !waits)
        offer(Rule::rnr_nak, 1.5F, asked.note);
      if (asked.psn < sent.psn && acked <= asked.psn && !waits) offer(Rule::rnr_nak, 9, asked.note);
      continue;
    }
    const std::int64_t reaction = facts_.reaction_ns;
    const bool too_soon = stream.ids != Ids::order && !silent && took * 2 < facts_.fast_reaction_ns;
    const bool long_ago =
        took > std::max(16 * std::max({facts_.slow_answer_ns, reaction, std::int64_t{50'000}}),
                        4 * facts_.slow_reaction_ns);
    const bool stale = silent && long_ago;
    if (exact) {
      // Who goes back to just where a NAK asked knows what it alone confirmed.
      const bool heard = answers_.acked_before(asked.note) < asked.psn && acked == asked.psn &&
                         repeats_before_[static_cast<std::size_t>(at)] ==
                             repeats_before_[static_cast<std::size_t>(asked.note)];
      offer(Rule::sequence_nak, stale && !heard ? 4.0F : too_soon ? 8.0F : 1.0F, asked.note);
      if (best.note == asked.note) best.long_ago = long_ago && !heard;
    } else if (asked.psn > sent.psn && !stale) {
      if (begins_message_of(asked.psn, sent.psn) && before < asked.note)
        offer(Rule::nak_of_message, 2, asked.note);
    } else if (!stale && acked <= sent.psn && before < asked.note) {
      offer(Rule::sequence_nak, 9, asked.note);  // its head is missing
    }
  }
  if (read && sent_before && answers_.response_missing(sent.psn, std::min(sent.end, acked), at))
    offer(Rule::read_asked_again, 2);
  if (answered_on_its_own(operation) && sent_before) offer(read ? Rule::read_asked_again : Rule::timer, 7);
  if (silent) {
    // A timer is many times what an answer takes.
    const bool short_timer = now.time_ns - note_at(last_request).time_ns < 4 * facts_.slow_answer_ns;
    offer(read ? Rule::read_asked_again : Rule::timer, sent.psn == acked  ? (short_timer ? 4.5F : 2.0F)
                                                       : sent.psn < acked ? 3.0F
                                                                          : 6.0F);
  } else {
    offer(read                      ? Rule::read_asked_again
          : facts_.answers_captured ? Rule::timer
                                    : Rule::not_captured,
          sent.psn == acked && sent_before ? 9.0F : 13.0F);
  }
  return best;
}

/// Of a READ of which nobody knows how many responses it has: up to the last that came, or the next request.
std::int64_t Explainer::end_of_read(std::size_t read) const {
  const std::int64_t first = notes_[read].psn;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = first;
  for (const Note& note : notes_) {
    if (note.psn <= first) continue;
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    if (note.request) {
      next = std::min(next, note.psn);
    } else if (info.operation == Operation::read_response && info.ends_message()) {
      next = std::min(next, note.psn + 1);
    } else if (info.operation == Operation::read_response) {
      last = std::max(last, note.psn);
    }
  }
  return next != std::numeric_limits<std::int64_t>::max() ? next : last + 1;
}

void Explainer::explain_requests() {
  Stream stream;
  triggers_.resize(notes_.size());
  std::int32_t last = -1;
  std::int32_t repeats = 0;
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    request_before_.push_back(last);
    repeats_before_.push_back(repeats);
    if (note.request) {
      last = static_cast<std::int32_t>(i);
      if (note.psn < top) ++repeats;
      top = std::max(top, note.psn + 1);
    }
    if (!note.request) {
      facts_.answers_captured = true;
      continue;
    }
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    Sent sent;
    sent.psn = note.psn;
    sent.end = note.count > 0 ? note.psn + note.count : end_of_read(i);
    sent.time_ns = note.time_ns;
    sent.note = static_cast<std::int32_t>(i);
    stream.sent.push_back(sent);
    if (info.starts_message()) message_starts_.insert(note.psn);
    if (answered_on_its_own(info.operation)) issues_.push_back({sent.psn, sent.end, sent.note});
  }
  if (stream.sent.empty()) return;
  for (const Issue& issue : issues_) read_ends_.emplace_back(issue.first, issue.end);
  std::sort(read_ends_.begin(), read_ends_.end());
  for (std::size_t i = 1; i < read_ends_.size(); ++i)
    read_ends_[i].second = std::max(read_ends_[i].second, read_ends_[i - 1].second);
  put_in_order(stream, facts_.requests);
  learn_reactions(stream);
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Trigger trigger = trigger_of(stream, i);
    stream.sent[i].back = trigger.bits;
    triggers_[static_cast<std::size_t>(stream.sent[i].note)] = trigger;
  }
  tell_story(stream, facts_.requests, facts_.first, facts_.acked);
  learn(stream, facts_.requests);
  rule_requests(stream);
  learn_keeping(stream);
  lose_requests(stream);
  lose_named(stream);
}

[[nodiscard]] Cause cause_by(Rule rule, Operation operation) noexcept {
  const bool read = operation == Operation::read_request;
  switch (rule) {
    case Rule::sequence_nak:
    case Rule::nak_of_message:
      return Cause::nak;
    case Rule::rnr_nak:
      return Cause::rnr;
    case Rule::not_captured:
      return read ? Cause::read_retry : Cause::unknown;
    default:
      return read ? Cause::read_retry : Cause::timeout;
  }
}

[[nodiscard]] Rule rule_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::nak:
      return Rule::sequence_nak;
    case Cause::rnr:
      return Rule::rnr_nak;
    case Cause::read_retry:
      return Rule::read_asked_again;
    case Cause::timeout:
      return Rule::timer;
    default:
      return Rule::not_captured;
  }
}

void Explainer::rule_requests(const Stream& stream) {
  for (const std::int32_t copy : stream.copies)
    ruling_at(copy) = {.what = Ruling::What::copy, .rule = Rule::same_id};
  std::vector<Rule> passes(1, Rule::none);
  std::unordered_map<std::int64_t, std::uint64_t> last_frame;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Sent& sent = stream.sent[i];
    const Placed& told = stream.story[i];
    const Note& note = note_of(sent);
    const Operation operation = dissect::opcode_info(note.opcode).operation;
    Ruling& ruling = ruling_at(sent.note);
    if (told.move == Move::copy) {
      ruling.what = Ruling::What::copy;
      ruling.rule = Rule::in_turn;
      if (const auto known = last_frame.find(sent.psn); known != last_frame.end())
        ruling.original = known->second;
      continue;
    }
    const Trigger& trigger = triggers_[static_cast<std::size_t>(sent.note)];
    const auto pass = static_cast<std::size_t>(told.pass);
    if (passes.size() <= pass) passes.resize(pass + 1, Rule::none);
    if (told.move == Move::back) {
      passes[pass] = trigger.rule;
      ruling.begins_pass = true;
    }
    const auto known = last_frame.find(sent.psn);
    if (known != last_frame.end()) ruling.original = known->second;
    last_frame[sent.psn] = note.frame;
    const bool again = told.move == Move::late ? !told.of_first : sent.psn < told.top;
    if (!again) {
      const bool late = told.move == Move::late || stream.overtaken(i);
      ruling.what = late ? Ruling::What::late : Ruling::What::first;
      ruling.rule = told.move == Move::late ? Rule::fills_gap : late ? Rule::sent_earlier : Rule::first;
      continue;
    }
    ruling.what = Ruling::What::repeat;
    if (note.before) {
      ruling.cause = note.cause;
      passes[pass] = rule_of(note.cause);
      continue;
    }
    // A NAK that comes while the pass is under way explains the rest of it.
    constexpr float sure = 1;
    const bool named =
        trigger.bits <= sure && (trigger.rule == Rule::sequence_nak || trigger.rule == Rule::rnr_nak);
    if (told.move != Move::late && named && !trigger.long_ago) passes[pass] = trigger.rule;
    ruling.rule = passes[pass] == Rule::none ? trigger.rule : passes[pass];
    ruling.cause = cause_by(ruling.rule, operation);
  }
}

/// What a pass left out was lost upstream if it was needed again, and not captured if nobody missed it.
void Explainer::lose_requests(const Stream& stream) {
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_psn;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    if (stream.story[i].move != Move::copy) by_psn[stream.sent[i].psn].push_back(i);
  }
  // The gaps of a pass, and what came late into them.
  const auto came_late = [&](std::int64_t psn, std::size_t after, std::int32_t pass) {
    const auto all = by_psn.find(psn);
    if (all == by_psn.end()) return false;
    return std::any_of(all->second.begin(), all->second.end(), [&](std::size_t i) {
      return i > after && stream.story[i].move == Move::late && stream.story[i].pass == pass;
    });
  };
  const auto next_sent = [&](std::int64_t psn, std::size_t after) -> std::ptrdiff_t {
    const auto all = by_psn.find(psn);
    if (all == by_psn.end()) return -1;
    const auto next = std::upper_bound(all->second.begin(), all->second.end(), after);
    return next == all->second.end() ? -1 : static_cast<std::ptrdiff_t>(*next);
  };
  constexpr std::int64_t looked_at = 4096;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Placed& told = stream.story[i];
    const Sent& shows = stream.sent[i];
    if (told.move != Move::ahead || shows.psn - told.cursor > looked_at) continue;
    if (note_of(shows).before) continue;
    for (std::int64_t psn = told.cursor; psn < shows.psn; ++psn) {
      if (inside_issue(psn) || came_late(psn, i, told.pass)) continue;
      const bool first = psn >= told.top;
      const std::ptrdiff_t next = next_sent(psn, i);
      const std::int32_t confirmed = answers_.confirmed_at(psn);
      if (next < 0) {
        if (confirmed >= 0 && first) ++ruling_at(confirmed).missed_other;
        continue;
      }
      const Sent& repeat = stream.sent[static_cast<std::size_t>(next)];
      const Note& again = note_of(repeat);
      const bool confirmed_before =
          confirmed >= 0 && confirmed < repeat.note &&
          (!timed(again, note_at(confirmed)) || again.time_ns - note_at(confirmed).time_ns >= 0);
      if (!first && answers_.acked_before(shows.note) > psn) continue;  // no need to send it any more
      if (confirmed_before && first) {
        ++ruling_at(confirmed).missed_other;
      } else if (!confirmed_before) {
        ++ruling_at(repeat.note).lost_before;
      }
    }
  }
}

/// Whether what a NAK asked for had come all the same, late: the responder confirms it before it was sent
/// again, or confirms the repeat as a duplicate at once, although nobody asked for an acknowledgement
/// (IBTA 9.7.5.1.4).
bool Explainer::came_late(const Asked& asked, std::int32_t repeat, const ByPsn& sent) const {
  const std::int32_t confirmed = answers_.confirmed_at(asked.psn);
  if (confirmed < 0) return false;
  const Note& ack = note_at(confirmed);
  if (repeat < 0 || confirmed < repeat) return true;
  if (timed(ack, note_at(repeat)) && ack.time_ns - note_at(repeat).time_ns < facts_.fastest_answer_ns / 2)
    return true;
  const bool plain = dissect::opcode_info(ack.opcode).operation == Operation::acknowledge && ack.has_aeth &&
                     (ack.aeth >> 29U & 3U) == 0;
  if (!plain) return false;
  if (ack.psn == asked.psn) return !note_at(repeat).asks;
  // What came behind it before it was repeated, a responder that takes in order only had thrown away.
  if (facts_.keeps > 0) return false;
  const std::int32_t last = sent.last_before(ack.psn, confirmed);
  return last >= 0 && last < repeat;
}

/// Whether anything was sent again between two notes.
bool Explainer::went_back_between(const Stream& stream, std::int32_t from, std::int32_t to) const {
  return std::any_of(stream.sent.begin(), stream.sent.end(), [&](const Sent& sent) {
    return sent.note > from && sent.note < to &&
           rulings_[static_cast<std::size_t>(sent.note)].what == Ruling::What::repeat;
  });
}

/// A responder that keeps what comes early asks for one packet, and its requester sends just that.
void Explainer::learn_keeping(const Stream& stream) {
  for (std::size_t i = 0; i + 1 < stream.sent.size(); ++i) {
    const Ruling& ruling = rulings_[static_cast<std::size_t>(stream.sent[i].note)];
    if (!ruling.begins_pass || ruling.rule != Rule::sequence_nak || stream.sent[i].end >= stream.story[i].top)
      continue;
    const Move next = stream.story[i + 1].move;
    if (next == Move::home || next == Move::back) facts_.keeps = std::min(facts_.keeps + 1, 4);
    if (next == Move::next) facts_.keeps = std::max(facts_.keeps - 1, -4);
  }
}

/// A sequence NAK names what was lost behind the capture, if it was captured in time.
void Explainer::lose_named(const Stream& stream) {
  const ByPsn sent(stream);
  std::unordered_map<std::int64_t, std::int32_t> claimed;  // PSN -> transmission (note) that was lost
  std::vector<std::int32_t> lost;                          // the NAKs
  std::int64_t rnr_psn = -1;
  const Asked* last_nak = nullptr;
  for (const Asked& asked : answers_.asked()) {
    if (asked.rnr) {
      rnr_psn = asked.psn;
      continue;
    }
    if (asked.psn == rnr_psn || note_at(asked.note).before) continue;
    const std::int32_t named = sent.last_before(asked.psn, asked.note);
    // One NAK after another, and nothing sent again between them: packets come late, not never.
    const bool no_reaction_yet = last_nak != nullptr && last_nak->psn < asked.psn &&
                                 !went_back_between(stream, last_nak->note, asked.note);
    last_nak = &asked;
    if (no_reaction_yet && facts_.keeps <= 0) continue;
    if (named < 0 || (claimed.contains(asked.psn) && claimed[asked.psn] == named)) continue;
    if (rulings_[static_cast<std::size_t>(named)].what == Ruling::What::late) continue;
    // What made the responder ask: it is of a pass in which the named one came by as well, or it lies in a
    // gap.
    const Placed* const shown_by = sent.last_beyond(asked.psn, named, asked.note);
    if (shown_by == nullptr) continue;
    const Placed& how = *sent.told(named);
    if (how.pass != shown_by->pass && sent.begins_at(shown_by->pass) <= asked.psn) continue;
    claimed[asked.psn] = named;
    if (came_late(asked, sent.first_behind(asked.psn, asked.note), sent)) {
      ++facts_.named_late;
    } else {
      ++facts_.named_lost;
      lost.push_back(asked.note);
    }
  }
  // Where most that were named came late after all, a NAK proves nothing.
  constexpr std::uint32_t some = 4;
  if (facts_.named_late >= some && facts_.named_late > 2 * facts_.named_lost) return;
  for (const std::int32_t nak : lost) ++ruling_at(nak).lost_after;
}

/// No request has a PSN behind the first of a READ.
bool Explainer::inside_issue(std::int64_t psn) const noexcept {
  const auto behind = std::upper_bound(
      read_ends_.begin(), read_ends_.end(), psn,
      [](std::int64_t at, const std::pair<std::int64_t, std::int64_t>& read) { return at <= read.first; });
  return behind != read_ends_.begin() && psn < std::prev(behind)->second;
}

/// The last request before that note whose answer has this PSN; -1: none was captured.
std::int32_t Explainer::issue_of(std::int64_t psn, std::int32_t before) const noexcept {
  for (auto issue = issues_.rbegin(); issue != issues_.rend(); ++issue) {
    if (issue->note < before && issue->first <= psn && psn < issue->end)
      return static_cast<std::int32_t>(issues_.rend() - issue) - 1;
  }
  return -1;
}

/// Between the responses of two READs lie PSNs of other requests: the responses are numbered without them.
void Explainer::find_ranges() {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  all.reserve(issues_.size());
  for (const Issue& issue : issues_) all.emplace_back(issue.first, issue.end);
  for (const Note& note : notes_) {
    if (!note.request && dissect::opcode_info(note.opcode).operation != Operation::acknowledge)
      all.emplace_back(note.psn, note.psn + 1);
  }
  std::sort(all.begin(), all.end());
  for (const auto& [first, end] : all) {
    if (ranges_.empty() || first > ranges_.back().end) {
      const std::int64_t base =
          ranges_.empty() ? 0 : ranges_.back().base + ranges_.back().end - ranges_.back().first;
      ranges_.push_back({first, end, base});
    } else {
      ranges_.back().end = std::max(ranges_.back().end, end);
    }
  }
}

std::int64_t Explainer::dense(std::int64_t psn) const noexcept {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), psn,
                                       [](std::int64_t at, const Range& range) { return at < range.first; });
  const Range& range = *std::prev(behind);
  return range.base + psn - range.first;
}

/// Whether the responder was asked for it more often than it has answered so far: `given` times.
Trigger Explainer::asked_again(const Sent& sent, std::size_t given) const {
  const std::int64_t psn = note_of(sent).psn;
  std::size_t asked = 0;
  bool begins = false;
  for (const Issue& issue : issues_) {
    if (issue.note > sent.note) break;
    if (psn < issue.first || psn >= issue.end) continue;
    ++asked;
    begins = begins || issue.first == psn;
  }
  Trigger trigger;
  trigger.rule = Rule::responds_again;
  trigger.bits = asked > 1 && asked > given ? (begins ? 1.0F : 7.0F) : asked == 0 ? 10.0F : 13.0F;
  return trigger;
}

/// How often it was asked for before that note.
std::size_t Explainer::asked_times(std::int64_t psn, std::int32_t before) const noexcept {
  return static_cast<std::size_t>(std::count_if(issues_.begin(), issues_.end(), [&](const Issue& issue) {
    return issue.note < before && issue.first <= psn && psn < issue.end;
  }));
}

void Explainer::explain_responses() {
  Stream stream;
  find_ranges();
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (note.request || dissect::opcode_info(note.opcode).operation == Operation::acknowledge) continue;
    Sent sent;
    sent.psn = dense(note.psn);
    sent.end = sent.psn + 1;
    sent.time_ns = note.time_ns;
    sent.note = static_cast<std::int32_t>(i);
    stream.sent.push_back(sent);
  }
  if (stream.sent.empty()) return;
  put_in_order(stream, facts_.responses);
  std::unordered_map<std::int64_t, std::size_t> given;
  for (Sent& sent : stream.sent) sent.back = asked_again(sent, given[sent.psn]++).bits;
  tell_story(stream, facts_.responses, stream.sent.front().psn, stream.sent.front().psn);
  learn(stream, facts_.responses);
  rule_responses(stream);
  lose_responses(stream);
  lose_reissued(stream);
}

void Explainer::rule_responses(const Stream& stream) {
  for (const std::int32_t copy : stream.copies)
    ruling_at(copy) = {.what = Ruling::What::copy, .rule = Rule::same_id};
  std::unordered_map<std::int64_t, std::uint64_t> last_frame;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Sent& sent = stream.sent[i];
    const Placed& told = stream.story[i];
    const Note& note = note_of(sent);
    Ruling& ruling = ruling_at(sent.note);
    const auto known = last_frame.find(note.psn);
    if (known != last_frame.end()) ruling.original = known->second;
    if (told.move == Move::copy) {
      ruling.what = Ruling::What::copy;
      ruling.rule = Rule::in_turn;
      continue;
    }
    last_frame[note.psn] = note.frame;
    ruling.begins_pass = told.move == Move::back;
    const bool late = told.move == Move::late || stream.overtaken(i);
    // Confirmed by another answer before, it had been executed, and answered.
    const bool executed =
        !late && answers_.acked_before(sent.note) > note.psn && asked_times(note.psn, sent.note) > 1;
    const bool again = told.move == Move::late ? !told.of_first : sent.psn < told.top || executed;
    if (!again) {
      ruling.what = late ? Ruling::What::late : Ruling::What::first;
      ruling.rule = told.move == Move::late ? Rule::fills_gap : late ? Rule::sent_earlier : Rule::first;
      continue;
    }
    ruling.what = Ruling::What::repeat;
    ruling.rule = Rule::responds_again;
    const bool read = dissect::opcode_info(note.opcode).operation == Operation::read_response;
    ruling.cause = read ? Cause::read_retry : Cause::timeout;
    const std::int32_t issue = issue_of(note.psn, sent.note);
    if (issue >= 0) {
      const Ruling& asked = rulings_[static_cast<std::size_t>(issues_[static_cast<std::size_t>(issue)].note)];
      if (asked.what == Ruling::What::repeat && asked.cause != Cause::unknown) ruling.cause = asked.cause;
    }
  }
}

void Explainer::lose_responses(const Stream& stream) {
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_psn;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    if (stream.story[i].move != Move::copy) by_psn[stream.sent[i].psn].push_back(i);
  }
  constexpr std::int64_t looked_at = 4096;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Placed& told = stream.story[i];
    const Sent& shows = stream.sent[i];
    if (told.move != Move::ahead || shows.psn - told.cursor > looked_at || note_of(shows).before) continue;
    for (std::int64_t at = told.cursor; at < shows.psn; ++at) {
      std::ptrdiff_t next = -1;
      bool late = false;
      if (const auto all = by_psn.find(at); all != by_psn.end()) {
        for (const std::size_t k : all->second) {
          if (k <= i) continue;
          late = late || (stream.story[k].move == Move::late && stream.story[k].pass == told.pass);
          if (next < 0) next = static_cast<std::ptrdiff_t>(k);
        }
      }
      // If nobody asks for it again, it was delivered: the end of the capture tells.
      if (!late && next >= 0) ++ruling_at(stream.sent[static_cast<std::size_t>(next)].note).lost_before;
    }
  }
}

/// A READ that is issued again names the response that its requester lacks.
void Explainer::lose_reissued(const Stream& stream) {
  std::unordered_map<std::int64_t, std::int32_t> claimed;
  constexpr std::int64_t at_once_ns = 10'000'000;  // a slow host's reaction; less than most timers
  for (std::size_t i = 0; i < issues_.size(); ++i) {
    const Issue& issue = issues_[i];
    const Ruling& how = rulings_[static_cast<std::size_t>(issue.note)];
    if (how.what != Ruling::What::repeat || !how.begins_pass || note_at(issue.note).before) continue;
    if (how.cause == Cause::nak || how.cause == Cause::rnr) continue;
    const std::int64_t psn = issue.first;
    const std::int32_t given = answers_.response_before(psn, issue.note);
    if (given < 0 || (claimed.contains(psn) && claimed[psn] == given)) continue;
    const Ruling& answer = rulings_[static_cast<std::size_t>(given)];
    if (answer.what == Ruling::What::late) continue;
    // Since it was asked for last, or it is not what is missed now.
    std::int32_t asked = -1;
    bool within = false;
    for (std::size_t k = 0; k < i; ++k) {
      if (psn < issues_[k].first || psn >= issues_[k].end) continue;
      asked = issues_[k].note;
      within = within || issues_[k].first < psn;
    }
    if (given < asked) continue;
    bool later = false;
    std::int64_t last_ns = capture::no_time;
    const std::int64_t place = dense(psn);
    for (const Sent& sent : stream.sent) {
      if (sent.note >= issue.note || sent.note < given || sent.psn <= place) continue;
      later = true;
      last_ns = std::max(last_ns, sent.time_ns);
    }
    const Note& now = note_at(issue.note);
    const bool soon = last_ns != capture::no_time && now.time_ns - last_ns < at_once_ns;
    if (!within && !(later && soon)) continue;
    if (answer.what == Ruling::What::repeat && timed(now, note_at(given)) && facts_.ask_again_ns != 0 &&
        now.time_ns - note_at(given).time_ns < facts_.ask_again_ns)
      continue;
    claimed[psn] = given;
    ++ruling_at(issue.note).lost_after;
  }
}

}  // namespace

std::vector<Ruling> explain(std::span<const Note> notes, Facts& facts) {
  return Explainer(notes, facts).run();
}

}  // namespace roce::analyze::episode
