// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "analyze/trace/connection_trace.hpp"
#include "gui/models/analysis_session.hpp"
#include "gui/models/trace_job.hpp"

namespace roce::gui {

/// The packets of the connection that the graphs show. They are read from the capture a second time, on
/// demand and on another thread; the last few traces are cached. Results for another capture or connection
/// never arrive. GUI thread only.
class ConnectionTracer : public QObject {
  Q_OBJECT

 public:
  using Trace = std::shared_ptr<const analyze::ConnectionTrace>;
  enum class State {
    none,        ///< no connection is selected
    waiting,     ///< until the capture has been read
    impossible,  ///< the capture can be read only once (pipe): reason()
    reading,
    done,
    failed,  ///< reason()
  };
  /// Limits of the cache: points of all cached traces together, beyond the one that is shown.
  static constexpr std::size_t kept_points = 2'000'000;
  static constexpr std::size_t kept_traces = 16;

  explicit ConnectionTracer(AnalysisSession& session, QObject* parent = nullptr);
  ~ConnectionTracer() override;
  ConnectionTracer(const ConnectionTracer&) = delete;
  ConnectionTracer& operator=(const ConnectionTracer&) = delete;

  /// The connection to show; nullopt: none, and nothing is read.
  void choose(std::optional<std::uint32_t> connection);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const std::optional<std::uint32_t>& connection() const noexcept { return wanted_; }
  [[nodiscard]] const Trace& trace() const noexcept { return trace_; }  ///< null unless done
  [[nodiscard]] const QString& reason() const noexcept { return reason_; }
  [[nodiscard]] double progress() const;  ///< 0..1, while reading

 Q_SIGNALS:
  void changed();  ///< state or trace
  void progress_changed();

 private:
  void let_go();
  void follow_session();
  void update();
  void start();
  void look();
  void keep(const Trace& trace);
  void set(State state, Trace trace, const QString& reason = {});

  AnalysisSession& session_;
  std::optional<std::uint32_t> wanted_;
  std::shared_ptr<TracedCapture> capture_;
  std::shared_ptr<TraceJob> job_;
  std::list<Trace> kept_;  ///< most recently used first
  QTimer timer_;
  State state_ = State::none;
  Trace trace_;
  QString reason_;
};

}  // namespace roce::gui
