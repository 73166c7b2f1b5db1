// SPDX-License-Identifier: Apache-2.0
// A store in a ClickHouse, over HTTP.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/clickhouse_address.hpp"
#include "analyze/store/http_client.hpp"
#include "analyze/store/store.hpp"

namespace roce::analyze {

/// Each block of a batch is one INSERT of one table, `heartbeats` last: where its heartbeat is, a batch is
/// whole. Sent again, a batch is the same byte for byte, by which replicated tables know it; other tables are
/// asked first what they have of it.
///
/// Errors of kind not_readable pass by themselves (no reply, memory, disk, read-only replicas); damaged is
/// what the server cannot read of a batch; all others need somebody.
class ClickHouseStore final : public Store {
 public:
  /// The tables and the columns that are missing: what was run. Errors: see above.
  [[nodiscard]] static capture::Expected<std::vector<std::string>> make(const StoreTarget& target,
                                                                        const std::string& program,
                                                                        std::int64_t now);
  [[nodiscard]] static capture::Expected<ClickHouseStore> open(const StoreTarget& target);

  [[nodiscard]] StoreEngine engine() const noexcept override {
    return address_.place.cluster.empty() ? StoreEngine::clickhouse : StoreEngine::cluster;
  }
  [[nodiscard]] capture::Expected<bool> add(const StoreBatch& batch) override;
  [[nodiscard]] capture::Expected<bool> has_run(std::uint64_t run) override;
  [[nodiscard]] capture::Expected<StoreAnswer> ask(const std::string& sql) override;
  [[nodiscard]] capture::Expected<std::string> lines(const std::string& sql) override;
  [[nodiscard]] capture::Expected<void> add_nodes(const StoreBlock& nodes) override;
  [[nodiscard]] capture::Expected<std::vector<StoreTableStatus>> status() override;
  [[nodiscard]] capture::Expected<std::int64_t> version() override;
  [[nodiscard]] capture::Expected<std::int64_t> remove_before(std::int64_t time) override;
  [[nodiscard]] capture::Expected<std::int64_t> remove_run(std::uint64_t run) override;
  [[nodiscard]] std::string shortcoming() const override { return shortcoming_; }

 private:
  ClickHouseStore(const StoreTarget& target, ClickHouseAddress address, HttpClient client,
                  std::vector<std::string> headers)
      : name_(target.name),
        address_(std::move(address)),
        client_(std::move(client)),
        headers_(std::move(headers)) {}

  /// Without having asked anything.
  [[nodiscard]] static capture::Expected<ClickHouseStore> reach(const StoreTarget& target);
  /// Body of the reply. `settings`: "&name=value".
  [[nodiscard]] capture::Expected<std::string> post(const std::string& settings, std::string_view body,
                                                    bool once);
  [[nodiscard]] capture::Expected<void> run(const std::string& sql);
  [[nodiscard]] capture::Expected<std::int64_t> number(const std::string& sql);
  [[nodiscard]] capture::Expected<void> learn_settings();
  [[nodiscard]] capture::Expected<void> add_block(const StoreBatch& batch, const StoreBlock& block);
  [[nodiscard]] capture::Expected<bool> has_block(const StoreBatch& batch, const StoreBlock& block,
                                                  const std::string& query_id);
  [[nodiscard]] capture::Error with_name(capture::Error error) const;

  std::string name_;
  ClickHouseAddress address_;
  HttpClient client_;
  std::vector<std::string> headers_;  ///< with the password
  std::set<std::string> settings_;    ///< of those that matter the ones the server knows
  bool sure_ = false;                 ///< what was added before was confirmed
  std::string shortcoming_;
};

}  // namespace roce::analyze
