// SPDX-License-Identifier: Apache-2.0
#include "capture/write/tee_recording.hpp"

#include <utility>

namespace roce::capture {
namespace {

class TeeRecording final : public Recording {
 public:
  TeeRecording(std::unique_ptr<Recording> main, std::unique_ptr<Recording> copy)
      : main_(std::move(main)), copy_(std::move(copy)) {}

  std::size_t record(std::span<const Frame> frames, const std::vector<InterfaceInfo>& interfaces) override {
    const std::size_t taken = main_->record(frames, interfaces);
    (void)copy_->record(frames.first(taken), interfaces);
    return taken;
  }
  [[nodiscard]] bool ended() const override { return main_->ended() || copy_->ended(); }
  [[nodiscard]] std::optional<Error> error() const override {
    const std::optional<Error> error = main_->error();
    return error ? error : copy_->error();
  }
  void tick() override {
    main_->tick();
    copy_->tick();
  }
  void rotate() override { main_->rotate(); }
  void comment(std::string text) override {
    copy_->comment(text);
    main_->comment(std::move(text));
  }
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) override {
    const Expected<void> copied = copy_->finish(interfaces);
    const Expected<void> done = main_->finish(interfaces);
    return done ? copied : done;
  }
  [[nodiscard]] RecordingSummary summary() const override { return main_->summary(); }

 private:
  std::unique_ptr<Recording> main_;
  std::unique_ptr<Recording> copy_;
};

}  // namespace

std::unique_ptr<Recording> tee(std::unique_ptr<Recording> main, std::unique_ptr<Recording> copy) {
  return std::make_unique<TeeRecording>(std::move(main), std::move(copy));
}

}  // namespace roce::capture
