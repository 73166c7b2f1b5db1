// SPDX-License-Identifier: Apache-2.0
#include "cli/store/fleet_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "analyze/base/csv.hpp"
#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/report/json/json_report.hpp"
#include "cli/core/text_table.hpp"

namespace roce::cli {
namespace {

using analyze::AnswerColumn;
using analyze::AnswerKind;
using analyze::AnswerRow;
using analyze::AnswerRows;
using analyze::Asked;
using analyze::JsonObject;
using analyze::Question;
using analyze::StoreCell;

std::int64_t whole(const StoreCell& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number != nullptr ? *number : 0;
}

/// For programs.
std::string plain(const StoreCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* fraction = std::get_if<double>(&cell)) return fmt::format("{}", *fraction);
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : std::string();
}

bool is_right(AnswerKind kind) {
  return kind != AnswerKind::text;
}

bool is_time(AnswerKind kind) {
  return kind == AnswerKind::seconds || kind == AnswerKind::time_ns;
}
/// Of "2026-11-20 10:48:07.503458499 UTC".
constexpr std::size_t to_the_second = 19;

std::size_t place_of(const Question& question, std::string_view name) {
  const auto at = std::find_if(question.columns.begin(), question.columns.end(),
                               [&](const AnswerColumn& column) { return column.name == name; });
  return static_cast<std::size_t>(at - question.columns.begin());
}

constexpr AnswerPart parts_of_answers[] = {
    {Asked::flow, "loss", "loss_of_flow", "what was lost between points that saw it"},
    {Asked::connection, "loss", "loss_of_connection", "what was lost between points that saw it"},
    {Asked::connection, "incidents", "incidents_of_connection", "its incidents, the most costly first"},
};

analyze::JsonShape::Kind json_kind(AnswerKind kind) {
  using Kind = analyze::JsonShape::Kind;
  return kind == AnswerKind::text ? Kind::text : kind == AnswerKind::ratio ? Kind::number : Kind::integer;
}

std::string_view unit_of(AnswerKind kind) {
  using enum AnswerKind;
  switch (kind) {
    case bytes:
      return "byte";
    case seconds:
      return "s since 1970";
    case time_ns:
      return "ns since 1970";
    case duration:
      return "ns";
    case text:
    case count:
    case key:
    case qp:
    case ratio:
      break;
  }
  return {};
}

void write_cell(analyze::JsonWriter& json, const StoreCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    json.value(*number);
  } else if (const auto* fraction = std::get_if<double>(&cell)) {
    json.value(*fraction);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    json.value(std::string_view(*text));
  } else {
    json.null();
  }
}

/// A row of an answer. Lives as long as the program.
const JsonObject<AnswerRow>& row_object(const Question& question) {
  static std::map<std::string_view, std::unique_ptr<const JsonObject<AnswerRow>>> rows;
  auto& row = rows[question.name];
  if (row != nullptr) return *row;
  JsonObject<AnswerRow> o("row_" + std::string(question.name));
  for (std::size_t i = 0; i < question.columns.size(); ++i) {
    const AnswerColumn& column = question.columns[i];
    o.described({.name = std::string(column.name),
                 .unit = std::string(unit_of(column.kind)),
                 .help = std::string(column.help),
                 .shape = {.kind = json_kind(column.kind), .nullable = true}},
                [i, &column](analyze::JsonWriter& json, const AnswerRow& cells) {
                  json.key(column.name);
                  write_cell(json, cells[i]);
                });
  }
  row = std::make_unique<const JsonObject<AnswerRow>>(std::move(o));
  return *row;
}

/// A row with names of its cells.
class Named {
 public:
  Named(const Question& question, const AnswerRow& row) : question_(question), row_(row) {}
  [[nodiscard]] const StoreCell& cell(std::string_view name) const { return row_[place_of(question_, name)]; }
  [[nodiscard]] std::int64_t number(std::string_view name) const { return whole(cell(name)); }
  [[nodiscard]] std::string text(std::string_view name) const {
    const std::size_t at = place_of(question_, name);
    return answer_cell(question_.columns[at], row_[at]);
  }

