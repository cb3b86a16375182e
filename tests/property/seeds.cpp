#include "tests/property/seeds.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace hai::test {
namespace {

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

int failures_so_far() {
  return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
}

}  // namespace

uint64_t first_seed() { return number_of("HAI_FIRST_SEED", 1); }

Seeds::Seeds(uint64_t count_by_default)
    : is_campaign_(std::getenv("HAI_FIRST_SEED") != nullptr),
      first_(first_seed()),
      default_(count_by_default),
      count_(number_of("HAI_SEEDS", count_by_default)),
      failures_(failures_so_far()) {}

void Seeds::looked_at(uint64_t seed) {
  ++worlds_;
  const int failures = failures_so_far();
  if (failures != failures_) failed_.push_back(seed);
  failures_ = failures;
}

Seeds::~Seeds() {
  if (!is_campaign_) return;
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  std::printf("%s.%s: %llu worlds from seed %llu, %zu failed:", test.test_suite_name(), test.name(),
              static_cast<unsigned long long>(worlds_), static_cast<unsigned long long>(first_),
              failed_.size());
  for (uint64_t seed : failed_) std::printf(" %llu", static_cast<unsigned long long>(seed));
  std::printf("\n");
}

}  // namespace hai::test
