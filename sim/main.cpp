// hai-sim: the production controller and agent core in virtual time.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "common/version.h"
#include "sim/chaos.h"
#include "sim/explore/explore_command.h"
#include "sim/hunt/hunt_command.h"
#include "sim/replay/replay_command.h"
#include "sim/replay/write_log.h"
#include "sim/trace/trace_command.h"
#include "sim/year/year_command.h"

namespace {

constexpr int kUsageError = 2;

struct ChaosArguments {
  uint64_t seed = 0;
  uint64_t seeds = 0;
  uint64_t first_seed = 1;
  bool twice = false;
  bool fail_fast = false;
  bool shrink = false;
  bool no_shrink = false;
  std::string log;
  std::string world;
  std::string save;
  hai::ChaosOptions options;
};

const std::string kUnknowable[] = {"", "after a loss that could not be known: "};

hai::ChaosResult run_one(uint64_t seed, const ChaosArguments& arguments) {
  hai::ChaosResult result = hai::run_chaos(seed, arguments.options);
  if (!result.violation && arguments.twice) {
    hai::ChaosOptions options = arguments.options;
    options.record = nullptr;
    hai::ChaosResult again = hai::run_chaos(seed, options);
    if (again.digest != result.digest)
      result.violation = "determinism: the second run has another digest";
  }
  if (arguments.options.verbose || result.violation) {
    std::printf(
        "seed %llu: %s  digest=%016llx jobs=%lld events=%lld processes=%lld fenced=%lld "
        "faults=%lld "
        "virtual=%llds kinds=%s\n",
        static_cast<unsigned long long>(seed),
        result.violation
            ? (kUnknowable[result.is_after_unknowable_loss] + *result.violation).c_str()
            : "ok",
        static_cast<unsigned long long>(result.digest), static_cast<long long>(result.jobs),
        static_cast<long long>(result.events), static_cast<long long>(result.processes),
        static_cast<long long>(result.fenced), static_cast<long long>(result.faults),
        static_cast<long long>(result.virtual_time.count() / 1'000'000), result.kinds.c_str());
    std::fflush(stdout);
  }
  return result;
}

int usage_error(const hai::Status& status) {
  std::fprintf(stderr, "hai-sim: %s\n", status.message().c_str());
  return kUsageError;
}

constexpr int kShrinkSeconds = 60;

// The world of --seed, or of --world.
int run_seed(ChaosArguments arguments) {
  arguments.options.verbose = true;
  hai::WorldPlan world;
  hai::WorldPlan recorded;
  if (!arguments.world.empty()) {
    hai::Result<hai::WorldPlan> read = hai::read_world(arguments.world);
    if (!read.is_ok()) return usage_error(read.status());
    world = std::move(read.value());
    arguments.options.plan = &world;
  }
  const bool is_world = arguments.options.plan != nullptr;
  const bool may_shrink =
      is_world ? arguments.shrink
               : !arguments.no_shrink && !arguments.twice && arguments.options.nodes == 0;
  if (may_shrink || !arguments.save.empty()) arguments.options.record = &recorded;
  hai::Status written;
  if (!arguments.log.empty()) {
    arguments.options.on_log = [&](const std::vector<hai::Event>& events) {
      written = hai::write_log(arguments.log, events);
    };
  }
  const hai::ChaosResult result = run_one(arguments.seed, arguments);
  if (!arguments.save.empty() && written.is_ok())
    written = hai::write_world(arguments.save, recorded);
  if (!written.is_ok()) return usage_error(written);
  if (!result.violation) return 0;
  if (!may_shrink) return 1;
  return hai::shrink_and_tell(
      is_world ? world : recorded, *result.violation, kShrinkSeconds,
      is_world ? arguments.world + ".shrunk" : "seed-" + std::to_string(arguments.seed) + ".world");
}

int run_chaos_command(ChaosArguments arguments) {
  if (arguments.seed != 0 || !arguments.world.empty()) return run_seed(std::move(arguments));
  auto start = std::chrono::steady_clock::now();
  uint64_t count = arguments.seeds == 0 ? 100 : arguments.seeds;
  uint64_t failures = 0;
  uint64_t unknowable = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const hai::ChaosResult result = run_one(arguments.first_seed + i, arguments);
    unknowable += result.is_after_unknowable_loss;
    if (result.violation && !result.is_after_unknowable_loss) {
      ++failures;
      if (arguments.fail_fast) return 1;
    }
    if (!arguments.options.verbose && (i + 1) % 50 == 0) {
      std::fprintf(stderr, "%llu of %llu seeds\n", static_cast<unsigned long long>(i + 1),
                   static_cast<unsigned long long>(count));
    }
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%llu seeds, %llu failed, ", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(failures));
  if (arguments.options.store_goes_back) {
    std::printf("%llu after a loss that could not be known, ",
                static_cast<unsigned long long>(unknowable));
  }
  std::printf("%.1f s\n", seconds);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Simulates hai: the production controller and agents in virtual time."};
  app.set_version_flag("--version", std::string(hai::version()));
  app.require_subcommand(1);
  ChaosArguments chaos;
  CLI::App* command =
      app.add_subcommand("chaos", "Random jobs under random faults; every promise is checked.");
  command->add_option("--seed", chaos.seed, "run this one seed and print its digest");
  command->add_option("--seeds", chaos.seeds, "run so many seeds (default 100)");
  command->add_option("--first-seed", chaos.first_seed, "the first of --seeds (default 1)");
  command
      ->add_option("--nodes", chaos.options.nodes,
                   "nodes of the cluster (default: drawn from the seed, 3..9)")
      ->check(CLI::Range(1, 5000));
  command->add_option("--log", chaos.log, "write the event log of --seed to this file, for replay");
  command->add_option("--world", chaos.world,
                      "run the world in this file (of hunt, of --save or shrunk), not a seed's");
  command->add_option("--save", chaos.save, "write the world of --seed to this file, draw by draw");
  command->add_flag("--shrink", chaos.shrink,
                    "a --world that fails is shrunk for a minute at most, into FILE.shrunk");
  command->add_flag("--no-shrink", chaos.no_shrink,
                    "leave a --seed that fails as it is; else it is shrunk for a minute at most");
  command->add_flag("--twice", chaos.twice, "run each seed twice and compare the digests");
  command->add_flag(
      "--store-goes-back", chaos.options.store_goes_back,
      "also fail over to replicas that lack transactions: jobs may be lost, none runs twice");
  command->add_flag("--host", chaos.options.asks_for_host,
                    "jobs also ask for CPUs and memory, and some for no GPUs");
  command->add_flag("--fail-fast", chaos.fail_fast, "end with the first seed that fails");
  command->add_flag("-v,--verbose", chaos.options.verbose, "a line for every seed");
  std::function<int()> run_trace = hai::add_trace_command(app);
  std::function<int()> run_replay = hai::add_replay_command(app);
  std::function<int()> run_hunt = hai::add_hunt_command(app);
  std::function<int()> run_year = hai::add_year_command(app);
  std::function<int()> run_explore = hai::add_explore_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (command->parsed()) return run_chaos_command(chaos);
  if (app.got_subcommand("hunt")) return run_hunt();
  if (app.got_subcommand("year")) return run_year();
  if (app.got_subcommand("explore")) return run_explore();
  return app.got_subcommand("replay") ? run_replay() : run_trace();
}
