// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/packet/packet_view.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/packet_walk.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/comments.hpp"
#include "capture/files/reread.hpp"
#include "cli/library/failure.hpp"
#include "cli/library/field_column.hpp"
#include "cli/library/options.hpp"
#include "cli/library/passes.hpp"
#include "cli/library/roceanalyze.h"
#include "cli/library/table.hpp"
#include "dissect/icrc.hpp"

namespace roce::library {
namespace {

constexpr std::size_t usual_rows = 65'536, most_rows = 1U << 20U;

struct HashOfFlow {
  [[nodiscard]] std::size_t operator()(const analyze::FlowKey& key) const noexcept { return key.hash(); }
};

/// The second reading: packets with all that is known of them.
class PacketRows {
 public:
  PacketRows(const Captures& captures, const std::vector<std::string>& fields, const roce_options* options)
      : prepared_(options), walk_(prepared_.dissecting) {
    for (const std::string& name : fields) {
      const analyze::FieldRef field = field_named(name);
      const analyze::FieldFacts& facts = analyze::field_facts(field);
      columns_.emplace_back(field);
      icrc_ |= facts.needs_icrc;
      flow_ |= facts.needs_flow;
      verdict_ |= facts.needs_analysis;
    }
    if (prepared_.filter) {
      icrc_ |= prepared_.filter->needs_icrc();
      flow_ |= prepared_.filter->needs_flow();
      verdict_ |= prepared_.filter->needs_analysis();
    }
    icrc_ = icrc_ && !prepared_.options.no_icrc;
    if (flow_ || verdict_) {
      captures.require_twice();
      const auto first = capture::limited(captures.open(), prepared_.options.max_packets);
      snapshot_ = verdicts_of(*first, prepared_, verdicts_);
      if (snapshot_->interrupted)
        throw Failure(ROCE_INPUT, "",
                      "the analysis was ended after " + std::to_string(snapshot_->frames_read) + " packets");
      for (const analyze::Flow& flow : snapshot_->flows) flow_ids_.insert_or_assign(flow.key, flow.id);
      if (verdicts_.lost() != 0)
        throw Failure(ROCE_NO_MEMORY, "",
                      "no room for temporary files (TMPDIR): the analysis of " +
                          std::to_string(verdicts_.lost()) + " packets could not be kept");
      source_ = captures.open_again(snapshot_->frames_read);
    } else {
      source_ = capture::limited(captures.open(), prepared_.options.max_packets);
    }
  }

  /// The next rows; null: there are no more. Throws Failure once if some could not be read. Without memory
  /// for all of them there are no further ones: they would have a gap before them.
  std::unique_ptr<roce_table> next(std::size_t most) {
    if (std::exchange(broken_, true)) throw std::bad_alloc();
    auto table = next_rows(most);
    broken_ = false;
    if (!table && failure_) throw *std::exchange(failure_, std::nullopt);
    return table;
  }

  void set_stop(const roce_stop* stop) noexcept { stop_ = stop; }

 private:
  static constexpr std::size_t frames_at_once = 4096;

  std::unique_ptr<roce_table> next_rows(std::size_t most) {
    for (FieldColumn& column : columns_) column.reserve(std::min(most, usual_rows));
    std::size_t rows = 0;
    while (rows < most && !stopped()) {
      if (at_ == batch_.frames.size() && !read_more()) break;
      while (at_ < batch_.frames.size() && rows < most) {
        if (add(batch_.frames[at_++])) ++rows;
      }
    }
    if (rows == 0) return nullptr;
    auto table = std::make_unique<roce_table>();
    table->name = "packets";
    table->rows = rows;
    for (FieldColumn& column : columns_) table->columns.push_back(column.take());
    return table;
  }

  /// Ends it if that was asked for: what is left is not read.
  bool stopped() {
    if (stop_ == nullptr || !stop_->requested || ended_) return false;
    ended_ = true;
    at_ = batch_.frames.size();
    if (!failure_)
      failure_.emplace(ROCE_INPUT, "", "reading was ended after " + std::to_string(walked_) + " packets");
    return true;
  }

  /// False: the end.
  bool read_more() {
    while (!ended_) {
      batch_.clear();
      at_ = 0;
      const auto got = source_->next_batch(batch_, frames_at_once);
      // An input that fails is told at the end; the others go on.
      if (!got && !failure_) failure_.emplace(got.error());
      comments_ = capture::BatchComments(batch_);
      if (got && *got == 0) end();
      if (!batch_.frames.empty()) return true;
    }
    return false;
  }

