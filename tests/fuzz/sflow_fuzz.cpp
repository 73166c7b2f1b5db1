// SPDX-License-Identifier: Apache-2.0
// What follows UDP to port 6343: a datagram of sFlow. The first two bytes are how many more bytes the wire
// had.
#include "dissect/sflow.hpp"
#include "tests/fuzz/parts.hpp"

namespace {

using namespace roce::dissect;
using roce::fuzz::check;
using namespace roce::dissect::sflow;

void read_record(const Item& record) {
  SampledHeader header;
  if (read_sampled_header(record, header)) check(header.header, record.body);
  InterfaceCounters counters;
  PfcCounters pfc;
  (void)read_interface_counters(record, counters);
  (void)read_pfc_counters(record, pfc);
  for (std::size_t word = 0; word < 6; ++word) {
    (void)record.word(word);
    (void)record.long_word(word);
    if (const auto text = text_at(record, word))
      require(text->size() <= record.body.captured.size(), "a text beyond its record");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 9000) return 0;
  const Bytes bytes{data + 2, size - 2};
  const Part payload{bytes, bytes.size() + load_be16(data)};
  Datagram datagram;
  if (read_datagram(payload, datagram) != End::complete) return 0;
  check(datagram.list, payload);
  Items samples = datagram.samples();
  Item item;
  std::size_t count = 0;
  while (samples.next(item)) {
    check(item.body, datagram.list);
    require(++count <= bytes.size() / Item::head, "more samples than bytes");
    Sample sample;
    if (read_sample(item, sample) != End::complete) continue;
    check(sample.list, item.body);
    (void)drop_reason_name(sample.reason);
    Items records = sample.records();
    Item record;
    while (records.next(record)) {
      check(record.body, sample.list);
      read_record(record);
    }
  }
  return 0;
}
