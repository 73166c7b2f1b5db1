// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

struct DiagnosisIn {
  const Snapshot& s;
  std::size_t number;
  [[nodiscard]] const Diagnosis& operator*() const { return s.diagnoses[number]; }
  [[nodiscard]] const Diagnosis* operator->() const { return &s.diagnoses[number]; }
};
using D = const DiagnosisIn&;

struct DiagnosisFinding {
  std::string_view id;
  std::size_t number;
};

const JsonObject<Cost>& cost_object() {
  static const auto object = [] {
    JsonObject<Cost> o("cost");
    o.key("repeated_packets", "packets that were sent again", &Cost::repeated_packets);
    o.key("repeated_bytes", "their bytes on the wire", &Cost::repeated_bytes);
    o.key("discarded_packets", "packets that receivers threw away, at most", &Cost::discarded_packets);
    o.key("stalled_ns", "time without goodput, summed up over connections", &Cost::stalled_ns);
    o.key("recovery_median_ns", "recovery of its incidents, median; 0: not known", &Cost::recovery_median_ns);
    o.key("recovery_longest_ns", "recovery of its incidents, the longest; 0: not known",
          &Cost::recovery_longest_ns);
    o.key("failed", "connections that ended by it", &Cost::failed);
    return o;
  }();
  return object;
}

const JsonObject<Diagnosis>& diagnosis_place_object() {
  static const auto object = [] {
    JsonObject<Diagnosis> o("diagnosis_place");
    o.key("level", "what all that it hit has in common", [](const Diagnosis& d) {
       return level_names[d.level];
     }).of(level_names.all());
    o.key("from", "address of the sender of the packets that it hit; null: several",
          [](const Diagnosis& d) { return address_or_null(d.from); });
    o.key("to", "address of their receiver; null: several",
          [](const Diagnosis& d) { return address_or_null(d.to); });
    o.key("host", "address of the host that all have in common, at the level host; else null",
          [](const Diagnosis& d) { return address_or_null(d.host); });
    o.key("seen", "where on their way, seen from the capture point", [](const Diagnosis& d) {
       return whereabouts_names[d.seen];
     }).of(whereabouts_names.all());
    o.key("subject", "the same in words", &Diagnosis::subject);
    return o;
  }();
  return object;
}

const JsonObject<DiagnosisFinding>& diagnosis_finding_object() {
  static const auto object = [] {
    JsonObject<DiagnosisFinding> o("diagnosis_finding");
    o.key("id", "id of the finding", &DiagnosisFinding::id);
    o.key("number", "its place in findings of the report, from 0", &DiagnosisFinding::number);
    return o;
  }();
  return object;
}

const JsonObject<DiagnosisIn>& diagnosis_object() {
  static const auto object = [] {
    JsonObject<DiagnosisIn> o("diagnosis");
    o.key("id", "its place in the list, from 0", &DiagnosisIn::number);
    o.key("cause", "what is wrong, as a name that stays", [](D d) { return d->cause; });
    o.key("severity",
          "fatal: a queue pair ended, a request or connection was refused; degraded: time or bandwidth was "
          "lost; odd: "
          "no harm in this capture",
          [](D d) { return consequence_names[d->severity]; })
        .of(consequence_names.all());
    o.key("sentence", "what is wrong, where and how much", [](D d) { return d->sentence; });
    o.object("place", "where it is", diagnosis_place_object(), [](D d) -> const Diagnosis& { return *d; });
    o.key("kind", "how losses and damage are spread, or what stands still; null: not known, or it is neither",
          [](D d) { return unless_empty(pattern_names[d->pattern]); })
        .of(pattern_names.all());
    o.key("since", "time of its first sign", [](D d) { return json_time(d->since_ns); });
    o.key("until", "time of its last sign", [](D d) { return json_time(d->until_ns); });
    o.key("at_least", "how often, of what the sentence says: packets, NAKs, queue pairs",
          [](D d) { return d->at_least; });
    o.key("at_most", "how often at most; null: as at_least, or nobody knows", [](D d) { return d->at_most; });
    o.key("of", "packets that at_least is a part of; 0: of none", [](D d) { return d->of; });
    o.object("cost", "what it cost, over all connections", cost_object(),
             [](D d) -> const Cost& { return d->cost; });
    o.key("confidence", "0 to 1", [](D d) { return JsonDigits{fmt::format("{:.4g}", d->confidence)}; });
    o.key("facts", "what is known beyond the sentence", [](D d) { return d->facts; });
    o.key("alternatives", "what the capture cannot exclude", [](D d) { return d->alternatives; });
    o.key("would_decide",
          "which capture or counter would decide between the alternatives; null where nothing is left open",
          [](D d) { return unless_empty(d->would_decide); });
    o.key("advice", "what to do; may be empty", [](D d) { return d->advice; });
    o.key("commands", "commands that show it, with FILE for the capture", [](D d) { return d->commands; });
    o.list("findings", "its evidence", diagnosis_finding_object(), [](D d) {
      std::vector<DiagnosisFinding> all;
      for (const std::size_t index : d->findings) all.push_back({d.s.findings[index].id, index});
      return all;
    });
    o.key("incidents", "ids of the first few incidents", [](D d) { return d->incidents; });
    o.key("incident_count", "number of incidents", [](D d) { return d->incident_count; });
    o.key("connections", "ids of the first few connections", [](D d) { return d->connections; });
    o.key("connection_count", "number of connections", [](D d) { return d->connection_count; });
    o.key("packets", "numbers of the first few packets that show it", [](D d) { return d->packets; });
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<ReportPage>& diagnosis_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("diagnoses");
    o.list("diagnoses", "what is wrong, said once, worst first", diagnosis_object(),
           [](const ReportPage& page) {
             std::vector<DiagnosisIn> all;
             for (std::size_t i = 0; i < page.s.diagnoses.size(); ++i) all.push_back({page.s, i});
             return all;
           });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
