#include "server/rpc/shells.h"

#include <fmt/ranges.h>

#include "common/job_service.h"
#include "common/text_check.h"
#include "proto/convert/shell_convert.h"
#include "server/api/first_task.h"
#include "server/api/rank_log.h"
#include "server/auth/token.h"
#include "server/rpc/node_images.h"
#include "server/rpc/status_map.h"
#include "server/rpc/tls_credentials.h"

namespace hai {

struct Shells::Session {
  std::string ticket;
  std::shared_ptr<ShellPeer> person;
  std::shared_ptr<ShellPeer> agent;
  Caller caller;
  std::string address;
  AuditFacts facts;
  ShellRequest request;
  std::string node;
  std::string service;  // that was asked for, as the job says it
  OpenStreams::Place place;
  TimerId timer = 0;
  bool is_opened = false;
  bool is_noted = false;
  bool has_ended = false;
};

namespace {

std::string ticket_of(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find(kShellTicketKey);
  if (found == context.client_metadata().end()) return "";
  return {found->second.data(), found->second.size()};
}

std::string detail_of(const v1::ShellOpen& open) {
  constexpr size_t kShown = 200;
  if (open.program().port() > 0) {
    return fmt::format("rank {}, port {}", open.rank(), open.program().port());
  }
  if (!open.program().service().empty())
    return fmt::format("service {}", open.program().service().substr(0, kShown));
  std::string words;
  for (const std::string& word : open.program().argv()) {
    if (words.size() > kShown) break;
    words += (words.empty() ? "" : " ") + word.substr(0, kShown);
  }
  return fmt::format("rank {}{}{}", open.rank(), words.empty() ? "" : ": ", words);
}

}  // namespace

grpc::ServerBidiReactor<v1::ShellMessage, v1::ShellMessage>* Shells::OfPeople::Open(
    grpc::CallbackServerContext* context) {
  const CallSite& site = shells.site_;
  site.unread.end();  // of a stream nothing is read before it is here
  const Caller caller = caller_of(*context);
  const Standing standing = site.standing.get();
  const Status admitted =
      standing.is_leading() ? admit(site, *context, caller) : why_not_leading(standing);
  // Only who was refused is told where to go on: once an agent was asked the program may run.
  auto stream = std::make_shared<ShellStream>(site.loop, *context,
                                              admitted.is_ok() ? nullptr : &site.standing);
  site.meter.note("", kShellCall.data(), code_word(to_grpc(admitted)), 0);
  stream->begin([owner = &shells, caller, admitted, address = host_of_peer(context->peer())](
                    const std::shared_ptr<ShellStream>& opened) -> ShellPeer::Events {
    if (admitted.is_ok()) return owner->person_came(opened, caller, address);
    opened->finish(admitted);
    return {};
  });
  return stream.get();
}

grpc::ServerBidiReactor<v1::ShellMessage, v1::ShellMessage>* Shells::OfAgents::Join(
    grpc::CallbackServerContext* context) {
  auto stream = std::make_shared<ShellStream>(shells.site_.loop, *context, nullptr);
  stream->begin(
      [owner = &shells, ticket = ticket_of(*context),
       nodes = nodes_of(*context->auth_context())](const std::shared_ptr<ShellStream>& opened) {
        return owner->agent_came(opened, ticket, nodes);
      });
  return stream.get();
}

ShellPeer::Events Shells::person_came(const std::shared_ptr<ShellPeer>& person,
                                      const Caller& caller, const std::string& address) {
  auto session = std::make_shared<Session>();
  session->ticket = make_token_secret();
  session->person = person;
  session->caller = caller;
  session->address = address;
  Result<OpenStreams::Place> place = site_.streams.open(
      caller, OpenStreams::Kind::other, [this, weak = std::weak_ptr(session)](const Status& why) {
        if (const SessionPtr opened = weak.lock()) end(opened, why);
      });
  if (!place.is_ok()) {
    person->finish(place.status());
    return {};
  }
  session->place = std::move(place).value();
  session->timer = site_.loop.call_after(kJoinTimeout, [this, session] {
    session->timer = 0;
    end(session,
        deadline_exceeded("nothing was asked for within {}", format_duration(kJoinTimeout)));
  });
  person->read_next();
  return {.message = [this, session](
                         v1::ShellMessage message) { from_person(session, std::move(message)); },
          .ended =
              [this, session] {
                end(session, {Code::cancelled, "the person is gone"});
              },
          .done = [session] { session->person.reset(); }};
}

ShellPeer::Events Shells::agent_came(const std::shared_ptr<ShellStream>& stream,
                                     const std::string& ticket,
                                     const std::vector<std::string>& nodes) {
  const auto found = sessions_.find(ticket);
  if (found == sessions_.end() || found->second->agent || found->second->node.empty()) {
    stream->finish(not_found("nobody waits for a shell with this ticket"));
    return {};
  }
  const SessionPtr session = found->second;
  if (wants_certificates_) {
    if (const Status is_it = check_is_node(nodes, session->node); !is_it.is_ok()) {
      stream->finish(is_it);
      return {};
    }
  }
  expect_by_then(session, "start it");
  session->agent = stream;
  stream->read_next();
  session->person->read_next();
  return {.message = [this, session](
                         v1::ShellMessage message) { from_agent(session, std::move(message)); },
          .ended =
              [this, session] {
                end(session, unavailable("the connection to node {} is lost, and the shell with it",
                                         session->node));
              },
          .done = [session] { session->agent.reset(); }};
}

void Shells::from_person(const SessionPtr& session, v1::ShellMessage message) {
  if (session->has_ended) return;
  if (!session->is_opened) {
    session->is_opened = true;
    if (message.has_open()) return open(session, message.open());
    return end(session, invalid_argument("the first message must say what is to be opened"));
  }
  const bool is_known = message.body_case() == v1::ShellMessage::kInput ||
                        message.body_case() == v1::ShellMessage::kInputEnd ||
                        message.body_case() == v1::ShellMessage::kSize;
  if (!is_known) return session->person->read_next();  // of a newer client: not for us
  session->agent->send(std::move(message), [session] {
    if (session->person) session->person->read_next();
  });
}

void Shells::from_agent(const SessionPtr& session, v1::ShellMessage message) {
  if (session->has_ended) return;
  if (message.has_end()) return ended(session, message.end());
  if (message.has_started()) {
    site_.loop.cancel(std::exchange(session->timer, 0));
    note(*session, ok());
    message.mutable_started()->set_node(session->node);
    message.mutable_started()->set_job(session->request.key.job.value);
    message.mutable_started()->set_service(session->service);
  }
  const bool is_known = message.has_started() || message.body_case() == v1::ShellMessage::kOutput ||
                        message.body_case() == v1::ShellMessage::kErrorOutput;
  if (!is_known) return session->agent->read_next();
  session->person->send(std::move(message), [session] {
    if (session->agent) session->agent->read_next();
  });
}

void Shells::open(const SessionPtr& session, const v1::ShellOpen& open) {
  session->facts = {.user = "",
                    .target = audit_target("job", open.job()),
                    .detail = detail_of(open),
                    .outcomes = {}};
  if (sessions_.size() >= kMax) {
    return end(session, resource_exhausted("{} shells are open already, of all users", kMax));
  }
  sessions_[session->ticket] = session;
  Result<ShellProgram> program = from_proto(open.program());
  if (!program.is_ok()) return end(session, program.status());
  session->request = {.ticket = session->ticket,
                      .key = {.job = {}, .attempt = 0, .rank = open.rank()},
                      .program = std::move(program).value()};
  if (const auto node = node_of_images(open.job())) return open_images(session, *node);
  queries_.find_job(session->caller, open.job(), [this, session](Result<Queries::FoundJob> found) {
    if (session->has_ended) return;
    if (!found.is_ok()) return end(session, found.status());
    found_job(session, found.value());
  });
}

// The image is one digest, whichever node pulls it.
void Shells::open_images(const SessionPtr& session, const std::string& node) {
  std::vector<std::string>& words = session->request.program.argv;
  session->facts.target = audit_target("node", node);
  session->facts.detail = fmt::format("images {}", fmt::join(words, " ")).substr(0, 200);
  const std::optional<Actor> actor = site_.callers.actor_of(session->caller);
  if (!actor) return end(session, permission_denied("nobody is known by this token"));
  const bool all_see_all = !hides_jobs(queries_.visibility());
  if (const Status allowed = check_image_words(words, *actor, all_see_all); !allowed.is_ok())
    return end(session, allowed);
  session->is_noted = words.front() == "list";  // who only looks is not told of
  session->request.key = kImagesOfNode;
  const auto found = [this, session, user = actor->user](const Result<NodeView>& seen) {
    if (session->has_ended) return;
    if (!seen.is_ok()) return end(session, seen.status());
    session->node = seen.value().node.facts.name;
    const std::string image = image_to_pull(session->request.program.argv);
    if (image.empty() || images_ == nullptr) return ask_node(session);
    images_->pin(image, user, [this, session](const Result<std::string>& pinned) {
      if (session->has_ended) return;
      if (!pinned.is_ok()) return end(session, pinned.status());
      session->request.program.argv.back() = pinned.value();
      ask_node(session);
    });
  };
  queries_.get_node(session->caller, node, found);
}

void Shells::ask_node(const SessionPtr& session) {
  if (!agents_.send_shell_request(session->node, session->request)) {
    return end(session,
               unavailable("node {} is not connected; try again when it is back", session->node));
  }
  expect_by_then(session, "answer (an agent of a version without shells cannot)");
}

// The server itself, in the place of a person.
class Shells::Looker final : public ShellPeer {
 public:
  explicit Looker(std::function<void(const Status&)> done) : done_(std::move(done)) {}

