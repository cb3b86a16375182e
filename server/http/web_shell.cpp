#include "server/http/web_shell.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/auth/token.h"
#include "server/http/json.h"

namespace hai {
namespace {

SocketMessage text_of(const Json& json) {
  return {json.dump(-1, ' ', false, Json::error_handler_t::replace), true};
}

SocketMessage to_frame(v1::ShellMessage& message) {
  switch (message.body_case()) {
    case v1::ShellMessage::kOutput:
      return {std::move(*message.mutable_output()), false};
    case v1::ShellMessage::kErrorOutput:
      return {std::move(*message.mutable_error_output()), false};
    case v1::ShellMessage::kStarted:
      return text_of(
          {{"started", {{"node", message.started().node()}, {"job", message.started().job()}}}});
    case v1::ShellMessage::kEnd:
      return text_of({{"end", {{"exit_code", message.end().exit_code()}}}});
    default:
      return text_of(Json::object());
  }
}

Result<int> number_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return 0;
  // Larger ones are judged where all are: kTerminalSideMax.
  if (!found->is_number_integer() || found->get<int64_t>() < 0 ||
      found->get<int64_t>() > 1'000'000) {
    return invalid_argument("{}: a whole number of 0 or more is expected", name);
  }
  return found->get<int>();
}

Status read_size(const Json& json, v1::TerminalSize& size) {
  const Result<int> rows = number_of(json, "rows");
  if (!rows.is_ok()) return rows.status();
  const Result<int> columns = number_of(json, "columns");
  if (!columns.is_ok()) return columns.status();
  size.set_rows(rows.value());
  size.set_columns(columns.value());
  return ok();
}

std::string text_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Status read_program(const Json& json, v1::ShellProgram& program) {
  if (const auto argv = json.find("argv"); argv != json.end()) {
    if (!argv->is_array()) return invalid_argument("argv: a list of texts is expected");
    for (const Json& word : *argv) {
      if (!word.is_string()) return invalid_argument("argv: a list of texts is expected");
      program.add_argv(word.get<std::string>());
    }
  }
  program.set_term(text_at(json, "term"));
  return read_size(json, *program.mutable_terminal());
}

}  // namespace

// One is outstanding always: so that it is heard when the client has gone.
void WebShell::read_ahead() {
  if (is_finished_ || has_ended_) return;
  socket_->read([self = shared_from_this()](std::optional<SocketMessage> message) {
    std::optional<Result<Heard>> heard;
    if (message) heard = self->hear(*message);
    self->loop_.post(
        [self, heard = std::move(heard)]() mutable { self->was_read(std::move(heard)); });
  });
}

void WebShell::was_read(std::optional<Result<Heard>> heard) {
  if (is_finished_) return;
  if (!heard) return other_side_ended();
  if (!heard->is_ok()) return give_up(heard->status());
  Heard& words = heard->value();
  not_shown_ -= std::min(not_shown_, words.shown);
  if (words.message) {
    ahead_cost_ += words.cost;
    ahead_.push_back({std::move(*words.message), words.cost});
    if (ahead_cost_ > kAheadMax) {
      return give_up(resource_exhausted("too much was typed that the program does not read"));
    }
  }
  go_on();
  deliver();
  read_ahead();
}

void WebShell::deliver() {
  if (!is_wanted_ || ahead_.empty() || is_finished_) return;
  is_wanted_ = false;
  Ahead next = std::move(ahead_.front());
  ahead_.pop_front();
  ahead_cost_ -= next.cost;
  events_.message(std::move(next.message));
}

