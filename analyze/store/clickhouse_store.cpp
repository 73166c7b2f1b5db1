// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/clickhouse_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analyze/store/row_table.hpp"

namespace roce::analyze {
namespace {

using capture::Error;
using capture::ErrorKind;
using capture::Expected;

constexpr std::chrono::seconds insert_patience{60}, query_patience{600};

tl::unexpected<Error> refused(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return tl::unexpected(error);
}

std::string url_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

/// Of the file, else of the environment. Errors: not_readable.
Expected<std::string> password_of(const StoreTarget& target) {
  if (target.password) return *target.password;
  std::string password;
  if (!target.password_file.empty()) {
    std::ifstream file(target.password_file, std::ios::binary);
    password.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      Error error;
      error.kind = ErrorKind::unsupported;
      error.path = target.password_file;
      error.message = "the password cannot be read from it";
      return tl::unexpected(error);
    }
    while (password.ends_with('\n') || password.ends_with('\r')) password.pop_back();
  } else if (const char* const known = std::getenv("ROCEANALYZE_PASSWORD")) {
    password = known;
  }
  if (password.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
    return refused(ErrorKind::unsupported, "a password is one line");
  return password;
}

/// What the server says of itself in a reply: "Code: 242, e.displayText() = DB::Exception: ...".
struct Complaint {
  int code = 0;
  std::string message;
};

std::optional<Complaint> complaint_in(const HttpReply& reply) {
  constexpr std::string_view begin = "Code: ";
  const std::string_view body = reply.body;
  if (reply.status == 200 && !body.starts_with(begin)) return std::nullopt;
  Complaint complaint;
  if (body.starts_with(begin))
    std::from_chars(body.data() + begin.size(), body.data() + body.size(), complaint.code);
  constexpr std::size_t enough = 400;
  std::string_view text = body.substr(0, body.find('\n'));
  if (const std::size_t at = text.find("DB::Exception: "); at != std::string_view::npos)
    text.remove_prefix(at + 15);
  if (const std::size_t at = text.find(", e.what()"); at != std::string_view::npos) text = text.substr(0, at);
  complaint.message = text.substr(0, enough);
  if (complaint.message.empty()) complaint.message = "no words";
  return complaint;
}

/// What a code of ClickHouse, or a status of HTTP without one, means for what was sent.
ErrorKind kind_of_reply(const HttpReply& reply, int code) {
  struct Row {
    int code;
    ErrorKind kind;
  };
  constexpr auto bad = ErrorKind::damaged, needs_somebody = ErrorKind::unsupported,
                 missing = ErrorKind::not_found;
  // Names are those of its source. What is not here passes: memory, disk, time-outs, too many parts,
  // ZooKeeper.
  static constexpr Row rows[] = {
      {6, bad},               // CANNOT_PARSE_TEXT
      {26, bad},              // CANNOT_PARSE_QUOTED_STRING
      {27, bad},              // CANNOT_PARSE_INPUT_ASSERTION_FAILED
      {33, bad},              // CANNOT_READ_ALL_DATA
      {41, bad},              // CANNOT_PARSE_DATETIME
      {72, bad},              // CANNOT_PARSE_NUMBER
      {117, bad},             // INCORRECT_DATA
      {130, bad},             // CANNOT_READ_ARRAY_FROM_TEXT
      {16, missing},          // NO_SUCH_COLUMN_IN_TABLE
      {47, missing},          // UNKNOWN_IDENTIFIER
      {60, missing},          // UNKNOWN_TABLE
      {81, missing},          // UNKNOWN_DATABASE
      {62, needs_somebody},   // SYNTAX_ERROR
      {115, needs_somebody},  // UNKNOWN_SETTING
      {164, needs_somebody},  // READONLY
      {192, needs_somebody},  // UNKNOWN_USER
      {193, needs_somebody},  // WRONG_PASSWORD
      {194, needs_somebody},  // REQUIRED_PASSWORD
      {195, needs_somebody},  // IP_ADDRESS_NOT_ALLOWED
      {291, needs_somebody},  // DATABASE_ACCESS_DENIED
      {392, needs_somebody},  // QUERY_IS_PROHIBITED
      {497, needs_somebody},  // ACCESS_DENIED
      {516, needs_somebody},  // AUTHENTICATION_FAILED
  };
  const auto* const at =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.code == code; });
  if (at != std::end(rows)) return at->kind;
  const bool nobody_of_ours =
      code == 0 && reply.status >= 300 && reply.status < 500 && reply.status != 408 && reply.status != 429;
  return nobody_of_ours ? needs_somebody : ErrorKind::not_readable;
}