  void read_next() override {}
  void send(v1::ShellMessage message, std::function<void()> written) override {
    if (text_.size() < kTextBytesMax) text_ += message.error_output();
    if (message.has_end()) is_refused_ = message.end().exit_code() == kLookRefused;
    written();
  }
  void finish(const Status&) override {
    const auto done = std::exchange(done_, nullptr);
    if (!done) return;
    const std::string why = printable(text_.substr(0, text_.find('\n')));
    done(is_refused_ && !why.empty() ? failed_precondition("{}", why) : ok());
  }

 private:
  static constexpr size_t kTextBytesMax = 8 << 10;
  std::function<void(const Status&)> done_;
  std::string text_;
  bool is_refused_ = false;
};

void Shells::look(const std::string& node, const std::vector<std::string>& words,
                  std::function<void(const Status&)> done) {
  if (looks_ >= kLooksMax || sessions_.size() >= kMax) return done(ok());
  ++looks_;
  auto session = std::make_shared<Session>();
  session->ticket = make_token_secret();
  session->person = std::make_shared<Looker>([this, done = std::move(done)](const Status& seen) {
    --looks_;
    done(seen);
  });
  session->node = node;
  session->request = {.ticket = session->ticket, .key = kImagesOfNode, .program = {.argv = words}};
  session->is_opened = true;
  session->is_noted = true;  // whoever submits is told of
  sessions_[session->ticket] = session;
  site_.loop.call_after(kLookTimeout, [this, session] {
    end(session, deadline_exceeded("node {} did not answer", session->node));
  });
  ask_node(session);
}

// A service's rank and port take the place of its name.
Status Shells::find_port(Session& session, const Job& job) {
  ShellRequest& request = session.request;
  const std::string name = std::exchange(request.program.service, "");
  if (name.empty()) return ok();
  const Result<JobService> service = find_service(job.spec->program.services, name);
  if (!service.is_ok()) return not_found("job {}: {}", job.id.value, service.status().message());
  session.service = to_string(service.value());
  request.key.rank = service.value().rank;
  request.program.port = service.value().port;
  // Who opens it in a browser believes what it shows.
  request.program.is_own = true;
  return ok();
}

// Whoever runs a program in a rank has its user's files and the job's secrets: nobody else may, and
// no token that may not submit.
Status Shells::check_may_enter(const Session& session, const Job& job) const {
  const std::optional<Actor> actor = site_.callers.actor_of(session.caller);
  if (!actor || actor->user != job.user) {
    return permission_denied("job {} belongs to {}: only he gets into it", job.id.value, job.user);
  }
  if (actor->scope < TokenScope::submit) {
    return permission_denied("a token of scope {} opens no shell; it takes {}",
                             to_string(actor->scope), to_string(TokenScope::submit));
  }
  // A browser waits for what will pass: these will not.
  const bool is_service = !session.service.empty();
  if (job.is_array()) {
    const std::string why = fmt::format("job {} is an array, whose tasks run: name one, as {}",
                                        job.id.value, first_task_of(job));
    return {is_service ? Code::not_found : Code::failed_precondition, why};
  }
  if (is_service && is_terminal(job.state))
    return not_found("job {} has ended: it is {}", job.id.value, to_string(job.state));
  if (!job.has_live_attempt()) {
    return failed_precondition("job {} is {}: only into one that runs there is a way", job.id.value,
                               to_string(job.state));
  }
  const auto ranks = static_cast<int64_t>(job.attempt->ranks.size());
  if (session.request.key.rank < 0 || session.request.key.rank >= ranks) {
    return not_found("job {} has ranks 0 to {}, not {}", job.id.value, ranks - 1,
                     session.request.key.rank);
  }
  return ok();
}

void Shells::found_job(const SessionPtr& session, const Queries::FoundJob& found) {
  const Job& job = found.job;
  session->facts.target = audit_target("job", std::to_string(job.id.value));
  if (const Status status = find_port(*session, job); !status.is_ok()) {
    // What services a job has is told only to whom it lets in.
    const Status allowed = check_may_enter(*session, job);
    return end(session, allowed.is_ok() ? status : allowed);
  }
  if (const Status status = check_may_enter(*session, job); !status.is_ok()) {
    return end(session, status);
  }
  RankKey& key = session->request.key;
  key.job = job.id;
  key.attempt = job.attempt->number;
  session->node = node_of(queries_, found.view.nodes, *job.attempt, key.rank);
  ask_node(session);
}

void Shells::expect_by_then(const SessionPtr& session, const char* what) {
  site_.loop.cancel(session->timer);
  session->timer = site_.loop.call_after(kJoinTimeout, [this, session, what] {
    session->timer = 0;
    end(session, deadline_exceeded("node {} did not {} within {}", session->node, what,
                                   format_duration(kJoinTimeout)));
  });
}

void Shells::ended(const SessionPtr& session, const v1::ShellEnd& shell_end) {
  if (!shell_end.error().empty()) {
    return end(session, failed_precondition("{}", shell_end.error()));
  }
  v1::ShellMessage last;
  *last.mutable_end() = shell_end;
  session->person->send(std::move(last), [] {});
  end(session, ok());
}

// The person hears why; a stream that is gone already hears nothing.
void Shells::end(const SessionPtr& session, const Status& why) {
  if (std::exchange(session->has_ended, true)) return;
  note(*session, why);
  site_.loop.cancel(std::exchange(session->timer, 0));
  session->place.reset();
  sessions_.erase(session->ticket);
  if (session->person) session->person->finish(why);
  if (session->agent) session->agent->finish(why);
}

// Once: when the program runs, or with why it does not. Browsers open services again and again: of
// each person and service that is told now and then, and that it is not there yet is not told at
// all.
void Shells::note(Session& session, const Status& status) {
  if (!session.is_opened || std::exchange(session.is_noted, true)) return;
  if (!session.service.empty()) {
    if (status.code() == Code::failed_precondition || status.code() == Code::unavailable) return;
    const MonoTime now = site_.loop.now();
    std::erase_if(services_told_, [now](const auto& told) { return told.second <= now; });
    const auto who =
        std::tuple(session.caller.token_hash, session.facts.target, session.service, status.code());
    if (!services_told_.emplace(who, now + kServiceTold).second) return;
  }
  site_.audit.note({.caller = session.caller,
                    .address = session.address,
                    .name = kShellCall,
                    .facts = session.facts},
                   status);
}

void Shells::close_all(const Status& reason) {
  const std::map<std::string, SessionPtr> all = sessions_;
  for (const auto& [ticket, session] : all) end(session, reason);
}

}  // namespace hai
