// SPDX-License-Identifier: Apache-2.0
#include "gui/models/incident_trace.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/episode/rules.hpp"
#include "analyze/results/incident_columns.hpp"
#include "capture/core/source.hpp"
#include "capture/files/frame_store.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

struct IncidentWords {
  Q_DECLARE_TR_FUNCTIONS(Incident)
};

/// Frames of a store by their numbers, from `first` to `last`.
class StoredFrames final : public capture::CaptureSource {
 public:
  StoredFrames(const std::shared_ptr<const capture::FrameStore>& store, std::uint64_t first,
               std::uint64_t last)
      : reader_(store), interfaces_(store->interfaces()), next_(first), last_(last) {}

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    std::size_t count = 0;
    for (; next_ <= last_ && count < limit && !stop_; ++next_, ++count) {
      auto frame = reader_.read(next_);
      if (!frame) {
        // Numbers must not slip: an unreadable frame is one without bytes.
        batch.frames.push_back({});
        continue;
      }
      const auto bytes =
          std::make_shared<std::vector<std::uint8_t>>(frame->data, frame->data + frame->captured);
      frame->data = bytes->data();
      batch.keep_alive.push_back(bytes);
      batch.frames.push_back(*frame);
    }
    return count;
  }
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override {
    return *interfaces_;
  }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return files_; }
  [[nodiscard]] const capture::Statistics& statistics() const override { return statistics_; }
  void request_stop() noexcept override { stop_ = true; }

 private:
  capture::FrameStore::Reader reader_;
  std::shared_ptr<const std::vector<capture::InterfaceInfo>> interfaces_;
  std::vector<capture::FileInfo> files_;
  capture::Statistics statistics_;
  std::uint64_t next_;
  std::uint64_t last_;
  bool stop_ = false;
};

}  // namespace

std::shared_ptr<const analyze::ConnectionTrace> incident_trace(
    const std::shared_ptr<const PacketStore>& packets, const analyze::Snapshot& snapshot,
    const analyze::Incident& incident, const std::stop_token& stop, std::uint64_t most) {
  const std::uint64_t first = incident.first_frame;
  const std::uint64_t last = std::min({incident.last_frame, packets->size(), first + most - 1});
  if (first == 0 || last < first) return nullptr;
  StoredFrames source(packets->frames(), first, last);
  std::array<std::optional<analyze::Verdict>, 1024> block;
  std::uint64_t from = 1, end = 1;  // of the frames in the block, counted from `first`
  const analyze::VerdictOf verdict_of = [&](std::uint64_t number) -> const analyze::Verdict* {
    if (number < from || number >= end) {
      from = number;
      end = number + block.size();
      packets->verdicts(first - 1 + number, block);
    }
    const auto& verdict = block[number - from];
    return verdict ? &*verdict : nullptr;
  };
  analyze::TraceOptions options;
  options.connection = incident.connection;
  options.check_icrc = snapshot.icrc_checked;
  options.dissecting = packets->dissecting();
  options.priorities = snapshot.priorities;
  if (const auto* connection = analyze::find_connection(snapshot.connections, incident.connection))
    options.pmtu = connection->pmtu;
  auto trace = std::make_shared<analyze::ConnectionTrace>(
      analyze::trace_connection(source, verdict_of, options, stop));
  if (stop.stop_requested()) return nullptr;
  trace->stopped = last < incident.last_frame;
  // What is sent again is easier to follow beside what it repeats.
  std::set<std::uint64_t> kept{first, incident.last_frame};
  for (analyze::TracePoint& point : trace->points) {
    point.packet += first - 1;
    if (point.verdict.incident != incident.id + 1) continue;
    kept.insert(point.packet);
    if (point.verdict.original != 0) kept.insert(point.verdict.original);
  }
  std::erase_if(trace->points, [&](const analyze::TracePoint& p) { return !kept.contains(p.packet); });
  trace->operations.clear();
  return trace;
}

QString rule_text(const analyze::Verdict& verdict) {
  const auto rule = static_cast<std::size_t>(verdict.rule);
  if (rule == 0 || rule >= analyze::episode::rule_rows.size()) return {};
  const auto& row = analyze::episode::rule_rows[rule];
  return row.basis.empty() ? to_qt(row.sentence)
                           : QStringLiteral("%1: %2").arg(to_qt(row.basis), to_qt(row.sentence));
}

