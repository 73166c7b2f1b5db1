// SPDX-License-Identifier: Apache-2.0
// Incidents: those of explained episodes, and what ends a connection or is damaged without any.
#include <algorithm>
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

namespace {

constexpr std::size_t damaged_at_most = 64;

bool is_response_packet(const Held& packet) {
  return dissect::opcode_info(packet.record.opcode).response;
}

/// The silences of both sides of a connection between the packets of an episode.
class Silences {
 public:
  /// `last`: of each side, the time of its last packet before.
  Silences(std::array<std::int64_t, 2> last, std::span<const Held> packets) : packets_(packets) {
    std::array<std::int64_t, 2> last_answer = last;
    before_.reserve(packets.size());
    for (const Held& packet : packets) {
      const unsigned side = packet.side;
      before_.push_back({last[side], last_answer[side]});
      last[side] = std::max(last[side], packet.record.time_ns);
      if (is_response_packet(packet)) last_answer[side] = last[side];
    }
  }
  /// The longest that end between the first packet of an incident and the one behind its last: by side, of
  /// all that the requester sends, and of the answers to it.
  [[nodiscard]] std::array<Silence, 2> longest_of(const Incident& incident) const;

 private:
  struct Before {
    std::int64_t any = capture::no_time;
    std::int64_t answer = capture::no_time;
  };
  std::span<const Held> packets_;
  std::vector<Before> before_;  ///< by packet: the time of the one of its side before it
};

std::array<Silence, 2> Silences::longest_of(const Incident& incident) const {
  std::array<Silence, 2> longest;
  std::array<bool, 2> over{};
  const auto first = std::partition_point(packets_.begin(), packets_.end(), [&](const Held& each) {
    return each.number <= incident.first_frame;
  });
  for (auto each = first; each != packets_.end() && !(over[0] && over[1]); ++each) {
    const unsigned side = each->side;
    if (over[side] || (side != incident.side && !is_response_packet(*each))) continue;
    over[side] = each->number > incident.last_frame;
    const Before& before = before_[static_cast<std::size_t>(each - packets_.begin())];
    const Silence now{side == incident.side ? before.any : before.answer, each->record.time_ns};
    if (now.from_ns == capture::no_time || now.until_ns == capture::no_time) continue;
    if (now.length_ns() > longest[side].length_ns()) longest[side] = now;
  }
  return longest;
}

}  // namespace

/// The incidents of an explained episode, of the requests of one side. `held`: by note from `before` on, its
/// packet.
void Tracker::Impl::note_incidents(Track& track, unsigned requester, std::span<const episode::Note> notes,
                                   const episode::Explanation& said, const episode::Facts& facts,
                                   std::span<const Held* const> packets, std::span<const Held> episode) {
  std::vector<episode::Damaged> damaged;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < track.damaged.size(); ++i) {
    const DamagedPacket& each = track.damaged[i];
    if (each.requester != requester) continue;
    damaged.push_back({track.spaces[requester]->extended(each.psn), each.time_ns, each.frame, each.request});
    places.push_back(i);
  }
  episode::Incidents found = episode::incidents_of(notes, said, facts, damaged);
  const std::size_t before = notes.size() - packets.size();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::int32_t of = found.of_note[before + i];
    if (of >= 0 && packets[i]->record.has(PacketRecord::selected))
      found.all[static_cast<std::size_t>(of)].selected = true;
  }
  std::vector<std::uint32_t> numbers;
  std::array<std::int64_t, 2> last{capture::no_time, capture::no_time};
  for (unsigned side = 0; side < 2; ++side) {
    if (track.places[side] == no_place) continue;
    if (const Flow& flow = flows.at(track.places[side]); flow.any_time) last[side] = flow.last_time_ns;
  }
  const Silences silences(last, found.all.empty() ? std::span<const Held>() : episode);
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    Incident& incident = found.all[i];
    incident.connection = track.result.id;
    incident.side = static_cast<std::uint8_t>(requester);
    incident.silent = silences.longest_of(incident);
    const std::uint32_t known = incident_with(incident, found.asked_by[i]);
    if (known != 0) incidents.at(known).absorb(incident);
    numbers.push_back(known != 0 ? known : incidents.add(incident));
  }
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (found.of_note[i] >= 0)
      publish_incident(notes[i].frame, numbers[static_cast<std::size_t>(found.of_note[i])]);
  }
  for (std::size_t i = damaged.size(); i-- > 0;) {
    if (found.of_damaged[i] < 0) continue;
    publish_incident(damaged[i].frame, numbers[static_cast<std::size_t>(found.of_damaged[i])]);
    track.damaged.erase(track.damaged.begin() + static_cast<std::ptrdiff_t>(places[i]));
  }
}

