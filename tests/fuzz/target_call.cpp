// Every call of the Api, and a person's way into a rank (Shells.Open): any message of its type,
// from an administrator, a user or somebody unknown, through the operation and back as a reply; and
// the same message as JSON and back. The first byte says which call, the second who calls.

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <nlohmann/json.hpp>

#include "proto/json/call_options.h"
#include "proto/json/json_reader.h"
#include "proto/json/json_writer.h"
#include "server/api/event_tail.h"
#include "server/api/job_tail.h"
#include "server/api/messages.h"
#include "server/api/open_streams.h"
#include "server/api/operations.h"
#include "server/auth/token.h"
#include "server/http/routes.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/message_mutator.h"
#include "tests/fuzz/portless_server.h"

namespace hai::fuzz {
namespace {

using google::protobuf::Message;

constexpr size_t kReasonMax = 20'000;  // of a spec with many mistakes
constexpr Duration kLongest = 8s;
constexpr Duration kQuiet = 20ms;  // then a stream has no more for now
constexpr int kAnswersMax = 3;     // that are asked of a stream

struct Call {
  std::string name;
  std::function<std::unique_ptr<Message>()> make;
  // The reply; null: it was refused.
  std::function<std::unique_ptr<Message>(PortlessServer&, const Caller&, const Message&)> run;
};

void judge_json(const Message& reply) {
  if (!nlohmann::json::accept(to_json_text(reply))) broken("a reply that is no JSON");
}

template <typename Request, typename Reply>
std::unique_ptr<Message> run_call(PortlessServer& server,
                                  Prepared<Reply> (Operations::*operation)(const Request&),
                                  const Caller& caller, const Message& message) {
  Prepared<Reply> prepared =
      (server.serving().operations().*operation)(static_cast<const Request&>(message));
  if (!prepared.is_ok()) return judge_reason(prepared.status().message(), kReasonMax), nullptr;
  // Outlives this call if the answer is late.
  auto outcome = std::make_shared<std::optional<Result<Fill<Reply>>>>();
  std::move(prepared).value()(caller,
                              [outcome](Result<Fill<Reply>> fill) { *outcome = std::move(fill); });
  if (!server.run_until([&] { return outcome->has_value(); }, kLongest)) {
    broken(Request::descriptor()->name() + " is not answered");
  }
  const Result<Fill<Reply>>& fill = **outcome;
  if (!fill.is_ok()) return judge_reason(fill.status().message(), kReasonMax), nullptr;
  auto reply = std::make_unique<Reply>();
  fill.value()(*reply);
  judge_json(*reply);
  return reply;
}

template <typename Request, typename Reply>
Call call_of(const char* name, Prepared<Reply> (Operations::*operation)(const Request&)) {
  return {name, [] { return std::make_unique<Request>(); },
          [operation](PortlessServer& server, const Caller& caller, const Message& message) {
            return run_call<Request, Reply>(server, operation, caller, message);
          }};
}

// The last of the first few things that a stream says; null: none for now, or it was refused.
template <typename T>
std::unique_ptr<Message> run_stream(
    PortlessServer& server, const Caller& caller, Source<T> tail,
    const std::function<std::unique_ptr<Message>(const T&)>& message_of) {
  const Source<T> source =
      GuardedSource<T>::make(server.serving().routes().parts().streams, caller,
                             OpenStreams::Kind::other, std::move(tail), Sight{});
  std::unique_ptr<Message> last;
  for (int i = 0; i < kAnswersMax; ++i) {
    auto outcome = std::make_shared<std::optional<Result<std::optional<T>>>>();
    source([outcome](Result<std::optional<T>> answer) { *outcome = std::move(answer); });
    if (!server.run_until([&] { return outcome->has_value(); }, kQuiet)) break;
    const Result<std::optional<T>>& answer = **outcome;
    if (!answer.is_ok()) {
      judge_reason(shortened(answer.status()).message(), kReasonMax);
      break;
    }
    if (!answer.value()) break;
    last = message_of(*answer.value());
  }
  return last;
}

std::unique_ptr<Message> read_log(PortlessServer& server, const Caller& caller,
                                  const v1::ReadLogRequest& request) {
  const HttpParts& parts = server.serving().routes().parts();
  const Result<LogTailRequest> tail = log_tail_of(request);
  if (!tail.is_ok()) return judge_reason(tail.status().message(), kReasonMax), nullptr;
  return run_stream<LogPiece>(server, caller,
                              tail_log(parts.loop, parts.queries, parts.logs, caller, tail.value()),
                              [](const LogPiece& piece) {
                                auto reply = std::make_unique<v1::ReadLogReply>();
                                to_proto(piece, *reply);
                                return reply;
                              });
}

std::unique_ptr<Message> watch_job(PortlessServer& server, const Caller& caller,
                                   const v1::WatchJobRequest& request) {
  const HttpParts& parts = server.serving().routes().parts();
  return run_stream<JobView>(server, caller, tail_job(parts.queries, caller, request.job()),
                             [](const JobView& view) {
                               auto reply = std::make_unique<v1::Job>();
                               to_proto(view, WithSpec::yes, *reply);
                               judge_json(*reply);
                               return reply;
                             });
}

std::unique_ptr<Message> watch_events(PortlessServer& server, const Caller& caller,
                                      const v1::WatchEventsRequest& request) {
  const HttpParts& parts = server.serving().routes().parts();
  EventTailRequest tail{.job = request.job(),
                        .node = request.node(),
                        .kinds = {request.kinds().begin(), request.kinds().end()},
                        .after_seq = request.after_seq()};
  return run_stream<std::vector<EventView>>(
      server, caller, tail_events(parts.loop, parts.queries, caller, std::move(tail)),
      [](const std::vector<EventView>& events) {
        auto last = std::make_unique<v1::Event>();
        for (const EventView& event : events) {
          last->Clear();
          to_proto(event, *last);
          judge_json(*last);
        }
        return last;
      });
}

// A person's end of a way into a rank.
struct Person final : ShellPeer {
  void read_next() override { is_asked = true; }
  void send(v1::ShellMessage, std::function<void()> written) override { written(); }
  void finish(const Status& status) override {
    if (!end) end = status;
  }
  bool is_asked = false;
  std::optional<Status> end;
};

// Says the message as often as it is asked to, and goes. The node is away: who may enter hears
// that, and others why they may not.
std::unique_ptr<Message> open_shell(PortlessServer& server, const Caller& caller,
                                    const v1::ShellMessage& message) {
  auto person = std::make_shared<Person>();
  const ShellPeer::Events events =
      server.serving().routes().parts().open_shell(person, caller, "127.0.0.1");
  const auto is_to_go_on = [&] { return person->end || person->is_asked; };
  for (int i = 0; i < kAnswersMax && server.run_until(is_to_go_on, kQuiet); ++i) {
    if (person->end) break;
    person->is_asked = false;
    events.message(message);
  }
  if (!person->end && events.ended) events.ended();
  if (!person->end) broken("a shell does not end with its person");
  if (events.done) events.done();
  if (person->end->is_ok()) broken("a shell of a node that is away");
  judge_reason(shortened(*person->end).message(), kReasonMax);
  const bool is_let_in = person->end->code() == Code::unavailable;
  return is_let_in ? std::make_unique<v1::ShellMessage>() : nullptr;
}

template <typename Request>
Call stream_of(const char* name,
               std::unique_ptr<Message> (*run)(PortlessServer&, const Caller&, const Request&)) {
  return {name, [] { return std::make_unique<Request>(); },
          [run](PortlessServer& server, const Caller& caller, const Message& message) {
            return run(server, caller, static_cast<const Request&>(message));
          }};
}

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
#define HAI_CALL(name, Request, Reply) call_of<v1::Request, v1::Reply>(#name, &Operations::name),
      HAI_OPERATIONS(HAI_CALL)
#undef HAI_CALL
          stream_of("ReadLog", read_log),
      stream_of("WatchJob", watch_job),
      stream_of("WatchEvents", watch_events),
      stream_of("Open", open_shell),
  };
  return all;
}

