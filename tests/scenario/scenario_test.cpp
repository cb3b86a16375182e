// scenario_test FILE.scn…: plays scenarios; says file:line of the first thing that is not as
// expected. The format is in README.md.

#include <cstdio>

#include "tests/scenario/player.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: scenario_test FILE.scn...\n");
    return 2;
  }
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    hai::test::Player player;
    try {
      player.play(hai::test::read_script(argv[i]));
      std::printf("ok %s\n", argv[i]);
    } catch (const hai::test::ScenarioError& error) {
      for (const std::string& line : player.log()) std::printf("%s\n", line.c_str());
      std::printf("FAILED %s\n", error.what());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}
