// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/episode/rules.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/incident_columns.hpp"

namespace roce::analyze {
namespace {

using I = const Incident&;

/// Names of the bits that are set.
template <class Names>
std::vector<std::string_view> names_of_bits(unsigned bits, const Names& names) {
  std::vector<std::string_view> set;
  for (std::size_t i = 0; i < names.all().size(); ++i) {
    if ((bits >> i & 1U) != 0) set.push_back(names.all()[i]);
  }
  return set;
}

std::optional<std::int64_t> known_span(std::int64_t ns) {
  return ns < 0 ? std::nullopt : std::optional(ns);
}

const Incident& incident_itself(I incident) {
  return incident;
}

const JsonObject<Incident>& incident_learned_object() {
  static const auto object = [] {
    JsonObject<Incident> o("incident_learned");
    o.key("by", "how the sender learned of it", [](I i) {
       return learned_by_names[i.learned];
     }).of(learned_by_names.all());
    o.key("after_ns", "since the start, of a timer since the transmission it waits for; null: not known",
          [](I i) { return known_span(i.learned_after_ns); });
    o.key("retry", "how often the packet that was sent again most often was", &Incident::retries);
    o.key("rnr_wait_ns", "how long the last RNR NAK asked to wait", &Incident::rnr_wait_ns);
    return o;
  }();
  return object;
}

const JsonObject<Incident>& incident_lost_object() {
  static const auto object = [] {
    JsonObject<Incident> o("incident_lost");
    o.key("at_least", "transmissions that were lost, at least", [](I i) { return i.lost_at_least(); });
    o.key("at_most", "transmissions that may have been lost", &Incident::lost_at_most);
    o.key("before_capture", "of at_least: upstream of the capture point", &Incident::lost_before);
    o.key("after_capture", "of at_least: downstream of the capture point", &Incident::lost_after);
    o.key("again", "how often the repeat was lost as well", &Incident::lost_again);
    o.key("least_bytes", "the smallest of them on the wire; 0: not known of all",
          &Incident::lost_least_bytes);
    return o;
  }();
  return object;
}

const JsonObject<Incident>& incident_repeated_object() {
  static const auto object = [] {
    JsonObject<Incident> o("incident_repeated");
    o.key("packets", "packets that were sent again", &Incident::repeated_packets);
    o.key("bytes", "their bytes on the wire", &Incident::repeated_bytes);
    return o;
  }();
  return object;
}

const JsonObject<Incident>& incident_discarded_object() {
  static const auto object = [] {
    JsonObject<Incident> o("incident_discarded");
    o.key("packets", "packets that the receiver threw away", &Incident::discarded_packets);
    o.key("bytes", "their bytes on the wire", &Incident::discarded_bytes);
    o.key("at_most", "true: they may have been lost instead", [](I) { return true; });
    return o;
  }();
  return object;
}

const JsonObject<Incident>& incident_answers_object() {
  static const auto object = [] {
    JsonObject<Incident> o("incident_answers");
    o.key("early_ns", "the earlier half of the last answers before it, median; 0: not known",
          &Incident::answers_early_ns);
    o.key("late_ns", "the later half of them, median; 0: not known", &Incident::answers_late_ns);
    return o;
  }();
  return object;
}

const JsonObject<Incident>& incident_object() {
  static const auto object = [] {
    JsonObject<Incident> o("incident");
    o.key("id", "from 0: the roce.incident of its packets", &Incident::id);
    o.key("connection", "id of the connection", &Incident::connection);
    o.key("requester", "whose requests they are", [](I i) {
       return json_side_names[i.side == 0 ? 0 : 1];
     }).of(json_side_names);
    o.key("start", "time of the first packet that shows it", [](I i) { return json_time(i.start_ns); });
    o.key("end", "time of the packet that shows that it is over, else of its last",
          [](I i) { return json_time(i.end_ns); });
    o.key("what", "what happened", [](I i) {
       return incident_kind_names[i.what];
     }).of(incident_kind_names.all());
    o.key("cause",
          "cause of the first retransmission, as roce.analysis.retransmission.cause; null without one",
          [](I i) { return unless_empty(cause_name(i.cause)); })
        .of(cause_names.all());
    o.key("of", "what was lost or came late", [](I i) {
       return i.of_responses ? "responses" : "requests";
     }).of({"requests", "responses"});
    o.key("place", "seen from the capture point", [](I i) {
       return incident_place_names[i.place];
     }).of(incident_place_names.all());
    o.key("place_by", "how the place is known", [](I i) {
       return names_of_bits(i.place_by, place_evidence_names);
     }).of(place_evidence_names.all());
    o.object("learned", "how the sender learned of it", incident_learned_object(), incident_itself);
    o.object("lost", "transmissions that were lost", incident_lost_object(), incident_itself);
    o.object("repeated", "what was sent again", incident_repeated_object(), incident_itself);
    o.object("discarded", "what the receiver threw away", incident_discarded_object(), incident_itself);
    o.object("answers_before", "what the last answers before it took", incident_answers_object(),
             incident_itself);
    o.key("stalled_ns", "time in which what was missing had not been sent again", &Incident::stalled_ns);
    o.key("recovery_ns",
          "from the start to the answer that confirms what was missing; null: none was captured",
          [](I i) { return known_span(i.recovery_ns); });
    o.key("over", "repaired, or given up, before the capture ended", &Incident::over);
    o.key("undecided", "what the capture cannot tell, or contradicts", [](I i) {
       return names_of_bits(i.undecided, undecided_names);
     }).of(undecided_names.all());
    o.key("rule", "rule of the first retransmission, as roce.analysis.rule; null without one",
          [](I i) { return unless_empty(episode::rule_name(static_cast<episode::Rule>(i.rule))); });
    o.key("confidence", "0 to 1", [](I i) { return JsonDigits{fmt::format("{:.4g}", i.confidence)}; });
    o.key("first_packet", "number of its first packet", &Incident::first_frame);
    o.key("last_packet", "number of its last packet", &Incident::last_frame);
    return o;
  }();
  return object;
}

/// The incidents of rows, in the order of the listing.
struct ListedIncidents {
  std::vector<IncidentRow> rows;
  std::vector<const Incident*> order;
  [[nodiscard]] auto begin() const noexcept { return order.begin(); }
  [[nodiscard]] auto end() const noexcept { return order.end(); }
};

}  // namespace

const JsonObject<ReportPage>& incident_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("incidents");
    o.list("incidents", "each is one trouble of the requests of one side, and its recovery",
           incident_object(), [](const ReportPage& page) {
             ListedIncidents all{incident_rows(page.s, page.listing.connection), {}};
             for (const IncidentRow* row : listed(all.rows, incident_columns(), page.listing))
               all.order.push_back(&**row);
             return all;
           });
    o.key("incidents_dropped", "incidents beyond the limit, which are not listed",
          [](const ReportPage& page) { return page.s.incidents_dropped; });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
