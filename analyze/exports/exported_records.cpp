// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/exported_records.hpp"

#include <optional>

#include "analyze/exports/ipfix_record.hpp"
#include "dissect/headers/ipfix_elements.hpp"
#include "dissect/part.hpp"

namespace roce::analyze {

namespace ipfix = dissect::ipfix;
using dissect::End;
using dissect::Part;

std::span<const ipfix::RecordValue> ExportedRecords::read(std::uint64_t number, const capture::Frame& frame,
                                                          dissect::Dissection& d,
                                                          const dissect::Options& options) {
  values_.clear();
  records_ = 0;
  const ExportDatagram datagram = export_datagram(number, frame, d);
  const Part payload = exported_bytes(frame, d);
  tracker_.see(book_, datagram, payload);
  ipfix::Message message;
  if (ipfix::read_message(payload, message) != End::complete) return {};
  const auto protocol = message.netflow9 ? ExportProtocol::netflow9 : ExportProtocol::ipfix;
  const auto agent = book_.agent_of(protocol, datagram.sender, message.domain);
  if (!agent) return {};
  ipfix::Sets sets = message.sets();
  ipfix::Set set;
  while (sets.next(set)) {
    if (set.kind != ipfix::SetKind::data) continue;
    if (const RecordTemplate* const by = tracker_.template_of(*agent, set.id))
      read_set(frame, set, *by, message.netflow9, d, options);
  }
  return values_;
}

void ExportedRecords::read_set(const capture::Frame& frame, const ipfix::Set& set, const RecordTemplate& by,
                               bool netflow9, dissect::Dissection& d, const dissect::Options& options) {
  const auto place_of = [&](dissect::Bytes bytes) {
    return static_cast<std::uint32_t>(bytes.data() - frame.data);
  };
  Part rest = set.body;
  while (rest.declared >= by.least) {
    Part values = rest;
    for (const RecordTemplate::Row& row : by.rows) {
      Part value;
      if (ipfix::take_value(values, row.element.length, value) != End::complete || value.is_cut()) return;
      const bool of_netflow = netflow9 && row.element.scope;
      const ipfix::ElementInfo& info =
          of_netflow ? ipfix::other_element : ipfix::element_info(row.element.enterprise, row.element.id);
      values_.push_back({&info, row.element, place_of(value.captured),
                         static_cast<std::uint32_t>(value.captured.size()), records_, set.id});
    }
    ExportRecord record;
    if (take_record(by, rest, record) != End::complete) return;
    ++records_;
    if (const auto shown = record.beginning()) {
      dissect::dissect_shown({frame.data, frame.captured}, place_of(shown->bytes),
                             static_cast<std::uint32_t>(shown->bytes.size()), shown->wire, shown->link_type,
                             d, options);
    }
  }
}

}  // namespace roce::analyze
