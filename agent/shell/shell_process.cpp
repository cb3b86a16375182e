#include "agent/shell/shell_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <optional>
#include <vector>

#include "agent/os/files.h"
#include "agent/os/shell_file.h"
#include "common/machine/spawn.h"

namespace hai {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

namespace {

// What is left of a session that was hung up is killed then.
constexpr Duration kHangUpPatience = 5s;
// Who has inherited the program's terminal or pipes is heard for so long after its end.
constexpr Duration kLastWords = 200ms;
constexpr char kEndOfInput = 4;  // Ctrl-D of a terminal

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Status cannot(const char* what) {
  return resource_exhausted("cannot make {}: {}", what, errno_text(errno));
}

struct Ends {
  UniqueFd ours;
  UniqueFd its;
};

enum class Direction { to_it, from_it };

Status make_pipe(Direction direction, Ends& ends) {
  int both[2];
  if (::pipe2(both, O_CLOEXEC) != 0) return cannot("a pipe");
  const bool is_to_it = direction == Direction::to_it;
  ends.ours = UniqueFd(both[is_to_it ? 1 : 0]);
  ends.its = UniqueFd(both[is_to_it ? 0 : 1]);
  return ok();
}

Status set_size(int terminal, const TerminalSize& size) {
  const winsize window = {.ws_row = static_cast<uint16_t>(size.rows),
                          .ws_col = static_cast<uint16_t>(size.columns),
                          .ws_xpixel = 0,
                          .ws_ypixel = 0};
  return ::ioctl(terminal, TIOCSWINSZ, &window) == 0 ? ok() : cannot("the terminal's size");
}

Status make_terminal(const TerminalSize& size, Ends& ends) {
  ends.ours = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ends.ours.is_open() || ::grantpt(ends.ours.get()) != 0 || ::unlockpt(ends.ours.get()) != 0) {
    return cannot("a terminal");
  }
  // By the master: its name may be another one in the mounts that we see.
  ends.its = UniqueFd(::ioctl(ends.ours.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ends.its.is_open()) return cannot("a terminal");
  return set_size(ends.ours.get(), size);
}

Result<UniqueFd> request_file(const ShellProgram& program) {
  UniqueFd file(::memfd_create("hai-shell", MFD_CLOEXEC));
  const std::string text = shell_program_to_json(program);
  if (!file.is_open() ||
      ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return cannot("the file with what is asked");
  }
  return file;
}

}  // namespace

struct ShellProcess::Source {
  Source(asio::io_context& context, UniqueFd fd, Stream of)
      : descriptor(context, fd.release()), stream(of) {
    descriptor.native_non_blocking(true);
  }
  Descriptor descriptor;
  const Stream stream;
  bool is_waiting = false;  // for more
  bool has_ended = false;
};

struct ShellProcess::Impl : std::enable_shared_from_this<Impl> {
  Impl(asio::io_context& used, Events given)
      : context(used), events(std::move(given)), process(used), complaint(used), timer(used) {}

  Status start(const std::vector<std::string>& command, const ShellProgram& program);
  Status open_streams(const ShellProgram& program, Spawn& spawn);
  void wait_for_end();
  void wait_for_complaint();
  void read(Source& source);
  void wait_for(Source& source);
  void source_ended(Source& source);
  void process_ended(int wait_status);
  void finish_if_over();
  void abandon();

