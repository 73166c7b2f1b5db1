// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/record_reader.hpp"

#include "dissect/headers/ipfix_elements.hpp"
#include "dissect/part.hpp"

namespace roce::analyze {

namespace ipfix = dissect::ipfix;
using dissect::End;
using dissect::Part;

void RecordReader::read(const ipfix::Set& set, const RecordTemplate& by, bool netflow9) {
  const auto place_of = [&](dissect::Bytes bytes) {
    return static_cast<std::uint32_t>(bytes.data() - frame.data);
  };
  Part rest = set.body;
  while (rest.declared >= by.least) {
    Part remaining = rest;
    for (const RecordTemplate::Row& row : by.rows) {
      Part value;
      if (ipfix::take_value(remaining, row.element.length, value) != End::complete || value.is_cut()) return;
      const bool of_netflow = netflow9 && row.element.scope;
      const ipfix::ElementInfo& info =
          of_netflow ? ipfix::other_element : ipfix::element_info(row.element.enterprise, row.element.id);
      values.push_back({&info, row.element, place_of(value.captured),
                        static_cast<std::uint32_t>(value.captured.size()), records, set.id});
    }
    ExportRecord record;
    if (take_record(by, rest, record) != End::complete) return;
    ++records;
    if (const auto shown = record.beginning()) {
      dissect::dissect_shown({frame.data, frame.captured}, place_of(shown->bytes),
                             static_cast<std::uint32_t>(shown->bytes.size()), shown->wire, shown->link_type,
                             dissection, options);
    }
  }
}

}  // namespace roce::analyze
