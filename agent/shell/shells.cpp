#include "agent/shell/shells.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "agent/os/helper_program.h"
#include "agent/os/rank_directory.h"
#include "agent/shell/shell_link.h"
#include "agent/shell/shell_process.h"
#include "common/log.h"
#include "common/text_check.h"
#include "hai/v1/shell.pb.h"
#include "proto/convert/shell_convert.h"

namespace hai {

namespace {

constexpr Duration kGoodbye = 5s;  // a server that does not end the stream by then is left

}  // namespace

// Its program's output goes one message after the other; its input, one after the other too, since
// the next is read when the last is written.
class Shells::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Shells& owner, const ShellRequest& request) : owner_(owner), request_(request) {}

  void begin(const std::string& server, const TlsTexts& tls) {
    link_ = ShellLink::open(owner_.loop_,
                            {.server = server,
                             .agent_token = owner_.options_.agent_token,
                             .tls = tls,
                             .ticket = request_.ticket},
                            {.message = [this](const v1::ShellMessage& message) { take(message); },
                             .done = [self = shared_from_this()] { self->link_ended(); }});
    const Status status = start();
    if (!status.is_ok()) end(0, status.message());
  }

  void look() {
    if (has_ended_) {
      if (owner_.loop_.now() - ended_at_ > kGoodbye) link_->close();
      return;
    }
    if (!is_of_node() && !owner_.options_.is_live(request_.key)) return end(128 + 1, "");  // SIGHUP
    // While the program reads nothing we read nothing either, and would not hear that the person is
    // gone; a message without words cannot be sent then.
    if (is_writing_ && outbox_.empty()) send({}, nullptr);
  }

  void close_and_wait() {
    process_.reset();
    link_->close_and_wait();
  }

 private:
  bool is_of_node() const { return request_.key == kImagesOfNode; }

  std::vector<std::string> command() const {
    if (is_of_node()) return {helper_program("hai-image"), "asked"};
    return {owner_.options_.shim_path, "--shell",
            rank_directory(owner_.options_.data_dir, request_.key).path};
  }

  // Whoever may ask names the image and how much is to be kept, and nothing else.
  ShellProgram program() const {
    ShellProgram program = request_.program;
    if (!is_of_node()) return program;
    const ImageSettings& images = owner_.options_.images;
    program.terminal.reset();
    if (program.argv.front() == "look") {
      for (const std::string& folder : images.allowed_mounts)
        program.argv.push_back("--allowed=" + folder);
      for (const std::string& user : owner_.options_.system_users)
        program.argv.push_back("--system-user=" + user);
      return program;
    }
    program.argv.push_back("--store=" + images.store);
    if (program.argv.front() != "pull") return program;
    program.argv.push_back("--bytes-max=" + std::to_string(images.bytes_max));
    program.argv.push_back(fmt::format("--patience={}", images.patience / 1s));
    for (const auto& [name, value] : images.environment)
      program.argv.push_back("--environment=" + name + "=" + value);
    return program;
  }

  // A job has at most as many places as are free: half of them, if no other has any. So it leaves
  // some to the next one.
  Status check_place() const {
    size_t all = 0;
    size_t own = 0;  // of this job, or of questions about images
    for (const auto& session : owner_.sessions_) {
      if (session.get() == this || session->has_ended_) continue;
      ++all;
      own += session->request_.key.job == request_.key.job ? 1 : 0;
    }
    const size_t places = is_of_node() ? kMax : kMax - kOfNode;
    const size_t free = places - std::min(all, places);
    if (own < free) return ok();
    if (own == 0 || is_of_node())
      return resource_exhausted("{} shells and ports are open on this node already; leave one",
                                all);
    return resource_exhausted(
        "job {} has {} shells and ports open on this node, and the {} that are free are kept for "
        "other jobs; leave one",
        request_.key.job.value, own, free);
  }

  Status start() {
    RETURN_IF_ERROR(check_place());
    if (!is_of_node() && !owner_.options_.is_live(request_.key)) {
      return failed_precondition("rank {} of job {} does not run any more", request_.key.rank,
                                 request_.key.job.value);
    }
    Result<std::unique_ptr<ShellProcess>> started = ShellProcess::start(
        owner_.context_, command(), program(),
        {.started =
             [this] {
               v1::ShellMessage message;
               message.mutable_started();
               send(std::move(message), nullptr);
             },
         .wrote = [this](ShellProcess::Stream stream,
                         std::string data) { wrote(stream, std::move(data)); },
         .ended = [this](int exit_code, const std::string& error) { end(exit_code, error); }});
    RETURN_IF_ERROR(started.status());
    process_ = std::move(started).value();
    log_info("shell_opened", {{"rank", is_of_node() ? "images" : to_string(request_.key)}});
    return ok();
  }

  void take(const v1::ShellMessage& message) {
    const auto go_on = [self = shared_from_this()] {
      self->is_writing_ = false;
      self->link_->read_next();
    };
    if (!process_) return link_->read_next();  // The last message is on its way.
    if (message.body_case() == v1::ShellMessage::kInput) {
      is_writing_ = true;
      return process_->write(message.input(), go_on);
    }
    if (message.has_input_end()) process_->end_input();
    if (message.has_size()) {
      const Result<TerminalSize> size = from_proto(message.size());
      if (size.is_ok()) process_->resize(size.value());
    }
    go_on();
  }

  void wrote(ShellProcess::Stream stream, std::string data) {
    v1::ShellMessage message;
    (stream == ShellProcess::Stream::error ? *message.mutable_error_output()
                                           : *message.mutable_output()) = std::move(data);
    send(std::move(message), [this, stream] {
      if (process_) process_->go_on(stream);
    });
  }

  void end(int exit_code, const std::string& error) {
    if (std::exchange(has_ended_, true)) return;
    ended_at_ = owner_.loop_.now();
    v1::ShellMessage message;
    message.mutable_end()->set_exit_code(exit_code);
    message.mutable_end()->set_error(printable(error));
    send(std::move(message), nullptr);
    // Not from inside one of its own events. Then it is read on, to hear that the server has ended
    // the stream: input that the program did not take waits for nothing any more.
    owner_.loop_.post([self = shared_from_this()] {
      self->process_.reset();
      self->is_writing_ = false;
      self->link_->read_next();
    });
  }

  struct Outgoing {
    v1::ShellMessage message;
    std::function<void()> written;
  };

  void send(v1::ShellMessage message, std::function<void()> written) {
    outbox_.push_back({std::move(message), std::move(written)});
    if (outbox_.size() == 1) send_first();
  }

  void send_first() {
    link_->send(outbox_.front().message, [self = shared_from_this()] {
      const std::function<void()> written = std::move(self->outbox_.front().written);
      self->outbox_.pop_front();
      if (!self->outbox_.empty()) self->send_first();
      if (written) written();
    });
  }

  void link_ended() {
    has_ended_ = true;
    process_.reset();
    owner_.ended(shared_from_this());
  }

  Shells& owner_;
  const ShellRequest request_;
  std::shared_ptr<ShellLink> link_;
  std::unique_ptr<ShellProcess> process_;
  std::deque<Outgoing> outbox_;  // the first is being sent
  bool is_writing_ = false;      // input that the program has not taken
  bool has_ended_ = false;
  MonoTime ended_at_{};
};

Shells::Shells(Loop& loop, boost::asio::io_context& context, Options options)
    : loop_(loop), context_(context), options_(std::move(options)) {
  look_at_all();
}

Shells::~Shells() {
  loop_.cancel(timer_);
  for (const auto& session : sessions_) session->close_and_wait();
}

void Shells::open(const std::string& server, const TlsTexts& tls, const ShellRequest& request) {
  auto session = std::make_shared<Session>(*this, request);
  sessions_.insert(session);
  session->begin(server, tls);
}

void Shells::ended(const std::shared_ptr<Session>& session) { sessions_.erase(session); }

void Shells::look_at_all() {
  const std::set<std::shared_ptr<Session>> sessions = sessions_;
  for (const auto& session : sessions) session->look();
  timer_ = loop_.call_after(kLook, [this] { look_at_all(); });
}

}  // namespace hai
