// SPDX-License-Identifier: Apache-2.0
// Trees that lie: nothing may hang, grow without bound or lead out of the root.
#include "capture/host/tree.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/capture/host/host_fixture.hpp"

namespace roce::capture {
namespace {

using tests::TemporaryFolder;

class HostTreeTest : public ::testing::Test {
 protected:
  void file(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string root() const { return folder_.path().string(); }
  /// The only problem there is, "path: message".
  static std::string only_problem(HostTree& tree) {
    if (tree.problems().size() != 1) return std::to_string(tree.problems().size()) + " problems";
    return tree.problems().front().path + ": " + tree.problems().front().message;
  }
  TemporaryFolder folder_;
};

TEST_F(HostTreeTest, ReadsTextAndNumbers) {
  file("a", " 42\n");
  file("b", "0x1f\n");
  file("c", "4: ACTIVE\n");
  HostTree tree(root());
  EXPECT_EQ(tree.number("a"), 42U);
  EXPECT_EQ(tree.number("b"), 31U);
  EXPECT_EQ(tree.text("c"), "4: ACTIVE");
  EXPECT_TRUE(tree.problems().empty());
  EXPECT_EQ(tree.number("c"), std::nullopt);
  EXPECT_EQ(only_problem(tree), "c: is not a number: \"4: ACTIVE\"");
}

TEST_F(HostTreeTest, WholeNumbersOnly) {
  EXPECT_EQ(whole_number("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "-1", "1x", " 1", "18446744073709551616", "0x", "1.5", "+1"})
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
}

TEST_F(HostTreeTest, AbsentIsFineUnlessItIsStrange) {
  HostTree tree(root());
  EXPECT_EQ(tree.text("none"), std::nullopt);
  EXPECT_TRUE(tree.names("none").empty());
  EXPECT_TRUE(tree.problems().empty());
  EXPECT_EQ(tree.text("none", HostTree::Absent::strange), std::nullopt);
  EXPECT_EQ(only_problem(tree), "none: No such file or directory");
}

TEST_F(HostTreeTest, ARootThatIsNotThereIsSaidOnce) {
  HostTree tree(root() + "/none");
  EXPECT_EQ(tree.text("a", HostTree::Absent::strange), std::nullopt);
  EXPECT_EQ(tree.text("b", HostTree::Absent::strange), std::nullopt);
  EXPECT_EQ(tree.problems().size(), 1U);
}

TEST_F(HostTreeTest, HugeAndBinaryFilesAreRefused) {
  file("huge", std::string(HostTree::most_bytes + 1, '7'));
  file("longest", std::string(HostTree::most_bytes, '7'));
  file("binary", std::string("1\0\x01\x02", 4));
  HostTree tree(root());
  EXPECT_TRUE(tree.text("longest"));
  EXPECT_EQ(tree.text("huge"), std::nullopt);
  EXPECT_EQ(only_problem(tree), "huge: is longer than 65536 bytes");
  tree.problems().clear();
  EXPECT_EQ(tree.text("binary"), std::nullopt);
  EXPECT_EQ(only_problem(tree), "binary: is not text");
}

TEST_F(HostTreeTest, PipesDevicesAndFoldersDoNotHang) {
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder_.path() / "folder");
  HostTree tree(root());
  EXPECT_EQ(tree.text("pipe"), std::nullopt);
  EXPECT_EQ(tree.text("folder"), std::nullopt);
  EXPECT_EQ(tree.problems().size(), 2U);
  HostTree real("/");
  EXPECT_EQ(real.text("dev/zero"), std::nullopt);
  EXPECT_EQ(only_problem(real), "dev/zero: is not a regular file");
}

TEST_F(HostTreeTest, LoopsOfLinksEnd) {
  std::filesystem::create_symlink("b", folder_.path() / "a");
  std::filesystem::create_symlink("a", folder_.path() / "b");
  std::filesystem::create_directory_symlink(".", folder_.path() / "self");
  file("x", "1");
  HostTree tree(root());
  EXPECT_EQ(tree.text("a"), std::nullopt);
  EXPECT_EQ(tree.problems().size(), 1U);
  EXPECT_EQ(tree.link("a"), "b");
  EXPECT_EQ(tree.text("self/self/self/x"), "1");
}

TEST_F(HostTreeTest, LinksStayBelowTheRoot) {
  file("inside", "in");
  std::filesystem::create_directory(folder_.path() / "d");
  std::filesystem::create_symlink("/inside", folder_.path() / "d/absolute");
  std::filesystem::create_symlink("../../../../../../../../etc/passwd", folder_.path() / "d/out");
  HostTree tree(root());
  EXPECT_EQ(tree.text("d/absolute"), "in");
  EXPECT_EQ(tree.text("d/out"), std::nullopt);
}

TEST_F(HostTreeTest, ForbiddenFilesAreSaid) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  file("secret", "1");
  ::chmod((folder_.path() / "secret").c_str(), 0);
  HostTree tree(root());
  EXPECT_EQ(tree.text("secret"), std::nullopt);
  EXPECT_EQ(only_problem(tree), "secret: Permission denied");
}

TEST_F(HostTreeTest, FoldersAndProblemsAreBounded) {
  std::filesystem::create_directory(folder_.path() / "many");
  for (std::size_t i = 0; i < HostTree::most_entries + 5; ++i)
    std::ofstream(folder_.path() / "many" / std::to_string(i)) << "x";
  HostTree tree(root());
  const auto names = tree.names("many");
  EXPECT_EQ(names.size(), HostTree::most_entries);
  EXPECT_EQ(tree.problems().size(), 1U);
  for (std::size_t i = 0; i < HostTree::most_problems + 5; ++i) tree.problem("p", "m");
  EXPECT_EQ(tree.problems().size(), HostTree::most_problems);
  EXPECT_EQ(tree.problems_dropped(), 6U);
}

TEST_F(HostTreeTest, AnEndOfReadingIsSaidOnce) {
  for (const char* name : {"d/1", "d/2", "d/3", "d/4"}) file(name, "7");
  HostTree tree(root(), 3);
  EXPECT_EQ(tree.names("d").size(), 4U);
  EXPECT_EQ(tree.number("d/1"), 7U);
  EXPECT_EQ(tree.number("d/2"), 7U);
  EXPECT_EQ(tree.number("d/3", HostTree::Absent::strange), std::nullopt);
  EXPECT_EQ(tree.number("d/4", HostTree::Absent::strange), std::nullopt);
  EXPECT_FALSE(tree.exists("d/1"));
  EXPECT_TRUE(tree.names("d", HostTree::Absent::strange).empty());
  EXPECT_EQ(only_problem(tree), "d/3: the tree has more than 3 files; no further ones are read");
}

TEST_F(HostTreeTest, NumbersAreListedByValue) {
  for (const char* name : {"10", "9", "b", "a", "1"}) file(std::string("d/") + name, "");
  HostTree tree(root());
  EXPECT_EQ(tree.names("d"), (std::vector<std::string>{"1", "9", "10", "a", "b"}));
}

TEST_F(HostTreeTest, NumbersInNamesAreListedByValue) {
  const std::vector<std::string> sorted{"mlx5_0",
                                        "mlx5_02",
                                        "mlx5_2",
                                        "mlx5_10",
                                        "mlx5_10a",
                                        "mlx5_10a2",
                                        "mlx5_10a10",
                                        "mlx5_99999999999999999999998",
                                        "mlx5_99999999999999999999999",
                                        "mlx5_bond_0",
                                        "rxe1"};
  for (const std::string& name : sorted) file("d/" + name, "");
  HostTree tree(root());
  EXPECT_EQ(tree.names("d"), sorted);
}

}  // namespace
}  // namespace roce::capture