bool is_of_api(const Message& message) {
  return message.GetDescriptor()->file() == v1::GetJobRequest::descriptor()->file();
}

bool is_for_anyone(const Call& call) {
  if (!is_of_api(*call.make())) return false;
  const auto& options = call_named(call.name).options();
  return options.ExtensionSize(v1::route) > 0 &&
         options.GetExtension(v1::route, 0).role() == "anyone";
}

// A call for several things at once is answered with a result for each: both ports refuse who is
// not known before that (server/rpc/call_guard.h), and here each of the results must be a refusal.
bool refuses_each(const Message& reply) {
  const auto* results = reply.GetDescriptor()->FindFieldByName("results");
  if (results == nullptr) return false;
  const auto* code = results->message_type()->FindFieldByName("code");
  const auto& reflection = *reply.GetReflection();
  for (int i = 0; i < reflection.FieldSize(reply, results); ++i) {
    const Message& result = reflection.GetRepeatedMessage(reply, results, i);
    if (result.GetReflection()->GetEnumValue(result, code) == v1::CODE_OK) return false;
  }
  return true;
}

// As JSON it is what REST would take, if anything: then it comes back the same.
void try_json(const Message& message) {
  const std::string text = to_json_text(message);
  if (!nlohmann::json::accept(text)) broken("no JSON: " + text);
  const std::unique_ptr<Message> read(message.New());
  const Status status = read_json(text, {}, *read);
  if (!status.is_ok()) return judge_reason(status.message(), kReasonMax);
  const std::string own = to_json_text(*read);
  const std::unique_ptr<Message> again(message.New());
  if (!read_json(own, {}, *again).is_ok()) return;
  if (to_json_text(*again) != own) broken("comes back changed as JSON: " + own);
}

