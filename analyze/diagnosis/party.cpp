// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/party.hpp"

#include <fmt/format.h>

#include <set>

#include "analyze/base/address_text.hpp"

namespace roce::analyze::diagnosis {

Party party_of(const Trouble& trouble, dissect::IpAddress Route::*end) {
  std::set<dissect::IpAddress> hosts;
  for (const Route& way : trouble.ways) hosts.insert(way.*end);
  if (trouble.mutual())
    return {fmt::format("{} and {}", address_text(*hosts.begin()), address_text(*hosts.rbegin())), true};
  if (hosts.size() == 1) return {address_text(*hosts.begin()), false};
  return {fmt::format("{} hosts", hosts.size()), true, false};
}

}  // namespace roce::analyze::diagnosis