  void end() {
    ended_ = true;
    if (const std::uint64_t skipped = source_->statistics().skipped; skipped != 0 && !failure_)
      failure_.emplace(ROCE_INPUT, "",
                       std::to_string(skipped) +
                           " packets name an interface that the capture never describes "
                           "and were skipped");
  }

  /// Whether the frame matches.
  bool add(const capture::Frame& frame) {
    analyze::PacketView view = walk_.next(frame, source_->interfaces(), comments_);
    walked_ = view.number;
    view.policy = prepared_.policy.get();
    if (icrc_) view.icrc = dissect::check_icrc(view.bytes(), *view.dissection);
    if (snapshot_) view.verdict = verdicts_.find(view.number);
    if (flow_ && view.dissection->is_transport()) view.flow = flow_of(view);
    if (prepared_.filter && !prepared_.filter->matches(view)) return false;
    for (FieldColumn& column : columns_) column.add(view);
    return true;
  }

  /// Of several flows of one key, which there are where queue pair numbers are used again, the connection
  /// tells the one.
  [[nodiscard]] std::optional<std::uint64_t> flow_of(const analyze::PacketView& view) const {
    if (view.verdict != nullptr) {
      const unsigned side = view.verdict->has(analyze::Verdict::b_to_a) ? 1 : 0;
      if (const auto flow = snapshot_->flow_of(view.verdict->connection, side)) return flow;
    }
    const auto found = flow_ids_.find(analyze::ends_of(view.frame->data, *view.dissection));
    return found != flow_ids_.end() ? std::optional(found->second) : std::nullopt;
  }

  Prepared prepared_;
  std::vector<FieldColumn> columns_;
  bool icrc_ = false, flow_ = false, verdict_ = false;  ///< what fields and filter need
  analyze::VerdictStore verdicts_;
  std::shared_ptr<const analyze::Snapshot> snapshot_;  ///< of the first reading; null without one
  std::unordered_map<analyze::FlowKey, std::uint64_t, HashOfFlow> flow_ids_;
  std::unique_ptr<capture::CaptureSource> source_;
  std::optional<Failure> failure_;   ///< the first, to be told at the end
  const roce_stop* stop_ = nullptr;  ///< the caller's; null: nothing ends it
  std::uint64_t walked_ = 0;         ///< packets of which the caller has what matches
  bool ended_ = false;
  bool broken_ = false;  ///< rows were lost for want of memory
  capture::FrameBatch batch_;
  std::size_t at_ = 0;  ///< of the next frame in batch_
  capture::BatchComments comments_;
  analyze::PacketWalk walk_;
};

}  // namespace
}  // namespace roce::library

struct roce_packets {
  roce::library::PacketRows rows;
};

using namespace roce::library;

roce_status roce_packets_open(const char* const* paths, size_t count, const char* const* fields,
                              size_t field_count, const roce_options* options, roce_packets** packets,
                              roce_error** error) {
  if (packets != nullptr) *packets = nullptr;
  return guarded(error, [&] {
    require(packets, "packets");
    const Captures captures(texts_of(paths, count, "paths"));
    *packets = new roce_packets{PacketRows(captures, texts_of(fields, field_count, "fields"), options)};
    return ROCE_OK;
  });
}

roce_status roce_packets_next(roce_packets* packets, size_t most, roce_table** table, roce_error** error) {
  if (table != nullptr) *table = nullptr;
  return guarded(error, [&] {
    require(packets, "packets");
    require(table, "table");
    if (most > most_rows) throw Failure(ROCE_MISUSE, "most", "not a number from 0 to 1048576");
    auto next = packets->rows.next(most != 0 ? most : usual_rows);
    if (!next) return ROCE_NONE;
    *table = next.release();
    return ROCE_OK;
  });
}

roce_status roce_packets_set_stop(roce_packets* packets, const roce_stop* stop, roce_error** error) {
  return guarded(error, [&] {
    require(packets, "packets");
    packets->rows.set_stop(stop);
    return ROCE_OK;
  });
}

void roce_packets_free(roce_packets* packets) {
  delete packets;
}