 private:
  const Question& question_;
  const AnswerRow& row_;
};

std::string name_of(const std::string& host, const std::string& device) {
  return device.empty() ? host : host + " " + device;
}

std::string loss_sentence(const Named& loss) {
  const std::string from = name_of(loss.text("from_host"), loss.text("from_device"));
  const std::string to = name_of(loss.text("to_host"), loss.text("to_device"));
  const std::int64_t lost = loss.number("lost"), sent = loss.number("sent");
  const bool directed = loss.text("directed") == "yes";
  std::string text;
  const std::int64_t least = loss.number("lost_at_least"), most = loss.number("lost_at_most");
  if (least != most && lost >= 0) {
    text = fmt::format("between {} and {} of {} packets ({}) were lost between {} and {}: some came late",
                       least, most, sent, loss.text("of"), from, to);
  } else if (lost == 0) {
    text = fmt::format("none of {} packets ({}) was lost between {} and {}", sent, loss.text("of"), from, to);
  } else if (lost > 0 && directed) {
    text = fmt::format("{} of {} packets ({}) were lost from {} to {}, exactly", lost, sent, loss.text("of"),
                       from, to);
  } else if (directed) {
    text = fmt::format(
        "{} saw {} packets ({}) more than {}: the capture there lacks them, or the two are "
        "named the wrong way round (--address)",
        to, -lost, loss.text("of"), from);
  } else {
    text = fmt::format(
        "{} saw {} packets ({}) more than {}: lost between them, if it is nearer to the source "
        "(which of them is, --address at export tells)",
        lost > 0 ? from : to, lost > 0 ? lost : -lost, loss.text("of"), lost > 0 ? to : from);
  }
  text += fmt::format("; by {} PSNs that both saw", loss.number("marks"));
  const std::int64_t dropped = loss.number("to_dropped");
  if (dropped > 0 && lost != 0)
    text += fmt::format("; up to {} of them may be what the capture at {} dropped",
                        std::min(dropped, std::max(lost, -lost)), to);
  return text;
}

}  // namespace

std::string answer_cell(const AnswerColumn& column, const StoreCell& cell) {
  using enum AnswerKind;
  if (std::holds_alternative<std::monostate>(cell)) return {};
  const std::int64_t number = whole(cell);
  switch (column.kind) {
    case text: {
      std::string shown;
      analyze::append_printable(shown, plain(cell));
      return shown;
    }
    case bytes:
      return analyze::bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)));
    case qp:
      return number == 0 ? std::string() : fmt::format("0x{:06x}", number);
    case seconds:
      return number == 0 ? std::string() : analyze::time_text(number * 1'000'000'000);
    case time_ns:
      return number == 0 ? std::string() : analyze::time_text(number);
    case duration:
      return number < 0    ? std::string("unknown")
             : number == 0 ? std::string()
                           : analyze::duration_text(number);
    case ratio:
      if (const auto* fraction = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *fraction);
      break;
    case count:
    case key:
      break;
  }
  return plain(cell);
}

std::string answer_table(const Question& question, const AnswerRows& rows, std::size_t width) {
  std::vector<TextTable::Column> heads;
  for (const AnswerColumn& column : question.columns)
    heads.push_back({column.heading, is_right(column.kind), column.priority});
  TextTable table(std::move(heads));
  for (const AnswerRow& row : rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < question.columns.size(); ++i) {
      cells.push_back(answer_cell(question.columns[i], row[i]));
      if (is_time(question.columns[i].kind))
        cells.back().resize(std::min(cells.back().size(), to_the_second));
    }
    table.add_row(std::move(cells));
  }
  return table.render(width, 0);
}

std::span<const AnswerPart> answer_parts() noexcept {
  return parts_of_answers;
}

