// SPDX-License-Identifier: Apache-2.0
// gui_measure FILE: how the window does with a large capture. Figures for docs/performance.md; no test, for
// they depend on the machine.
#include <fcntl.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QTimer>
#include <QWindow>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/worker_threads.hpp"
#include "gui/pages/main_window.hpp"

namespace {

using namespace roce::gui;

double ms_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// How long this thread could have run and no processor was free for it: the kernel counts that
/// (/proc/.../schedstat). What is more in a pause than CPU time and this is waiting for a lock or a disk.
double ms_without_processor() {
  static const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  std::array<char, 96> text{};
  if (file < 0 || pread(file, text.data(), text.size() - 1, 0) <= 0) return 0;
  unsigned long long ran = 0, waited = 0;
  return std::sscanf(text.data(), "%llu %llu", &ran, &waited) == 2 ? static_cast<double>(waited) / 1e6 : 0;
}

/// A time by the clock and what of it was waiting for a processor.
struct Pause {
  double ms = 0;
  double without_processor = 0;
  [[nodiscard]] double own() const noexcept { return ms - without_processor; }
};

/// Remembers which events took longest, in CPU time of the window's thread: that does not depend on who else
/// uses the processor meanwhile. And which took longest by the clock, with what they waited for locks and
/// disks but without waiting for a processor.
class WatchedApplication final : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    if (depth_ > 0) return QApplication::notify(receiver, event);
    const char* name = receiver->metaObject()->className();
    const QEvent::Type type = event->type();
    ++depth_;
    const double cpu_before = ms_of(CLOCK_THREAD_CPUTIME_ID);
    const double before = ms_of(CLOCK_MONOTONIC) - ms_without_processor();
    const bool done = QApplication::notify(receiver, event);
    const double cpu = ms_of(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
    const double took = ms_of(CLOCK_MONOTONIC) - ms_without_processor() - before;
    --depth_;
    by_cpu_.add({cpu, name, type});
    by_clock_.add({took, name, type});
    return done;
  }
  void restart() { by_cpu_ = by_clock_ = {}; }
  void print() {
    by_cpu_.print("ms of CPU");
    by_clock_.print("ms by the clock but for waiting for a processor");
  }

 private:
  struct Event {
    double ms = 0;
    const char* receiver = nullptr;
    QEvent::Type type = QEvent::None;
    [[nodiscard]] bool operator<(const Event& other) const noexcept { return ms < other.ms; }
  };
  struct Longest {
    std::array<Event, 4> events;
    void add(const Event& event) {
      Event& least = *std::min_element(events.begin(), events.end());
      if (least < event) least = event;
    }
    void print(const char* unit) {
      std::sort(events.begin(), events.end());
      std::printf("    longest events, %s:", unit);
      for (auto event = events.rbegin(); event != events.rend(); ++event) {
        if (event->receiver != nullptr)
          std::printf(" %.1f %s(%d)", event->ms, event->receiver, static_cast<int>(event->type));
      }
      std::printf("\n");
    }
  };
  Longest by_cpu_;
  Longest by_clock_;
  int depth_ = 0;
};

/// How long the window did not answer: the time between two beats of a timer of 5 ms.
class Heartbeat {
 public:
  explicit Heartbeat(WatchedApplication& application) : application_(application) {
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.setInterval(5);
    QObject::connect(&timer_, &QTimer::timeout, &timer_, [this] { beat(); });
    begin();
    timer_.start();
  }
  void restart() {
    pauses_.clear();
    application_.restart();
    begin();
  }
  void print(const char* during) {
    if (pauses_.empty()) return;
    const auto own = [](const Pause& a, const Pause& b) { return a.own() < b.own(); };
    const double longest_own = std::max_element(pauses_.begin(), pauses_.end(), own)->own();
    std::sort(pauses_.begin(), pauses_.end(), [](const Pause& a, const Pause& b) { return a.ms < b.ms; });
    const Pause& longest = pauses_.back();
    std::printf(
        "  heartbeat while %s: longest %.1f ms (%.1f without a free processor), 99.9 %% %.1f ms, median "
        "%.1f ms (%zu beats); longest but for waiting for a processor %.1f ms\n",
        during, longest.ms, longest.without_processor, pauses_[pauses_.size() * 999 / 1000].ms,
        pauses_[pauses_.size() / 2].ms, pauses_.size(), longest_own);
    application_.print();
  }

 private:
  void begin() {
    clock_.restart();
    waited_ = ms_without_processor();
  }
  void beat() {
    pauses_.push_back({static_cast<double>(clock_.nsecsElapsed()) / 1e6, ms_without_processor() - waited_});
    begin();
  }
  WatchedApplication& application_;
  QTimer timer_;
  QElapsedTimer clock_;
  double waited_ = 0;
  std::vector<Pause> pauses_;
};

/// Of this process, in MiB: what it has in memory that is not in the page cache, and at most at any time.
double memory(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) return std::stod(line.substr(line.find(':') + 1)) / 1024;
  }
  return 0;
}

template <class Test>
double wait_for(Test test) {
  QElapsedTimer clock;
  clock.start();
  while (!test()) QApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 5);
  return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

