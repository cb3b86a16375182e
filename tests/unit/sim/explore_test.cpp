#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "sim/explore/explorer.h"
#include "sim/explore/memory_image.h"
#include "sim/explore/visited.h"

namespace hai {
namespace {

Model model_named(const std::string& name) {
  for (const Model& model : known_models()) {
    if (model.name == name) return model;
  }
  ADD_FAILURE() << name;
  return {};
}

Explorer explorer_of(const Model& model) {
  Explorer explorer(model);
  explorer.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  return explorer;
}

TEST(Arena, TakesObjectsBackToWhatTheyWere) {
  Arena arena(size_t{1} << 20);
  std::map<std::string, std::string>* names = nullptr;
  MemoryImage image;
  const std::string long_text(100, 'x');
  {
    const Arena::Use use(arena);
    names = new std::map<std::string, std::string>{{"kept", long_text}, {"erased", long_text}};
  }
  arena.save(image);
  {
    const Arena::Use use(arena);
    names->erase("erased");
    (*names)["new"] = long_text + long_text;
    names->at("kept") = "changed";
  }
  arena.restore(image);
  EXPECT_EQ(*names,
            (std::map<std::string, std::string>{{"kept", long_text}, {"erased", long_text}}));
  const Arena::Use use(arena);
  delete names;
}

TEST(Arena, GivesBlocksOutAgain) {
  Arena arena(size_t{1} << 20);
  const size_t before = arena.used();
  for (int i = 0; i < 1'000; ++i) {
    const Arena::Use use(arena);
    delete new std::string(5'000, 'x');
  }
  EXPECT_LT(arena.used() - before, size_t{20'000});
}

TEST(Visited, AStateIsNewWithMoreLeftOfAnything) {
  Visited visited(/*by_depth=*/false);
  EXPECT_TRUE(visited.insert(7, 0x21, 9));
  EXPECT_FALSE(visited.insert(7, 0x21, 1));
  EXPECT_FALSE(visited.insert(7, 0x20, 9));
  EXPECT_TRUE(visited.insert(7, 0x12, 9)) << "less of one fault, more of another";
  EXPECT_TRUE(visited.insert(8, 0x00, 9));
  // As hashes of states are: anywhere.
  for (uint64_t i = 100; i < 200'000; ++i) visited.insert(i * 0x9E37'79B9'7F4A'7C15, 0, 0);
  EXPECT_FALSE(visited.insert(7, 0x11, 9)) << "also when the table has grown";
}

TEST(Visited, AShorterWayIsNewWhenTheShortestIsLookedFor) {
  Visited visited(/*by_depth=*/true);
  EXPECT_TRUE(visited.insert(7, 0, 9));
  EXPECT_FALSE(visited.insert(7, 0, 9));
  EXPECT_TRUE(visited.insert(7, 0, 8));
}

TEST(Explore, ASmallSpaceIsExhausted) {
  Model model = model_named("lease");
  model.budget.set(Fault::hold, 1);
  const ExploreResult result = explorer_of(model).visit_all({});
  EXPECT_TRUE(result.is_exhausted);
  EXPECT_EQ(result.violation, std::nullopt);
  EXPECT_GT(result.states, 10'000u);
  EXPECT_GT(result.doubts, 100u) << "merged states are looked at, too";
}

TEST(Explore, WithoutFaultsThereIsOneWay) {
  Model model = model_named("lease");
  model.budget = {};
  const ExploreResult result = explorer_of(model).visit_all({});
  EXPECT_TRUE(result.is_exhausted);
  EXPECT_EQ(result.ends, 1u);
  EXPECT_EQ(result.merged, 0u);
}

// What design/0005 assumes of clocks is needed: one that loses more than the fence's margin lets a
// rank live on where it was given up.
TEST(Explore, AClockThatIsTooSlowIsFoundAndToldOf) {
  Model model = model_named("clock");
  model.budget = {};
  model.slip = 5s;
  model.budget.set(Fault::slip_clock, 1);
  model.budget.set(Fault::cut, 1);
  const Explorer explorer = explorer_of(model);
  const ExploreResult result = explorer.visit_all({});
  ASSERT_TRUE(result.violation);
  EXPECT_TRUE(result.violation->starts_with("fence:")) << *result.violation;
  const std::vector<std::string> story = explorer.tell(result.path);
  ASSERT_FALSE(story.empty());
  EXPECT_NE(story.back().find("VIOLATION: fence: "), std::string::npos) << story.back();
}

}  // namespace
}  // namespace hai