/// A cell of TabSeparated without escapes, as what it is.
StoreCell cell_of(const std::string& type, std::string& text) {
  const bool nullable = type.starts_with("Nullable(");
  if (nullable && text == "N") return {};
  const std::string_view plain = nullable ? std::string_view(type).substr(9) : std::string_view(type);
  if (plain.starts_with("Int") || plain.starts_with("UInt")) {
    std::int64_t digits = 0;
    std::from_chars(text.data(), text.data() + text.size(), digits);
    return digits;
  }
  if (plain.starts_with("Float")) {
    double fraction = 0;
    std::from_chars(text.data(), text.data() + text.size(), fraction);
    return fraction;
  }
  return std::move(text);
}

/// Of "TabSeparatedWithNamesAndTypes".
StoreAnswer answer_of(std::string_view text) {
  std::vector<std::string> cells, types;
  StoreAnswer rows;
  if (!next_row(text, cells) || !next_row(text, types)) return rows;
  while (next_row(text, cells)) {
    if (cells.size() != types.size()) break;
    std::vector<StoreCell> row;
    for (std::size_t i = 0; i < cells.size(); ++i) row.push_back(cell_of(types[i], cells[i]));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::int64_t number_in(const StoreCell& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number != nullptr ? *number : 0;
}

/// The first and the last time of a block: in seconds, the first cell of each row.
std::pair<std::int64_t, std::int64_t> times_of(const StoreBlock& block) {
  std::int64_t first = INT64_MAX, last = 0;
  for (std::size_t at = 0; at < block.text.size();) {
    std::int64_t time = 0;
    std::from_chars(block.text.data() + at, block.text.data() + block.text.size(), time);
    first = std::min(first, time);
    last = std::max(last, time);
    at = block.text.find('\n', at);
    if (at == std::string::npos) break;
    ++at;
  }
  return {first, last};
}

bool knows_all_columns(const StoreBlock& block) {
  std::string_view rest = block.columns;
  while (true) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    const std::string_view name = rest.substr(0, end);
    const auto columns = block.table->columns;
    if (std::none_of(columns.begin(), columns.end(), [&](const StoreColumn& c) { return c.name == name; }))
      return false;
    if (end == rest.size()) return true;
    rest.remove_prefix(end + 2);
  }
}

}  // namespace

Expected<void> learn_password(StoreTarget& target) {
  if (!is_store_address(target.name)) return {};
  auto password = password_of(target);
  if (!password) return tl::unexpected(std::move(password.error()));
  target.password = std::move(*password);
  return {};
}

Error ClickHouseStore::with_name(Error error) const {
  if (error.path.empty()) error.path = name_;
  return error;
}

Expected<ClickHouseStore> ClickHouseStore::reach(const StoreTarget& target) {
  auto address = parse_clickhouse_address(target.name);
  if (!address) return tl::unexpected(std::move(address.error()));
  auto password = password_of(target);
  if (!password) return tl::unexpected(std::move(password.error()));
  auto client = HttpClient::open(target.ca_file);
  if (!client) return tl::unexpected(std::move(client.error()));
  // In headers, which are in no log; what is in a URL is.
  std::vector<std::string> headers{"X-ClickHouse-User: " + address->user};
  if (!password->empty()) headers.push_back("X-ClickHouse-Key: " + *password);
  return ClickHouseStore(target, std::move(*address), std::move(*client), std::move(headers));
}

