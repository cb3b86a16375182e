#include "common/hostlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/rng.h"

namespace hai {
namespace {

using testing::ElementsAre;

TEST(Hostlist, Expands) {
  EXPECT_THAT(parse_hostlist("node-[1-4,7],gpu01").value(),
              ElementsAre("node-1", "node-2", "node-3", "node-4", "node-7", "gpu01"));
  EXPECT_THAT(parse_hostlist("n[08-10]").value(), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(parse_hostlist("r[1-2]n[1-2].x").value(),
              ElementsAre("r1n1.x", "r1n2.x", "r2n1.x", "r2n2.x"));
  EXPECT_THAT(parse_hostlist("a").value(), ElementsAre("a"));
  EXPECT_TRUE(parse_hostlist("").value().empty());
  EXPECT_EQ(parse_hostlist("n[1-100000]").value().size(), 100'000u);
}

TEST(Hostlist, RefusesBadText) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"a,,b", "host list 'a,,b': an empty name"},
      {"a,", "host list 'a,': an empty name"},
      {"n[1-4", "host list 'n[1-4': a bracket is not closed"},
      {"n[]", "host list 'n[]': brackets hold numbers and ranges, like [1-4,7]"},
      {"n[1,]", "host list 'n[1,]': brackets hold numbers and ranges, like [1-4,7]"},
      {"n[1-2-3]", "host list 'n[1-2-3]': brackets hold numbers and ranges, like [1-4,7]"},
      {"n[a-b]", "host list 'n[a-b]': brackets hold numbers and ranges, like [1-4,7]"},
      {"n[[1]]", "host list 'n[[1]]': brackets hold numbers and ranges, like [1-4,7]"},
      {"n[4-1]", "host list 'n[4-1]': range 4-1 runs backwards"},
      {"n]", "host list 'n]': ']' is not allowed"},
      {"a b", "host list 'a b': ' ' is not allowed"},
      {"n[1-100001]", "host list 'n[1-100001]': more than 100000 names"},
      {"n[1-999][1-999]", "host list 'n[1-999][1-999]': more than 100000 names"},
      {"n[1-60000],m[1-60000]", "host list 'n[1-60000],m[1-60000]': more than 100000 names"},
      {"n[0-999999999999999999]", "host list 'n[0-999999999999999999]': more than 100000 names"},
      {"n[1-9999999999999999999999]",
       "host list 'n[1-9999999999999999999999]': brackets hold numbers and ranges, like [1-4,7]"},
  };
  for (const auto& c : kCases) {
    const auto parsed = parse_hostlist(c.text);
    ASSERT_FALSE(parsed.is_ok()) << c.text;
    EXPECT_EQ(parsed.status().message(), c.message);
  }
}

// Of random lists, with the names that they have and with names like them.
TEST(Hostlist, HasTheNamesThatItExpandsTo) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::string list;
    const int elements = 1 + static_cast<int>(rng.below(3));
    for (int i = 0; i < elements; ++i) {
      if (i > 0) list += ',';
      list += rng.chance(0.5) ? "n" : "n1";
      for (int bracket = 0; bracket < static_cast<int>(rng.below(3)); ++bracket) {
        const auto low = rng.below(12);
        list += fmt::format("[{:0{}}-{},{}]", low, 1 + rng.below(3), low + rng.below(4),
                            rng.below(100));
        if (rng.chance(0.5)) list += rng.chance(0.5) ? "1" : "x";
      }
    }
    const auto parsed = parse_hostlist(list);
    ASSERT_TRUE(parsed.is_ok()) << list;
    const auto& names = parsed.value();
    for (const std::string& name : names) EXPECT_TRUE(is_in_hostlist(name, list)) << name << list;
    for (int i = 0; i < 50; ++i) {
      std::string name = names[rng.below(names.size())];
      const size_t at = rng.below(name.size());
      if (rng.chance(0.5)) {
        name.insert(at, 1, rng.chance(0.5) ? '0' : '1');
      } else {
        name[at] = static_cast<char>('0' + rng.below(10));
      }
      EXPECT_EQ(is_in_hostlist(name, list), std::ranges::find(names, name) != names.end())
          << name << " in " << list;
    }
  }
  EXPECT_FALSE(is_in_hostlist("", "n"));
  EXPECT_FALSE(is_in_hostlist("n", ""));
}

TEST(Hostlist, NamesAreWhatCanStandInAList) {
  for (const char* name : {"n", "node-1", "gpu01.rack_2"}) EXPECT_TRUE(is_node_name(name)) << name;
  EXPECT_TRUE(is_node_name(std::string(255, 'n')));
  EXPECT_FALSE(is_node_name(std::string(256, 'n')));
  for (const char* name : {"", "node 1", "a,b", "n[1-2]", "n#A", "n/1", "n\n", "n\xc3\xa9"}) {
    EXPECT_FALSE(is_node_name(name)) << name;
  }
}

TEST(Hostlist, Compresses) {
  EXPECT_EQ(format_hostlist({}), "");
  EXPECT_EQ(format_hostlist({"gpu01", "node-7", "node-1", "node-3", "node-2", "node-2"}),
            "gpu01,node-[1-3,7]");
  EXPECT_EQ(format_hostlist({"n08", "n09", "n10"}), "n[08-10]");
  EXPECT_EQ(format_hostlist({"n8", "n9", "n10"}), "n[8-10]");
  EXPECT_EQ(format_hostlist({"n1", "n01"}), "n[01,1]");
  EXPECT_EQ(format_hostlist({"n99", "n100"}), "n[99-100]");
  EXPECT_EQ(format_hostlist({"b", "a", "a1.x", "a2.x", "a3.y"}), "a,a[1-2].x,a3.y,b");
}

TEST(Hostlist, FormatAndParseAgree) {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) {
      const char* prefix = rng.chance(0.5) ? "node-" : "rack1-n";
      const int64_t number = rng.between(0, 120);
      names.push_back(rng.chance(0.3)
                          ? fmt::format("{}{:03}", prefix, number)
                          : fmt::format("{}{}{}", prefix, number, rng.chance(0.2) ? ".local" : ""));
    }
    std::vector<std::string> back = parse_hostlist(format_hostlist(names)).value();
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::sort(back.begin(), back.end());
    EXPECT_EQ(back, names);
  }
}

TEST(Hostlist, FoldsWhatIsInOrder) {
  const auto folded = [](const std::string& list) {
    const std::vector<std::string> names = parse_hostlist(list).value();
    const std::string text = fold_hostlist(names);
    EXPECT_EQ(parse_hostlist(text).value(), names) << text;
    return text;
  };
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("n3,n1,n2,n2,login,login,n08,n09,n10,n11"), "n[3,1-2,2],login,login,n[08-11]");
  EXPECT_EQ(folded("n9,n10,a.x,b1.x,b2.x,7,8"), "n[9-10],a.x,b[1-2].x,[7-8]");
  EXPECT_EQ(folded("n[1-5000]"), "n[1-5000]");

  Rng rng(7);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::string> names;
    for (uint64_t n = rng.below(30); n > 0; --n) {
      std::string name;
      for (uint64_t size = 1 + rng.below(6); size > 0; --size) name += "01289a.-"[rng.below(8)];
      names.push_back(name);
    }
    EXPECT_EQ(parse_hostlist(fold_hostlist(names)).value(), names) << fold_hostlist(names);
  }
}

}  // namespace
}  // namespace hai
