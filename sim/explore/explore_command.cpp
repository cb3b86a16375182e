#include "sim/explore/explore_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "sim/explore/explorer.h"

namespace hai {
namespace {

constexpr int kNotExhausted = 2;

struct ExploreArguments {
  std::vector<std::string> models;
  std::vector<std::string> faults;  // NAME=COUNT
  ExploreLimits limits;
  bool list = false;
  bool quick = false;
  bool verbose = false;
};

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void print_figures(const char* what, const Model& model, const ExploreResult& result) {
  const double rate = result.seconds > 0 ? static_cast<double>(result.steps) / result.seconds : 0;
  std::printf(
      "%s %s: %llu states, %llu merged, %llu steps, %llu ends, %llu doubts, depth %zu, %.1f s, "
      "%.0f steps/s, "
      "%zu KiB a state\n",
      model.name.c_str(), what, static_cast<unsigned long long>(result.states),
      static_cast<unsigned long long>(result.merged), static_cast<unsigned long long>(result.steps),
      static_cast<unsigned long long>(result.ends), static_cast<unsigned long long>(result.doubts),
      result.depth, result.seconds, rate, result.image_bytes / 1024);
  std::fflush(stdout);
}

int explore(const Model& model, const ExploreArguments& arguments) {
  Explorer explorer(model);
  explorer.seconds = seconds_now;
  if (arguments.verbose) {
    explorer.progress = [&](const ExploreResult& so_far) {
      print_figures("so far", model, so_far);
    };
  }
  ExploreResult result = explorer.visit_all(arguments.limits);
  print_figures(result.violation      ? "found a violation"
                : result.is_exhausted ? "exhausted"
                                      : "not exhausted",
                model, result);
  if (!result.violation) return result.is_exhausted ? 0 : kNotExhausted;
  if (!arguments.quick) {
    result = explorer.shorten(result, arguments.limits);
    print_figures(result.is_exhausted ? "shortest path" : "shorter path", model, result);
  }
  for (const std::string& line : explorer.tell(result.path)) std::printf("%s\n", line.c_str());
  return 1;
}

bool set_fault(Model& model, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  for (size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (to_string(fault) != text.substr(0, equals)) continue;
    const int count = std::atoi(text.c_str() + equals + 1);
    if (count < 0 || count > Budget::kMax) return false;
    model.budget.set(fault, count);
    return true;
  }
  return false;
}

int run(const ExploreArguments& arguments) {
  int exit_code = 0;
  for (Model model : known_models()) {
    if (arguments.list) {
      std::printf("%-10s %s\n", model.name.c_str(), model.about.c_str());
      continue;
    }
    const auto& wanted = arguments.models;
    if (!wanted.empty() && std::ranges::find(wanted, model.name) == wanted.end()) continue;
    for (const std::string& fault : arguments.faults) {
      if (set_fault(model, fault)) continue;
      std::fprintf(stderr, "hai-sim: no such fault, or not 0..%d of it: %s\n", Budget::kMax,
                   fault.c_str());
      return kNotExhausted;
    }
    const int code = explore(model, arguments);
    if (code == 1 || exit_code == 0) exit_code = code;
  }
  return exit_code;
}

}  // namespace

std::function<int()> add_explore_command(CLI::App& app) {
  auto arguments = std::make_shared<ExploreArguments>();
  CLI::App* command = app.add_subcommand(
      "explore", "Visits every interleaving of small clusters; every promise is checked.");
  std::vector<std::string> names;
  for (const Model& model : known_models()) names.push_back(model.name);
  command->add_option("MODEL", arguments->models, "which (default: all)")
      ->check(CLI::IsMember(names));
  command->add_option("--fault", arguments->faults,
                      "NAME=COUNT, so many of a fault instead of the model's; may be given often");
  command->add_option("--max-states", arguments->limits.states_max, "stop there")
      ->capture_default_str();
  command->add_option("--max-seconds", arguments->limits.seconds_max, "stop after so long");
  command->add_flag("--list", arguments->list, "the models, and what they are about");
  command->add_flag("--quick", arguments->quick, "any story of a violation, not the shortest");
  command->add_flag("-v,--verbose", arguments->verbose, "figures every 100,000 steps");
  return [arguments] { return run(*arguments); };
}

}  // namespace hai