void Tracker::Impl::note_losses(const Track& track, unsigned requester, std::span<const episode::Note> notes,
                                const episode::Explanation& said) {
  const auto loss_of = [&](std::int64_t psn, const episode::Note& shown) {
    return LostTransmission{{},
                            static_cast<std::uint32_t>(psn) & dissect::serial_mask,
                            track.result.id,
                            shown.frame,
                            shown.time_ns};
  };
  const auto side_of = [&](bool request) { return request ? requester : requester ^ 1U; };
  const auto note = [&](bool request, std::int64_t psn, const episode::Note& shown) {
    note_loss(track, side_of(request), loss_of(psn, shown), lost_packets);
  };
  for (const episode::Loss& loss : said.losses) {
    const episode::Note& shown = notes[static_cast<std::size_t>(loss.shown)];
    if (loss.where == Lost::before_capture || loss.where == Lost::after_capture) {
      note(loss.request, loss.psn, shown);
    } else if (loss.where == Lost::undecided) {
      note_loss(track, side_of(loss.request), loss_of(loss.psn, shown), perhaps_lost);
    }
  }
  for (const episode::Hole& hole : said.holes)
    note_loss(track, side_of(hole.request), loss_of(hole.psn, notes[static_cast<std::size_t>(hole.shown)]),
              perhaps_lost);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const episode::Ruling& ruling = said.rulings[i];
    if (ruling.doubt == episode::Doubt::none) continue;
    const auto lost = std::find_if(notes.begin(), notes.end(), [&](const episode::Note& each) {
      return each.frame == ruling.doubt_frame;
    });
    if (lost != notes.end()) note(lost->request, lost->psn, notes[i]);
  }
}

void Tracker::Impl::note_missed(PsnSpace& space, std::span<const episode::Note> notes,
                                const episode::Explanation& said) {
  for (const episode::Loss& loss : said.losses) {
    if (loss.where == Lost::by_capture && !loss.request) space.miss_response(loss.psn, shared);
  }
  for (const episode::MissingRow& row : said.missing) {
    if (row.from < 0) continue;
    const episode::Note& from = notes[static_cast<std::size_t>(row.from)];
    const episode::Note& to = notes[static_cast<std::size_t>(row.to)];
    shared.gaps.add(UnseenRow{from.frame, to.frame, from.time_ns, to.time_ns, row.packets, row.delivered,
                              !row.delivered});
  }
}

void Tracker::Impl::note_loss(const Track& track, unsigned side, LostTransmission loss,
                              std::vector<LostTransmission>& losses) {
  if (track.places[side] == no_place || losses.size() >= LostTransmission::at_most) return;
  loss.key = flows.at(track.places[side]).key;
  losses.push_back(loss);
}

/// The number of the incident of the same requests that has this frame; 0: there is none.
std::uint32_t Tracker::Impl::incident_with(const Incident& like, std::uint64_t frame) {
  const std::vector<std::uint32_t>& own = incidents.of(like.connection);
  const auto found = std::find_if(own.rbegin(), own.rend(), [&](std::uint32_t number) {
    const Incident& each = incidents.at(number);
    return each.side == like.side && each.first_frame <= frame && frame <= each.last_frame;
  });
  return frame == 0 || found == own.rend() ? 0 : *found;
}

void Tracker::Impl::publish_incident(std::uint64_t frame, std::uint32_t number) {
  if (shared.verdicts == nullptr || number == 0) return;
  if (Verdict* const kept = shared.verdicts->at(frame); kept != nullptr && kept->incident == 0)
    kept->incident = number & Verdict::incidents_at_most;
}

/// A packet with a wrong ICRC: its receiver throws it away, and what follows from that will be seen.
void Tracker::Impl::note_damaged(Track& track, unsigned side, const PacketRecord& record,
                                 std::uint64_t number) {
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  if (!record.icrc_wrong() || !info.defined || (!info.request && !info.response)) return;
  if (track.damaged.size() >= damaged_at_most) {
    damaged_alone(track, track.damaged.front());
    track.damaged.erase(track.damaged.begin());
  }
  track.damaged.push_back({record.time_ns, number, record.psn, info.request,
                           record.has(PacketRecord::selected),
                           static_cast<std::uint8_t>(info.response ? side ^ 1U : side)});
}

/// Nothing was sent again for it.
void Tracker::Impl::damaged_alone(const Track& track, const DamagedPacket& packet) {
  Incident incident = episode::incident_of({packet.psn, packet.time_ns, packet.frame, packet.request});
  incident.connection = track.result.id;
  incident.side = packet.requester;
  incident.selected = packet.selected;
  publish_incident(packet.frame, incidents.add(incident));
}

