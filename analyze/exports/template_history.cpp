// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/template_history.hpp"

#include <algorithm>
#include <mutex>

#include "analyze/exports/record_reader.hpp"
#include "dissect/part.hpp"

namespace roce::analyze {

namespace ipfix = dissect::ipfix;
using dissect::End;

void TemplateHistory::learn(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d) {
  const ExportDatagram datagram = export_datagram(number, frame, d);
  const dissect::Part payload = exported_bytes(frame, d);
  tracker_.see(book_, datagram, payload);
  ipfix::Message message;
  if (ipfix::read_message(payload, message) != End::complete) return;
  const ExportProtocol protocol = protocol_of(message);
  const auto agent = book_.agent_of(protocol, datagram.sender, message.domain);
  if (!agent) return;
  const std::lock_guard lock(mutex_);
  ipfix::Sets sets = message.sets();
  ipfix::Set set;
  while (sets.next(set)) {
    if (set.kind == ipfix::SetKind::data)
      note(number, {protocol, datagram.sender, message.domain, set.id}, tracker_.template_of(*agent, set.id));
  }
}

void TemplateHistory::note(std::uint64_t number, const Key& key, const RecordTemplate* by) {
  const auto found = versions_.find(key);
  const bool known = found != versions_.end();
  if (by == nullptr ? !known || found->second.back().by == nullptr
                    : known && found->second.back().by != nullptr && *found->second.back().by == *by)
    return;
  const std::size_t rows = by == nullptr ? 1 : by->rows.size() + 1;
  if (rows > rows_at_most - rows_) {
    full_from_ = std::min(full_from_, number);
    return;
  }
  rows_ += rows;
  versions_[key].push_back({number, by == nullptr ? nullptr : std::make_shared<const RecordTemplate>(*by)});
}

std::shared_ptr<const RecordTemplate> TemplateHistory::find(std::uint64_t number, const Key& key) const {
  const std::shared_lock lock(mutex_);
  const auto found = versions_.find(key);
  if (number >= full_from_ || found == versions_.end()) return nullptr;
  const std::vector<Version>& versions = found->second;
  const auto next =
      std::upper_bound(versions.begin(), versions.end(), number,
                       [](std::uint64_t wanted, const Version& version) { return wanted < version.packet; });
  return next == versions.begin() ? nullptr : (next - 1)->by;
}

void TemplateHistory::read(std::uint64_t number, const capture::Frame& frame, dissect::Dissection& d,
                           const dissect::Options& options,
                           std::vector<dissect::ipfix::RecordValue>& values) const {
  values.clear();
  ipfix::Message message;
  if (ipfix::read_message(exported_bytes(frame, d), message) != End::complete) return;
  const dissect::IpAddress sender = export_datagram(number, frame, d).sender;
  RecordReader reader{frame, d, options, values};
  ipfix::Sets sets = message.sets();
  ipfix::Set set;
  while (sets.next(set)) {
    if (set.kind != ipfix::SetKind::data) continue;
    if (const auto by = find(number, {protocol_of(message), sender, message.domain, set.id}))
      reader.read(set, *by, message.netflow9);
  }
}

}  // namespace roce::analyze
