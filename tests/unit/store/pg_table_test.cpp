#include "server/store/pg_table.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

const PgTable kTable{{"pet", "", 1},
                     {{"id", "bigint"}, {"name", "text", true}, {"tags", "text[]"}}};

TEST(PgTable, InsertTakesOneArrayPerColumn) {
  EXPECT_EQ(insert_sql(kTable, 3, "guard, "),
            "INSERT INTO pet (id, name, tags) SELECT u.id, u.name, u.tags::text[] FROM guard, "
            "unnest($3::bigint[], $4::text[], $5::text[]) AS u(id, name, tags)");
}

TEST(PgTable, UpsertLeavesKeysAndFixedColumnsAlone) {
  EXPECT_TRUE(
      upsert_sql(kTable, 1).ends_with(" ON CONFLICT (id) DO UPDATE SET tags = excluded.tags"));
}

TEST(PgTable, UpdateAndDeleteGoByTheKey) {
  EXPECT_EQ(update_sql(kTable, 1),
            "UPDATE pet AS t SET name = u.name, tags = u.tags::text[] FROM "
            "unnest($1::bigint[], $2::text[], $3::text[]) AS u(id, name, tags) WHERE t.id = u.id");
  EXPECT_EQ(delete_sql(kTable, 1),
            "DELETE FROM pet AS t USING unnest($1::bigint[]) AS u(id) WHERE t.id = u.id");
}

}  // namespace
}  // namespace hai