Expected<std::string> ClickHouseStore::post(const std::string& settings, std::string_view body, bool once) {
  auto reply = client_.post(address_.url + "?" + settings, body, headers_,
                            once ? insert_patience : query_patience, once);
  if (!reply) return tl::unexpected(with_name(std::move(reply.error())));
  if (auto complaint = complaint_in(*reply)) {
    Error error;
    error.kind = kind_of_reply(*reply, complaint->code);
    error.message = complaint->code != 0
                        ? fmt::format("{} (ClickHouse {})", complaint->message, complaint->code)
                        : fmt::format("{} (HTTP {})", complaint->message, reply->status);
    if (error.kind == ErrorKind::not_found)
      error.message += fmt::format(": roceanalyze store init {}", name_);
    // A batch that cannot be read is to blame itself.
    if (error.kind != ErrorKind::damaged) error = with_name(std::move(error));
    return tl::unexpected(error);
  }
  return std::move(reply->body);
}

Expected<void> ClickHouseStore::run(const std::string& sql) {
  return post("wait_end_of_query=1", sql, false).map([](const std::string&) {});
}

Expected<StoreAnswer> ClickHouseStore::ask(const std::string& sql) {
  const std::string settings = "database=" + address_.place.database + "&wait_end_of_query=1";
  const std::string text = sql + "\nFORMAT TabSeparatedWithNamesAndTypes";
  auto body = post(settings, text, false);
  constexpr std::string_view shard_is_away = "(ClickHouse 279)";
  if (!body && settings_.contains("skip_unavailable_shards") &&
      body.error().message.ends_with(shard_is_away)) {
    body = post(settings + "&skip_unavailable_shards=1", text, false);
    if (body)
      shortcoming_ =
          name_ + ": a shard of the cluster does not answer: what it has is missing in this answer";
  }
  return body.map([](const std::string& rows) { return answer_of(rows); });
}

Expected<std::int64_t> ClickHouseStore::number(const std::string& sql) {
  return ask(sql).map([](const StoreAnswer& rows) {
    return rows.empty() || rows.front().empty() ? std::int64_t{0} : number_in(rows.front().front());
  });
}

Expected<void> ClickHouseStore::learn_settings() {
  // A setting that a server does not know is an error, so it is asked which ones it does.
  const auto known =
      ask("SELECT name FROM system.settings WHERE name IN ('async_insert', 'insert_deduplication_token', "
          "'insert_distributed_sync', 'skip_unavailable_shards')");
  if (!known) return tl::unexpected(known.error());
  for (const auto& row : *known) {
    if (const auto* name = std::get_if<std::string>(&row.front())) settings_.insert(*name);
  }
  return {};
}

Expected<ClickHouseStore> ClickHouseStore::open(const StoreTarget& target) {
  auto store = reach(target);
  if (!store) return store;
  const auto version = store->version();
  if (!version) return tl::unexpected(version.error());
  if (*version < store_schema_version)
    return tl::unexpected(store->with_name(
        refused(ErrorKind::unsupported,
                fmt::format("has tables of version {}, this program needs {}: roceanalyze store migrate {}",
                            *version, store_schema_version, target.name))
            .value()));
  if (auto learned = store->learn_settings(); !learned) return tl::unexpected(learned.error());
  return store;
}

Expected<std::int64_t> ClickHouseStore::version() {
  return number("SELECT max(version) FROM schema");
}

