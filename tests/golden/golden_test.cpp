// golden_test [--write] FILE.txt…: a file is a world, a line `plan`, and the plan for it, which is
// compared as a whole. --write puts down the plan as it is now; read the difference before you
// commit it.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/golden/golden_world.h"

namespace hai::test {
namespace {

constexpr std::string_view kSeparator = "\nplan\n";

bool check(const std::string& path, bool write) {
  std::ifstream file(path);
  if (!file) throw ScenarioError(path + ": cannot be read");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t end = text.find(kSeparator);
  if (end == std::string::npos) throw ScenarioError(path + ": has no line `plan`");
  const std::string expected = text.substr(end + kSeparator.size());
  text.resize(end + 1);
  std::istringstream world(text);
  const std::string plan = GoldenWorld(parse_script(world, path)).plan();
  if (write) {
    std::ofstream(path) << text << kSeparator.substr(1) << plan;
    return true;
  }
  if (plan == expected) return true;
  std::printf("FAILED %s\n--- expected\n%s--- is\n%s", path.c_str(), expected.c_str(),
              plan.c_str());
  return false;
}

}  // namespace
}  // namespace hai::test

int main(int argc, char** argv) {
  const bool write = argc > 1 && std::string_view(argv[1]) == "--write";
  int failed = 0;
  for (int i = write ? 2 : 1; i < argc; ++i) {
    try {
      failed += !hai::test::check(argv[i], write);
    } catch (const hai::test::ScenarioError& error) {
      std::printf("FAILED %s\n", error.what());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}
