// SPDX-License-Identifier: Apache-2.0
#include "capture/host/netlink_messages.hpp"

#include <linux/netlink.h>

#include <algorithm>

namespace roce::capture {
namespace {

constexpr std::size_t aligned(std::size_t size) noexcept {
  return (size + 3) & ~std::size_t{3};
}

}  // namespace

NetlinkRequest::NetlinkRequest(std::uint16_t type, std::uint16_t flags) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST);
  raw(&head, sizeof head);
}

NetlinkRequest& NetlinkRequest::raw(const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), begin, begin + size);
  bytes_.resize(aligned(bytes_.size()));
  return *this;
}

NetlinkRequest& NetlinkRequest::attribute(std::uint16_t type, std::string_view text) {
  nlattr head{};
  head.nla_type = type;
  head.nla_len = static_cast<std::uint16_t>(sizeof head + text.size() + 1);
  raw(&head, sizeof head);
  const std::string terminated(text);
  return raw(terminated.c_str(), terminated.size() + 1);
}

Bytes NetlinkRequest::bytes() {
  const auto length = static_cast<std::uint32_t>(bytes_.size());
  std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
  return bytes_;
}

void for_each_message(Bytes answer, const std::function<void(std::uint16_t, Bytes)>& each) {
  while (const auto head = value_of<nlmsghdr>(answer)) {
    if (head->nlmsg_len < sizeof *head || head->nlmsg_len > answer.size()) return;
    each(head->nlmsg_type, answer.subspan(sizeof *head, head->nlmsg_len - sizeof *head));
    answer = answer.subspan(std::min(answer.size(), aligned(head->nlmsg_len)));
  }
}

void for_each_attribute(Bytes attributes, const std::function<void(std::uint16_t, Bytes)>& each) {
  while (const auto head = value_of<nlattr>(attributes)) {
    if (head->nla_len < sizeof *head || head->nla_len > attributes.size()) return;
    each(static_cast<std::uint16_t>(head->nla_type & NLA_TYPE_MASK),
         attributes.subspan(sizeof *head, head->nla_len - sizeof *head));
    attributes = attributes.subspan(std::min(attributes.size(), aligned(head->nla_len)));
  }
}

std::string text_of(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (value == 0) break;
    text += value >= ' ' && value < 0x7f ? static_cast<char>(value) : '?';
  }
  return text;
}

}  // namespace roce::capture
