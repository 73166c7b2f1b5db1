// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/json_object.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/json_schema.hpp"

namespace roce::analyze {
namespace {

struct Port {
  std::string name;
  std::optional<int> priority;
};

struct Switch {
  std::vector<Port> ports;
  std::int64_t paused_ns = 0;
  double load = 0;
  const Port* mirror = nullptr;
  mutable int steps = 0;
  void step() const { ++steps; }
};

const JsonObject<Port>& test_port_object() {
  static const auto object = [] {
    JsonObject<Port> o("port");
    o.key("name", "its name", &Port::name).of({"swp1", "swp2"});
    o.key("priority", "its priority", &Port::priority);
    return o;
  }();
  return object;
}

const JsonObject<Switch>& test_switch_object() {
  static const auto object = [] {
    JsonObject<Switch> o("switch");
    o.key("paused_ns", "paused time", &Switch::paused_ns);
    o.key("seen", "when", [](const Switch&) { return JsonTime{}; });
    o.key("load", "share", &Switch::load).in("%");
    o.key("queues", "its queues", [](const Switch&) { return std::vector<unsigned>{3, 4}; });
    o.key("drops", "packets by reason", [](const Switch&) {
      return JsonMap<std::uint64_t>{{{"tail_drop", 5}}};
    });
    o.object("mirror", "where it mirrors to; null: nowhere", test_port_object(), &Switch::mirror);
    o.list("ports", "its ports", test_port_object(), &Switch::ports);
    return o;
  }();
  return object;
}

TEST(JsonObject, writes_its_keys_in_their_order) {
  const Switch device{.ports = {{"swp1", 3}, {"swp2", std::nullopt}}, .paused_ns = 7, .load = 0.5};
  std::string text;
  JsonWriter json(text);
  test_switch_object().write(json, device);
  EXPECT_EQ(text,
            R"({"paused_ns":7,"seen":null,"load":0.5,"queues":[3,4],"drops":{"tail_drop":5},"mirror":null,)"
            R"("ports":[{"name":"swp1","priority":3},{"name":"swp2","priority":null}]})");
  EXPECT_EQ(device.steps, 2) << "behind each element of a list";
}

TEST(JsonObject, has_the_schema_of_what_it_writes) {
  const auto schema =
      nlohmann::json::parse(json_schema("switch", "a switch", "1.2", test_switch_object().shape()));
  EXPECT_EQ(schema["x-version"], "1.2");
  EXPECT_EQ(schema["$ref"], "#/$defs/switch");
  const auto& object = schema["$defs"]["switch"];
  EXPECT_EQ(object["additionalProperties"], false);
  EXPECT_EQ(object["required"].size(), 7U);
  const auto& keys = object["properties"];
  EXPECT_EQ(keys["paused_ns"]["type"], "integer");
  EXPECT_EQ(keys["paused_ns"]["x-unit"], "ns") << "by its name";
  EXPECT_EQ(keys["seen"]["type"], nlohmann::json::parse(R"(["integer","null"])"));
  EXPECT_EQ(keys["seen"]["x-unit"], "ns since 1970");
  EXPECT_EQ(keys["load"]["type"], "number");
  EXPECT_EQ(keys["load"]["x-unit"], "%");
  EXPECT_EQ(keys["queues"]["items"]["type"], "integer");
  EXPECT_EQ(keys["drops"]["additionalProperties"]["type"], "integer");
  EXPECT_EQ(keys["mirror"]["anyOf"][0]["$ref"], "#/$defs/port");
  EXPECT_EQ(keys["mirror"]["anyOf"][1]["type"], "null");
  EXPECT_EQ(keys["ports"]["items"]["$ref"], "#/$defs/port");
  const auto& port = schema["$defs"]["port"]["properties"];
  EXPECT_EQ(port["name"]["enum"], nlohmann::json::parse(R"(["swp1","swp2"])"));
  EXPECT_EQ(port["name"]["description"], "its name");
  EXPECT_EQ(port["priority"]["type"][1], "null");
}

TEST(JsonObject, takes_the_keys_of_another_table) {
  JsonObject<Switch> both("both");
  both.include(test_port_object(), [](const Switch& device) -> const Port& { return device.ports.front(); });
  both.key("load", "share", &Switch::load);
  EXPECT_TRUE(both.has("name"));
  EXPECT_FALSE(both.has("ports"));
  std::string text;
  JsonWriter json(text);
  both.write(json, {.ports = {{"swp1", 3}}, .load = 1});
  EXPECT_EQ(text, R"({"name":"swp1","priority":3,"load":1})");
}

}  // namespace
}  // namespace roce::analyze
