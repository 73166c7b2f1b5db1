// SPDX-License-Identifier: Apache-2.0
// The command `fleet`: asks a store of captures of many hosts.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/json_writer.hpp"
#include "analyze/report/advice.hpp"
#include "analyze/store/keys.hpp"
#include "analyze/store/questions.hpp"
#include "analyze/store/store.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/store/fleet_answer.hpp"
#include "cli/store/identity_options.hpp"
#include "cli/store/store_export.hpp"
#include "cli/store/target_options.hpp"

namespace roce::cli {
namespace {

using analyze::AnswerRows;
using analyze::Asked;
using analyze::Question;
using analyze::QuestionValues;

struct FleetOptions {
  std::string question;
  std::vector<std::string> words;
  analyze::StoreTarget from;
  std::string engine = "sqlite";
  std::string since;
  std::string until;
  std::string against;
  std::string fabric;
  std::uint64_t top = 20;
  bool json = false;
  bool pretty = false;
  bool csv = false;
};

/// Decimal or 0x.
std::optional<std::uint64_t> number_of(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failure != std::errc() || stop != text.data() + text.size() || number > INT64_MAX) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> qp_of(std::string_view text) {
  constexpr std::uint64_t most = 0xffffff;
  const auto number = number_of(text);
  return number && *number <= most ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

/// What follows the name of a question.
constexpr std::string_view words_of(Asked asked) {
  switch (asked) {
    case Asked::nothing:
      break;
    case Asked::pair:
      return " ADDRESS ADDRESS";
    case Asked::flow:
      return " SOURCE DESTINATION QP (or FLOW)";
    case Asked::connection:
      return " ADDRESS QP ADDRESS QP (or CONNECTION)";
    case Asked::incident:
      return " INCIDENT";
  }
  return "";
}

/// Fills in the keys of what is asked for; false if the words are wrong.
bool take_keys(Asked asked, const FleetOptions& options, QuestionValues& values) {
  const std::vector<std::string>& words = options.words;
  if (asked == Asked::nothing) return words.empty();
  if (words.size() == 1 && asked != Asked::pair) {
    const auto number = number_of(words[0]);
    values.key = number.value_or(0);
    return number.has_value();
  }
  const auto address = [&](std::size_t i) { return plain_address(words[i]); };
  const auto pair = [&](std::size_t a, std::size_t b) {
    return analyze::hash_of_pair(options.fabric, *address(a), *address(b));
  };
  if (asked == Asked::pair && words.size() == 2 && address(0) && address(1)) {
    values.key = pair(0, 1);
  } else if (asked == Asked::flow && words.size() == 3 && address(0) && address(1) && qp_of(words[2])) {
    values.pair = pair(0, 1);
    values.key = analyze::hash_of_flow(options.fabric, *address(0), *address(1), *qp_of(words[2]));
  } else if (asked == Asked::connection && words.size() == 4 && address(0) && address(2) && qp_of(words[1]) &&
             qp_of(words[3])) {
    values.pair = pair(0, 2);
    values.key = analyze::hash_of_connection(options.fabric, *address(0), *qp_of(words[1]), *address(2),
                                             *qp_of(words[3]));
  } else {
    return false;
  }
  return true;
}

/// Which rows by their time; what is wrong with it.
std::string take_times(const FleetOptions& options, std::string_view question, QuestionValues& values) {
  const std::int64_t now = seconds_now();
  const std::int64_t until = parse_span(options.until).value_or(0);
  // To ClickHouse a time before 1970 is one long after it.
  if (until != 0) values.until = std::max<std::int64_t>(now - until, 1);
  if (const auto span = parse_span(options.since)) {
    if (*span <= until)
      return fmt::format("nothing is since {} and until {} ago", options.since, options.until);
    values.since = std::max<std::int64_t>(now - *span, 0);
    values.span = *span - until;
  }
  if (options.against.empty()) return {};
  if (question != "changes") return "--against is of the question `changes`";
  values.against = parse_span(options.against).value_or(0);
  return values.against < values.span
             ? fmt::format("--against {}: is shorter than the span that is compared", options.against)
             : std::string();
}

std::string questions_text() {
  std::string text;
  for (const Question& question : analyze::questions()) {
    text += fmt::format("{}  {:<12} {}{}", text.empty() ? "" : "\n", question.name, question.help,
                        words_of(question.asked).empty() ? "" : fmt::format(":{}", words_of(question.asked)));
  }
  return text + "\n  sql          the statement of a question, for use elsewhere: QUESTION";
}

/// A further part of an answer.
struct Part {
  const Question* question = nullptr;
  AnswerRows rows;
};

std::string files_text(const Question& question, const AnswerRows& rows) {
  std::string text;
  for (const analyze::AnswerRow& row : rows) {
    const auto cell = [&](std::size_t i) { return answer_cell(question.columns[i], row[i]); };
    text += fmt::format("on {}: {} ({}), packets {} to {}\n", cell(0), cell(2).empty() ? "not kept" : cell(2),
                        cell(4), cell(7), cell(8));
    const auto* file = std::get_if<std::string>(&row[2]);
    if (file != nullptr && !file->empty())
      text += fmt::format("  roceanalyze packets {} -Y 'roce.incident == {}'\n", analyze::shell_word(*file),
                          cell(3));
  }
  return text;
}

int run_fleet(const FleetOptions& options) {
  const bool only_sql = options.question == "sql";
  const std::string& name = only_sql && options.words.size() == 1 ? options.words.front() : options.question;
  const auto known = analyze::questions();
  const bool is_known =
      std::any_of(known.begin(), known.end(), [&](const Question& q) { return q.name == name; });
  if (!is_known)
    return usage_error(fmt::format("fleet: there is no question '{}'; questions are:", name),
                       questions_text());
  const Question& question = *analyze::find_question(name);
  QuestionValues values;
  values.top = options.top;
  if (const std::string wrong = take_times(options, name, values); !wrong.empty())
    return usage_error("fleet: " + wrong);
  if (only_sql)
    return print_text(statement(question, values,
                                options.engine == "sqlite" ? analyze::StoreEngine::sqlite
                                                           : analyze::StoreEngine::clickhouse) +
                          ";\n",
                      exit_ok, Encoding::utf8);
  if (!take_keys(question.asked, options, values))
    return usage_error(fmt::format("fleet {}: it is asked as fleet {}{} --from TARGET", name, name,
                                   words_of(question.asked)));
  if (options.from.name.empty())
    return usage_error("fleet: --from TARGET is missing: the store that is asked");
  auto store = analyze::open_store(options.from, analyze::Store::Access::read);
  const auto fail = [](const capture::Error& error) {
    print_error(error);
    return static_cast<int>(exit_input);
  };
  if (!store) return fail(store.error());
  auto rows = ask(**store, question, values);
  if (!rows) return fail(rows.error());
  std::vector<Part> parts;
  for (const AnswerPart& part : answer_parts()) {
    if (part.asked != question.asked) continue;
    const Question* more = analyze::find_question(part.question);
    auto found = ask(**store, *more, values);
    if (!found) return fail(found.error());
    parts.push_back({more, std::move(*found)});
  }
  if (const std::string lacks = (*store)->shortcoming(); !lacks.empty()) print_error(lacks);
  if (options.csv) return print_text(answer_csv(question, *rows), exit_ok, Encoding::utf8);
  if (options.json) {
    Output out(Encoding::utf8);
    analyze::JsonWriter json(out.buffer(), options.pretty);
    FleetAnswer answer{*rows, {}};
    for (const Part& part : parts) answer.parts.push_back(&part.rows);
    fleet_answer_object(question).write(json, answer);
    out.write("\n");
    return out.finish();
  }
  if (rows->empty()) return print_text("nothing: no rows of the store answer this\n", exit_ok);
  const std::size_t width = text_width();
  std::string text;
  if (!parts.empty()) {
    text = ends_text(question, *rows, *parts[0].question, parts[0].rows, width);
    if (parts.size() > 1 && !parts[1].rows.empty())
      text += "\nIncidents, the most costly first\n" + answer_table(*parts[1].question, parts[1].rows, width);
  } else if (question.asked == Asked::incident) {
    text = files_text(question, *rows);
  } else {
    text = answer_table(question, *rows, width);
  }
  return print_text(text, exit_ok);
}

}  // namespace

void add_fleet(CLI::App& app, Action& action) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* command = app.add_subcommand("fleet", "ask a store of captures of many hosts");
  command->add_option("QUESTION", options->question, "\n" + questions_text())->required()->type_name("");
  command->add_option("WORDS", options->words, "what it is about")->type_name("");
  command
      ->add_option("--from,--store", options->from.name,
                   "the store: a file, or clickhouse://[user@]host[:port]/database")
      ->check(empty_error)
      ->type_name("TARGET");
  add_target_access(*command, options->from);
  command->add_option("--engine", options->engine, "dialect of `sql`: sqlite (default) or clickhouse")
      ->check(CLI::IsMember({"sqlite", "clickhouse"}))
      ->type_name("NAME");
  command->add_option("--since", options->since, "only rows of the last so much: 90m, 24h, 7d (default: all)")
      ->check(span_error)
      ->type_name("TIME");
  command
      ->add_option("--until", options->until,
                   "only older rows: --since 3h --until 2h is the hour that ended two hours ago")
      ->check(span_error)
      ->type_name("TIME");
  command
      ->add_option("--against", options->against,
                   "of `changes`: how much earlier the span is that is compared (default: just before)")
      ->check(span_error)
      ->type_name("TIME");
  command->add_option("--top", options->top, "rows at most (default: 20)")
      ->check(CLI::Range(1U, 1'000'000U))
      ->type_name("N");
  command->add_option("--fabric", options->fabric, "fabric of the addresses, as when they were exported")
      ->type_name("NAME");
  command->add_flag("--json", options->json, "as JSON");
  command->add_flag("--pretty", options->pretty, "JSON for people, indented");
  command->add_flag("--csv", options->csv, "as CSV, the first part only");
  command->callback([options, &action] { action = [options] { return run_fleet(*options); }; });
}

}  // namespace roce::cli
