// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_store.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "capture/core/comments.hpp"
#include "dissect/dissect.hpp"
#include "dissect/dissection.hpp"
#include "gui/models/shown_text.hpp"

namespace roce::gui {
namespace {

/// Verdicts take 48 bytes per packet in a temporary file; a pipe may deliver packets for days.
constexpr std::uint64_t judged_of_a_pipe = std::uint64_t{64} << 20U;
constexpr std::uint64_t judged_of_files = 0xffffffff;

}  // namespace

PacketStore::PacketStore(std::shared_ptr<PacketComments> comments, const capture::FrameStore::Limits& limits)
    : comments_(std::move(comments)), frames_(std::make_shared<capture::FrameStore>(limits)) {}

std::unique_ptr<capture::CaptureSource> PacketStore::watch(std::unique_ptr<capture::CaptureSource> source) {
  verdicts_ =
      std::make_unique<analyze::VerdictStore>(source->may_wait() ? judged_of_a_pipe : judged_of_files);
  return capture::keep_frames(std::move(source), frames_);
}

void PacketStore::prepare(analyze::AnalysisOptions& options) {
  policy_ = options.policy;
  dissecting_ = options.dissecting;
  options.verdicts = verdicts_.get();
  options.summaries = [this](std::uint64_t first, std::span<const analyze::PacketSummary> summaries) {
    take(first, summaries);
  };
}

void PacketStore::take(std::uint64_t first, std::span<const analyze::PacketSummary> summaries) {
  // Frames that could not be kept are not listed.
  const std::uint64_t kept = frames_->size();
  const std::uint64_t end = std::min(first + summaries.size(), kept + 1);
  const bool any_comments = frames_->any_comments();
  for (std::uint64_t number = first; number < end; ++number) {
    PacketMarks marks(summaries[number - first]);
    if (any_comments && frames_->has_comments(number)) marks = marks.with_comments();
    if (marks.has(PacketMarks::management) && learn(number)) marks = marks.with_refusal();
    if (summaries[number - first].has(analyze::PacketSummary::exported)) learn_templates(number);
    marks_.make(number - 1).store(marks.word(), std::memory_order_relaxed);
    meanings_.make((number - 1) / block_packets)
        .fetch_or(1U << static_cast<unsigned>(meaning_of(marks)), std::memory_order_relaxed);
  }
  for (const auto& [number, commented] : comments_->written(first, end)) mark_commented(number, commented);
  if (end > first) glanced_.store(end - 1, std::memory_order_release);
}

bool PacketStore::learn(std::uint64_t number) {
  if (!learning_reader_) learning_reader_.emplace(frames_);
  // An unreadable packet teaches nothing.
  const auto frame = learning_reader_->read(number);
  return frame && managements_.learn(number, *frame, dissecting_);
}

void PacketStore::learn_templates(std::uint64_t number) {
  if (!learning_reader_) learning_reader_.emplace(frames_);
  const auto frame = learning_reader_->read(number);
  if (!frame) return;
  dissect::Dissection dissection;
  dissect::dissect({frame->data, frame->captured}, frame->wire, frame->link_type, dissection, dissecting_);
  if (dissection.is_ipfix()) templates_.learn(number, *frame, dissection);
}

void PacketStore::finish(const std::stop_token& stop) {
  constexpr std::uint64_t between_looks = 1U << 16U;
  const std::uint64_t count = size();
  managements_.complete();
  learning_reader_.reset();
  {
    const std::lock_guard lock(verdicts_mutex_);
    std::uint32_t meanings = 0;
    for (std::uint64_t number = 1; number <= count && verdicts_; ++number) {
      if (number % between_looks == 0 && stop.stop_requested()) break;
      std::atomic<std::uint64_t>& word = marks_[number - 1];
      PacketMarks marks(word.load(std::memory_order_relaxed));
      if (const analyze::Verdict* verdict = verdicts_->find(number)) {
        marks = marks.with(*verdict);
        word.fetch_or(marks.word(), std::memory_order_relaxed);  // set_comments() may run concurrently
      }
      meanings |= 1U << static_cast<unsigned>(meaning_of(marks));
      if (number % block_packets != 0 && number != count) continue;
      meanings_[(number - 1) / block_packets].store(meanings, std::memory_order_relaxed);
      meanings = 0;
    }
  }
  analysed_.store(true, std::memory_order_release);
}

void PacketStore::mark_commented(std::uint64_t number, bool commented) {
  constexpr std::uint64_t bit = PacketMarks().with_comments().word();
  std::atomic<std::uint64_t>& word = marks_[number - 1];
  if (commented) {
    word.fetch_or(bit, std::memory_order_relaxed);
  } else {
    word.fetch_and(~bit, std::memory_order_relaxed);
  }
}

void PacketStore::set_comments(std::uint64_t number, PacketComments::Texts texts) {
  if (number == 0 || number > size()) return;
  const bool any = !texts.empty();
  comments_->set(number, std::move(texts));
  mark_commented(number, any);
}

std::uint32_t PacketStore::meanings_of_block(std::uint64_t block) const noexcept {
  const std::atomic<std::uint32_t>* meanings = meanings_.find(block);
  return meanings == nullptr ? 0 : meanings->load(std::memory_order_relaxed);
}

std::uint64_t PacketStore::size() const noexcept {
  return glanced_.load(std::memory_order_acquire);
}

std::string PacketStore::problem() const {
  const auto problem = frames_->problem();
  return problem ? error_text(*problem) : std::string();
}

std::optional<analyze::Verdict> PacketStore::verdict(std::uint64_t number) const {
  std::array<std::optional<analyze::Verdict>, 1> one;
  verdicts(number, one);
  return one[0];
}

void PacketStore::verdicts(std::uint64_t first, std::span<std::optional<analyze::Verdict>> to) const {
  std::fill(to.begin(), to.end(), std::nullopt);
  if (!analysed()) return;
  const std::lock_guard lock(verdicts_mutex_);
  if (!verdicts_) return;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (const analyze::Verdict* verdict = verdicts_->find(first + i)) to[i] = *verdict;
  }
}

std::uint64_t PacketStore::lost_verdicts() const {
  if (!analysed()) return 0;
  const std::lock_guard lock(verdicts_mutex_);
  return verdicts_ ? verdicts_->lost() : 0;
}

void PacketStore::set_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot) {
  const std::lock_guard lock(mutex_);
  if (snapshot == snapshot_) return;
  snapshot_ = std::move(snapshot);
  flow_ids_ = nullptr;
}

std::vector<std::string> PacketStore::section_comments() const {
  const std::lock_guard lock(mutex_);
  return snapshot_ ? capture::SectionComments().news(snapshot_->files) : std::vector<std::string>();
}

std::shared_ptr<const analyze::Snapshot> PacketStore::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::shared_ptr<const PacketStore::FlowIds> PacketStore::flow_ids() const {
  const std::lock_guard lock(mutex_);
  if (!flow_ids_ && snapshot_) {
    auto ids = std::make_shared<FlowIds>();
    ids->reserve(snapshot_->flows.size());
    for (const analyze::Flow& flow : snapshot_->flows) ids->insert_or_assign(flow.key, flow.id);
    flow_ids_ = std::move(ids);
  }
  return flow_ids_;
}

}  // namespace roce::gui
