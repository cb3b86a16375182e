#include "server/http/event_hub.h"

#include <gtest/gtest.h>

#include <future>

#include "server/http/http_server.h"
#include "tests/unit/http/http_client.h"

namespace hai {
namespace {

EventHub::Frame frame(int64_t seq, std::string text = "") {
  if (text.empty()) text = "id: " + std::to_string(seq) + "\n\n";
  return {{.seq = seq, .body = JobReleased{JobId{seq % 2 + 1}}}, std::move(text)};
}

constexpr EventHubLimits kQuick{.frames = 10, .idle = 10s, .pause_per_watcher = 0us, .pause = 0us};

std::optional<std::string> next(EventHub& hub, EventHub::WatcherId id) {
  auto answer = std::make_shared<std::promise<std::optional<std::string>>>();
  auto future = answer->get_future();
  hub.next(id, [answer](HttpChunk chunk) {
    answer->set_value(chunk ? std::optional(*chunk) : std::nullopt);
  });
  return future.get();
}

TEST(EventHub, GivesWhatComesToWhoWaits) {
  EventHub hub(kQuick);
  hub.begin(4);
  const auto all = hub.add({.sees_people = true}, 4);
  const auto one = hub.add({.job = JobId{1}, .sees_people = true}, 4);
  hub.push({frame(5), frame(6)});
  EXPECT_EQ(next(hub, all), "id: 5\n\nid: 6\n\n");
  EXPECT_EQ(next(hub, one), "id: 6\n\n");
  hub.push({frame(7)});
  EXPECT_EQ(next(hub, all), "id: 7\n\n");
  EXPECT_EQ(hub.position(all), 7);
}

TEST(EventHub, SaysNothingOfJobsThatOneDoesNotSee) {
  EventHub hub(kQuick);
  hub.begin(0);
  const auto ann = hub.add({.sight = {.of_others = Seen::nothing, .self = "ann"}}, 0);
  const auto all = hub.add({}, 0);
  EventHub::Frame of_bob = frame(1, "of bob\n\n");
  of_bob.owner = "bob";
  EventHub::Frame of_nobody = frame(2, "of nobody known\n\n");
  EventHub::Frame of_ann = frame(3, "makes room for job 1 (secret) of bob\n\n");
  of_ann.owner = "ann";
  hub.push({of_bob, of_nobody, of_ann});
  EXPECT_EQ(next(hub, ann), "makes room for a job of somebody else\n\n");
  EXPECT_EQ(next(hub, all),
            "of bob\n\nof nobody known\n\nmakes room for job 1 (secret) of bob\n\n");
}

TEST(EventHub, TellsARowToWhoSeesNoMore) {
  EventHub hub(kQuick);
  hub.begin(0);
  const auto watch = [&](Sight sight, JobId job = {}, const std::string& owner = "") {
    return hub.add({.job = job, .sight = std::move(sight), .owner = owner}, 0);
  };
  const auto ann = watch({.of_others = Seen::row, .self = "ann"});
  const auto bob = watch({.of_others = Seen::row, .self = "bob"});
  const auto friend_of_bob = watch({.of_others = Seen::row, .self = "eve", .team = {"bob"}});
  const auto eve = watch({.of_others = Seen::row, .self = "eve"});
  const auto eve_of_job = watch({.of_others = Seen::row, .self = "eve"}, JobId{2}, "bob");
  const auto olga = watch({});
  EventHub::Frame ended = frame(1, "failed: /secret/train.py\n\n");
  ended.owner = "bob";
  ended.row = "failed\n\n";
  EventHub::Frame released = frame(2, "released\n\n");
  released.owner = "bob";
  EventHub::Frame checkpoint = frame(3, "checkpoint at /secret\n\n");
  checkpoint.event.body = CheckpointReported{.job = JobId{2}};
  checkpoint.owner = "bob";
  hub.push({ended, released, checkpoint});
  const std::string all = "failed: /secret/train.py\n\nreleased\n\ncheckpoint at /secret\n\n";
  const std::string row = "failed\n\nreleased\n\n";
  EXPECT_EQ(next(hub, ann), row);
  EXPECT_EQ(next(hub, bob), all);
  EXPECT_EQ(next(hub, friend_of_bob), all);
  EXPECT_EQ(next(hub, eve), row);
  EXPECT_EQ(next(hub, eve_of_job), "failed\n\n");
  EXPECT_EQ(next(hub, olga), all);
}

TEST(EventHub, WhoFallsBehindIsCutOffAndToldWhereToResume) {
  EventHub hub(kQuick);
  hub.begin(0);
  const auto slow = hub.add({.sees_people = true}, 0);
  const auto quick = hub.add({.sees_people = true}, 0);
  for (int64_t seq = 1; seq <= 30; ++seq) {
    hub.push({frame(seq)});
    ASSERT_TRUE(next(hub, quick).has_value());
  }
  const std::string words = next(hub, slow).value();
  EXPECT_TRUE(words.starts_with("event: end\ndata: {\"resume_after\":0,")) << words;
  EXPECT_EQ(next(hub, slow), std::nullopt);
  EXPECT_EQ(hub.cut_count(), 1);
}

TEST(EventHub, IsBoundedInBytesToo) {
  EventHubLimits limits = kQuick;
  limits.bytes = 1'000;
  EventHub hub(limits);
  hub.begin(0);
  const auto slow = hub.add({.sees_people = true}, 0);
  hub.push({frame(1, std::string(600, 'x')), frame(2, std::string(600, 'x'))});
  EXPECT_NE(next(hub, slow)->find("event: end"), std::string::npos);
}

TEST(EventHub, CountsWhatFramesTakeBesideTheirTexts) {
  EventHubLimits limits = kQuick;
  limits.frames = 1'000;
  limits.bytes = 20 * sizeof(EventHub::Frame);
  EventHub hub(limits);
  hub.begin(0);
  const auto slow = hub.add({.sees_people = true}, 0);
  for (int64_t seq = 1; seq <= 30; ++seq) hub.push({frame(seq)});
  EXPECT_NE(next(hub, slow)->find("event: end"), std::string::npos);
}

TEST(EventHub, AGapCutsEverybodyOff) {
  EventHub hub(kQuick);
  hub.begin(5);
  const auto watcher = hub.add({.sees_people = true}, 5);
  hub.push({frame(9)});
  EXPECT_NE(next(hub, watcher)->find("\"resume_after\":5"), std::string::npos);
}

TEST(EventHub, SaysThatItIsAliveWhenNothingHappens) {
  EventHubLimits limits = kQuick;
  limits.idle = 20ms;
  EventHub hub(limits);
  hub.begin(0);
  EXPECT_EQ(next(hub, hub.add({}, 0)), ": alive\n\n");
}

TEST(EventHub, BeginsAnewWhenNobodyIsLeft) {
  EventHub hub(kQuick);
  hub.begin(0);
  hub.remove(hub.add({}, 0));
  EXPECT_TRUE(hub.is_wanted());
  hub.push({frame(1)});
  EXPECT_FALSE(hub.is_wanted());
  hub.begin(7);
  const auto watcher = hub.add({.sees_people = true}, 7);
  hub.push({frame(8)});
  EXPECT_EQ(next(hub, watcher), "id: 8\n\n");
}

// A client that asks and then reads nothing must not keep its connection, nor hold up the others.
TEST(EventHub, AReaderThatDoesNotReadLosesItsConnection) {
  EventHub hub({.frames = 100'000, .bytes = 256 << 20, .idle = 500ms, .pause = 0us});
  hub.begin(0);
  HttpLimits limits;
  limits.write_timeout = 100ms;
  auto server =
      HttpServer::start("127.0.0.1:0", limits, [&hub](const HttpRequest&, HttpRespond respond) {
        auto id = std::shared_ptr<EventHub::WatcherId>(
            new EventHub::WatcherId(hub.add({.sees_people = true}, 0)),
            [&hub](EventHub::WatcherId* id) { hub.remove(*id), delete id; });
        HttpResponse response{.content_type = "text/event-stream"};
        response.stream = [&hub, id](HttpChunkDone done) { hub.next(*id, std::move(done)); };
        respond(std::move(response));
      });
  ASSERT_TRUE(server.is_ok());
  const int silent = ::socket(AF_INET, SOCK_STREAM, 0);
  const int little = 4'096;
  ::setsockopt(silent, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = htons(static_cast<uint16_t>(server.value()->port()))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(silent, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string request = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
  ASSERT_EQ(::send(silent, request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  const auto reader = std::async(std::launch::async, [&] {
    return http_exchange(server.value()->port(), request, "last one");
  });
  while (hub.watcher_count() < 2) std::this_thread::yield();
  for (int64_t seq = 1; seq <= 250; ++seq) hub.push({frame(seq, std::string(100'000, 'x'))});
  hub.push({frame(251, "last one\n\n")});
  reader.wait();
  while (hub.watcher_count() > 0)
    std::this_thread::yield();  // both: the reader closed, the other was cut
  ::close(silent);
}

}  // namespace
}  // namespace hai