void print_memory(const char* when) {
  std::printf("  memory %s: %.0f MiB of its own, %.0f MiB with mapped files\n", when, memory("RssAnon"),
              memory("VmRSS"));
}

bool has_read(MainWindow& window) {
  return window.session().state() != AnalysisSession::State::loading &&
         window.packets().model().state().complete && window.is_settled();
}

/// Reads it once more with each page in front; then what large tables are asked for.
void measure_pages(MainWindow& window, Heartbeat& heart, const QStringList& files) {
  const std::pair<PageId, const char*> pages[] = {{PageId::overview, "reading behind the overview"},
                                                  {PageId::findings, "reading behind findings"},
                                                  {PageId::connections, "reading behind connections"},
                                                  {PageId::markings, "reading behind markings"}};
  for (const auto& [page, during] : pages) {
    window.show_page(page);
    QApplication::processEvents();
    heart.restart();
    window.open(files);
    wait_for([&] { return has_read(window); });
    heart.print(during);
  }
  heart.restart();
  for (int i = 0; i < page_count * 3; ++i) {
    window.show_page(static_cast<PageId>(i % page_count));
    QElapsedTimer clock;
    clock.start();
    wait_for([&] { return clock.elapsed() > 100; });
  }
  heart.print("going from page to page");
  window.show_page(PageId::connections);
  TableView& table = window.connections().table();
  heart.restart();
  for (const char* text : {"1", "10.", "10.0.0.1", "no such", ""}) {
    window.connections().search(QString::fromLatin1(text));
    wait_for([&] { return window.is_settled(); });
  }
  std::printf("%d connections\n", table.model()->rowCount());
  heart.print("searching connections");
  heart.restart();
  for (const int column : {1, 5, 8, 12, -1}) {
    table.sortByColumn(column, Qt::DescendingOrder);
    wait_for([&] { return window.is_settled(); });
  }
  heart.print("sorting connections");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("gui_measure FILE...\n", stderr);
    return 2;
  }
  WatchedApplication application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("gui_measure"));
  {
    Heartbeat heart(application);
    MainWindow window;
    window.resize(1400, 900);
    window.show();
    wait_for([&] { return window.windowHandle() != nullptr && window.windowHandle()->isExposed(); });
    PacketsPage& page = window.packets();
    QElapsedTimer clock;
    clock.start();
    QStringList files;
    for (int i = 1; i < argc; ++i) files << QString::fromLocal8Bit(argv[i]);
    heart.restart();
    window.open(files);
    wait_for([&] { return window.session().snapshot() != nullptr; });
    std::printf("first page with content after %.0f ms\n", static_cast<double>(clock.nsecsElapsed()) / 1e6);
    window.show_page(PageId::packets);
    wait_for([&] { return page.model().rowCount() > 0; });
    std::printf("first packets listed after %.0f ms\n", static_cast<double>(clock.nsecsElapsed()) / 1e6);
    wait_for([&] { return has_read(window); });
    const double seconds = static_cast<double>(clock.nsecsElapsed()) / 1e9;
    const auto packets = static_cast<double>(page.model().rowCount());
    std::printf("%.0f packets read and analysed in %.1f s: %.1f million a second\n", packets, seconds,
                packets / seconds / 1e6);
    heart.print("reading behind packets");
    print_memory("when it has been read");

    heart.restart();
    std::minstd_rand random(1);
    std::vector<double> jumps;
    for (int i = 0; i < 200; ++i) {
      const int row = std::uniform_int_distribution<int>(0, page.model().rowCount() - 1)(random);
      QElapsedTimer one;
      one.start();
      page.list().verticalScrollBar()->setValue(row);
      page.list().viewport()->repaint();
      jumps.push_back(static_cast<double>(one.nsecsElapsed()) / 1e6);
      QApplication::processEvents();
    }
    std::sort(jumps.begin(), jumps.end());
    std::printf("scrolling to any place: median %.1f ms, longest %.1f ms (%d rows each)\n",
                jumps[jumps.size() / 2], jumps.back(), page.list().visible_rows());
    heart.print("scrolling");

    for (const char* filter :
         {"infiniband.bth.opcode == 17", "roce.analysis.retransmission", "roce.connection == 3",
          "infiniband.bth.opcode == 17 && roce.connection in {1, 2, 5}", "infiniband.bth.psn == 12345",
          "infiniband.aeth.syndrome", "ip.src == 10.0.0.1 && infiniband.bth.destqp == 0x12"}) {
      heart.restart();
      QElapsedTimer one;
      one.start();
      page.filter().apply(QString::fromLatin1(filter));
      wait_for([&] { return page.model().state().complete; });
      const double took = static_cast<double>(one.nsecsElapsed()) / 1e9;
      std::printf("filter %s: %d packets in %.2f s: %.1f million a second\n", filter, page.model().rowCount(),
                  took, packets / took / 1e6);
      heart.print("filtering");
    }
    print_memory("after filters");
    page.filter().apply({});
    measure_pages(window, heart, files);
    std::printf("most memory at any time: %.0f MiB\n", memory("VmHWM"));
  }
  return wait_for_background(std::chrono::seconds(5)) ? 0 : 1;
}