Result<WebShell::Heard> WebShell::hear(SocketMessage& message) {
  Heard heard{.message = {}, .cost = message.bytes.size() + kMessageCost};
  if (!std::exchange(is_opened_, true)) {
    Result<v1::ShellMessage> opening = hear_opening(message);
    if (!opening.is_ok()) return opening.status();
    heard.message = std::move(opening).value();
    return heard;
  }
  v1::ShellMessage out;
  if (!message.is_text) {
    out.set_input(std::move(message.bytes));
    heard.message = std::move(out);
    return heard;
  }
  const Json json = Json::parse(message.bytes, nullptr, false);
  if (!json.is_object()) return invalid_argument("a message of text is an object of JSON");
  if (const auto size = json.find("size"); size != json.end() && size->is_object()) {
    if (Status status = read_size(*size, *out.mutable_size()); !status.is_ok()) return status;
    heard.message = std::move(out);
  } else if (json.contains("input_end")) {
    out.mutable_input_end();
    heard.message = std::move(out);
  }
  const Result<int> shown = number_of(json, "shown");
  if (!shown.is_ok()) return shown.status();
  heard.shown = static_cast<size_t>(shown.value());
  return heard;
}

Result<v1::ShellMessage> WebShell::hear_opening(const SocketMessage& message) const {
  const Json json = message.is_text ? Json::parse(message.bytes, nullptr, false) : Json();
  const auto open = json.is_object() ? json.find("open") : json.end();
  if (!json.is_object() || open == json.end() || !open->is_object()) {
    return invalid_argument("the first message must say what is to be opened");
  }
  if (!opening_.csrf.empty() && !equal_secrets(text_at(*open, "csrf"), opening_.csrf)) {
    return permission_denied(
        "by the cookie of a session nobody gets in without the csrf that signing in gave");
  }
  v1::ShellMessage out;
  out.mutable_open()->set_job(opening_.job);
  const Result<int> rank = number_of(*open, "rank");
  if (!rank.is_ok()) return rank.status();
  out.mutable_open()->set_rank(rank.value());
  const Status program = read_program(*open, *out.mutable_open()->mutable_program());
  if (!program.is_ok()) return program;
  return out;
}

void WebShell::send(v1::ShellMessage message, std::function<void()> written) {
  if (is_finished_ || has_ended_) return;
  written_ = std::move(written);
  SocketMessage frame = to_frame(message);
  if (!frame.is_text) not_shown_ += frame.bytes.size();
  write(std::move(frame));
}

void WebShell::write(SocketMessage message) {
  is_writing_ = true;
  socket_->write(std::move(message), [self = shared_from_this()](bool is_written) {
    self->loop_.post([self, is_written] { self->was_written(is_written); });
  });
}

void WebShell::was_written(bool is_written) {
  is_writing_ = false;
  if (last_) return write(*std::exchange(last_, std::nullopt));
  if (is_finished_) return socket_->close();
  if (!is_written) return other_side_ended();
  go_on();
}

void WebShell::go_on() {
  if (is_writing_ || not_shown_ > kWindow) return;
  const std::function<void()> written = std::exchange(written_, nullptr);
  if (written) written();
}

// Whoever is refused before he has opened anything is told of here, others where they are known.
void WebShell::give_up(const Status& why) {
  if (why.code() == Code::permission_denied && opening_.refused) opening_.refused(why);
  finish(why);
  if (events_.ended) events_.ended();
}

void WebShell::finish(const Status& status) {
  if (std::exchange(is_finished_, true)) return;
  if (!status.is_ok() && !has_ended_) {
    last_ = text_of(
        {{"error",
          {{"code", std::string(to_string(status.code()))}, {"message", status.message()}}}});
  }
  if (!is_writing_) last_ ? write(*std::exchange(last_, std::nullopt)) : socket_->close();
  loop_.call_after(kDrainTimeout, [socket = socket_] { socket->cut(); });
  // Whoever ends it is at it still.
  loop_.post([self = shared_from_this()] { self->end_events(); });
}

void WebShell::other_side_ended() {
  if (std::exchange(has_ended_, true) || is_finished_) return;
  if (events_.ended) events_.ended();
}

// The callbacks may hold this shell: let go of them after they have run.
void WebShell::end_events() {
  const Events events = std::exchange(events_, {});
  if (events.done) events.done();
}

}  // namespace hai
