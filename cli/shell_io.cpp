#include "cli/shell_io.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/raw_terminal.h"
#include "cli/session.h"
#include "common/shell_messages.h"
#include "common/unique_fd.h"

namespace hai::cli {
namespace {

bool write_whole(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t wrote = ::write(fd, data.data(), data.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (wrote <= 0) return false;
    data.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

// "~." at the beginning of a line; "~~" is one "~".
class Escape {
 public:
  // What goes to the program; none = the person wants to leave.
  std::optional<std::string> take(std::string_view typed) {
    std::string out;
    for (const char c : typed) {
      if (has_tilde_) {
        has_tilde_ = false;
        if (c == '.') return std::nullopt;
        if (c != '~') out += '~';
      } else if (c == '~' && at_line_begin_) {
        has_tilde_ = true;
        at_line_begin_ = false;
        continue;
      }
      out += c;
      at_line_begin_ = c == '\r' || c == '\n';
    }
    return out;
  }

 private:
  bool at_line_begin_ = true;
  bool has_tilde_ = false;
};

// From the person to the program, on a thread of its own.
class InputPump {
 public:
  InputPump(ShellCall& call, int input, InputKind kind) : call_(call), input_(input), kind_(kind) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    wake_read_ = UniqueFd(ends[0]);
    wake_write_ = UniqueFd(ends[1]);
    if (kind_ == InputKind::terminal) tell_of_resize(wake_write_.get());
    thread_ = std::thread([this] { run(); });
  }
  ~InputPump() {
    if (kind_ == InputKind::terminal) tell_of_resize(-1);
    is_over_ = true;
    if (wake_write_.is_open()) static_cast<void>(!::write(wake_write_.get(), "e", 1));
    if (thread_.joinable()) thread_.join();
  }
  InputPump(const InputPump&) = delete;
  InputPump& operator=(const InputPump&) = delete;

  bool has_left() const { return has_left_; }

 private:
  void run() {
    std::array<pollfd, 2> watched = {pollfd{wake_read_.get(), POLLIN, 0},
                                     pollfd{input_, POLLIN, 0}};
    while (!is_over_) {
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
      if (watched[0].revents != 0 && !woken()) return;
      if (watched[1].revents != 0 && !read_input()) watched[1].fd = -1;
    }
  }

  bool woken() {
    std::array<char, 64> signs{};
    while (::read(wake_read_.get(), signs.data(), signs.size()) > 0) continue;
    if (is_over_ || kind_ != InputKind::terminal) return !is_over_;
    v1::ShellMessage message;
    *message.mutable_size() = terminal_size(input_);
    return call_.write(message);
  }

  // False: there is no more.
  bool read_input() {
    std::array<char, kShellPieceBytes> piece{};
    const ssize_t got = ::read(input_, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    v1::ShellMessage message;
    if (got <= 0) {
      message.mutable_input_end();
      call_.write(message);
      return false;
    }
    std::optional<std::string> data(std::string(piece.data(), static_cast<size_t>(got)));
    if (kind_ == InputKind::terminal) data = escape_.take(*data);
    if (!data) {
      has_left_ = true;
      call_.cancel();
      return false;
    }
    if (data->empty()) return true;
    message.set_input(*std::move(data));
    return call_.write(message);
  }

  ShellCall& call_;
  const int input_;
  const InputKind kind_;
  UniqueFd wake_read_;
  UniqueFd wake_write_;
  Escape escape_;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_left_ = false;
  std::thread thread_;
};

}  // namespace

v1::TerminalSize terminal_size(int fd) {
  v1::TerminalSize size;
  const winsize window = window_size(fd);
  size.set_rows(window.ws_row);
  size.set_columns(window.ws_col);
  return size;
}

Result<int> carry_shell(ShellCall& call, const ShellFiles& files, InputKind kind) {
  std::optional<int> exit_code;
  bool has_left = false;
  bool is_taken = true;  // else nobody reads any more, and the program is to hear of it
  {
    const InputPump input(call, files.input, kind);
    v1::ShellMessage message;
    while (!exit_code && is_taken && call.read(message)) {
      if (message.has_end()) exit_code = message.end().exit_code();
      if (!message.output().empty()) is_taken = write_whole(files.output, message.output());
      if (!message.error_output().empty())
        is_taken = write_whole(files.error, message.error_output());
    }
    // Whoever still writes need not wait. A call that has ended keeps its reason only without this.
    if (exit_code || !is_taken) call.cancel();
    has_left = input.has_left();
  }
  const Status status = call.finish();
  if (exit_code) return *exit_code;
  if (has_left || !is_taken) return Status(Code::cancelled, "left");
  return status.is_ok() ? unavailable("the server ended the shell") : status;
}

namespace {

// Where there was none, gRPC has made one of its own descriptors of that number before main().
bool has_standard_input() {
  std::array<char, 64> target{};
  const ssize_t size = ::readlink("/proc/self/fd/0", target.data(), target.size());
  return size > 0 &&
         !std::string_view(target.data(), static_cast<size_t>(size)).starts_with("anon_inode:");
}

}  // namespace

Result<int> enter_job(Client& client, v1::ShellOpen open, bool with_terminal,
                      std::string_view then) {
  if (with_terminal) {
    *open.mutable_program()->mutable_terminal() = terminal_size(STDIN_FILENO);
    const char* term = std::getenv("TERM");
    open.mutable_program()->set_term(term != nullptr ? term : "dumb");
  }
  const Result<std::unique_ptr<ShellCall>> call = client.open_shell(open);
  RETURN_IF_ERROR(call.status());
  const bool is_typed = with_terminal && ::isatty(STDIN_FILENO) != 0;
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const ShellFiles files{.input = has_standard_input() ? STDIN_FILENO : nothing.get()};
  Result<int> code = kOk;
  {
    std::optional<RawTerminal> raw;
    if (is_typed) raw.emplace();
    code = carry_shell(*call.value(), files, is_typed ? InputKind::terminal : InputKind::bytes);
  }
  if (code.is_ok() || code.status().code() != Code::cancelled) return code;
  say(fmt::format("left job {}, {}", call.value()->started().job(), then));
  return kInterrupted;
}

Result<ShellOutput> run_to_end(Client& client, const v1::ShellOpen& open) {
  const Result<std::unique_ptr<ShellCall>> call = client.open_shell(open);
  RETURN_IF_ERROR(call.status());
  ShellOutput out;
  bool has_ended = false;
  v1::ShellMessage message;
  while (!has_ended && call.value()->read(message)) {
    out.output += message.output();
    out.errors += message.error_output();
    has_ended = message.has_end();
    if (has_ended) out.exit_code = message.end().exit_code();
  }
  if (has_ended) call.value()->cancel();
  const Status ended = call.value()->finish();
  if (has_ended) return out;
  return ended.is_ok() ? unavailable("the connection ended") : ended;
}

}  // namespace hai::cli