Caller caller_of(size_t who) {
  if (who == 0) return {.token_hash = hash_token(PortlessServer::kAdminToken)};
  if (who == 1) return {.token_hash = hash_token(PortlessServer::kUserToken)};
  return {.token_hash = std::string(64, '0')};
}

void run(std::string_view input) {
  google::protobuf::SetLogHandler(nullptr);  // it complains of each text that is none
  const Call& call = calls()[take_choice(input, calls().size())];
  const size_t who = take_choice(input, 3);
  const std::unique_ptr<Message> message = call.make();
  if (!message->ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  if (is_of_api(*message)) try_json(*message);
  PortlessServer& server = PortlessServer::shared();
  const std::unique_ptr<Message> reply = call.run(server, caller_of(who), *message);
  if (reply && who == 2 && !is_for_anyone(call) && !refuses_each(*reply)) {
    broken(call.name + " for somebody unknown");
  }
  static int64_t runs = 0;
  if (++runs % 64 == 0) server.judge();
}

std::string mutated(std::string_view input, Rng& rng) {
  std::string head(input.substr(0, 2));
  head.resize(2);
  const std::string_view rest = input.substr(std::min<size_t>(2, input.size()));
  if (rng.chance(0.05)) head[0] = static_cast<char>(rng.below(calls().size()));
  if (rng.chance(0.05)) head[1] = static_cast<char>(rng.below(3));
  const std::unique_ptr<Message> message =
      calls()[static_cast<uint8_t>(head[0]) % calls().size()].make();
  message->ParsePartialFromArray(rest.data(), static_cast<int>(rest.size()));
  mutate_message(rng, *message);
  return head + message->SerializePartialAsString();
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hai::fuzz::run(hai::fuzz::text_of(data, size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed) {
  return hai::fuzz::run_mutator(data, size, size_max, seed, hai::fuzz::mutated);
}
