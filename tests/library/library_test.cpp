// SPDX-License-Identifier: Apache-2.0
// libroceanalyze through its C interface alone: figures, misuse, hostile input, threads.
#include "cli/library/roceanalyze.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local int allocations_left = -1;  ///< until there is no memory; below 0: no limit

}  // namespace

// The library allocates by it, too.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* const made = std::malloc(size != 0 ? size : 1)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept {
  std::free(pointer);
}
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept {
  std::free(pointer);
}

namespace {

struct Free {
  void operator()(roce_error* each) const { roce_error_free(each); }
  void operator()(roce_report* each) const { roce_report_free(each); }
  void operator()(roce_options* each) const { roce_options_free(each); }
  void operator()(roce_packets* each) const { roce_packets_free(each); }
  void operator()(roce_table* each) const { roce_table_free(each); }
  void operator()(roce_frame* each) const { roce_frame_free(each); }
  void operator()(roce_dissector* each) const { roce_dissector_free(each); }
  void operator()(char* each) const { roce_free(each); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

/// What a call left: its status and error, and the handle it made.
template <class T>
struct Made {
  roce_status status = ROCE_DEFECT;
  Owned<T> handle;
  Owned<roce_error> error;

  [[nodiscard]] std::string text() const { return roce_error_text(error.get()); }
};

std::string sample(const std::string& name) {
  return std::string(ROCE_SAMPLES) + "/" + name;
}

Made<roce_report> report(const std::vector<std::string>& paths, const roce_options* options = nullptr) {
  std::vector<const char*> texts;
  for (const std::string& path : paths) texts.push_back(path.c_str());
  Made<roce_report> made;
  roce_report* handle = nullptr;
  roce_error* error = nullptr;
  made.status = roce_report_open(texts.data(), texts.size(), options, &handle, &error);
  made.handle.reset(handle);
  made.error.reset(error);
  return made;
}

Made<roce_packets> packets(const std::string& path, const std::vector<const char*>& fields,
                           const roce_options* options = nullptr) {
  const char* const text = path.c_str();
  Made<roce_packets> made;
  roce_packets* handle = nullptr;
  roce_error* error = nullptr;
  made.status = roce_packets_open(&text, 1, fields.data(), fields.size(), options, &handle, &error);
  made.handle.reset(handle);
  made.error.reset(error);
  return made;
}

Made<roce_table> next(const Made<roce_packets>& from, std::size_t most = 0) {
  Made<roce_table> made;
  roce_table* handle = nullptr;
  roce_error* error = nullptr;
  made.status = roce_packets_next(from.handle.get(), most, &handle, &error);
  made.handle.reset(handle);
  made.error.reset(error);
  return made;
}

Made<roce_frame> frame(const std::vector<std::uint8_t>& bytes, std::size_t wire = 0, unsigned link_type = 1) {
  Made<roce_frame> made;
  roce_frame* handle = nullptr;
  roce_error* error = nullptr;
  made.status = roce_frame_dissect(bytes.data(), bytes.size(), wire, link_type, nullptr, &handle, &error);
  made.handle.reset(handle);
  made.error.reset(error);
  return made;
}

Owned<roce_options> options(const std::vector<std::pair<const char*, const char*>>& values) {
  roce_options* made = nullptr;
  EXPECT_EQ(roce_options_new(&made, nullptr), ROCE_OK);
  for (const auto& [name, value] : values)
    EXPECT_EQ(roce_options_set(made, name, value, nullptr), ROCE_OK) << name;
  return Owned<roce_options>(made);
}

roce_column column(const roce_table* table, const char* name) {
  roce_column found{};
  found.size = sizeof found;
  EXPECT_EQ(roce_table_column(table, roce_table_find(table, name), &found), ROCE_OK) << name;
  return found;
}

std::int64_t number(const roce_column& of, std::size_t row) {
  EXPECT_EQ(of.type, ROCE_INT64);
  return static_cast<const std::int64_t*>(of.values)[row];
}

std::string text(const roce_column& of, std::size_t row) {
  EXPECT_EQ(of.type, ROCE_TEXT);
  return of.text + static_cast<const std::uint64_t*>(of.values)[row];
}

/// A file in a folder of its own, which disappears.
class File {
 public:
  explicit File(const std::string& bytes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "roce_library_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ + "/x.pcap"; }

 private:
  std::string folder_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An RC Acknowledge to queue pair 0x47: PSN 5, ACK of MSN 1, with a wrong ICRC.
const std::vector<std::uint8_t> acknowledge = {
    0x02, 0,    0,    0,    0, 2,  0x02, 0,    0,  0,  0, 1, 0x08, 0x00,                     // Ethernet
    0x45, 0x02, 0,    48,   0, 0,  0x40, 0,    64, 17, 0, 0, 10,   0,    0, 1, 10, 0, 0, 2,  // IPv4
    0xc0, 0x00, 0x12, 0xb7, 0, 28, 0,    0,                                                  // UDP to 4791
    0x11, 0x40, 0xff, 0xff, 0, 0,  0,    0x47, 0,  0,  0, 5,                                 // BTH
    0x1f, 0,    0,    1,                                                                     // AETH
    0xde, 0xad, 0xbe, 0xef};

TEST(Library, AReportHasTheTables) {
  const auto made = report({sample("04_write_loss1.cb.pcap.zst")});
  ASSERT_EQ(made.status, ROCE_OK) << made.text();
  EXPECT_STREQ(roce_report_incomplete(made.handle.get()), "");
  const roce_table* connections = roce_report_table(made.handle.get(), "connections");
  ASSERT_NE(connections, nullptr);
  ASSERT_EQ(roce_table_rows(connections), 1U);
  EXPECT_EQ(text(column(connections, "a"), 0), "10.77.0.1");
  EXPECT_EQ(number(column(connections, "packets"), 0), 3705);
  EXPECT_EQ(number(column(connections, "lost"), 0), 46);
  std::size_t columns = 0;
  for (std::size_t i = 0; i < roce_report_tables(made.handle.get()); ++i) {
    const roce_table* table = roce_report_table_at(made.handle.get(), i);
    EXPECT_EQ(roce_report_table(made.handle.get(), roce_table_name(table)), table);
    for (std::size_t j = 0; j < roce_table_columns(table); ++j) {
      roce_column each{};
      each.size = sizeof each;
      ASSERT_EQ(roce_table_column(table, j, &each), ROCE_OK);
      EXPECT_EQ(roce_table_find(table, each.name), j);
      EXPECT_EQ(each.rows, roce_table_rows(table));
      EXPECT_NE(*each.help, '\0') << each.name;
      ++columns;
    }
  }
  EXPECT_GT(columns, 100U);
}

TEST(Library, WhatCannotBeToldIsNotZero) {
  const auto made = report({sample("04_write_loss1.cb.pcap.zst")});
  const roce_table* flows = roce_report_table(made.handle.get(), "connections");
  const roce_column rnr = column(flows, "rnr_naks"), latency = column(flows, "latency_p50_ns");
  EXPECT_EQ(rnr.known[0], 1);  // none, and that is known
  EXPECT_EQ(number(rnr, 0), 0);
  EXPECT_EQ(latency.known[0], 1);
  bool unknown = false;
  for (std::size_t j = 0; j < roce_table_columns(flows); ++j) {
    roce_column each{};
    each.size = sizeof each;
    ASSERT_EQ(roce_table_column(flows, j, &each), ROCE_OK);
    unknown = unknown || each.known[0] == 0;
  }
  EXPECT_TRUE(unknown);
}

TEST(Library, PacketsHaveFieldsAndVerdicts) {
  const std::string path = sample("04_write_loss1.cb.pcap.zst");
  const auto opened =
      packets(path, {"frame.number", "infiniband.bth.psn", "roce.analysis.lost.packets", "ip.addr"});
  ASSERT_EQ(opened.status, ROCE_OK) << opened.text();
  std::int64_t rows = 0, lost = 0;
  for (;;) {
    const auto batch = next(opened, 1000);
    if (batch.status != ROCE_OK) {
      EXPECT_EQ(batch.status, ROCE_NONE) << batch.text();
      break;
    }
    EXPECT_STREQ(roce_table_name(batch.handle.get()), "packets");
    const roce_column numbers = column(batch.handle.get(), "frame.number");
    const roce_column losses = column(batch.handle.get(), "roce.analysis.lost.packets");
    const roce_column addresses = column(batch.handle.get(), "ip.addr");
    ASSERT_LE(numbers.rows, 1000U);
    for (std::size_t row = 0; row < numbers.rows; ++row) {
      EXPECT_EQ(number(numbers, row), ++rows);
      if (losses.known[row] != 0) lost += number(losses, row);
      EXPECT_EQ(text(addresses, row).find(',') != std::string::npos, addresses.known[row] == 2);
    }
  }
  EXPECT_EQ(rows, 3744);
  EXPECT_EQ(lost, 46);
  EXPECT_EQ(next(opened).status, ROCE_NONE);
}

TEST(Library, FiltersSelect) {
  const std::string path = sample("04_write_loss1.cb.pcap.zst");
  const auto chosen = options({{"filter", "roce.analysis.lost == before_capture"}, {"jobs", "1"}});
  const auto opened = packets(path, {"frame.number"}, chosen.get());
  const auto batch = next(opened);
  ASSERT_EQ(batch.status, ROCE_OK) << opened.text() << batch.text();
  EXPECT_GT(roce_table_rows(batch.handle.get()), 10U);
  EXPECT_LT(roce_table_rows(batch.handle.get()), 47U);
  const auto made = report({path}, chosen.get());
  ASSERT_EQ(made.status, ROCE_OK) << made.text();
  EXPECT_EQ(number(column(roce_report_table(made.handle.get(), "connections"), "packets"), 0),
            static_cast<std::int64_t>(roce_table_rows(batch.handle.get())));
}

TEST(Library, MaxPacketsIsSaid) {
  const auto chosen = options({{"max-packets", "100"}});
  const auto made = report({sample("04_write_loss1.cb.pcap.zst")}, chosen.get());
  ASSERT_EQ(made.status, ROCE_OK);
  EXPECT_NE(std::string(roce_report_incomplete(made.handle.get())).find("100 packets"), std::string::npos);
}

TEST(Library, PacketsEndWhereMaxPacketsSays) {
  const auto chosen = options({{"max-packets", "100"}});
  for (const char* field : {"frame.number", "roce.flow"}) {
    const auto made = packets(sample("04_write_loss1.cb.pcap.zst"), {field}, chosen.get());
    ASSERT_EQ(made.status, ROCE_OK);
    EXPECT_EQ(roce_table_rows(next(made).handle.get()), 100U);
    EXPECT_EQ(next(made).status, ROCE_NONE);
  }
}

TEST(Library, RowsWithoutMemoryAreSaidToBeLost) {
  bool all_is_there = false;
  int lost = 0;
  for (int granted = 0; !all_is_there && granted < 5000; granted += 1 + granted / 20) {
    const auto made = packets(sample("04_write_loss1.cb.pcap.zst"), {"frame.number", "roce.src", "ip.dst"});
    ASSERT_EQ(made.status, ROCE_OK);
    roce_table* handle = nullptr;
    allocations_left = granted;
    const roce_status status = roce_packets_next(made.handle.get(), 1000, &handle, nullptr);
    allocations_left = -1;
    const Owned<roce_table> table(handle);
    if (status == ROCE_OK) {
      all_is_there = true;
      EXPECT_EQ(roce_table_rows(handle), 1000U);
      EXPECT_EQ(number(column(handle, "frame.number"), 999), 1000);
      continue;
    }
    EXPECT_EQ(handle, nullptr);
    if (status != ROCE_NO_MEMORY) continue;  // where what was read says so itself
    ++lost;
    EXPECT_EQ(next(made).status, ROCE_NO_MEMORY);
    EXPECT_EQ(next(made).status, ROCE_NO_MEMORY);
  }
  EXPECT_TRUE(all_is_there);
  EXPECT_GT(lost, 2);
}

TEST(Library, OptionsAreChecked) {
  const auto made = options({});
  roce_error* error = nullptr;
  const auto refused = [&](const char* name, const char* value, const std::string& words) {
    EXPECT_EQ(roce_options_set(made.get(), name, value, &error), ROCE_MISUSE) << name;
    const Owned<roce_error> owned(error);
    EXPECT_EQ(roce_error_status(error), ROCE_MISUSE);
    EXPECT_STREQ(roce_error_path(error), name);
    EXPECT_NE(std::string(roce_error_message(error)).find(words), std::string::npos)
        << roce_error_message(error);
  };
  refused("filtre", "x", "no such option");
  refused("filter", "infiniband.bth.psm == 1", "infiniband.bth.psn");
  refused("jobs", "0", "1 to 256");
  refused("jobs", "2 ", "1 to 256");
  refused("max-packets", "-1", "not a number");
  refused("no-icrc", "yes", "true or false");
  refused("trimmed-dscp", "64", "");
  refused("mrc-port", "65536", "65535");
  refused("roce-ip-protocol", "0", "1 to 255");
  EXPECT_EQ(roce_options_set(made.get(), "jobs", "", nullptr), ROCE_OK);
  const auto no_policy = options({{"policy", "no/such/policy.toml"}});
  const auto failed = report({sample("04_write_loss1.cb.pcap.zst")}, no_policy.get());
  EXPECT_EQ(failed.status, ROCE_INPUT);
  EXPECT_NE(failed.text().find("no/such/policy.toml"), std::string::npos) << failed.text();
}

TEST(Library, NullIsMisuseAndNoCrash) {
  roce_error* error = nullptr;
  roce_report* made = nullptr;
  EXPECT_EQ(roce_report_open(nullptr, 1, nullptr, &made, &error), ROCE_MISUSE);
  EXPECT_STREQ(roce_error_text(error), "paths: is null");
  roce_error_free(error);
  const char* const holes[] = {nullptr};
  EXPECT_EQ(roce_report_open(holes, 1, nullptr, &made, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_report_open(holes, 0, nullptr, &made, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_report_open(holes, 1, nullptr, nullptr, nullptr), ROCE_MISUSE);
  const char* const one[] = {"x.pcap"};
  EXPECT_EQ(roce_report_open(one, SIZE_MAX, nullptr, &made, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_packets_open(holes, 1, holes, 1, nullptr, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_packets_next(nullptr, 0, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_options_new(nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_options_set(nullptr, "jobs", "1", nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_stop_new(nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_options_set_stop(nullptr, nullptr, nullptr), ROCE_MISUSE);
  roce_stop_request(nullptr);
  roce_stop_free(nullptr);
  EXPECT_EQ(roce_frame_dissect(nullptr, 10, 0, 1, nullptr, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_dissector_new(nullptr, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_dissector_next(nullptr, "", 0, 0, 1, 0, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_frame_number(nullptr, "frame.len", 0, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_frame_text(nullptr, nullptr, 0, nullptr, 5, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_frame_json(nullptr, nullptr, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_frame_count(nullptr, nullptr), 0U);
  EXPECT_EQ(roce_report_json(nullptr, 0, nullptr, nullptr, nullptr), ROCE_MISUSE);
  EXPECT_STREQ(roce_report_incomplete(nullptr), "");
  EXPECT_EQ(roce_report_tables(nullptr), 0U);
  EXPECT_EQ(roce_report_table(nullptr, nullptr), nullptr);
  EXPECT_EQ(roce_report_table_at(nullptr, 0), nullptr);
  EXPECT_STREQ(roce_table_name(nullptr), "");
  EXPECT_EQ(roce_table_rows(nullptr) + roce_table_columns(nullptr), 0U);
  EXPECT_EQ(roce_table_find(nullptr, nullptr), ROCE_NOWHERE);
  EXPECT_EQ(roce_table_column(nullptr, 0, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_field_at(0, nullptr), ROCE_MISUSE);
  EXPECT_EQ(roce_field_find(nullptr), ROCE_NOWHERE);
  EXPECT_EQ(roce_error_status(nullptr), ROCE_OK);
  EXPECT_EQ(roce_error_offset(nullptr), -1);
  roce_error_free(nullptr);
  roce_report_free(nullptr);
  roce_options_free(nullptr);
  roce_packets_free(nullptr);
  roce_table_free(nullptr);
  roce_frame_free(nullptr);
  roce_dissector_free(nullptr);
  roce_free(nullptr);
}

TEST(Library, StructuresOfAnOlderCallerAreNotOverrun) {
  const auto made = report({sample("04_write_loss1.cb.pcap.zst")});
  roce_column small{};
  small.size = sizeof small - 1;
  const roce_table* table = roce_report_table(made.handle.get(), "flows");
  EXPECT_EQ(roce_table_column(table, 0, &small), ROCE_MISUSE);
  EXPECT_EQ(small.name, nullptr);
  small.size = sizeof small;
  EXPECT_EQ(roce_table_column(table, ROCE_NOWHERE, &small), ROCE_MISUSE);
  EXPECT_EQ(roce_table_column(table, roce_table_columns(table), &small), ROCE_MISUSE);
  // A table of a report is not the caller's to free.
  roce_table_free(const_cast<roce_table*>(table));
  EXPECT_EQ(roce_table_rows(table), 2U);
}

TEST(Library, ErrorsNameThePlace) {
  const auto missing = report({"no/such/file.pcap"});
  EXPECT_EQ(missing.status, ROCE_INPUT);
  EXPECT_STREQ(roce_error_path(missing.error.get()), "no/such/file.pcap");
  EXPECT_EQ(roce_error_offset(missing.error.get()), -1);
  const auto pattern = report({"no/such/*.pcap"});
  EXPECT_EQ(pattern.status, ROCE_INPUT);
  EXPECT_NE(pattern.text().find("no/such/*.pcap"), std::string::npos);
  const File garbage("this is no capture, however long one looks at it");
  const auto none = report({garbage.path()});
  EXPECT_EQ(none.status, ROCE_INPUT);
  EXPECT_EQ(roce_error_path(none.error.get()), garbage.path());
  const auto bytes = report({"no\xff\x1bsuch.pcap"});
  EXPECT_EQ(bytes.status, ROCE_INPUT);
  EXPECT_STREQ(roce_error_path(bytes.error.get()), "no\uFFFD\uFFFDsuch.pcap");
  const auto unknown = packets(sample("04_write_loss1.cb.pcap.zst"), {"infiniband.bth.psm"});
  EXPECT_EQ(unknown.status, ROCE_MISUSE);
  EXPECT_NE(unknown.text().find("infiniband.bth.psn"), std::string::npos) << unknown.text();
}

TEST(Library, WhatIsDamagedIsSaidAndTheRestIsThere) {
  const std::string whole = bytes_of(sample("04_write_loss1.cb.pcap.zst"));
  for (const std::size_t length : {whole.size() - 1, whole.size() / 2, whole.size() / 3}) {
    const File cut(whole.substr(0, length));
    const auto made = report({cut.path()});
    ASSERT_EQ(made.status, ROCE_OK) << made.text();
    EXPECT_NE(std::string(roce_report_incomplete(made.handle.get())), "") << length;
    const auto opened = packets(cut.path(), {"frame.number", "roce.analysis.lost"});
    ASSERT_EQ(opened.status, ROCE_OK) << opened.text();
    auto batch = next(opened);
    while (batch.status == ROCE_OK) batch = next(opened);
    EXPECT_EQ(batch.status, ROCE_INPUT) << length;
    EXPECT_NE(batch.text().find(cut.path()), std::string::npos) << batch.text();
    EXPECT_EQ(next(opened).status, ROCE_NONE);
  }
}

TEST(Library, DamagedFilesAreErrorsAndNoCrash) {
  std::mt19937 random(4711);
  const std::string whole = bytes_of(sample("04_write_loss1.cb.pcap.zst"));
  for (int turn = 0; turn < 20; ++turn) {
    std::string bytes = whole;
    for (int i = 0; i < 40; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const File damaged(bytes);
    const auto made = report({damaged.path()});
    if (made.status == ROCE_OK) {
      EXPECT_GT(roce_report_tables(made.handle.get()), 0U);
    } else {
      EXPECT_EQ(made.status, ROCE_INPUT);
    }
  }
}

TEST(Library, OneFrame) {
  const auto made = frame(acknowledge);
  ASSERT_EQ(made.status, ROCE_OK) << made.text();
  const roce_frame* const f = made.handle.get();
  std::uint64_t value = 1;
  EXPECT_EQ(roce_frame_number(f, "infiniband.bth.psn", 0, &value), ROCE_OK);
  EXPECT_EQ(value, 5U);
  EXPECT_EQ(roce_frame_number(f, "infiniband.bth.destqp", 0, &value), ROCE_OK);
  EXPECT_EQ(value, 0x47U);
  EXPECT_EQ(roce_frame_number(f, "infiniband.bth.psn", 1, &value), ROCE_NONE);
  EXPECT_EQ(value, 0U);
  EXPECT_EQ(roce_frame_number(f, "infiniband.reth.va", 0, &value), ROCE_NONE);
  EXPECT_EQ(roce_frame_number(f, "ip.src", 0, &value), ROCE_MISUSE);
  EXPECT_EQ(roce_frame_number(f, "no.such.field", 0, &value), ROCE_MISUSE);
  EXPECT_EQ(roce_frame_count(f, "ip.addr"), 2U);
  char buffer[16];
  std::size_t length = 0;
  EXPECT_EQ(roce_frame_text(f, "ip.addr", 1, buffer, sizeof buffer, &length), ROCE_OK);
  EXPECT_STREQ(buffer, "10.0.0.2");
  EXPECT_EQ(length, 8U);
  EXPECT_EQ(roce_frame_text(f, "ip.addr", 1, buffer, 5, &length), ROCE_OK);
  EXPECT_STREQ(buffer, "10.0");
  EXPECT_EQ(length, 8U);
  EXPECT_EQ(roce_frame_text(f, "ip.addr", 1, nullptr, 0, &length), ROCE_OK);
  EXPECT_EQ(roce_frame_text(f, "roce.icrc.status", 0, buffer, sizeof buffer, nullptr), ROCE_OK);
  EXPECT_STREQ(buffer, "mismatch");
  char* json = nullptr;
  EXPECT_EQ(roce_frame_json(f, &json, &length, nullptr), ROCE_OK);
  const Owned<char> owned(json);
  EXPECT_EQ(std::strlen(json), length);
  EXPECT_NE(std::string(json).find("\"infiniband.aeth.msn\":1"), std::string::npos) << json;
}

/// IPFIX: a template with the interface a packet came in at (element 10), or a record of it.
std::vector<std::uint8_t> ipfix(const std::vector<std::uint8_t>& set) {
  std::vector<std::uint8_t> bytes(acknowledge.begin(), acknowledge.begin() + 42);
  const auto length = static_cast<std::uint8_t>(16 + set.size());
  bytes[17] = static_cast<std::uint8_t>(28 + length);
  bytes[36] = 0x12, bytes[37] = 0x83;  // UDP port 4739
  bytes[39] = static_cast<std::uint8_t>(8 + length);
  bytes.insert(bytes.end(), {0, 10, 0, length, 0x65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9});
  bytes.insert(bytes.end(), set.begin(), set.end());
  return bytes;
}

TEST(Library, FramesOfOneCaptureKnowWhatCameBefore) {
  const auto described = ipfix({0, 2, 0, 12, 1, 0, 0, 1, 0, 10, 0, 4});
  const auto record = ipfix({1, 0, 0, 8, 0, 0, 0, 7});
  EXPECT_EQ(roce_frame_count(frame(record).handle.get(), "cflow.inputint"), 0U);
  roce_dissector* made = nullptr;
  ASSERT_EQ(roce_dissector_new(nullptr, &made, nullptr), ROCE_OK);
  Owned<roce_dissector> dissector(made);
  const auto next = [&](const std::vector<std::uint8_t>& bytes) {
    roce_frame* handle = nullptr;
    EXPECT_EQ(roce_dissector_next(dissector.get(), bytes.data(), bytes.size(), 0, 1, ROCE_NO_TIME, &handle,
                                  nullptr),
              ROCE_OK);
    return Owned<roce_frame>(handle);
  };
  EXPECT_EQ(roce_frame_count(next(record).get(), "cflow.inputint"), 0U);
  const auto first = next(described);
  const auto second = next(record);
  dissector.reset();  // frames outlive it
  std::uint64_t value = 0;
  EXPECT_EQ(roce_frame_number(second.get(), "cflow.inputint", 0, &value), ROCE_OK);
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(roce_frame_number(second.get(), "frame.number", 0, &value), ROCE_OK);
  EXPECT_EQ(value, 3U);
  char* json = nullptr;
  EXPECT_EQ(roce_frame_json(second.get(), &json, nullptr, nullptr), ROCE_OK);
  const Owned<char> owned(json);
  EXPECT_NE(std::string(json).find("\"cflow.inputint\":7"), std::string::npos) << json;
}

TEST(Library, FramesWithLengthsThatLie) {
  EXPECT_EQ(frame(acknowledge, acknowledge.size() - 1).status, ROCE_MISUSE);
  EXPECT_EQ(frame(acknowledge, std::size_t{UINT32_MAX} + 1).status, ROCE_MISUSE);
  EXPECT_EQ(frame(acknowledge, 0, 65536).status, ROCE_MISUSE);
  EXPECT_EQ(frame(std::vector<std::uint8_t>(ROCE_FRAME_MAX + 1)).status, ROCE_MISUSE);
  EXPECT_EQ(frame(std::vector<std::uint8_t>(ROCE_FRAME_MAX)).status, ROCE_OK);
  EXPECT_EQ(frame({}).status, ROCE_OK);
  std::mt19937 random(815);
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<std::uint8_t> bytes = acknowledge;
    for (int i = 0; i < 6; ++i) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    bytes.resize(random() % (bytes.size() + 1));
    const auto made = frame(bytes, bytes.size() + random() % 100,
                            random() % 2 != 0 ? 1U : static_cast<unsigned>(random() % 300));
    ASSERT_EQ(made.status, ROCE_OK);
    char* json = nullptr;
    ASSERT_EQ(roce_frame_json(made.handle.get(), &json, nullptr, nullptr), ROCE_OK);
    roce_free(json);
  }
}

TEST(Library, FieldsAreFoundByName) {
  EXPECT_GT(roce_field_count(), 500U);
  for (std::size_t i = 0; i < roce_field_count(); ++i) {
    roce_field each{};
    each.size = sizeof each;
    ASSERT_EQ(roce_field_at(i, &each), ROCE_OK);
    EXPECT_EQ(roce_field_find(each.name), i) << each.name;
    EXPECT_NE(each.label, nullptr);
  }
  EXPECT_EQ(roce_field_find("infiniband.bth.psm"), ROCE_NOWHERE);
  roce_field address{};
  address.size = sizeof address;
  ASSERT_EQ(roce_field_at(roce_field_find("infiniband.reth.va"), &address), ROCE_OK);
  EXPECT_EQ(address.type, ROCE_UINT64);
}

TEST(Library, AnalysesCanBeEnded) {
  roce_stop* stop = nullptr;
  ASSERT_EQ(roce_stop_new(&stop, nullptr), ROCE_OK);
  const auto chosen = options({});
  ASSERT_EQ(roce_options_set_stop(chosen.get(), stop, nullptr), ROCE_OK);
  const std::string path = sample("04_write_loss1.cb.pcap.zst");
  const auto whole = report({path}, chosen.get());
  EXPECT_STREQ(roce_report_incomplete(whole.handle.get()), "");
  roce_stop_request(stop);
  const auto made = report({path}, chosen.get());
  ASSERT_EQ(made.status, ROCE_OK) << made.text();
  EXPECT_NE(std::string(roce_report_incomplete(made.handle.get())).find("reading was interrupted"),
            std::string::npos);
  const auto opened = packets(path, {"roce.connection"}, chosen.get());
  EXPECT_EQ(opened.status, ROCE_INPUT);
  EXPECT_EQ(opened.handle, nullptr);
  ASSERT_EQ(roce_options_set_stop(chosen.get(), nullptr, nullptr), ROCE_OK);
  EXPECT_EQ(packets(path, {"roce.connection"}, chosen.get()).status, ROCE_OK);
  roce_stop_free(stop);
}

TEST(Library, PacketsCanBeEnded) {
  roce_stop* stop = nullptr;
  ASSERT_EQ(roce_stop_new(&stop, nullptr), ROCE_OK);
  EXPECT_EQ(roce_packets_set_stop(nullptr, stop, nullptr), ROCE_MISUSE);
  const auto opened = packets(sample("04_write_loss1.cb.pcap.zst"), {"frame.number"}, nullptr);
  ASSERT_EQ(opened.status, ROCE_OK);
  ASSERT_EQ(roce_packets_set_stop(opened.handle.get(), stop, nullptr), ROCE_OK);
  roce_table* table = nullptr;
  ASSERT_EQ(roce_packets_next(opened.handle.get(), 100, &table, nullptr), ROCE_OK);
  EXPECT_EQ(roce_table_rows(table), 100U);
  roce_table_free(table);
  roce_stop_request(stop);
  roce_error* error = nullptr;
  ASSERT_EQ(roce_packets_next(opened.handle.get(), 100, &table, &error), ROCE_INPUT);
  EXPECT_EQ(table, nullptr);
  EXPECT_STREQ(roce_error_text(error), "reading was ended after 100 packets");
  roce_error_free(error);
  EXPECT_EQ(roce_packets_next(opened.handle.get(), 100, &table, nullptr), ROCE_NONE);
  roce_stop_free(stop);
}

TEST(Library, SeveralThreadsReadOneReport) {
  const auto made = report({sample("04_write_loss1.cb.pcap.zst")});
  std::vector<std::thread> threads;
  std::vector<std::int64_t> sums(4);
  for (std::int64_t& sum : sums) {
    threads.emplace_back([&made, &sum] {
      for (std::size_t i = 0; i < roce_report_tables(made.handle.get()); ++i) {
        const roce_table* table = roce_report_table_at(made.handle.get(), i);
        for (std::size_t j = 0; j < roce_table_columns(table); ++j) {
          roce_column each{};
          each.size = sizeof each;
          if (roce_table_column(table, j, &each) == ROCE_OK && each.type == ROCE_INT64) {
            for (std::size_t row = 0; row < each.rows; ++row)
              sum += static_cast<const std::int64_t*>(each.values)[row] % 1000;
          }
        }
      }
      char* json = nullptr;
      if (roce_report_json(made.handle.get(), 0, &json, nullptr, nullptr) == ROCE_OK)
        sum += static_cast<std::int64_t>(std::strlen(json));
      roce_free(json);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(sums[0], 0);
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, sums[0]);
}

}  // namespace
