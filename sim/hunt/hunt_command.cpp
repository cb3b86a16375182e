#include "sim/hunt/hunt_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "sim/hunt/hunt.h"
#include "sim/hunt/shrink.h"
#include "sim/hunt/story.h"

namespace hai {
namespace {

constexpr int kUsageError = 2;

struct Arguments {
  HuntOptions hunt;
  int seconds = 0;
  int shrink_seconds = 60;
  std::string corpus;
  std::string out = "found.world";
  bool fresh_only = false;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Status read_corpus(const std::string& folder, std::vector<WorldPlan>& worlds) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("kept-")) files.push_back(entry.path().string());
  }
  if (error) return unavailable("{}: {}", folder, error.message());
  std::ranges::sort(files);
  for (const std::string& file : files) {
    Result<WorldPlan> world = read_world(file);
    if (!world.is_ok()) return world.status();
    worlds.push_back(std::move(world.value()));
  }
  return ok();
}

Status keep_corpus(const std::string& folder, HuntOptions& options) {
  if (Status status = read_corpus(folder, options.corpus); !status.is_ok()) return status;
  // A bug may end the program: then this is the world that did it.
  options.before = [folder](const WorldPlan& world) {
    (void)write_world(folder + "/running.world", world);
  };
  options.kept = [folder, count = options.corpus.size(),
                  left = options.corpus.size()](const WorldPlan& world) mutable {
    if (left > 0 && left-- > 0) return;  // it came from there
    (void)write_world(fmt::format("{}/kept-{:06}.world", folder, count++), world);
  };
  return ok();
}

int run_hunt(Arguments arguments) {
  HuntOptions& options = arguments.hunt;
  options.learns = !arguments.fresh_only;
  if (!arguments.corpus.empty()) {
    if (Status status = keep_corpus(arguments.corpus, options); !status.is_ok()) {
      std::fprintf(stderr, "hai-sim: %s\n", status.message().c_str());
      return kUsageError;
    }
  }
  const double start = cpu_seconds();
  options.goes_on = [&](int64_t worlds, size_t pairs, size_t kept) {
    if (worlds > 0 && worlds % 200 == 0) {
      std::fprintf(stderr, "%lld worlds, %zu pairs reached, %zu worlds kept, %.0f s of CPU\n",
                   static_cast<long long>(worlds), pairs, kept, cpu_seconds() - start);
    }
    return arguments.seconds == 0 || cpu_seconds() - start < arguments.seconds;
  };
  const Hunted hunted = hunt(options);
  std::printf(
      "%lld worlds, %zu pairs reached, %zu worlds kept, %lld known violations, %.1f s of CPU\n",
      static_cast<long long>(hunted.worlds), hunted.pairs, hunted.kept,
      static_cast<long long>(hunted.known), cpu_seconds() - start);
  if (!hunted.world) return 0;
  std::printf("found: %s\n", hunted.violation.c_str());
  std::fflush(stdout);
  return shrink_and_tell(*hunted.world, hunted.violation, arguments.shrink_seconds, arguments.out);
}

}  // namespace

Result<WorldPlan> read_world(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return not_found("{} can't be read", file);
  Result<WorldPlan> plan = to_plan(text.str());
  if (!plan.is_ok()) return invalid_argument("{}: {}", file, plan.status().message());
  return plan;
}

Status write_world(const std::string& file, const WorldPlan& world) {
  std::ofstream out(file, std::ios::trunc);
  out << to_text(world);
  out.close();
  return out ? ok() : unavailable("{} can't be written", file);
}

int shrink_and_tell(const WorldPlan& world, const std::string& violation, int seconds,
                    const std::string& file) {
  Shrunk shrunk{.world = world, .violation = violation};
  if (seconds > 0) {
    ShrinkOptions options{.time = std::chrono::seconds(seconds)};
    options.progress = [](int64_t runs, const WorldPlan& left) {
      if (runs % 100 != 0) return;
      std::fprintf(stderr, "shrinking: %lld runs; %zu deeds, %zu acts, %zu holds, %zu draws left\n",
                   static_cast<long long>(runs), left.deeds.size(), left.acts.size(),
                   left.holds.size(), left.tape.size());
    };
    shrunk = shrink(world, violation, options);
    std::printf("shrunk in %lld runs%s: %zu deeds, %zu acts, %zu holds, %zu draws, %d nodes\n",
                static_cast<long long>(shrunk.runs), shrunk.is_done ? "" : " (out of time)",
                shrunk.world.deeds.size(), shrunk.world.acts.size(), shrunk.world.holds.size(),
                shrunk.world.tape.size(), shrunk.world.nodes);
  }
  if (Status status = write_world(file, shrunk.world); !status.is_ok()) {
    std::fprintf(stderr, "hai-sim: %s\n", status.message().c_str());
    return kUsageError;
  }
  std::printf("%s\nhai-sim chaos --world %s   # the same again\n",
              story_of(shrunk.world, {}).c_str(), file.c_str());
  return 1;
}

std::function<int()> add_hunt_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "hunt",
      "Looks for broken promises: short worlds, changed towards what none has reached yet.");
  command->add_option("--seed", arguments->hunt.seed,
                      "of the hunt: the same worlds in the same order (default 1)");
  command->add_option("--worlds", arguments->hunt.worlds, "at most so many (default 1000)")
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", arguments->seconds, "of CPU time, at most (default: no limit)");
  command->add_option(
      "--corpus", arguments->corpus,
      "begin with the worlds in this folder, and keep there what reaches new things");
  command->add_option("--known", arguments->hunt.known,
                      "pass over violations that contain this text; may be repeated");
  command->add_option("--out", arguments->out, "the world that was found (default found.world)");
  command->add_option("--shrink-seconds", arguments->shrink_seconds,
                      "make it smaller for so long at most; 0 = leave it (default 60)");
  command->add_flag("--fresh-only", arguments->fresh_only,
                    "learn nothing: each world is new; for comparison");
  return [arguments] { return run_hunt(*arguments); };
}

}  // namespace hai
