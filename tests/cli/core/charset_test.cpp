// SPDX-License-Identifier: Apache-2.0
#include "cli/core/charset.hpp"

#include <gtest/gtest.h>

namespace roce::cli {
namespace {

TEST(Charset, own_characters_have_ascii_forms) {
  EXPECT_EQ(ascii_text(""), "");
  EXPECT_EQ(ascii_text("plain\ttext\n"), "plain\ttext\n");
  EXPECT_EQ(ascii_text("a → b after 4.10 µs · 2^3 …"), "a -> b after 4.10 us * 2^3 ...");
}

TEST(Charset, names_become_escapes_whatever_their_bytes) {
  EXPECT_EQ(ascii_text("Zürich"), "Z\\xc3\\xbcrich");
  EXPECT_EQ(ascii_text("\xe2\x86"), "\\xe2\\x86");           // the beginning of an arrow
  EXPECT_EQ(ascii_text("\xc2\x9b\xff"), "\\xc2\\x9b\\xff");  // CSI as C1 control character
}

}  // namespace
}  // namespace roce::cli
