// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "capture/core/error.hpp"
#include "capture/core/source.hpp"

namespace roce::capture {
namespace {

TEST(Incidents, EachHasAnIdOfItsOwnAndAHelp) {
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Incident::count_); ++i) {
    const IncidentInfo& info = incident_info(static_cast<Incident>(i));
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_EQ(info.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << info.id;
    EXPECT_EQ(info.help.back(), '.') << info.id;
  }
  EXPECT_EQ(incident_info(Incident::cut_short).id, "cut_short");
  EXPECT_EQ(incident_info(Incident::oversized_record).id, "oversized_record");
}

TEST(Errors, DescribeSaysPathPlaceAndCause) {
  Error error;
  error.path = "a.pcap";
  error.message = "it is empty";
  EXPECT_EQ(error.describe(), "a.pcap: it is empty");
  error.offset = 1234;
  EXPECT_EQ(error.describe(), "a.pcap: at byte 1234: it is empty");
  error.path = std::string(1, '-');
  EXPECT_EQ(error.describe(), "standard input: at byte 1234: it is empty");
  error.path.clear();
  EXPECT_EQ(error.describe(), "at byte 1234: it is empty");
}

}  // namespace
}  // namespace roce::capture
