// SPDX-License-Identifier: Apache-2.0
// Pictures of what opens over the window in build/.../screenshots, for people to look at. What a program can
// tell of them is tested: all of it comes up, can be closed, and no text in it is cut off.
#include <QAction>
#include <QMenu>
#include <QTabWidget>
#include <QTimer>

#include "analyze/policy/marking_policy.hpp"
#include "gui/pages/policy_editor.hpp"
#include "gui/pages/preferences_dialog.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// What the action brings up and waits for, looked at and closed.
class Visitor {
 public:
  explicit Visitor(QString name) : name_(std::move(name)) {}

  template <class Act>
  void visit(Act&& act) {
    bool seen = false;
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
      QWidget* top = QApplication::activePopupWidget();
      if (top == nullptr) top = QApplication::activeModalWidget();
      if (top == nullptr) return;
      timer.stop();
      seen = true;
      look(*top);
      top->close();
    });
    timer.start(20);
    act();
    // Menus that are not waited for come after.
    EXPECT_TRUE(eventually([&] { return seen; })) << name_.toStdString() << " never came";
  }
  void look(QWidget& top) const {
    QApplication::processEvents();
    EXPECT_EQ(cut_off(top), "") << name_.toStdString();
    EXPECT_TRUE(top.grab().save(QStringLiteral("%1/dialog-%2-%3.png").arg(screenshots(), name_, theme_)));
  }
  void in_theme(Theme theme) { theme_ = theme_name(theme); }

 private:
  QString name_;
  QString theme_;
};

TEST(Screenshots, OfEveryDialog) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    MainWindow window;
    window.show();
    open_sample(window, "04_write_loss1.cb.pcap.zst");
    const auto visit = [&](const char* name, auto&& act) {
      Visitor visitor(QString::fromLatin1(name));
      visitor.in_theme(theme);
      visitor.visit(act);
    };
    const auto trigger = [&](const char* name) {
      return [&window, name] {
        auto* action = window.findChild<QAction*>(QString::fromLatin1(name));
        ASSERT_NE(action, nullptr) << name;
        action->trigger();
      };
    };
    visit("preferences", trigger("preferences"));
    visit("about", trigger("about"));
    visit("about-qt", trigger("about_qt"));
    visit("export-report", trigger("export_report"));
    visit("print-preview", trigger("print_preview"));
    visit("open", trigger("open"));
    visit("policy-file", trigger("policy_file"));
    visit("export-graph", [&] {
      window.show_page(PageId::overview);
      trigger("export_graph")();
    });
    visit("go-to-packet", trigger("go_to_packet"));
    visit("export-packets", trigger("export_shown"));
    visit("signs", [&] {
      window.show_page(PageId::packets);
      trigger("legend")();
    });
    const auto header_of = [](QTableView& table) { return table.horizontalHeader(); };
    visit("columns", [&] {
      window.show_page(PageId::connections);
      auto* header = header_of(*window.connections().findChild<TableView*>());
      Q_EMIT header->customContextMenuRequested(QPoint(10, 5));
    });
    visit("packet-columns", [&] {
      window.show_page(PageId::packets);
      Q_EMIT window.packets().list().header_menu_wanted(0,
                                                        window.packets().list().mapToGlobal(QPoint(10, 10)));
    });
    visit("packet-menu", [&] {
      Q_EMIT window.packets().list().menu_wanted(3, 2, window.packets().list().mapToGlobal(QPoint(10, 40)));
    });
  }
  apply_theme(Theme::light);
}

TEST(Screenshots, OfThePolicyEditor) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    const auto window = make_window();
    open_sample(*window, "07_ce_netem10.cb.pcap.zst");
    window->show_page(PageId::markings);
    auto* editor = window->findChild<PolicyEditor*>();
    ASSERT_NE(editor, nullptr);
    window->markings().findChild<QTabWidget*>()->setCurrentWidget(editor);
    editor->start_from(to_qt(analyze::policy_profiles().front().name));
    const QString right = editor->text();
    for (const bool wrong : {false, true}) {
      editor->set_text(wrong ? right + QStringLiteral("\n[class.data]\ndscp = 70\nenc = \"CE\"\n") : right);
      editor->check();
      QApplication::processEvents();
      EXPECT_EQ(cut_off(*editor), "");
      EXPECT_TRUE(window->grab().save(QStringLiteral("%1/dialog-policy-%2-%3.png")
                                          .arg(screenshots(),
                                               wrong ? QStringLiteral("wrong") : QStringLiteral("right"),
                                               theme_name(theme))));
    }
  }
  apply_theme(Theme::light);
}

}  // namespace
}  // namespace roce::gui
