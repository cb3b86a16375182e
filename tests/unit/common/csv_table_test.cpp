#include "common/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const CsvTableColumns kColumns{.required = {"name", "zone"}, .optional = {"leaf"}};

std::vector<CsvRow> rows_of(std::string_view text) {
  const Result<CsvTable> table = parse_csv_table(text, "t.csv", kColumns);
  EXPECT_TRUE(table.is_ok()) << table.status().message();
  return table.is_ok() ? table.value().rows : std::vector<CsvRow>();
}

std::string refusal_of(std::string_view text) {
  const Result<CsvTable> table = parse_csv_table(text, "t.csv", kColumns);
  EXPECT_EQ(table.status().code(), Code::invalid_argument) << text;
  return table.status().message();
}

TEST(CsvTable, FindsColumnsByTheirNames) {
  const std::vector<CsvRow> rows = rows_of("zone,name\n# of the north hall\nA,n1\n\nB , n2\r\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].fields, ElementsAre("n1", "A", ""));
  EXPECT_EQ(rows[0].line, 3);
  EXPECT_THAT(rows[1].fields, ElementsAre("n2", "B", ""));
  EXPECT_EQ(rows[1].line, 5);
}

TEST(CsvTable, SaysWhichColumnsThereAre) {
  EXPECT_THAT(parse_csv_table("zone,name\n", "t", kColumns).value().has,
              ElementsAre(true, true, false));
}

TEST(CsvTable, TakesQuotedFields) {
  const std::vector<CsvRow> rows =
      rows_of("\xef\xbb\xbfname,zone,leaf\n\"a,b\",\"say \"\"A\"\"\" ,\nc,,\"\"");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].fields, ElementsAre("a,b", "say \"A\"", ""));
  EXPECT_THAT(rows[1].fields, ElementsAre("c", "", ""));
}

TEST(CsvTable, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal_of(""), "t.csv: is empty");
  EXPECT_THAT(refusal_of("name,zonne\n"),
              HasSubstr("t.csv:1: no column 'zonne' is known, meant is zone"));
  EXPECT_THAT(refusal_of("name\n"), HasSubstr("t.csv:1: the column zone is missing"));
  EXPECT_THAT(refusal_of("name,zone,name\n"), HasSubstr("the column name is there twice"));
  EXPECT_THAT(refusal_of("name,zone\nn1,A\nn2\n"),
              HasSubstr("t.csv:3: has 1 fields, the first line 2"));
  EXPECT_THAT(refusal_of("name,zone\n\"n1,A\n"),
              HasSubstr("t.csv:2: a quotation mark is not closed"));
  EXPECT_THAT(refusal_of("name,zone\n\"n1\"x,A\n"), HasSubstr("t.csv:2: a quotation mark"));
  EXPECT_THAT(refusal_of(std::string_view("name,zone\nn\0,A\n", 15)),
              HasSubstr("t.csv:2: has a NUL"));
}

}  // namespace
}  // namespace hai
