// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <optional>

#include "gui/models/time_span.hpp"

namespace roce::gui {

/// What is selected, shared by all pages of a window. A page calls set_...(), the others get the signal.
/// GUI thread only.
class Selection : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  [[nodiscard]] const std::optional<std::uint32_t>& connection() const noexcept { return connection_; }
  [[nodiscard]] const QString& finding() const noexcept { return finding_; }  ///< finding_key(); empty: none
  /// Key of the row of the diagnosis that is explained; empty: finding() is; nullopt: nobody has chosen, so
  /// that is the worst.
  [[nodiscard]] const std::optional<QString>& diagnosis() const noexcept { return diagnosis_; }
  [[nodiscard]] const std::optional<TimeSpan>& time() const noexcept { return time_; }
  [[nodiscard]] const std::optional<std::uint64_t>& packet() const noexcept {
    return packet_;
  }  ///< its number

  void set_connection(std::optional<std::uint32_t> id) {
    connection_offered_ = false;
    set(connection_, id, &Selection::connection_changed);
  }
  /// The worst connection, for who has chosen none.
  void offer_connection(std::uint32_t id) {
    connection_offered_ = true;
    set(connection_, std::optional(id), &Selection::connection_changed);
  }
  [[nodiscard]] bool is_connection_offered() const noexcept { return connection_offered_; }
  void set_finding(const QString& key) { set(finding_, key, &Selection::finding_changed); }
  /// The worst finding, for who has chosen none. What was offered while a capture was being read gives way to
  /// it as soon as all of the capture is known.
  void offer_finding(const QString& key, bool all_known) {
    if (!finding_.isEmpty() && !(all_known && finding_ == offered_finding_)) return;
    offered_finding_ = key;
    set_finding(key);
  }
  void set_diagnosis(const std::optional<QString>& key) {
    set(diagnosis_, key, &Selection::diagnosis_changed);
  }
  /// The user wants to see this finding explained, not a diagnosis that it may be evidence of.
  void choose_finding(const QString& key) {
    set_finding(key);
    set_diagnosis(QString());
  }
  void set_time(std::optional<TimeSpan> span) { set(time_, span, &Selection::time_changed); }
  /// An incident by its first packet, which it has whatever part of the capture is analysed.
  [[nodiscard]] const std::optional<std::uint64_t>& incident() const noexcept { return incident_; }
  void set_incident(std::optional<std::uint64_t> first_packet) {
    set(incident_, first_packet, &Selection::incident_changed);
  }
  void set_packet(std::optional<std::uint64_t> number) { set(packet_, number, &Selection::packet_changed); }
  void clear() {
    set_connection({});
    set_finding({});
    set_diagnosis({});
    set_time({});
    set_packet({});
    set_incident({});
  }

 Q_SIGNALS:
  void connection_changed();
  void finding_changed();
  void diagnosis_changed();
  void time_changed();
  void packet_changed();
  void incident_changed();

 private:
  template <class T>
  void set(T& member, const T& value, void (Selection::*changed)()) {
    if (member == value) return;
    member = value;
    Q_EMIT(this->*changed)();
  }

  std::optional<std::uint32_t> connection_;
  bool connection_offered_ = false;  ///< nobody has chosen it
  QString finding_;
  QString offered_finding_;  ///< nobody has chosen it
  std::optional<QString> diagnosis_;
  std::optional<TimeSpan> time_;
  std::optional<std::uint64_t> packet_;
  std::optional<std::uint64_t> incident_;
};

}  // namespace roce::gui
