// Whatever the plain types can say survives the way through protobuf; whatever else comes over the
// network is refused with a reason and never crashes.

#include "proto/convert/agent_convert.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "common/hostlist.h"
#include "common/rng.h"
#include "hai/v1/agent.pb.h"

namespace hai {
namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : rng(seed) {}

  std::string bytes(size_t size_max) {  // any bytes, not only UTF-8
    std::string text(rng.below(size_max + 1), '\0');
    for (char& c : text) c = static_cast<char>(rng.below(256));
    return text;
  }
  std::string name(bool may_be_empty = false) {
    static constexpr std::string_view kChars = "abcXYZ019._-:";
    std::string text(static_cast<size_t>(rng.between(may_be_empty ? 0 : 1, 20)), 'a');
    for (char& c : text) c = kChars[rng.below(kChars.size())];
    return text;
  }
  template <typename T>
  T any_of(std::initializer_list<T> values) {
    return values.begin()[rng.below(values.size())];
  }
  RankKey key() {
    return {JobId{rng.between(1, std::numeric_limits<int64_t>::max())},
            static_cast<int>(rng.between(1, std::numeric_limits<int>::max())),
            static_cast<int>(rng.between(0, AgentLimits::kRanksOfAttempt - 1))};
  }
  UnixTime time() { return unix_micros(rng.between(0, 4'000'000'000'000'000)); }
  Duration duration() { return Duration(rng.between(0, Duration(24h * 365).count())); }
  int integer() {
    return static_cast<int>(
        rng.between(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  }

  NodeFacts facts(const std::string& node) {
    return {.name = node,
            .group = name(),
            .zone = name(true),
            .leaf = name(true),
            .address = name(true),
            .gpus = static_cast<int>(rng.between(0, 64)),
            .cpus = static_cast<int>(rng.between(0, AgentLimits::kCpus)),
            .memory_bytes = rng.between(0, AgentLimits::kMemoryBytes),
            .numa_nodes = static_cast<int>(rng.between(0, 16)),
            .gpu_model = bytes(40),
            .agent_version = bytes(20),
            .boot_id = bytes(40),
            .instance = bytes(40),
            .machine = bytes(40)};
  }
  RankStatus rank() {
    RankStatus status{.key = key(),
                      .phase = any_of({RankPhase::starting, RankPhase::running, RankPhase::exited}),
                      .suspend_notified = rng.chance(0.5),
                      .uses_sdk = rng.chance(0.5),
                      .cause = any_of({ExitCause::none, ExitCause::program, ExitCause::go_suspend,
                                       ExitCause::grace_over, ExitCause::killed, ExitCause::fenced,
                                       ExitCause::launch_failed, ExitCause::lost, ExitCause::left}),
                      .exit_code = integer(),
                      .message = bytes(100),
                      .started_at = time(),
                      .ended_at = time(),
                      .proof = bytes(AgentLimits::kProofBytes)};
    if (rng.chance(0.5)) {
      status.checkpoint =
          CheckpointInfo{static_cast<int64_t>(rng.next()), bytes(50), rng.unit() * 1000, time()};
    }
    if (rng.chance(0.5)) {
      status.usage = RankUsage{Duration(rng.between(0, Duration(24h * 365).count())),
                               rng.between(0, AgentLimits::kMemoryBytes)};
    }
    if (rng.chance(0.5)) status.progress_step = static_cast<int64_t>(rng.next());
    for (uint64_t i = rng.below(kRankMetricsMax + 1); i > 0; --i) {
      status.metrics["loss/" + std::to_string(i)] = static_cast<double>(rng.between(-1'000, 1'000));
    }
    if (rng.chance(0.5)) status.whole_life_state = bytes(50);
    return status;
  }
  CheckResult check() {
    CheckResult check{.name = name(),
                      .subject = bytes(20),
                      .verdict = any_of({CheckVerdict::ok, CheckVerdict::warn, CheckVerdict::fail,
                                         CheckVerdict::unknown}),
                      .tier = any_of({HealthTier::log, HealthTier::app, HealthTier::validate,
                                      HealthTier::drain, HealthTier::evict}),
                      .summary = bytes(60),
                      .evidence = bytes(60),
                      .gpus = {rng.next()},
                      .at = time()};
    if (rng.chance(0.8)) {
      check.said_kind = CheckKind{rng.chance(0.5), rng.chance(0.5), rng.chance(0.5),
                                  rng.chance(0.5), rng.chance(0.5)};
    }
    return check;
  }
  // Sorted, each once, as they are sent.
  std::vector<CheckResult> checks() {
    std::map<std::pair<std::string, std::string>, CheckResult> drawn;
    for (uint64_t i = rng.below(5); i > 0; --i) {
      CheckResult made = check();
      drawn.emplace(std::pair(made.name, made.subject), made);
    }
    std::vector<CheckResult> checks;
    for (auto& [key, made] : drawn) checks.push_back(std::move(made));
    return checks;
  }
  AgentReport report() {
    AgentReport report{.node = name(),
                       .sequence = rng.between(0, std::numeric_limits<int64_t>::max())};
    report.seen = {Epoch{rng.between(0, 1'000)}, rng.between(0, 1'000'000)};
    report.seen_proof = bytes(AgentLimits::kProofBytes);
    if (rng.chance(0.5)) report.facts = facts(report.node);
    if (rng.chance(0.5)) report.checks = checks();
    if (rng.chance(0.5)) {
      report.is_news_only = rng.chance(0.5);
      std::vector<GpuReading>& gpus = report.gpu_readings.emplace();
      for (uint64_t i = rng.below(9); i > 0; --i) {
        GpuReading& gpu = gpus.emplace_back();
        if (rng.chance(0.8)) gpu.utilization_percent = static_cast<int>(rng.below(101));
        if (rng.chance(0.8)) gpu.temperature_celsius = static_cast<int>(rng.below(120));
        if (rng.chance(0.8)) gpu.memory_percent = static_cast<int>(rng.below(101));
        if (rng.chance(0.8)) gpu.power_watts = static_cast<int>(rng.below(kGpuWattsMax + 1));
      }
    }
    for (uint64_t i = rng.below(5); i > 0; --i) report.ranks.push_back(rank());
    std::sort(report.ranks.begin(), report.ranks.end(),
              [](const RankStatus& a, const RankStatus& b) { return a.key < b.key; });
    return report;
  }
  LaunchRank launch() {
    LaunchRank launch{.key = key(),
                      .job_name = bytes(20),
                      .user = bytes(20),
                      .workspace = bytes(60),
                      .entrypoint = bytes(60),
                      .parameters = bytes(200),
                      .launch = any_of({LaunchMode::per_node, LaunchMode::per_gpu}),
                      .env_style = any_of({EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm}),
                      .gpus = {rng.next()},
                      .exclusive = rng.chance(0.5),
                      .cpus = static_cast<int>(rng.between(0, 256)),
                      .memory_bytes = rng.between(0, AgentLimits::kMemoryBytes),
                      .master_port = static_cast<int>(rng.between(0, 65'535)),
                      .suspend_signal = bytes(10),
                      .suspend_exit_code = static_cast<int>(rng.between(0, 255)),
                      .watchdog = duration(),
                      .checkpoint = bytes(60),
                      .whole_life_state = bytes(60),
                      .program = {.core_size = rng.between(-1, int64_t{1} << 50),
                                  .mounts = {"/" + name()},
                                  .services = {name() + ":1"}},
                      .image = name(true),
                      .proof = bytes(AgentLimits::kProofBytes)};
    launch.key.rank = static_cast<int>(rng.below(8));
    std::vector<RankPlace> places(static_cast<size_t>(launch.key.rank) + 1 + rng.below(8));
    for (RankPlace& place : places) {
      place = {name(), name(true), name(true), name(true)};
    }
    if (rng.chance(0.5)) {  // else mostly such that no host list has them
      for (RankPlace& place : places) std::ranges::replace(place.node, ':', '-');
    }
    launch.ranks = std::move(places);
    for (uint64_t i = rng.below(5); i > 0; --i) launch.environments[bytes(10)] = bytes(30);
    return launch;
  }
  AgentOrder order() {
    AgentOrder order{.epoch = Epoch{rng.between(0, std::numeric_limits<int64_t>::max())}};
    order.proof = bytes(AgentLimits::kProofBytes);
    switch (rng.below(7)) {
      case 0:
        order.body = launch();
        break;
      case 1:
        order.body = SuspendRank{key(), duration(), rng.chance(0.5)};
        break;
      case 2:
        order.body = ContinueRank{key()};
        break;
      case 3:
        order.body = KillRank{key()};
        break;
      case 4:
        order.body = ForgetRank{key()};
        break;
      case 5:
        order.body = GrantLease{rng.between(0, 1'000'000), duration(), duration()};
        break;
      default:
        order.body = RefuseAgent{bytes(100)};
        break;
    }
    return order;
  }

  Rng rng;
};

// Through the wire format, not only through the message object: bad UTF-8 shows only there.
template <typename Message>
Message through_the_wire(const Message& message) {
  Message read;
  EXPECT_TRUE(read.ParseFromString(message.SerializeAsString()));
  return read;
}

// What an order says once a node of a protocol with gangs has read it.
AgentOrder as_told_in_short(AgentOrder order) {
  auto* launch = std::get_if<LaunchRank>(&order.body);
  const auto is_listed = [](const RankPlace& place) { return is_node_name(place.node); };
  if (launch == nullptr || !std::ranges::all_of(launch->ranks, is_listed)) return order;
  launch->here = launch->ranks[static_cast<size_t>(launch->key.rank)];
  std::vector<RankPlace> told;
  for (const RankPlace& place : launch->ranks)
    told.push_back({.node = place.node, .gpus = place.gpus});
  told.front().address = launch->ranks[0].address;
  launch->ranks = std::move(told);
  return order;
}

TEST(AgentConvert, ReportsRoundTrip) {
  Draw draw(1);
  for (int i = 0; i < 2'000; ++i) {
    const AgentReport report = draw.report();
    v1::AgentReport message;
    to_proto(report, message);
    Result<AgentReport> back = from_proto(through_the_wire(message));
    ASSERT_TRUE(back.is_ok()) << back.status().message();
    ASSERT_EQ(back.value(), report);
  }
}

TEST(AgentConvert, OrdersRoundTrip) {
  Draw draw(2);
  PlacesCodec server;
  PlacesCodec agent;
  for (int i = 0; i < 2'000; ++i) {
    const AgentOrder order = draw.order();
    v1::AgentOrder message;
    to_proto(order, 1, server, message);
    Result<AgentOrder> back = from_proto(through_the_wire(message), agent);
    ASSERT_TRUE(back.is_ok()) << back.status().message();
    ASSERT_EQ(back.value(), order);

    message.Clear();
    to_proto(order, kProtocolOfGangs, server, message);
    back = from_proto(through_the_wire(message), agent);
    ASSERT_TRUE(back.is_ok()) << back.status().message();
    ASSERT_EQ(back.value(), as_told_in_short(order));
  }
}

TEST(AgentConvert, HelloAndLogMessagesRoundTrip) {
  Draw draw(3);
  for (int i = 0; i < 500; ++i) {
    const int oldest = static_cast<int>(1 + i % 5);
    const AgentHello hello{{oldest, oldest + i % 3},
                           draw.bytes(40),
                           draw.name(),
                           {draw.bytes(40), draw.bytes(40), draw.bytes(40), ""}};
    v1::Hello hello_message;
    to_proto(hello, hello_message);
    ASSERT_EQ(from_proto(through_the_wire(hello_message)).value(), hello);

    const LogRequest request{draw.key(), draw.rng.between(0, 1 << 30),
                             draw.rng.between(1, kMaxLogChunkBytes), draw.rng.between(0, 1 << 30),
                             Duration(draw.rng.between(0, kMaxLogWait.count()))};
    v1::ReadLog request_message;
    to_proto(i, request, request_message);
    ASSERT_EQ(from_proto(through_the_wire(request_message)).value(), request);
    ASSERT_EQ(request_message.request_id(), i);

    const int64_t offset = draw.rng.between(0, 1 << 30);
    const LogChunk chunk{draw.bytes(300), offset, offset + draw.rng.between(0, 300),
                         draw.rng.chance(0.5), draw.bytes(20)};
    v1::LogChunk chunk_message;
    to_proto(i, chunk, chunk_message);
    ASSERT_EQ(from_proto(through_the_wire(chunk_message)).value(), chunk);
  }
}

TEST(AgentConvert, RandomBytesNeverCrash) {
  Draw draw(4);
  int parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    PlacesCodec codec;
    v1::AgentMessage agent;
    v1::ServerMessage server;
    std::string bytes;
    if (draw.rng.chance(0.5)) {
      to_proto(draw.report(), *agent.mutable_report());
      to_proto(draw.order(), draw.any_of({1, 2}), codec, *server.mutable_order());
      bytes = draw.rng.chance(0.5) ? agent.SerializeAsString() : server.SerializeAsString();
      for (uint64_t n = draw.rng.below(4); n > 0 && !bytes.empty(); --n) {
        bytes[draw.rng.below(bytes.size())] = static_cast<char>(draw.rng.below(256));
      }
    } else {
      bytes = draw.bytes(64);
    }
    if (agent.ParseFromString(bytes)) {
      ++parsed;
      (void)from_proto(agent.report());
      (void)from_proto(agent.hello());
      (void)from_proto(agent.log_chunk());
    }
    if (server.ParseFromString(bytes)) {
      (void)from_proto(server.order(), codec);
      (void)from_proto(server.read_log());
    }
  }
  EXPECT_GT(parsed, 1'000);
}

v1::AgentReport report_of_one_rank() {
  AgentReport report{.node = "n1", .sequence = 1};
  report.ranks = {{.key = {JobId{1}, 1, 0}}};
  v1::AgentReport message;
  to_proto(report, message);
  return message;
}

void expect_refused(const v1::AgentReport& message, const std::string& text) {
  Result<AgentReport> report = from_proto(message);
  ASSERT_FALSE(report.is_ok()) << text;
  EXPECT_EQ(report.status().code(), Code::invalid_argument);
  EXPECT_NE(report.status().message().find(text), std::string::npos) << report.status().message();
}

TEST(AgentConvert, BadReportsAreRefusedWithTheField) {
  v1::AgentReport message = report_of_one_rank();
  ASSERT_TRUE(from_proto(message).is_ok());

  message.mutable_ranks(0)->set_phase(static_cast<v1::RankPhase>(99));
  expect_refused(message, "phase has the unknown value 99");
  message = report_of_one_rank();
  message.mutable_ranks(0)->clear_cause();
  expect_refused(message, "cause has the unknown value 0");
  message = report_of_one_rank();
  message.mutable_ranks(0)->mutable_key()->set_job(0);
  expect_refused(message, "job id is 0");
  message = report_of_one_rank();
  message.mutable_ranks(0)->mutable_key()->set_rank(-1);
  expect_refused(message, "rank is -1");
  message = report_of_one_rank();
  message.mutable_ranks(0)->set_ended_at_us(std::numeric_limits<int64_t>::max());
  expect_refused(message, "ended_at_us");
  message = report_of_one_rank();
  message.set_sequence(-1);
  expect_refused(message, "sequence is -1");
  message = report_of_one_rank();
  message.mutable_gpu_readings()->add_gpus()->set_utilization_percent(101);
  expect_refused(message, "utilization_percent");
  message = report_of_one_rank();
  message.mutable_gpu_readings()->add_gpus()->set_memory_percent(101);
  expect_refused(message, "memory_percent");
  message = report_of_one_rank();
  message.mutable_gpu_readings()->add_gpus()->set_power_watts(kGpuWattsMax + 1);
  expect_refused(message, "power_watts");
  message = report_of_one_rank();
  (*message.mutable_ranks(0)->mutable_metrics())["two words"] = 1;
  expect_refused(message, "a name is not one");
  message = report_of_one_rank();
  (*message.mutable_ranks(0)->mutable_metrics())["loss"] = std::numeric_limits<double>::infinity();
  expect_refused(message, "loss is no number");
  message = report_of_one_rank();
  for (size_t i = 0; i <= kRankMetricsMax; ++i) {
    (*message.mutable_ranks(0)->mutable_metrics())[std::to_string(i)] = 1;
  }
  expect_refused(message, "metrics");
  message = report_of_one_rank();
  message.set_node("two words");
  expect_refused(message, "node name has the byte 0x20");
  message = report_of_one_rank();
  *message.add_ranks() = message.ranks(0);
  expect_refused(message, "rank 1.1.0 twice");
  message = report_of_one_rank();
  message.mutable_facts()->set_name("n2");
  message.mutable_facts()->set_group("training");
  expect_refused(message, "report of node n1 carries facts of n2");
  message = report_of_one_rank();
  for (int i = 0; i < AgentLimits::kRanksOfNode; ++i) *message.add_ranks() = message.ranks(0);
  expect_refused(message, "ranks of the report has size 4097");
}

TEST(AgentConvert, OddNumbersOfAProgramDoNotCutItsNodeOff) {
  v1::AgentReport message = report_of_one_rank();
  v1::CheckpointInfo& checkpoint = *message.mutable_ranks(0)->mutable_checkpoint();
  checkpoint.set_step(-7);
  checkpoint.set_save_seconds(std::numeric_limits<double>::quiet_NaN());
  Result<AgentReport> report = from_proto(message);
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(report.value().ranks[0].checkpoint->step, -7);
  EXPECT_EQ(report.value().ranks[0].checkpoint->save_seconds, 0);
}

TEST(AgentConvert, OrdersOfANewerServerAreRefused) {
  v1::AgentOrder message;
  message.set_epoch(1);
  PlacesCodec codec;
  EXPECT_EQ(from_proto(message, codec).status().code(), Code::invalid_argument);
}

void expect_converted_once(int protocol) {
  Draw draw(5);
  AgentOrder first{.epoch = Epoch{1}, .body = draw.launch()};
  AgentOrder second = first;
  std::get<LaunchRank>(second.body).key.rank = 0;
  AgentOrder other{.epoch = Epoch{1}, .body = draw.launch()};
  PlacesCodec server;
  PlacesCodec agent;
  std::vector<LaunchRank> read;
  for (const AgentOrder& order : {first, second, other, first}) {
    v1::AgentOrder message;
    to_proto(order, protocol, server, message);
    Result<AgentOrder> back = from_proto(message, agent);
    ASSERT_TRUE(back.is_ok());
    ASSERT_EQ(back.value(), protocol < kProtocolOfGangs ? order : as_told_in_short(order));
    read.push_back(std::get<LaunchRank>(back.value().body));
  }
  EXPECT_TRUE(read[0].ranks.is_same_object(read[1].ranks)) << protocol;
  EXPECT_FALSE(read[0].ranks.is_same_object(read[2].ranks)) << protocol;
  EXPECT_EQ(read[3].ranks, read[0].ranks) << protocol;
}

TEST(AgentConvert, PlacesOfAGangAreConvertedOnce) {
  expect_converted_once(1);
  expect_converted_once(kProtocolOfGangs);
}

TEST(AgentConvert, UnsortedRanksAreSorted) {
  v1::AgentReport message = report_of_one_rank();
  *message.add_ranks() = message.ranks(0);
  message.mutable_ranks(0)->mutable_key()->set_rank(5);
  Result<AgentReport> report = from_proto(message);
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(report.value().ranks[0].key.rank, 0);
  EXPECT_EQ(report.value().ranks[1].key.rank, 5);
}

}  // namespace
}  // namespace hai
