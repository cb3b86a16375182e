#include "server/store/pg_columns.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/store/json_codec.h"
#include "server/store/pg_row_writer.h"

namespace hai {
namespace {

// What has a column of its own is not in the column `rest` as well: the one read last would win.
template <typename Row>
void expect_nothing_twice(const std::string& rest) {
  const nlohmann::json json = nlohmann::json::parse(rest);
  EXPECT_GT(json.size(), 0u);
  for (const PgColumn& column : table_of<Row>().columns) {
    EXPECT_FALSE(json.contains(column.name)) << column.name;
  }
}

TEST(PgColumns, OfAJobAndItsRestHaveNothingTwice) {
  Job job;
  job.spec = std::make_shared<JobSpec>();
  expect_nothing_twice<JobRowOf<Job>>(job_rest_to_json(job));
  EXPECT_FALSE(nlohmann::json::parse(job_rest_to_json(job)).contains("user")) << "user_name";
}

TEST(PgColumns, OfAnIncidentAndItsRestHaveNothingTwice) {
  expect_nothing_twice<Incident>(incident_rest_to_json(Incident{}));
}

}  // namespace
}  // namespace hai
