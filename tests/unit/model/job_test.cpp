// A job's stored fields: all of them count.

#include <gtest/gtest.h>

#include "server/model/job_fields.h"

namespace hai {
namespace {

struct Alter {
  void operator()(std::string& value) const { value += "x"; }
  void operator()(bool& value) const { value = !value; }
  void operator()(UnixTime& value) const { value += 1s; }
  void operator()(Duration& value) const { value += 1s; }
  void operator()(std::shared_ptr<const JobSpec>& value) const {
    auto other = std::make_shared<JobSpec>(*value);
    other->parameters = "x";
    value = other;
  }
  template <typename Tag>
  void operator()(Id<Tag>& value) const {
    ++value.value;
  }
  void operator()(ArrayCounts& value) const { ++value.stopped; }
  template <typename T>
  void operator()(std::optional<T>& value) const {
    value.emplace();
  }
  template <typename T>
  void operator()(std::vector<T>& value) const {
    value.emplace_back();
  }
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void operator()(T& value) const {
    value = static_cast<T>(static_cast<int64_t>(value) + 1);
  }
};

TEST(Job, EachStoredFieldCountsForEquality) {
  Job job;
  job.spec = std::make_shared<const JobSpec>();
  size_t count = 0;
  visit_fields(job, [&count](const char*, auto&) { ++count; });
  ASSERT_GE(count, 33u);
  for (size_t i = 0; i < count; ++i) {
    Job other = job;
    size_t at = 0;
    std::string altered;
    visit_fields(other, [&](const char* name, auto& member) {
      if (at++ != i) return;
      Alter()(member);
      altered = name;
    });
    EXPECT_FALSE(job == other) << altered;
    EXPECT_TRUE(other == Job(other)) << altered;
  }
}

TEST(Job, SpecsAreComparedByValue) {
  Job job;
  job.spec = std::make_shared<const JobSpec>();
  Job other = job;
  other.spec = std::make_shared<const JobSpec>();
  EXPECT_TRUE(job == other);
}

}  // namespace
}  // namespace hai
