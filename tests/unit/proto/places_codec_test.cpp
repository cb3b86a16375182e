// The places of a gang, as its launches tell them.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "hai/v1/agent.pb.h"
#include "proto/convert/agent_convert.h"

namespace hai {
namespace {

std::vector<RankPlace> many_places() {
  std::vector<RankPlace> places;
  for (int i = 0; i < 1'000; ++i) {
    places.push_back({fmt::format("node-{:04}", i), fmt::format("10.0.{}.{}", i / 250, i % 250),
                      i < 500 ? "A" : "B", fmt::format("leaf-{}", i / 20)});
  }
  return places;
}

TEST(PlacesCodec, PlacesOfALargeGangAreSmall) {
  const RankPlaces places = many_places();
  PlacesCodec server;
  PlacesCodec agent;
  const std::string bytes = server.encode(places);
  EXPECT_LT(bytes.size(), 8'000u);
  const Result<RankPlaces> read = agent.decode(bytes);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value(), places);
}

TEST(PlacesCodec, WhatAGangKnowsOfItselfDoesNotGrowWithIt) {
  const RankPlaces places = many_places();
  PlacesCodec server;
  PlacesCodec agent;
  const std::string bytes = server.encode_gang(places);
  EXPECT_LT(bytes.size(), 100u);
  const Result<RankPlaces> read = agent.decode_gang(bytes);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  ASSERT_EQ(read.value().size(), places.size());
  for (size_t i = 0; i < places.size(); ++i) EXPECT_EQ(read.value()[i].node, places[i].node);
  EXPECT_EQ(read.value()[0].address, places[0].address);
}

// Ranks of one node and nodes in any order, as a placement has them.
TEST(PlacesCodec, AGangKeepsItsOrderAndItsSizes) {
  const RankPlaces places = {{.node = "b2", .address = "10.0.0.1", .gpus = 8},
                             {.node = "b1", .gpus = 4},
                             {.node = "b1", .gpus = 4},
                             {.node = "login", .gpus = 8},
                             {.node = "login", .gpus = 8},
                             {.node = "b09", .gpus = 8},
                             {.node = "b10", .gpus = 8}};
  PlacesCodec server;
  PlacesCodec agent;
  const Result<RankPlaces> read = agent.decode_gang(server.encode_gang(places));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value(), places);
}

TEST(PlacesCodec, NamesThatNoHostListHasAreToldInFull) {
  AgentOrder order{.epoch = Epoch{1}, .body = LaunchRank{}};
  std::get<LaunchRank>(order.body).key = {JobId{1}, 1, 0};
  std::get<LaunchRank>(order.body).ranks = {{.node = "a:b", .address = "10.0.0.1", .leaf = "l1"}};
  PlacesCodec server;
  PlacesCodec agent;
  v1::AgentOrder message;
  to_proto(order, kProtocolOfGangs, server, message);
  const Result<AgentOrder> read = from_proto(message, agent);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value(), order);
}

TEST(PlacesCodec, LiesAboutAGangAreRefused) {
  const auto refusal = [](const std::string& nodes, int sizes, const std::string& address) {
    v1::Gang message;
    message.set_nodes(nodes);
    message.set_master_address(address);
    for (int i = 0; i < sizes; ++i) message.add_gpus(i == 0 ? GpuSet::kMax + 1 : 8);
    return PlacesCodec().decode_gang(message.SerializeAsString()).status().message();
  };
  EXPECT_EQ(refusal("n[1-3]", 0, "a"), "");
  EXPECT_NE(refusal("n[1-100001]", 0, "a"), "");
  EXPECT_NE(refusal("n[1-3", 0, "a"), "");
  EXPECT_EQ(refusal("n[1-3]", 2, "a"), "a gang of 3 ranks says GPUs of 2");
  EXPECT_NE(refusal("n[1-3]", 3, "a"), "");
  EXPECT_NE(refusal("n[1-3]", 0, std::string(300, 'a')), "");
}

TEST(PlacesCodec, DamagedPlacesAreRefused) {
  PlacesCodec server;
  const std::string bytes = server.encode(many_places());
  for (size_t size = 1; size < bytes.size(); size += 97) {
    PlacesCodec agent;
    EXPECT_EQ(agent.decode(bytes.substr(0, size)).status().code(), Code::invalid_argument) << size;
  }
  std::string changed = bytes;
  changed[bytes.size() / 2] = static_cast<char>(changed[bytes.size() / 2] ^ 0x55);
  PlacesCodec agent;
  EXPECT_EQ(agent.decode(changed).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
