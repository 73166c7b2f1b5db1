// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/store.hpp"

#include <utility>

#include "analyze/store/clickhouse_address.hpp"
#include "analyze/store/clickhouse_store.hpp"
#include "analyze/store/sqlite_store.hpp"

namespace roce::analyze {

using capture::Expected;

Expected<AnswerRows> ask(Store& store, const Question& question, const QuestionValues& values) {
  auto rows = store.ask(statement(question, values, store.engine()));
  if (!rows || question.conclude == nullptr) return rows;
  AnswerRows answer = question.conclude(std::move(*rows));
  if (answer.size() > values.top) answer.resize(values.top);
  return answer;
}

std::string store_address_error(const std::string& name) {
  if (!is_store_address(name)) return {};
  const auto address = parse_clickhouse_address(name);
  return address ? std::string() : address.error().message;
}

Expected<std::vector<std::string>> init_store(const StoreTarget& target, const std::string& program,
                                              std::int64_t now) {
  if (is_store_address(target.name)) return ClickHouseStore::make(target, program, now);
  return SqliteStore::init(target.name, program, now);
}

Expected<void> make_store_if_missing(const StoreTarget& target, const std::string& program,
                                     std::int64_t now) {
  if (is_store_address(target.name)) return {};
  return SqliteStore::make_if_missing(target.name, program, now);
}

Expected<std::vector<std::string>> migrate_store(const StoreTarget& target, const std::string& program,
                                                 std::int64_t now) {
  if (is_store_address(target.name)) return ClickHouseStore::make(target, program, now);
  return SqliteStore::migrate(target.name, program, now);
}

Expected<std::unique_ptr<Store>> open_store(const StoreTarget& target, Store::Access access) {
  if (is_store_address(target.name)) {
    auto store = ClickHouseStore::open(target);
    if (!store) return tl::unexpected(std::move(store.error()));
    return std::make_unique<ClickHouseStore>(std::move(*store));
  }
  auto store = SqliteStore::open(target.name, access);
  if (!store) return tl::unexpected(std::move(store.error()));
  return std::make_unique<SqliteStore>(std::move(*store));
}

}  // namespace roce::analyze
