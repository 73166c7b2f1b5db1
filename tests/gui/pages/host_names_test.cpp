// SPDX-License-Identifier: Apache-2.0
#include <QFile>
#include <QTemporaryDir>

#include "gui/models/host_matrix.hpp"
#include "gui/models/shown_names.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// Names of hosts are of the whole program.
struct HostNamesShown : testing::Test {
  ~HostNamesShown() override { set_host_names(nullptr); }

  QString write(const char* text) {
    const QString path = folder.filePath(QStringLiteral("hosts"));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
    return path;
  }
  QTemporaryDir folder;
};

QString cell(const TableModelBase& model, int row, std::string_view column, int role = Qt::DisplayRole) {
  return model.index(row, model.column_of(column)).data(role).toString();
}

TEST_F(HostNamesShown, InPlaceOfAddressesWhereverPeopleRead) {
  const auto window = make_window();
  open_sample(*window, "04_write_loss1.cb.pcap.zst");
  const TableModelBase& connections = window->connections().table().rows();
  EXPECT_EQ(cell(connections, 0, "a"), QStringLiteral("10.77.0.1"));

  Preferences preferences;
  preferences.host_names = write("10.77.0.1 gpu-17\n10.77.0.2 gpu-18\n");
  window->take_preferences(preferences);
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  EXPECT_EQ(cell(connections, 0, "a"), QStringLiteral("gpu-17"));
  EXPECT_EQ(cell(connections, 0, "b"), QStringLiteral("gpu-18"));
  EXPECT_TRUE(window->message().startsWith(QStringLiteral("gpu-17 → gpu-18 loses")))
      << window->message().toStdString();
  const HostMatrix matrix(*window->session().snapshot());
  EXPECT_EQ(matrix.name(0), QStringLiteral("gpu-17"));

  // What programs read keeps the addresses.
  EXPECT_EQ(cell(connections, 0, "a", TableModelBase::exact_role), QStringLiteral("10.77.0.1"));
  EXPECT_TRUE(connections.text_of({{0, 0}}, {connections.column_of("a")})().contains("10.77.0.1"));

  // Found by both.
  for (const char* words : {"gpu-17", "10.77.0.1"}) {
    window->connections().search(QString::fromLatin1(words));
    EXPECT_EQ(connections.rowCount(), 1) << words;
  }
  window->connections().search(QStringLiteral("gpu-19"));
  EXPECT_EQ(connections.rowCount(), 0);
  window->connections().search(QString());

  window->take_preferences(Preferences());
  EXPECT_EQ(cell(connections, 0, "a"), QStringLiteral("10.77.0.1"));
}

TEST_F(HostNamesShown, AFileThatIsNoneIsReported) {
  const auto window = make_window();
  Preferences preferences;
  preferences.host_names = write("10.77.0.1 gpu-17\nnonsense\n");
  window->take_preferences(preferences);
  EXPECT_TRUE(window->message().contains(QStringLiteral("line 2"))) << window->message().toStdString();
  EXPECT_EQ(host_names(), nullptr);
  window->take_preferences(Preferences());
}

}  // namespace
}  // namespace roce::gui