Expected<std::vector<std::string>> ClickHouseStore::make(const StoreTarget& target,
                                                         const std::string& program, std::int64_t now) {
  auto store = reach(target);
  if (!store) return tl::unexpected(std::move(store.error()));
  const StorePlace& place = store->address_.place;
  const StoreEngine engine = store->engine();
  // Not by ask(): there may be no database yet.
  const auto body =
      store->post("wait_end_of_query=1",
                  fmt::format("SELECT table, name, type FROM system.columns WHERE database = '{}' FORMAT "
                              "TabSeparatedWithNamesAndTypes",
                              place.database),
                  false);
  if (!body) return tl::unexpected(body.error());
  std::map<std::pair<std::string, std::string>, std::string> types;
  std::set<std::string> tables;
  for (const auto& row : answer_of(*body)) {
    const auto* table = std::get_if<std::string>(&row[0]);
    const auto* column = std::get_if<std::string>(&row[1]);
    const auto* type = std::get_if<std::string>(&row[2]);
    if (table == nullptr || column == nullptr || type == nullptr) continue;
    tables.insert(*table);
    types[{*table, *column}] = *type;
  }
  std::vector<std::string> statements;
  for (const StoreTable& table : store_tables()) {
    if (!tables.contains(std::string(table.name))) continue;
    for (const StoreColumn& column : table.columns) {
      const auto type = types.find({std::string(table.name), std::string(column.name)});
      for (std::string& alter : type == types.end()
                                    ? add_column_statements(engine, table, column, place)
                                    : change_type_statements(engine, table, column, type->second, place))
        statements.push_back(std::move(alter));
    }
  }
  // Run again, these change nothing; they are told where a table is missing.
  const bool all_there =
      std::all_of(store_tables().begin(), store_tables().end(),
                  [&](const StoreTable& table) { return tables.contains(std::string(table.name)); });
  if (!all_there) {
    for (std::string& statement : make_statements(engine, place)) statements.push_back(std::move(statement));
  }
  for (const std::string& statement : statements) {
    if (auto done = store->run(statement); !done) return tl::unexpected(done.error());
  }
  const auto version = store->version();
  if (!version) return tl::unexpected(version.error());
  if (*version < store_schema_version) {
    std::string row;
    append_cell(row, program);
    const std::string insert = "INSERT INTO schema (time, version, program, what) FORMAT TabSeparated";
    auto added = store->post("database=" + place.database + "&query=" + url_encoded(insert),
                             fmt::format("{}\t{}\t{}\tall tables\n", now, store_schema_version, row), true);
    if (!added) return tl::unexpected(store->with_name(std::move(added.error())));
  }
  return statements;
}

Expected<bool> ClickHouseStore::has_run(std::uint64_t run) {
  return number(fmt::format("SELECT count() FROM heartbeats WHERE run = {} AND seq = 0", run))
      .map([](std::int64_t found) { return found != 0; });
}

Expected<bool> ClickHouseStore::add(const StoreBatch& batch) {
  for (const StoreBlock& block : batch.blocks) {
    if (!knows_all_columns(block) || !block.columns.starts_with("time, "))
      return refused(
          ErrorKind::unsupported,
          fmt::format("a batch with columns of {} that this version does not know", block.table->name));
  }
  const bool beats = !batch.blocks.empty() && batch.blocks.back().table->name == "heartbeats";
  if (!beats) return refused(ErrorKind::damaged, "a batch without its heartbeat");
  const auto [first, last] = times_of(batch.blocks.back());
  const auto there = number(
      fmt::format("SELECT count() FROM heartbeats WHERE run = {} AND seq = {} AND time >= toDateTime({}) AND "
                  "time <= toDateTime({})",
                  batch.run, batch.seq, first, last));
  if (!there) return tl::unexpected(there.error());
  if (*there != 0) return false;
  for (const StoreBlock& block : batch.blocks) {
    if (auto added = add_block(batch, block); !added) {
      sure_ = false;
      return tl::unexpected(added.error());
    }
  }
  sure_ = true;
  return true;
}

Expected<bool> ClickHouseStore::has_block(const StoreBatch& batch, const StoreBlock& block,
                                          const std::string& query_id) {
  // The newest row of an address or version stays: it may come twice.
  if (block.table->shard.empty()) return false;
  const auto busy =
      number(fmt::format("SELECT count() FROM system.processes WHERE query_id = '{}'", query_id));
  if (!busy) return tl::unexpected(busy.error());
  if (*busy != 0)
    return tl::unexpected(with_name(refused(ErrorKind::not_readable, "is still at work on a batch").value()));
  const auto [first, last] = times_of(block);
  return number(fmt::format("SELECT count() FROM {} WHERE run = {} AND seq = {} AND time >= toDateTime({}) "
                            "AND time <= toDateTime({})",
                            block.table->name, batch.run, batch.seq, first, last))
      .map([&](std::int64_t rows) { return static_cast<std::uint64_t>(rows) >= block.rows; });
}

