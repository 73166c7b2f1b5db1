// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/exported_records.hpp"

#include "analyze/exports/record_reader.hpp"
#include "dissect/part.hpp"

namespace roce::analyze {

namespace ipfix = dissect::ipfix;
using dissect::End;
using dissect::Part;

std::span<const ipfix::RecordValue> ExportedRecords::read(std::uint64_t number, const capture::Frame& frame,
                                                          dissect::Dissection& d,
                                                          const dissect::Options& options) {
  values_.clear();
  const ExportDatagram datagram = export_datagram(number, frame, d);
  const Part payload = exported_bytes(frame, d);
  tracker_.see(book_, datagram, payload);
  ipfix::Message message;
  if (ipfix::read_message(payload, message) != End::complete) return {};
  const auto agent = book_.agent_of(protocol_of(message), datagram.sender, message.domain);
  if (!agent) return {};
  RecordReader reader{frame, d, options, values_};
  ipfix::Sets sets = message.sets();
  ipfix::Set set;
  while (sets.next(set)) {
    if (set.kind != ipfix::SetKind::data) continue;
    if (const RecordTemplate* const by = tracker_.template_of(*agent, set.id))
      reader.read(set, *by, message.netflow9);
  }
  return values_;
}

}  // namespace roce::analyze
