// SPDX-License-Identifier: Apache-2.0
// What tests of the window share.
#pragma once

#include <gtest/gtest.h>

#include <QDir>
#include <QSize>
#include <QTest>
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "capture/core/source.hpp"

namespace roce::gui {

/// Events are handled until it is true; false if that takes so long that it never will be.
template <class Test>
[[nodiscard]] bool eventually(Test&& test) {
  return QTest::qWaitFor(std::forward<Test>(test), 120'000);
}

inline std::string sample(const std::string& name) {
  return std::string(ROCE_SAMPLES) + "/" + name;
}

inline std::vector<std::string> all_samples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string name = entry.path().filename();
    if (name.find(".pcap") != std::string::npos) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// How many pixels make one of the window.
inline QString scale() {
  return qEnvironmentVariable("QT_SCALE_FACTOR", QStringLiteral("1"));
}

/// Where pictures for people to look at are kept, those of another scale apart. The folder is there.
inline QString screenshots() {
  QString folder = QStringLiteral(ROCE_SCREENSHOTS);
  if (scale() != QLatin1String("1")) folder += QStringLiteral("/scale-") + scale();
  EXPECT_TRUE(QDir().mkpath(folder)) << folder.toStdString();
  return folder;
}

/// A small screen and a large one, and in light colours a laptop's; the small one is enough where nothing but
/// the scale is another.
inline std::vector<QSize> screenshot_sizes(bool light) {
  if (scale() != QLatin1String("1")) return {{1280, 800}};
  std::vector<QSize> sizes{{1280, 800}, {2560, 1440}};
  if (light) sizes.emplace_back(1024, 700);
  return sizes;
}

/// Another source as long as it pleases.
class WrappedSource : public capture::CaptureSource {
 public:
  explicit WrappedSource(std::unique_ptr<capture::CaptureSource> source) : source_(std::move(source)) {}
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override {
    return source_->interfaces();
  }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return source_->files(); }
  [[nodiscard]] const capture::Statistics& statistics() const override { return source_->statistics(); }
  void request_stop() noexcept override { source_->request_stop(); }

 protected:
  std::unique_ptr<capture::CaptureSource> source_;
};

class FirstPackets final : public WrappedSource {
 public:
  FirstPackets(std::unique_ptr<capture::CaptureSource> source, std::uint64_t packets)
      : WrappedSource(std::move(source)), left_(packets) {}
  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    if (left_ == 0) return 0;
    auto got = source_->next_batch(batch, static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
    if (got) left_ -= *got;
    return got;
  }

 private:
  std::uint64_t left_;
};

/// Of the first packets only; 0 = all.
inline std::shared_ptr<const analyze::Snapshot> analyzed(const std::string& name, std::uint64_t packets = 0) {
  auto source = capture::open_files({sample(name)});
  if (!source) return nullptr;
  if (packets != 0) *source = std::make_unique<FirstPackets>(std::move(*source), packets);
  return analyze::analyze(**source, {});
}

/// Gives nothing after the first batch until it is let go on or stopped.
class GatedSource final : public WrappedSource {
 public:
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    bool reached = false;
    void let_go() {
      const std::lock_guard lock(mutex);
      open = true;
      changed.notify_all();
    }
    bool is_reached() {
      const std::lock_guard lock(mutex);
      return reached;
    }
  };

  GatedSource(std::unique_ptr<capture::CaptureSource> source, std::shared_ptr<Gate> gate)
      : WrappedSource(std::move(source)), gate_(std::move(gate)) {}

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    if (begun_) {
      std::unique_lock lock(gate_->mutex);
      gate_->reached = true;
      gate_->changed.wait(lock, [this] { return gate_->open || stopped_; });
      if (stopped_) return 0;
    }
    begun_ = true;
    return source_->next_batch(batch, std::min<std::size_t>(limit, 100));
  }
  void request_stop() noexcept override {
    const std::lock_guard lock(gate_->mutex);
    stopped_ = true;
    gate_->changed.notify_all();
  }

 private:
  std::shared_ptr<Gate> gate_;
  bool begun_ = false;
  bool stopped_ = false;  ///< guarded by the gate's mutex
};

}  // namespace roce::gui