Expected<void> ClickHouseStore::add_block(const StoreBatch& batch, const StoreBlock& block) {
  const std::string name = fmt::format("roceanalyze-{}-{}-{}", batch.run, batch.seq, block.table->name);
  if (!sure_) {
    const auto there = has_block(batch, block, name);
    if (!there) return tl::unexpected(there.error());
    if (*there) return {};
  }
  // A query of that number which still runs is not begun a second time.
  std::string settings = fmt::format(
      "database={}&query_id={}&query={}", address_.place.database, name,
      url_encoded(fmt::format("INSERT INTO {} ({}) FORMAT TabSeparated", block.table->name, block.columns)));
  if (settings_.contains("insert_distributed_sync")) settings += "&insert_distributed_sync=1";
  if (settings_.contains("async_insert")) settings += "&async_insert=0";
  if (settings_.contains("insert_deduplication_token")) settings += "&insert_deduplication_token=" + name;
  return post(settings, block.text, true).map([](const std::string&) {});
}

Expected<std::string> ClickHouseStore::lines(const std::string& sql) {
  return post("database=" + address_.place.database + "&wait_end_of_query=1", sql + "\nFORMAT TabSeparated",
              false);
}

Expected<void> ClickHouseStore::add_nodes(const StoreBlock& nodes) {
  const std::string insert = fmt::format("INSERT INTO nodes ({}) FORMAT TabSeparated", nodes.columns);
  return post("database=" + address_.place.database + "&query=" + url_encoded(insert), nodes.text, true)
      .map([](const std::string&) {});
}

Expected<std::vector<StoreTableStatus>> ClickHouseStore::status() {
  std::vector<StoreTableStatus> all;
  for (const StoreTable& table : store_tables()) {
    const auto rows = ask(
        fmt::format("SELECT toInt64(count()), toInt64(min(time)), toInt64(max(time)) FROM {}", table.name));
    if (!rows) return tl::unexpected(rows.error());
    StoreTableStatus status{table.name, 0, 0, 0};
    if (!rows->empty() && number_in(rows->front()[0]) != 0)
      status = {table.name, number_in(rows->front()[0]), number_in(rows->front()[1]),
                number_in(rows->front()[2])};
    all.push_back(status);
  }
  return all;
}

Expected<std::int64_t> ClickHouseStore::remove_before(std::int64_t time) {
  std::int64_t removed = 0;
  for (const StoreTable& table : store_tables()) {
    if (table.shard.empty()) continue;
    const auto old = ask(fmt::format(
        "SELECT toString({}) AS name, count() AS n FROM {} GROUP BY name HAVING max(time) < toDateTime({}) "
        "ORDER BY name",
        table.partition, table.name, time));
    if (!old) return tl::unexpected(old.error());
    for (const auto& row : *old) {
      const auto* partition = std::get_if<std::string>(&row[0]);
      if (partition == nullptr) continue;
      const bool clustered = engine() == StoreEngine::cluster;
      const std::string drop = fmt::format(
          "ALTER TABLE {}.{}{} DROP PARTITION {}", address_.place.database, table.name,
          clustered ? "_local ON CLUSTER " + address_.place.cluster : std::string(),
          partition->find('-') == std::string::npos ? *partition : fmt::format("'{}'", *partition));
      if (auto done = run(drop); !done) return tl::unexpected(done.error());
      removed += number_in(row[1]);
    }
  }
  return removed;
}

Expected<std::int64_t> ClickHouseStore::remove_run(std::uint64_t run_number) {
  // Replicated tables would take the same blocks for known, and not take them again.
  if (engine() == StoreEngine::cluster)
    return tl::unexpected(with_name(
        refused(ErrorKind::unsupported, "a run cannot be removed from a cluster: --keep removes old days")
            .value()));
  std::int64_t removed = 0;
  for (const StoreTable& table : store_tables()) {
    if (table.shard.empty()) continue;
    const auto rows = number(fmt::format("SELECT count() FROM {} WHERE run = {}", table.name, run_number));
    if (!rows) return rows;
    if (*rows == 0) continue;
    if (auto done = run(fmt::format("ALTER TABLE {}.{} DELETE WHERE run = {}", address_.place.database,
                                    table.name, run_number));
        !done)
      return tl::unexpected(done.error());
    removed += *rows;
  }
  return removed;
}

}  // namespace roce::analyze
