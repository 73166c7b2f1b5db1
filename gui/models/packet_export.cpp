// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_export.hpp"

#include <QFile>
#include <QSaveFile>
#include <exception>
#include <optional>

#include "analyze/base/csv.hpp"
#include "analyze/show/packet_json.hpp"
#include "capture/write/pcapng_writer.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {
namespace {

/// Makes the lines of one export.
class Writer {
 public:
  explicit Writer(const PacketStyle& style) : style_(style), line_(style.time), cells_(style.time) {
    for (const PacketColumn& column : style_.columns) {
      const PacketNeeds more = column.needs();
      needs_ = {needs_.icrc || more.icrc, needs_.flow || more.flow, needs_.upper || more.upper,
                needs_.verdict || more.verdict};
    }
    if (style_.format != PacketFormat::csv) needs_ = PacketNeeds::everything();
  }

  [[nodiscard]] const PacketNeeds& needs() const noexcept { return needs_; }

  void begin(std::string& out) const {
    if (style_.format != PacketFormat::csv) return;
    for (std::size_t i = 0; i < style_.columns.size(); ++i) {
      if (i != 0) out += ',';
      analyze::append_csv(out, style_.columns[i].name.toStdString());
    }
    out += '\n';
  }

  void append(std::string& out, const analyze::PacketView& packet) {
    if (style_.format == PacketFormat::json) {
      json_.append(out, packet);
    } else if (style_.format == PacketFormat::csv) {
      for (std::size_t i = 0; i < style_.columns.size(); ++i) {
        if (i != 0) out += ',';
        analyze::append_csv(out, cells_.text(packet, style_.columns[i]));
      }
      out += '\n';
    } else {
      line_.append(out, packet);
      out += '\n';
    }
  }

 private:
  const PacketStyle& style_;
  analyze::PacketLine line_;
  analyze::PacketJson json_;
  PacketCells cells_;
  PacketNeeds needs_;
};

/// Calls `each` with the number of every packet of the choice until it returns false.
template <class Each>
void for_each_number(const PacketChoice& choice, Each each) {
  for (const auto& [first, last] : choice.rows) {
    for (int row = first; row <= last; ++row) {
      const std::uint64_t number = choice.number_of(row);
      if (number == 0 || !each(number)) return;
    }
  }
}

}  // namespace

std::uint64_t PacketChoice::count() const noexcept {
  std::uint64_t count = 0;
  for (const auto& [first, last] : rows)
    count += static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
  return count;
}

std::uint64_t PacketChoice::number_of(int row) const {
  const auto place = static_cast<std::uint64_t>(row);
  return search ? search->number_of(place) : place + 1;
}

std::string packets_as_text(const PacketChoice& choice, const PacketStyle& style, std::uint64_t limit) {
  std::string out;
  if (!choice.store) return out;
  Writer writer(style);
  PacketReader reader(choice.store);
  writer.begin(out);
  for_each_number(choice, [&](std::uint64_t number) {
    if (limit-- == 0) return false;
    if (const analyze::PacketView* packet = reader.read(number, writer.needs())) writer.append(out, *packet);
    return true;
  });
  return out;
}

PacketExport::PacketExport(PacketChoice choice, PacketStyle style, std::string path)
    : choice_(std::move(choice)), style_(std::move(style)), path_(std::move(path)) {}

std::shared_ptr<PacketExport> PacketExport::start(PacketChoice choice, PacketStyle style, std::string path) {
  std::shared_ptr<PacketExport> made(new PacketExport(std::move(choice), std::move(style), std::move(path)));
  run_in_background([made] { made->run(); });
  return made;
}

PacketExport::State PacketExport::state() const {
  const std::lock_guard lock(mutex_);
  return {written_.load(), choice_.count(), ended_, error_};
}

void PacketExport::end(std::string error) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  error_ = std::move(error);
}

void PacketExport::run() {
  try {
    std::string error = style_.format == PacketFormat::pcapng ? write_pcapng() : write_text();
    if (error.empty() && cancelled_) error = "cancelled";
    end(std::move(error));
  } catch (const std::exception& problem) {
    end(problem.what());
  }
}

std::string PacketExport::write_pcapng() {
  // The dialog that gave the name has asked whether to overwrite.
  auto writer = capture::PcapngWriter::create(path_, "roceanalyze-gui", choice_.store->section_comments(),
                                              {.inputs = {}, .may_replace = nullptr, .force = true});
  if (!writer) return error_text(writer.error());
  capture::FrameStore::Reader reader(choice_.store->frames());
  CommentsOf comments_of;
  std::string error;
  for_each_number(choice_, [&](std::uint64_t number) {
    auto frame = reader.read(number);
    if (!frame) {
      error = error_text(frame.error());
      return false;
    }
    if (frame->time_ns == capture::no_time) frame->time_ns = 0;  // pcapng needs a timestamp
    const auto comments = comments_of.packet(choice_.store->comments(), number, reader.comments());
    if (const auto written = writer->write(*frame, *reader.interface(), comments); !written) {
      error = error_text(written.error());
      return false;
    }
    ++written_;
    return !cancelled_;
  });
  if (!error.empty() || cancelled_) return error;
  const auto finished = writer->finish(*choice_.store->frames()->interfaces());
  return finished ? std::string() : error_text(finished.error());
}

std::string PacketExport::write_text() {
  QSaveFile file(QFile::decodeName(path_.c_str()));
  const auto failed = [&] { return path_ + ": " + file.errorString().toStdString(); };
  if (!file.open(QIODevice::WriteOnly)) return failed();
  Writer writer(style_);
  PacketReader reader(choice_.store);
  std::string out;
  std::string error;
  const auto flush = [&] {
    const bool whole =
        file.write(out.data(), static_cast<qint64>(out.size())) == static_cast<qint64>(out.size());
    if (!whole) error = failed();
    out.clear();
    return whole;
  };
  writer.begin(out);
  for_each_number(choice_, [&](std::uint64_t number) {
    const analyze::PacketView* packet = reader.read(number, writer.needs());
    if (packet == nullptr) {
      error = reader.error();
      return false;
    }
    writer.append(out, *packet);
    ++written_;
    constexpr std::size_t enough = 1U << 20U;
    return (out.size() < enough || flush()) && !cancelled_;
  });
  if (!error.empty() || cancelled_ || !flush()) return error;
  return file.commit() ? std::string() : failed();
}

}  // namespace roce::gui
