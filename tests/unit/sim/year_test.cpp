// A small year, in seconds: what it counts follows from what its hardware did, and a seed gives the
// same year again.

#include "sim/year/year.h"

#include <gmock/gmock.h>

#include "sim/year/machine.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

YearMeasures small_year(uint64_t seed, Failures failures = {}) {
  const TraceCluster cluster = read_cluster("40x8").value();
  return run_year(cluster, std::move(failures),
                  {.days = 40, .seed = seed, .long_job_nodes = 6, .knobs = year_knobs()});
}

TEST(Year, IsTheSameForTheSameSeed) {
  const YearMeasures one = small_year(7);
  EXPECT_EQ(one.digest, small_year(7).digest);
  EXPECT_NE(one.digest, small_year(8).digest);
}

// In one year of so few nodes it may meet no fault.
TEST(Year, TheLongJobLastsAndLosesLittle) {
  int interruptions = 0;
  for (const uint64_t seed : {3, 4}) {
    const YearMeasures m = small_year(seed);
    EXPECT_FALSE(m.long_job.has_failed);
    interruptions += m.long_job.interruptions;
    EXPECT_GT(m.long_job.effective, 0.97);
    EXPECT_LT(m.long_job.effective, 1);
    EXPECT_EQ(m.failed_wrongly, 0);
    EXPECT_EQ(m.failed_by_themselves, m.faults.of_programs);
  }
  EXPECT_GT(interruptions, 0);
}

TEST(Year, EachNodeIsValidatedThoughItIsNeverIdle) {
  const YearMeasures m = small_year(3);
  EXPECT_GT(m.validations, 40 * 3);
  EXPECT_LT(m.validation_age_days.max, 14);
  EXPECT_LT(m.shares[static_cast<size_t>(NodeUseKind::validating)], 0.01);
}

TEST(Year, GpuTimeAddsUp) {
  const YearMeasures m = small_year(5);
  double sum = 0;
  for (double share : m.shares) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_GT(m.shares[static_cast<size_t>(NodeUseKind::used)], 0.97);
}

// 40 nodes of which two are out for two days of 40: 0.25 % of the time, and a person is not needed.
TEST(Year, OutagesOfAFileTakeTheNodesOutForAsLong) {
  const Duration day = 24h;
  const YearMeasures m = small_year(
      3, Failures({{4, 3 * day, 5 * day, "GPU Lost"}, {9, 10 * day, 12 * day, "Server down"}},
                  400 * day));
  EXPECT_EQ(m.faults.outages, 2);
  EXPECT_EQ(m.wrong_drains, 0);
  const double out = m.shares[static_cast<size_t>(NodeUseKind::service)] +
                     m.shares[static_cast<size_t>(NodeUseKind::away)] +
                     m.shares[static_cast<size_t>(NodeUseKind::repairing)];
  EXPECT_NEAR(out, 4.0 / (40 * 40), 4.0 / (40 * 40) / 20);
}

// ---- one machine

std::vector<std::string> names(const std::vector<CheckResult>& checks) {
  std::vector<std::string> result;
  for (const CheckResult& check : checks) {
    result.push_back(check.name + ' ' + std::string(to_string(check.verdict)) + ' ' +
                     std::string(to_string(check.tier)));
  }
  return result;
}

const FaultKind& kind(std::string_view name) {
  for (const FaultKind& each : fault_kinds()) {
    if (each.name == name) return each;
  }
  CHECK(false);
}

struct OneMachine {
  XidTable xids = XidTable::built_in();
  Machine machine{xids, false};
  Rng rng{1};
  UnixTime now = unix_micros(1'767'225'600'000'000);
};

TEST(Machine, AnXidThatBreaksNothingStandsUntilItIsCleared) {
  OneMachine m;
  m.machine.strike(kind("xid_74"), 3, Defect::none, m.now);
  EXPECT_THAT(names(m.machine.checks(m.now)), ElementsAre("gpu_xid fail validate"));
  EXPECT_FALSE(m.machine.is_broken());
  m.machine.strike(kind("xid_74"), 3, Defect::none, m.now + 24h);
  EXPECT_THAT(names(m.machine.checks(m.now + 24h)), ElementsAre("gpu_xid fail drain"))
      << "twice in a week";
  m.machine.clear({"gpu_xid", "gpu 3 xid 74", m.now + 25h});
  EXPECT_THAT(m.machine.checks(m.now + 25h), IsEmpty());
}

TEST(Machine, ARebootForgetsTheLogAndMendsWhatItCan) {
  OneMachine m;
  m.machine.strike(kind("xid_95"), 2, Defect::reset, m.now);
  EXPECT_THAT(names(m.machine.checks(m.now)),
              ElementsAre("gpu_ecc fail evict", "gpu_xid fail evict"));
  EXPECT_TRUE(m.machine.is_broken());
  m.machine.reboot(m.rng);
  EXPECT_FALSE(m.machine.is_broken());
  EXPECT_THAT(m.machine.checks(m.now), IsEmpty());
  m.machine.strike(kind("xid_64"), 2, Defect::service, m.now);
  m.machine.reboot(m.rng);
  EXPECT_THAT(names(m.machine.checks(m.now)), ElementsAre("gpu_remapped_rows fail evict"));
  m.machine.service(false);
  EXPECT_THAT(m.machine.checks(m.now), IsEmpty());
}

TEST(Machine, ALinkThatIsDownWarnsThenFailsAndItsFlapsAreCounted) {
  OneMachine m;
  m.machine.cut_link(m.now);
  EXPECT_THAT(names(m.machine.checks(m.now)), ElementsAre("ib_flaps warn log", "ib_link warn log"));
  EXPECT_THAT(names(m.machine.checks(m.now + 30s)),
              ElementsAre("ib_flaps warn log", "ib_link fail evict"));
  for (int minute : {1, 2}) {
    m.machine.heal_link();
    m.machine.cut_link(m.now + std::chrono::minutes(minute));
  }
  m.machine.heal_link();
  EXPECT_THAT(names(m.machine.checks(m.now + 3min)), ElementsAre("ib_flaps fail drain"));
  EXPECT_THAT(m.machine.checks(m.now + 4h), IsEmpty());
}

TEST(Machine, AValidationFindsWhatIsBrokenAndPassesWhatIsNot) {
  OneMachine m;
  int failed = 0;
  for (int i = 0; i < 1000; ++i) failed += m.machine.validate(m.rng).exit_code != 0;
  EXPECT_LT(failed, 10);
  m.machine.strike(kind("silent"), 0, Defect::service, m.now);
  EXPECT_THAT(m.machine.checks(m.now), IsEmpty()) << "no check sees it";
  failed = 0;
  for (int i = 0; i < 1000; ++i) failed += m.machine.validate(m.rng).exit_code != 0;
  EXPECT_GT(failed, 800);
}

}  // namespace
}  // namespace hai::test
