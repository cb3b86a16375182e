// What an agent says over its stream, message by message, to a leading controller with honest
// agents beside it; and what an agent makes of orders. Whatever it says: the state stays whole, the
// server leads or leads again, and the jobs of others run on.
//
// An input is a row of messages, each after its length (two bytes).

#include "common/log.h"
#include "proto/convert/agent_convert.h"
#include "server/model/invariants.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/message_mutator.h"
#include "tests/support/gateway_world.h"

namespace hai::fuzz {
namespace {

using test::AgentEnd;
using test::GatewayWorld;
using test::HonestAgent;

constexpr size_t kMessagesMax = 8;

std::vector<std::string> messages_of(std::string_view input) {
  std::vector<std::string> messages;
  while (input.size() >= 2 && messages.size() < kMessagesMax) {
    const size_t said = static_cast<uint8_t>(input[0]) * 256u + static_cast<uint8_t>(input[1]);
    input.remove_prefix(2);
    const size_t size = std::min(said, input.size());
    messages.emplace_back(input.substr(0, size));
    input.remove_prefix(size);
  }
  return messages;
}

std::string row_of(const std::vector<std::string>& messages) {
  std::string row;
  for (const std::string& message : messages) {
    row += static_cast<char>(message.size() / 256);
    row += static_cast<char>(message.size() % 256);
    row += message;
  }
  return row;
}

// Orders as an agent reads them.
void try_order(const std::string& bytes) {
  v1::AgentOrder message;
  PlacesCodec codec;
  if (!message.ParseFromString(bytes)) return;
  const Result<AgentOrder> order = from_proto(message, codec);
  if (!order.is_ok()) return judge_reason(order.status().message());
  v1::AgentOrder own;
  to_proto(order.value(), kProtocols.newest, codec, own);
  const Result<AgentOrder> again = from_proto(own, codec);
  if (!again.is_ok() || !(again.value() == order.value())) broken("an order comes back changed");
}

void judge(GatewayWorld& world, int64_t epoch) {
  for (int i = 0; i < 5 && !world.controller().is_leading(); ++i) world.run(2s);
  if (!world.controller().is_leading()) broken("nobody leads any more");
  const std::vector<std::string> violated = violated_invariants(world.state());
  if (!violated.empty()) broken(violated.front());
  const Job* others = world.state().find(JobId{1});
  if (others == nullptr || others->state != JobState::running || others->attempt->number != 1) {
    broken("the job of others runs no more");
  }
  if (world.state().epoch().value > epoch + 2'000'001) broken("the epoch was driven up");
}

void run(std::string_view input) {
  set_log_level(LogLevel::error);
  const std::vector<std::string> messages = messages_of(input);
  GatewayWorld world;
  world.honest.push_back(std::make_unique<HonestAgent>(world, "node-1"));
  world.run(3s);
  if (!world.submit(test::GatewayWorld::spec_of("others")).is_ok()) broken("no job");
  world.run(5s);
  const int64_t epoch = world.state().epoch().value;
  std::shared_ptr<AgentEnd> liar = world.dial("node-2");
  world.say(liar, GatewayWorld::hello_of("node-2"));
  for (const std::string& bytes : messages) {
    try_order(bytes);
    v1::AgentMessage message;
    if (!message.ParseFromString(bytes)) continue;
    if (liar->is_over) {
      judge_reason(liar->reason.message());
      liar = world.dial("node-2");
      world.say(liar, GatewayWorld::hello_of("node-2"));
    }
    world.say(liar, message);
    world.run(500ms);
  }
  world.run(5s);
  judge(world, epoch);
}

std::string mutated(std::string_view input, Rng& rng) {
  std::vector<std::string> messages = messages_of(input);
  if (messages.empty() || (messages.size() < kMessagesMax && rng.chance(0.1))) {
    auto first = GatewayWorld::report_of("node-2", static_cast<int64_t>(messages.size()) + 1);
    GatewayWorld::add_facts("node-2", *first.mutable_report());
    messages.push_back(first.SerializeAsString());
  }
  const size_t which = rng.below(messages.size());
  if (rng.chance(0.1)) messages.push_back(messages[which]);
  if (rng.chance(0.05)) messages.erase(messages.begin() + static_cast<ptrdiff_t>(which));
  if (messages.empty()) return "";
  std::string& bytes = messages[which % messages.size()];
  const auto mutate_as = [&](google::protobuf::Message&& message) {
    message.ParsePartialFromString(bytes);
    mutate_message(rng, message);
    bytes = message.SerializePartialAsString();
  };
  rng.chance(0.15) ? mutate_as(v1::AgentOrder()) : mutate_as(v1::AgentMessage());
  bytes.resize(std::min<size_t>(bytes.size(), 0xffff));
  if (messages.size() > kMessagesMax) messages.resize(kMessagesMax);
  return row_of(messages);
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
