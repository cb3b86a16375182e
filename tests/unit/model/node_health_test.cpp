// What the state keeps of nodes' health: what stands, what was done about it, and how much of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/model/lemon_score.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

struct OneNode {
  Cluster c = cluster(nodes(1, gpus(8)));
  const NodeId id = c.node_id("node-1");
  const NodeHealth& health() { return c.node("node-1").health; }
  CheckResult check(const std::string& name, CheckVerdict verdict = CheckVerdict::fail,
                    HealthTier tier = HealthTier::validate) {
    return {.name = name, .verdict = verdict, .tier = tier, .at = unix_micros(1)};
  }
  void change(CheckResult check) { c.emit(NodeCheckChanged{id, std::move(check)}); }
};

TEST(Checks, AreKeptSortedAndOnlyWhileTheyAreNotWell) {
  OneNode n;
  n.change(n.check("b"));
  n.change(n.check("a", CheckVerdict::warn));
  n.change(n.check("c", CheckVerdict::ok));
  ASSERT_THAT(n.health().checks, SizeIs(2));
  EXPECT_EQ(n.health().checks[0].result.name, "a");
  n.change(n.check("b", CheckVerdict::unknown));
  n.change(n.check("a", CheckVerdict::ok));
  EXPECT_THAT(n.health().checks, SizeIs(0));
}

TEST(Checks, WhatWasDoneStandsAsLongAsTheFaultIsTheSame) {
  OneNode n;
  const UnixTime began = n.c.now;
  const auto known = [&] { return *n.health().find("a", ""); };
  n.change(n.check("a"));
  n.c.emit(NodeCheckHandled{n.id, "a", "", FaultAnswer::validate});
  n.c.advance(1min);
  n.change(n.check("a"));
  EXPECT_EQ(known().done, FaultAnswer::validate);
  EXPECT_EQ(known().since, began);
  n.change(n.check("a", CheckVerdict::fail, HealthTier::log));
  EXPECT_EQ(known().done, FaultAnswer::validate) << "of a lower tier";
  n.change(n.check("a", CheckVerdict::fail, HealthTier::evict));
  EXPECT_EQ(known().done, FaultAnswer::none) << "of a higher one: more may have to be done";
  EXPECT_EQ(known().since, n.c.now);
  n.c.emit(NodeCheckHandled{n.id, "a", "", FaultAnswer::evict});
  CheckResult again = n.check("a", CheckVerdict::fail, HealthTier::evict);
  again.at += 1s;
  n.change(again);
  EXPECT_EQ(known().done, FaultAnswer::none) << "it happened again";
}

TEST(Checks, HandlingOneLeavesTheOthers) {
  OneNode n;
  CheckResult other = n.check("a");
  other.subject = "gpu 1";
  n.change(n.check("a"));
  n.change(other);
  n.change(n.check("b"));
  n.c.emit(NodeCheckHandled{n.id, "a", "gpu 1", FaultAnswer::drain});
  std::vector<FaultAnswer> done;
  for (const NodeCheck& check : n.health().checks) done.push_back(check.done);
  EXPECT_THAT(done, ElementsAre(FaultAnswer::none, FaultAnswer::drain, FaultAnswer::none));
}

TEST(Checks, AndMarksAreBounded) {
  OneNode n;
  for (size_t i = 0; i <= NodeHealth::kChecksMax; ++i) n.change(n.check(fmt::format("c{}", i)));
  EXPECT_THAT(n.health().checks, SizeIs(NodeHealth::kChecksMax));
  for (size_t i = 0; i <= NodeHealth::kMarksMax; ++i) {
    n.c.emit(NodeMarked{n.id, MarkKind::drain, fmt::format("m{}", i), {}});
  }
  EXPECT_THAT(n.health().marks, SizeIs(NodeHealth::kMarksMax));
  EXPECT_EQ(n.health().marks.front().about, "m1") << "the oldest goes";
  EXPECT_EQ(n.health().marks.back().about, fmt::format("m{}", NodeHealth::kMarksMax));
}

TEST(Notes, OfALongStoryLackTheMiddle) {
  OneNode n;
  const IncidentId incident{1};
  n.c.emit(IncidentOpened{incident, "node_fault", "node/node-1", "summary", {n.id}});
  const auto& notes = n.c.state().incidents().at(incident).notes;
  const size_t before = notes.size();
  constexpr size_t kTold = Incident::kNotesMax + 10;
  for (size_t i = 0; i < kTold; ++i) n.c.emit(IncidentNoted{incident, fmt::format("n{}", i)});
  ASSERT_THAT(notes, SizeIs(Incident::kNotesMax));
  EXPECT_EQ(notes[before].text, "n0");
  EXPECT_EQ(notes.back().text, fmt::format("n{}", kTold - 1));
}

TEST(Validated, KeepsWhatEachKindMeasuredLast) {
  OneNode n;
  const UnixTime before = n.health().validated_at;
  n.c.advance(1h).emit(NodeValidated{n.id, true, "well", {{.name = "a", .value = 1}}});
  const UnixTime full = n.c.now;
  EXPECT_LT(before, full);
  EXPECT_EQ(n.health().validated_at, full);
  EXPECT_TRUE(n.health().is_passed);
  n.c.advance(1h).emit(NodeValidated{
      n.id, true, "light", {{.name = "b", .value = 2}, {.name = "a", .value = 3}}, true});
  EXPECT_EQ(n.health().validated_at, full) << "a light one counts for less";
  EXPECT_EQ(n.health().judged_at, n.c.now);
  EXPECT_EQ(n.health().judgement, "light");
  ASSERT_THAT(n.health().measured, SizeIs(2));
  EXPECT_EQ(n.health().measured[0].value, 3);
  n.c.advance(1h).emit(NodeValidated{n.id, false, "broken", {}});
  EXPECT_FALSE(n.health().is_passed);
  EXPECT_EQ(n.health().validated_at, full);
  EXPECT_THAT(n.health().measured, SizeIs(2));
}

TEST(Lemon, EachMarkHasItsWeight) {
  const UnixTime now = unix_micros(0) + 100 * 24h;
  const std::pair<MarkKind, int> kWeights[] = {
      {MarkKind::evict, 3},       {MarkKind::drain, 3},    {MarkKind::validation_failed, 3},
      {MarkKind::gang_failed, 2}, {MarkKind::validate, 1}, {MarkKind::job_failed, 1},
      {MarkKind::app_fault, 0},   {MarkKind::flash_cut, 0}};
  for (const auto& [kind, weight] : kWeights) {
    NodeHealth health;
    health.marks = {{now - kLemonWindow, kind, "x", {}}, {now, kind, "", {}}};
    EXPECT_EQ(lemon_score(health, now, 1'000).score, 2 * weight) << to_string(kind);
    EXPECT_EQ(lemon_score(health, now + 1s, 1'000).score, weight)
        << to_string(kind) << ": one is too old";
    health.marks.push_back({now, MarkKind::accepted, "", {}});
    EXPECT_EQ(lemon_score(health, now, 1'000).score, 0);
    EXPECT_EQ(lemon_score(health, now, 1'000).explanation, "");
  }
}

}  // namespace
}  // namespace hai::test
