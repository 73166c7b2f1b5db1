// SPDX-License-Identifier: Apache-2.0
#include "gui/models/shown_names.hpp"

#include <mutex>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "gui/models/table_rows.hpp"

namespace roce::gui {
namespace {

/// Tables are made on other threads, too.
std::mutex names_mutex;
std::shared_ptr<const analyze::HostNames> names_shown;

}  // namespace

void set_host_names(std::shared_ptr<const analyze::HostNames> names) {
  const std::lock_guard lock(names_mutex);
  names_shown = names && !names->empty() ? std::move(names) : nullptr;
}

std::shared_ptr<const analyze::HostNames> host_names() {
  const std::lock_guard lock(names_mutex);
  return names_shown;
}

QString with_names(std::string_view text) {
  const auto names = host_names();
  return names ? to_qt(names->named(text)) : to_qt(text);
}

QString shown_host(const dissect::IpAddress& address) {
  const auto names = host_names();
  const std::string* name = names ? names->of(address) : nullptr;
  return to_qt(name != nullptr ? *name : analyze::address_text(address));
}

}  // namespace roce::gui