  asio::io_context& context;
  Events events;
  pid_t pid = 0;
  Descriptor process;    // a pidfd
  Descriptor complaint;  // see kShellComplaintFd
  asio::steady_timer timer;
  std::vector<std::unique_ptr<Source>> sources;
  std::optional<Descriptor> input;  // none with a terminal, which is the only source then
  bool has_terminal = false;
  bool is_running = false;
  bool is_last_look = false;  // who has nothing to say now has ended
  bool is_over = false;
  std::optional<int> exit_code;
  std::string error;
  std::vector<UniqueFd> its;  // until it is started
};

Status ShellProcess::Impl::open_streams(const ShellProgram& program, Spawn& spawn) {
  Ends out;
  if (program.terminal) {
    has_terminal = true;
    RETURN_IF_ERROR(make_terminal(*program.terminal, out));
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      spawn.give(out.its.get(), fd);
    }
    sources.push_back(std::make_unique<Source>(context, std::move(out.ours), Stream::output));
    its.push_back(std::move(out.its));
    return ok();
  }
  Ends in;
  Ends error_out;
  RETURN_IF_ERROR(make_pipe(Direction::to_it, in));
  RETURN_IF_ERROR(make_pipe(Direction::from_it, out));
  RETURN_IF_ERROR(make_pipe(Direction::from_it, error_out));
  spawn.give(in.its.get(), STDIN_FILENO);
  spawn.give(out.its.get(), STDOUT_FILENO);
  spawn.give(error_out.its.get(), STDERR_FILENO);
  input.emplace(context, in.ours.release());
  input->native_non_blocking(true);
  sources.push_back(std::make_unique<Source>(context, std::move(out.ours), Stream::output));
  sources.push_back(std::make_unique<Source>(context, std::move(error_out.ours), Stream::error));
  for (Ends* ends : {&in, &out, &error_out}) its.push_back(std::move(ends->its));
  return ok();
}

Status ShellProcess::Impl::start(const std::vector<std::string>& command,
                                 const ShellProgram& program) {
  Spawn spawn;
  RETURN_IF_ERROR(open_streams(program, spawn));
  Ends words;
  RETURN_IF_ERROR(make_pipe(Direction::from_it, words));
  const Result<UniqueFd> request = request_file(program);
  RETURN_IF_ERROR(request.status());
  spawn.give(request.value().get(), kShellRequestFd);
  spawn.give(words.its.get(), kShellComplaintFd);
  const Result<pid_t> started = spawn.run(command);
  RETURN_IF_ERROR(started.status());
  pid = started.value();
  its.clear();
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) {
    const Status status = cannot("a grip on the process");
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return status;
  }
  process.assign(fd);
  complaint.assign(words.ours.release());
  complaint.native_non_blocking(true);
  wait_for_end();
  wait_for_complaint();
  return ok();
}

void ShellProcess::Impl::wait_for_end() {
  process.async_wait(Descriptor::wait_read,
                     [self = shared_from_this()](boost::system::error_code failed) {
                       int wait_status = 0;
                       if (failed || ::waitpid(self->pid, &wait_status, WNOHANG) != self->pid)
                         return;
                       self->process_ended(wait_status);
                     });
}

void ShellProcess::Impl::wait_for_complaint() {
  complaint.async_wait(
      Descriptor::wait_read, [self = shared_from_this()](boost::system::error_code failed) {
        if (failed || self->is_over) return;
        std::array<char, 4096> text{};
        const ssize_t got = ::read(self->complaint.native_handle(), text.data(), text.size());
        if (got > 0) self->error.append(text.data(), static_cast<size_t>(got));
        if (got > 0 || (got < 0 && errno == EAGAIN)) return self->wait_for_complaint();
        self->complaint.close();
        if (!self->error.empty()) return self->finish_if_over();
        self->is_running = true;
        if (self->events.started) self->events.started();
        if (self->is_over) return;
        for (const auto& source : self->sources) self->read(*source);
        self->finish_if_over();
      });
}

// Calls nothing twice: after what it gives, go_on() asks for the next piece.
void ShellProcess::Impl::read(Source& source) {
  if (is_over || source.has_ended || source.is_waiting) return;
  std::string piece(kShellPieceBytes, '\0');
  const ssize_t got = ::read(source.descriptor.native_handle(), piece.data(), piece.size());
  if (got > 0) {
    piece.resize(static_cast<size_t>(got));
    return events.wrote(source.stream, std::move(piece));
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR) && !is_last_look) return wait_for(source);
  source_ended(source);  // EIO: nobody has the terminal any more
}