QStringList incident_sentences(const analyze::Snapshot& snapshot, const analyze::Incident& incident) {
  using By = analyze::PlaceEvidence;
  constexpr std::pair<analyze::PlaceEvidence, const char*> evidence[] = {
      {By::gap_sent_again,
       QT_TRANSLATE_NOOP("Incident", "It was missing in its place, and needed again (IBTA 9.7.5.2).")},
      {By::nak_names_it,
       QT_TRANSLATE_NOOP("Incident", "It was captured, and then named by a sequence NAK (IBTA 9.7.5.2.8).")},
      {By::asked_for_again,
       QT_TRANSLATE_NOOP("Incident", "A response that was captured was asked for again (IBTA 9.7.5.1.4).")},
      {By::confirmed_before,
       QT_TRANSLATE_NOOP("Incident", "The answer that confirms it had been captured before.")},
      {By::came_late, QT_TRANSLATE_NOOP("Incident", "It came after those that were sent behind it.")},
      {By::icrc_wrong, QT_TRANSLATE_NOOP("Incident", "Its ICRC was wrong when it was captured.")},
      {By::trimmed, QT_TRANSLATE_NOOP("Incident", "A switch upstream had trimmed it.")},
      {By::answered_after_all,
       QT_TRANSLATE_NOOP("Incident", "It was answered for the first time after it had been asked again.")},
      {By::nak, QT_TRANSLATE_NOOP("Incident", "The responder says so by its NAK.")},
      {By::seen_elsewhere, QT_TRANSLATE_NOOP("Incident", "Another capture point shows it.")}};
  using Open = analyze::Undecided;
  constexpr std::pair<analyze::Undecided, const char*> open[] = {
      {Open::request_or_answer,
       QT_TRANSLATE_NOOP("Incident", "Whether the request or its answer was lost cannot be told.")},
      {Open::lost_or_late,
       QT_TRANSLATE_NOOP("Incident",
                         "Whether it was lost behind the capture point or only overtaken cannot be told.")},
      {Open::further_losses,
       QT_TRANSLATE_NOOP("Incident",
                         "A NAK names one packet: others among those sent again may have been lost, too.")},
      {Open::cause_not_captured,
       QT_TRANSLATE_NOOP("Incident", "Why it was sent again is not in the capture.")},
      {Open::capture_incomplete, QT_TRANSLATE_NOOP("Incident", "Packets of it were not captured.")},
      {Open::end_not_captured,
       QT_TRANSLATE_NOOP("Incident", "Whether it was repaired is not in the capture.")},
      {Open::confirms_lost,
       QT_TRANSLATE_NOOP("Incident",
                         "An answer confirms what is said to be lost: something here is told wrong.")},
      {Open::asks_for_taken,
       QT_TRANSLATE_NOOP("Incident",
                         "A NAK asks for what had come in its turn: something here is told wrong.")},
      {Open::not_ready_again,
       QT_TRANSLATE_NOOP("Incident",
                         "An RNR NAK refuses what had been taken: something here is told wrong.")}};
  QStringList lines;
  const auto add = [&lines](const QString& text) {
    if (!text.isEmpty()) lines << text;
  };
  if (const std::string how = analyze::incident_learned_text(incident); !how.empty())
    add(IncidentWords::tr("Noticed by %1.").arg(to_qt(how)));
  if (const std::string cost = analyze::incident_cost_text(incident); !cost.empty())
    add(IncidentWords::tr("Cost: %1.").arg(to_qt(cost)));
  if (incident.stalled_ns > 0)
    add(IncidentWords::tr("%1 without goodput.").arg(to_qt(analyze::duration_text(incident.stalled_ns))));
  if (incident.recovery_ns > 0)
    add(IncidentWords::tr("Repaired after %1.").arg(to_qt(analyze::duration_text(incident.recovery_ns))));
  for (const auto& [by, text] : evidence) {
    if (incident.is_known_by(by)) add(IncidentWords::tr(text));
  }
  for (const auto& [reason, text] : open) {
    if (incident.is_undecided(reason)) add(IncidentWords::tr(text));
  }
  constexpr float sure = 0.95F;
  if (incident.confidence < sure)
    add(IncidentWords::tr("Confidence %1 %.").arg(100 * static_cast<double>(incident.confidence), 0, 'f', 0));
  for (const analyze::Diagnosis& diagnosis : snapshot.diagnoses) {
    if (std::find(diagnosis.incidents.begin(), diagnosis.incidents.end(), incident.id) ==
        diagnosis.incidents.end())
      continue;
    add(IncidentWords::tr("Part of: %1").arg(to_qt(diagnosis.sentence)));
    break;
  }
  return lines;
}

}  // namespace roce::gui