/// At the end of a connection: what ended it, and what was damaged without consequence.
void Tracker::Impl::conclude_incidents(Track& track) {
  const Connection& c = track.result;
  for (const DamagedPacket& packet : std::exchange(track.damaged, {})) damaged_alone(track, packet);
  for (unsigned side = 0; side < 2; ++side) {
    const Requester& requester = c.requester[side];
    Incident* open = nullptr;  // the last that was not over
    for (const std::uint32_t number : incidents.of(c.id)) {
      Incident& incident = incidents.at(number);
      if (incident.side == side && !incident.over && incident.what != IncidentKind::corruption)
        open = &incident;
    }
    if (requester.retries_exhausted) give_up(c, side, open, IncidentKind::path_silent);
    if (requester.rnr_exhausted) give_up(c, side, open, IncidentKind::rnr_exhausted);
    if (requester.refused_fatally) note_refused(c, side);
  }
}

/// The requester gave up: that is what the incident was that was not over.
void Tracker::Impl::give_up(const Connection& c, unsigned side, Incident* open, IncidentKind what) {
  const RequesterTrouble& trouble = *c.requester[side].trouble;
  const bool silent = what == IncidentKind::path_silent;
  if (open == nullptr && silent) {
    // The last of its retries may be part of one that seemed to be over.
    Incident like;
    like.connection = c.id;
    like.side = static_cast<std::uint8_t>(side);
    if (const std::uint32_t number = incident_with(like, trouble.worst_chain.last_frame); number != 0)
      open = &incidents.at(number);
  }
  if (open != nullptr) {
    open->what = what;
    open->over = true;
    return;
  }
  const EventLog* const log =
      c.sent[silent ? side : side ^ 1U].find(silent ? Event::retries_exhausted : Event::rnr_exhausted);
  Incident incident;
  incident.connection = c.id;
  incident.side = static_cast<std::uint8_t>(side);
  incident.what = what;
  incident.learned = silent ? LearnedBy::timer : LearnedBy::rnr_nak;
  incident.over = incident.selected = true;
  incident.confidence = 0.8F;
  if (silent) {
    const RetryChain& chain = trouble.worst_chain;
    incident.retries = incident.repeated_packets = chain.resends;
    incident.cause = Cause::timeout;
    incident.start_ns = chain.first_time_ns;
    incident.end_ns = chain.last_time_ns;
    incident.first_frame = chain.first_frame;
    incident.last_frame = chain.last_frame;
    incident.stalled_ns = std::max<std::int64_t>(chain.last_time_ns - chain.first_time_ns, 0);
  } else if (log != nullptr) {
    incident.place = IncidentPlace::responder;
    incident.known_by(PlaceEvidence::nak);
    incident.start_ns = incident.end_ns = log->first_time_ns;
    incident.first_frame = incident.last_frame = log->frames[0];
    if (trouble.rnr != nullptr) {
      incident.retries = static_cast<std::uint32_t>(trouble.rnr->longest_chain);
      incident.rnr_wait_ns = static_cast<std::int64_t>(trouble.rnr->coded_wait_ns);
    }
  }
  incidents.add(incident);
}

/// Refused requests of which no episode tells: their own direction was not captured.
void Tracker::Impl::note_refused(const Connection& c, unsigned side) {
  for (const RefusedRequest& refused : c.requester[side].trouble->refused) {
    const auto& known = incidents.of(c.id);
    const bool told = std::any_of(known.begin(), known.end(), [&](std::uint32_t number) {
      const Incident& each = incidents.at(number);
      return each.what == IncidentKind::refused_request && each.side == side &&
             each.first_frame <= refused.nak_frame && refused.nak_frame <= each.last_frame;
    });
    if (told) continue;
    Incident incident;
    incident.connection = c.id;
    incident.side = static_cast<std::uint8_t>(side);
    incident.what = IncidentKind::refused_request;
    incident.place = IncidentPlace::responder;
    incident.known_by(PlaceEvidence::nak);
    incident.learned = LearnedBy::fatal_nak;
    incident.over = incident.selected = true;
    incident.first_frame = refused.request_frame != 0 ? refused.request_frame : refused.nak_frame;
    incident.last_frame = refused.nak_frame;
    for (const Event event : {Event::nak_invalid_request, Event::nak_remote_access_error,
                              Event::nak_remote_operational_error, Event::nak_invalid_rd_request}) {
      if (const EventLog* const log = c.sent[side ^ 1U].find(event))
        incident.start_ns = incident.end_ns = log->first_time_ns;
    }
    publish_incident(refused.nak_frame, incidents.add(incident));
  }
}

}  // namespace roce::analyze