void ShellProcess::Impl::wait_for(Source& source) {
  source.is_waiting = true;
  source.descriptor.async_wait(Descriptor::wait_read, [self = shared_from_this(),
                                                       &source](boost::system::error_code failed) {
    source.is_waiting = false;
    if (!failed || self->is_last_look) self->read(source);
  });
}

void ShellProcess::Impl::source_ended(Source& source) {
  source.has_ended = true;
  finish_if_over();
}

void ShellProcess::Impl::process_ended(int wait_status) {
  exit_code = exit_code_of(wait_status);
  timer.expires_after(kLastWords);
  timer.async_wait([self = shared_from_this()](boost::system::error_code failed) {
    if (failed || self->is_over) return;
    self->is_last_look = true;
    for (const auto& source : self->sources) {
      if (source->is_waiting) source->descriptor.cancel();
    }
  });
  finish_if_over();
}

void ShellProcess::Impl::finish_if_over() {
  if (is_over || !exit_code || complaint.is_open()) return;
  const bool is_silent = std::ranges::all_of(
      sources, [](const std::unique_ptr<Source>& source) { return source->has_ended; });
  if (error.empty() && !is_silent) return;
  is_over = true;
  timer.cancel();
  if (events.ended) events.ended(*exit_code, error);
}

// The terminal's own hang-up reaches those in its foreground; the leader of the session hears it in
// any case.
void ShellProcess::Impl::abandon() {
  is_over = true;
  events = {};
  boost::system::error_code ignored;
  complaint.close(ignored);
  if (input) input->close(ignored);
  for (const auto& source : sources) source->descriptor.close(ignored);
  timer.cancel();
  if (exit_code || pid == 0) return;
  ::kill(-pid, SIGHUP);
  ::kill(-pid, SIGCONT);
  timer.expires_after(kHangUpPatience);
  timer.async_wait([self = shared_from_this()](boost::system::error_code failed) {
    if (!failed && !self->exit_code) ::kill(-self->pid, SIGKILL);
  });
}

Result<std::unique_ptr<ShellProcess>> ShellProcess::start(asio::io_context& context,
                                                          const std::vector<std::string>& command,
                                                          const ShellProgram& program,
                                                          Events events) {
  auto impl = std::make_shared<Impl>(context, std::move(events));
  RETURN_IF_ERROR(impl->start(command, program));
  return std::unique_ptr<ShellProcess>(new ShellProcess(std::move(impl)));
}

ShellProcess::~ShellProcess() { impl_->abandon(); }

void ShellProcess::write(std::string data, std::function<void()> written) {
  Descriptor* to = nullptr;  // none where the input has ended
  if (impl_->has_terminal) to = &impl_->sources.front()->descriptor;
  if (impl_->input) to = &*impl_->input;
  if (to == nullptr || !to->is_open()) return written();
  auto kept = std::make_shared<std::string>(std::move(data));
  // Who does not read any more may write on: what is typed for him goes nowhere.
  asio::async_write(
      *to, asio::buffer(*kept),
      [impl = impl_, kept, written = std::move(written)](boost::system::error_code error, size_t) {
        if (error != asio::error::operation_aborted && !impl->is_over) written();
      });
}

void ShellProcess::end_input() {
  if (impl_->has_terminal) return write(std::string(1, kEndOfInput), [] {});
  impl_->input.reset();
}

void ShellProcess::resize(const TerminalSize& size) {
  if (!impl_->has_terminal || !impl_->sources.front()->descriptor.is_open()) return;
  static_cast<void>(set_size(impl_->sources.front()->descriptor.native_handle(), size));
}

void ShellProcess::go_on(Stream stream) {
  for (const auto& source : impl_->sources) {
    if (source->stream == stream) impl_->read(*source);
  }
}

}  // namespace hai
