#include "server/rpc/calls_for_anyone.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Gate, LetsInSoManyAndSoManyOfOneAddress) {
  Gate gate({.all = 3, .per_address = 2});
  auto first = gate.enter("10.0.0.1");
  const auto second = gate.enter("10.0.0.1");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(gate.enter("10.0.0.1")) << "there are two of this address";
  auto third = gate.enter("10.0.0.2");
  EXPECT_TRUE(third);
  EXPECT_FALSE(gate.enter("10.0.0.3")) << "there are three";
  first = nullptr;
  first = gate.enter("10.0.0.1");
  EXPECT_TRUE(first) << "the place of one who has left";
  EXPECT_FALSE(gate.enter("10.0.0.2"));
  third = nullptr;
  EXPECT_TRUE(gate.enter("10.0.0.3"));
}

TEST(Gate, IsEachServersOwn) {
  Gate one({.all = 1, .per_address = 1});
  Gate other({.all = 1, .per_address = 1});
  const auto inside = one.enter("10.0.0.1");
  EXPECT_FALSE(one.enter("10.0.0.2"));
  EXPECT_TRUE(other.enter("10.0.0.1"));
}

TEST(Gate, MayGoBeforeThoseInside) {
  auto gate = std::make_unique<Gate>(Gate::Limits{.all = 1, .per_address = 1});
  auto inside = gate->enter("10.0.0.1");
  gate = nullptr;
  inside = nullptr;
}

}  // namespace
}  // namespace hai
