#include "cli/top/top.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/top/feed.h"
#include "cli/top/inspector.h"
#include "cli/top/layout.h"
#include "cli/top/mailbox.h"
#include "cli/top/signals.h"
#include "cli/top/terminal_guard.h"

namespace hai::cli::top {
namespace {

constexpr Duration kTick = 1s;           // run times grow without any event
constexpr Duration kEscapePause = 50ms;  // what follows an escape of a key comes at once
constexpr Duration kLookAgainPause = 1s;
constexpr int kPaperWidth = 120;

class Program {
 public:
  Program(Session& session, Client& client, const Signals& signals, View view, Data data)
      : session_(session),
        signals_(signals),
        view_(std::move(view)),
        data_(std::move(data)),
        feed_(client, data_.cluster.last_seq(), [this](News news) { news_.post(std::move(news)); }),
        inspector_(
            client, [this](Detail detail) { details_.post(std::move(detail)); },
            [this](std::string answer) { answers_.post(std::move(answer)); }) {}

  int run() {
    while (!view_.wants_quit && is_drawn_) {
      draw();
      wait();
      take_posts();
      take_signals();
    }
    return exit_code_;
  }

 private:
  void draw() {
    const UnixTime now = wall_now();
    data_.forget_ended(now);
    const Moment moment{.now = now, .size = TerminalGuard::size()};
    std::vector<std::string> lines;
    for (const Line& line : make_frame(data_, view_, detail_, moment)) {
      lines.push_back(terminal_text(line, moment.size.width, session_.terminal.colour));
    }
    if (moment.size != size_) shown_.clear();
    const bool is_new = shown_.empty();
    const std::string text = (is_new ? "\033[H\033[2J" : "") + redraw(shown_, lines);
    is_drawn_ = text.empty() || terminal_.write(text);
    shown_ = std::move(lines);
    size_ = moment.size;
    feed_.set_waiting_shown(waiting_shown());
  }

  std::vector<int64_t> waiting_shown() const {
    std::vector<int64_t> waiting;
    if (view_.page != Page::jobs) return waiting;
    const auto jobs = shown_jobs(data_, view_);
    for (size_t i = view_.first_row; i < std::min(jobs.size(), view_.first_row + view_.rows); ++i) {
      if (jobs[i]->has_pending_reason()) waiting.push_back(jobs[i]->id());
    }
    return waiting;
  }

  void wait() {
    std::array<pollfd, 3> files = {{{STDIN_FILENO, POLLIN, 0},
                                    {wake_.descriptor(), POLLIN, 0},
                                    {signals_.descriptor(), POLLIN, 0}}};
    const Duration limit = keys_.is_inside() ? kEscapePause : kTick;
    const int ready = poll(files.data(), files.size(), static_cast<int>(limit / 1ms));
    if (ready < 0 && errno != EINTR) view_.wants_quit = true;
    wake_.quieten();
    if ((files[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      read_keys();
    } else if (keys_.is_inside()) {
      for (const Key& key : keys_.pause()) take(key);
    }
  }

  void read_keys() {
    std::array<char, 512> bytes{};
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) {  // the terminal is gone
      if (count == 0 || errno != EINTR) view_.wants_quit = true;
      return;
    }
    for (const Key& key : keys_.take({bytes.data(), static_cast<size_t>(count)})) take(key);
  }

  void take(const Key& key) {
    if (key.kind == Key::Kind::redraw) {
      shown_.clear();
    } else if (key.kind == Key::Kind::suspend) {
      stop();
    } else {
      run(press(view_, data_, key));
    }
  }

  void run(const Errand& errand) {
    const int width = TerminalGuard::size().width;
    switch (errand.kind) {
      case Errand::Kind::none:
        return;
      case Errand::Kind::look_at_job:
        if (detail_.job != errand.job) detail_ = {};
        detail_.job = errand.job;
        looked_at_ = mono_now();
        return inspector_.look_at_job(errand.job, errand.rank, width);
      case Errand::Kind::look_at_node:
        detail_ = {.node = errand.node};
        looked_at_ = mono_now();
        return inspector_.look_at_node(errand.node, width);
      case Errand::Kind::look_away:
        detail_ = {};
        return inspector_.look_away();
      case Errand::Kind::control:
        view_.message = "asked …";
        return inspector_.control(errand.job, errand.action);
    }
  }

  void take_posts() {
    for (News& news : news_.take()) {
      for (const v1::Job& job : news.jobs) look_again_ |= job.id() == detail_.job;
      for (const v1::Node& node : news.nodes) look_again_ |= node.name() == detail_.node;
      data_.apply(std::move(news));
    }
    for (Detail& detail : details_.take()) {
      // What was looked at before may still answer.
      if (detail.job == detail_.job && detail.node == detail_.node) detail_ = std::move(detail);
    }
    for (std::string& answer : answers_.take()) view_.message = std::move(answer);
    if (view_.page != Page::detail) look_again_ = false;
    if (!look_again_ || mono_now() - looked_at_ < kLookAgainPause) return;
    look_again_ = false;
    run(detail_.job != 0
            ? Errand{.kind = Errand::Kind::look_at_job, .job = detail_.job, .rank = view_.rank}
            : Errand{.kind = Errand::Kind::look_at_node, .node = detail_.node});
  }

  void take_signals() {
    for (int signal = signals_.take(); signal != 0; signal = signals_.take()) {
      if (signal == SIGTSTP) {
        stop();
      } else if (signal == SIGCONT || signal == SIGWINCH) {
        shown_.clear();
      } else {
        view_.wants_quit = true;
        exit_code_ = 128 + signal;
      }
    }
  }

  void stop() {
    terminal_.stop_and_return();
    shown_.clear();
  }

  Session& session_;
  const Signals& signals_;
  View view_;
  Data data_;
  Detail detail_;
  KeyReader keys_;
  Size size_;
  std::vector<std::string> shown_;
  MonoTime looked_at_{};
  bool look_again_ = false;
  bool is_drawn_ = true;
  int exit_code_ = kOk;

  // In this order: the threads of feed and inspector post until they have ended, and the terminal
  // is given back before anybody waits for them.
  Wake wake_;
  Mailbox<News> news_{wake_};
  Mailbox<Detail> details_{wake_};
  Mailbox<std::string> answers_{wake_};
  Feed feed_;
  Inspector inspector_;
  TerminalGuard terminal_;
};

Result<Data> load(Client& client) {
  Data data;
  Result<v1::WhoAmIReply> who = client.who_am_i({});
  RETURN_IF_ERROR(who.status());
  data.user = who.value().user();
  Result<News> news = load_all(client);
  RETURN_IF_ERROR(news.status());
  data.apply(std::move(news).value());
  return data;
}

}  // namespace

int run_top(Session& session, Client& client, View view) {
  const Signals signals;  // before any other thread is there to take one
  Result<Data> data = load(client);
  if (!data.is_ok()) return session.fail(data.status());
  return Program(session, client, signals, std::move(view), std::move(data).value()).run();
}

int print_once(Session& session, Client& client, View view) {
  const Result<Data> data = load(client);
  if (!data.is_ok()) return session.fail(data.status());
  const int width = session.terminal.width > 0 ? session.terminal.width : kPaperWidth;
  std::string text;
  for (const Line& line :
       make_report(data.value(), view, {.now = wall_now(), .size = {.width = width}})) {
    text += (session.terminal.is_tty ? terminal_text(line, width, session.terminal.colour)
                                     : plain_text(line)) +
            "\n";
  }
  print(text);
  return kOk;
}

}  // namespace hai::cli::top
