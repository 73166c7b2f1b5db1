// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/batch.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "analyze/store/ddl.hpp"
#include "analyze/store/row_table.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t seconds_a_day = 86400;
constexpr std::string_view magic = "roceanalyze-batch";
constexpr std::uint32_t format_version = 1;

std::int64_t day_of(StoreTime time) noexcept {
  const std::int64_t day = time.seconds / seconds_a_day;
  return time.seconds < day * seconds_a_day ? day - 1 : day;
}

tl::unexpected<capture::Error> bad(capture::ErrorKind kind, std::string_view message) {
  capture::Error error;
  error.kind = kind;
  error.message = message;
  return tl::unexpected(error);
}

/// The text up to the separator, which is removed with it; none without a separator.
std::optional<std::string_view> cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view begin = text.substr(0, at);
  text.remove_prefix(at + 1);
  return begin;
}

template <class Number>
bool batch_number(std::string_view text, Number& number) {
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && stop == text.data() + text.size();
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (const auto word = cut(line, '\t')) words.push_back(*word);
  words.push_back(line);
  return words;
}

}  // namespace

std::uint64_t StoreBatch::rows() const noexcept {
  std::uint64_t sum = 0;
  for (const StoreBlock& block : blocks) sum += block.rows;
  return sum;
}

BatchMaker::BatchMaker(std::string host, std::string device, std::uint64_t run, std::uint32_t first_seq)
    : host_(std::move(host)), device_(std::move(device)), run_(run), next_seq_(first_seq) {}

BatchMaker::Open& BatchMaker::open(std::int64_t day) {
  auto at = days_.find(day);
  if (at != days_.end() && at->second.rows >= rows_at_most) {
    full_.emplace_back(day, std::move(at->second));
    days_.erase(at);
    at = days_.end();
  }
  if (at == days_.end()) {
    at = days_.emplace(day, Open{}).first;
    at->second.seq = next_seq_++;
  }
  return at->second;
}

template <class Row>
void BatchMaker::add_to(Open& open, Row& row) {
  const RowTable<Row>& table = row_table<Row>();
  StoreBlock& block = open.blocks[table.table];
  if (block.table == nullptr) {
    block.table = table.table;
    block.columns = column_names(*table.table);
  }
  if constexpr (std::is_base_of_v<StoreRow, Row>) {
    row.host = host_;
    row.device = device_;
    row.run = run_;
    row.seq = open.seq;
    row.row = static_cast<std::uint32_t>(block.rows);
  }
  table.append(block.text, row);
  ++block.rows;
  ++open.rows;
}

template <class Row>
void BatchMaker::add(Row row) {
  add_to(open(day_of(row.time)), row);
}

template void BatchMaker::add(IntervalRow);
template void BatchMaker::add(PairRow);
template void BatchMaker::add(FindingStoreRow);
template void BatchMaker::add(EvidenceStoreRow);
template void BatchMaker::add(IncidentStoreRow);
template void BatchMaker::add(DiagnosisStoreRow);
template void BatchMaker::add(DropStoreRow);
template void BatchMaker::add(PauseStoreRow);
template void BatchMaker::add(MarkingStoreRow);
template void BatchMaker::add(FactStoreRow);
template void BatchMaker::add(FileStoreRow);
template void BatchMaker::add(RunStoreRow);
template void BatchMaker::add(NodeStoreRow);

std::vector<StoreBatch> BatchMaker::take(const HeartbeatRow& beat) {
  (void)open(day_of(beat.time));
  for (auto& [day, open] : days_) full_.emplace_back(day, std::move(open));
  days_.clear();
  std::vector<StoreBatch> batches;
  bool counted = false;
  for (auto& [day, open] : full_) {
    HeartbeatRow row;
    row.time.seconds = day * seconds_a_day;
    if (!counted && day == day_of(beat.time)) {
      row = beat;
      counted = true;
    }
    row.rows = static_cast<std::uint32_t>(open.rows);
    add_to(open, row);
    StoreBatch batch;
    batch.run = run_;
    batch.seq = open.seq;
    for (const StoreTable& table : store_tables()) {
      for (auto& [key, block] : open.blocks) {
        if (key->name == table.name) batch.blocks.push_back(std::move(block));
      }
    }
    batches.push_back(std::move(batch));
  }
  full_.clear();
  return batches;
}

std::string encode(const StoreBatch& batch) {
  std::string out =
      fmt::format("{}\t{}\t{}\t{}\t{}\n", magic, format_version, batch.run, batch.seq, batch.blocks.size());
  for (const StoreBlock& block : batch.blocks) {
    out += fmt::format("{}\t{}\t{}\t{}\n", block.table->name, block.rows, block.text.size(), block.columns);
    out += block.text;
  }
  return out;
}

capture::Expected<StoreBatch> decode(std::string_view& bytes) {
  using capture::ErrorKind;
  const auto first = cut(bytes, '\n');
  if (!first) return bad(ErrorKind::cut_short, "a batch without its first line");
  const std::vector<std::string_view> head = words_of(*first);
  StoreBatch batch;
  std::uint32_t version = 0;
  std::size_t blocks = 0;
  if (head.size() != 5 || head[0] != magic || !batch_number(head[1], version) ||
      !batch_number(head[2], batch.run) || !batch_number(head[3], batch.seq) ||
      !batch_number(head[4], blocks))
    return bad(ErrorKind::damaged, "not a batch of roceanalyze");
  if (version != format_version) return bad(ErrorKind::unsupported, "a batch of another version");
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto line = cut(bytes, '\n');
    if (!line) return bad(ErrorKind::cut_short, "a batch that ends too early");
    const std::vector<std::string_view> words = words_of(*line);
    StoreBlock block;
    std::size_t size = 0;
    if (words.size() != 4 || !batch_number(words[1], block.rows) || !batch_number(words[2], size))
      return bad(ErrorKind::damaged, "a batch with a block that says nothing of itself");
    if (size > bytes.size()) return bad(ErrorKind::cut_short, "a batch that ends too early");
    block.table = find_store_table(words[0]);
    block.columns = words[3];
    block.text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (block.table != nullptr) batch.blocks.push_back(std::move(block));
  }
  return batch;
}

bool next_row(std::string_view& text, std::vector<std::string>& cells) {
  if (text.empty()) return false;
  std::size_t cell = 0;
  const auto next = [&]() -> std::string& {
    if (cells.size() <= cell) cells.emplace_back();
    cells[cell].clear();
    return cells[cell++];
  };
  std::string* out = &next();
  std::size_t i = 0;
  for (; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\t') {
      out = &next();
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      const char c = text[++i];
      *out += c == 't'   ? '\t'
              : c == 'n' ? '\n'
              : c == 'r' ? '\r'
              : c == '0' ? '\0'
              : c == 'b' ? '\b'
              : c == 'f' ? '\f'
                         : c;
    } else {
      *out += text[i];
    }
  }
  text.remove_prefix(i < text.size() ? i + 1 : i);
  cells.resize(cell);
  return true;
}

}  // namespace roce::analyze