const analyze::JsonObject<FleetAnswer>& fleet_answer_object(const Question& question) {
  static std::map<std::string_view, std::unique_ptr<const JsonObject<FleetAnswer>>> answers;
  auto& answer = answers[question.name];
  if (answer != nullptr) return *answer;
  JsonObject<FleetAnswer> o("answer_" + std::string(question.name));
  o.key("schema", "name of this schema", [](const FleetAnswer&) {
     return analyze::report_schema;
   }).of({analyze::report_schema});
  o.key("question", "the question", [name = question.name](const FleetAnswer&) {
     return name;
   }).of({question.name});
  o.list("rows", question.help, row_object(question),
         [](const FleetAnswer& a) -> const AnswerRows& { return a.rows; });
  std::size_t i = 0;
  for (const AnswerPart& part : parts_of_answers) {
    if (part.asked != question.asked) continue;
    o.list(std::string(part.name), part.help, row_object(*analyze::find_question(part.question)),
           [i](const FleetAnswer& a) -> const AnswerRows& { return *a.parts[i]; });
    ++i;
  }
  answer = std::make_unique<const JsonObject<FleetAnswer>>(std::move(o));
  return *answer;
}

std::string answer_csv(const Question& question, const AnswerRows& rows) {
  std::string out;
  for (const AnswerColumn& column : question.columns) {
    if (!out.empty()) out += ',';
    analyze::append_csv(out, column.name);
  }
  out += "\r\n";
  for (const AnswerRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != 0) out += ',';
      analyze::append_csv(out, plain(row[i]));
    }
    out += "\r\n";
  }
  return out;
}

std::string ends_text(const Question& points, const AnswerRows& rows, const Question& loss,
                      const AnswerRows& losses, std::size_t width) {
  std::string out;
  std::vector<std::int64_t> flows;
  for (const AnswerRow& row : rows) {
    if (std::find(flows.begin(), flows.end(), whole(row.front())) == flows.end())
      flows.push_back(whole(row.front()));
  }
  const std::size_t first_figure = place_of(points, "state");
  for (const std::int64_t flow : flows) {
    std::vector<const AnswerRow*> of_flow;
    for (const AnswerRow& row : rows) {
      if (whole(row.front()) == flow) of_flow.push_back(&row);
    }
    const Named first(points, *of_flow.front());
    if (!out.empty()) out += '\n';
    out += fmt::format("{} QP {} > {} QP {}\n", first.text("src"),
                       first.number("src_qp") == 0 ? "unknown" : first.text("src_qp"), first.text("dst"),
                       first.text("dst_qp"));
    std::vector<std::string> names;
    for (const AnswerRow* row : of_flow) {
      const Named point(points, *row);
      names.push_back(
          fmt::format("{} ({})", name_of(point.text("host"), point.text("device")), point.text("place")));
    }
    std::vector<TextTable::Column> heads{{"", false, 0}};
    for (const std::string& name : names) heads.push_back({name, true, 0});
    TextTable table(std::move(heads));
    for (std::size_t i = first_figure; i < points.columns.size(); ++i) {
      const AnswerColumn& column = points.columns[i];
      std::vector<std::string> cells{std::string(column.heading)};
      bool any = column.kind == AnswerKind::text;
      for (const AnswerRow* row : of_flow) {
        any = any || whole((*row)[i]) != 0;
        cells.push_back(answer_cell(column, (*row)[i]));
      }
      if (any) table.add_row(std::move(cells));
    }
    out += table.render(width, 2);
    bool compared = false;
    for (const AnswerRow& row : losses) {
      if (whole(row.front()) != flow) continue;
      compared = true;
      out += "  " + wrap(loss_sentence(Named(loss, row)), width - 2, 2) + "\n";
    }
    if (!compared && of_flow.size() > 1) {
      const bool only_answers = std::all_of(of_flow.begin(), of_flow.end(), [&](const AnswerRow* row) {
        return Named(points, *row).number("operations") == 0;
      });
      out += "  " +
             wrap(only_answers ? "not compared: acknowledgements, of which one stands for several"
                               : "not compared: there are no two PSNs that both points saw at the same time "
                                 "(clocks within 1 s), the first second of each capture aside",
                  width - 2, 2) +
             "\n";
    }
  }
  return out;
}

}  // namespace roce::cli
