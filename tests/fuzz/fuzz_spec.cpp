// Throws mutated job files at the parser that the CLI and REST share, and damaged specs at the
// validator that gRPC asks. Whatever comes: no crash, no hang (a text has a time limit), no memory
// without bound (the process has one), each refusal is one printable line that names a field or a
// line of the file, and what is taken comes back unchanged from its own text and from JSON.
//
// usage: fuzz_spec [SECONDS [SEED]]

#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/rng.h"
#include "common/spec/job_spec_yaml.h"
#include "common/text_check.h"
#include "tests/fuzz/mutate.h"

namespace hai {
namespace {

using Json = nlohmann::json;

constexpr auto kLongest = std::chrono::seconds(5);  // on a busy machine; milliseconds are usual
constexpr rlim_t kMemoryBytesMax = rlim_t{1} << 30;
constexpr size_t kErrorBytesMax = 2'000;

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Each level stands for ten of the one before.
std::string alias_bomb() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{0}: &a{0} [{1}*a{2}]\n", i, repeated(fmt::format("*a{}, ", i - 1), 9),
                        i - 1);
  }
  return text + "version: 2\nspec: *a11\n";
}

const std::string kGood =
    "version: 2\nname: a\npriority: normal\nspec:\n  workspace: /data\n  entrypoint: train.py\n"
    "  parameters: --config 'x y'\n  environments: {A: b, C: \"d\\n\"}\nresource:\n"
    "  group: training#A\n  node_count: 2\n  gpus_per_node: 4\n  cpus_per_node: 8\n"
    "  memory_per_node: 64GiB\n  image: img\noptions:\n  launch: per_gpu\n  env_style: slurm\n"
    "  suspend: {grace: 60s, signal: SIGUSR1, exit_code: 85}\n  checkpoint: {period: 5m}\n"
    "  restart: {on_failure: true, max: 3}\n  timeout: 12h\n  watchdog: 30m\n  max_leaves: 1\n"
    "  cross_zone: never\n  tags: [a, b]\n  depends_on: [x, 7]\n"
    "  begin_at: 2026-11-20T08:00:00Z\n";

const std::vector<std::string> kSeeds = {
    kGood,
    R"({"version": 2, "name": "b", "spec": {"workspace": "/w", "entrypoint": "e.sh",)"
    R"( "parameters": ["a", "b c"], "environments": {"A": "\u00e9\ud83d\ude00\/\t"}},)"
    R"( "resource": {"node_count": 1e0}, "options": {"tags": ["x"], "timeout": "1h"}})",
    alias_bomb(),
    "x: &a [*a]\n",
    "name: &n a\nspec: &s {workspace: *n, entrypoint: *n}\nresource: *s\noptions: {<<: *s}\n",
    repeated("[", 20'000),
    repeated("{a: ", 20'000),
    repeated("- ", 20'000),
    repeated("a:\n ", 5'000),
    repeated("? ", 5'000),
    "version: " + std::string(100'000, '9') + "\n",
    "a: \"" + std::string(200'000, 'x') + "\n",
    "%YAML 9.9\n---\nversion: 2\n...\n---\nversion: 2\n",
    "version: !!binary aGFp\nname: !foo bar\n",
    std::string("name: a\0b\n", 10),
    "\xef\xbb\xbfversion: 2\nname: bom\n",
    "\xff\xfev\0e\0r\0"};

const std::vector<std::string> kPieces = {"\n",
                                          "\r\n",
                                          "\t",
                                          " ",
                                          ": ",
                                          "- ",
                                          "#",
                                          "'",
                                          "\"",
                                          "\\",
                                          "\\u0000",
                                          "\\ud83d",
                                          "\\x00",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          "&a ",
                                          "*a",
                                          "<<: ",
                                          "!!",
                                          "!!str ",
                                          "!",
                                          "|",
                                          ">-\n",
                                          "? ",
                                          "---\n",
                                          "...\n",
                                          "%TAG ",
                                          "null",
                                          "~",
                                          "true",
                                          "yes",
                                          ".inf",
                                          ".nan",
                                          "1e999",
                                          "-0",
                                          "0x7f",
                                          "0o17",
                                          "1_000",
                                          "-1",
                                          "+1",
                                          "99999999999999999999",
                                          "18446744073709551616",
                                          "1.5",
                                          "9223372036854775807s",
                                          "1e9h",
                                          "64Gi",
                                          "-1KiB",
                                          "9999-12-31T23:59:60Z",
                                          "\xff",
                                          "\xed\xa0\x80",
                                          "\xc0\x80",
                                          "\xf4\x90\x80\x80",
                                          "\xe2\x80\xa8",
                                          "\x1b[2J",
                                          "\x7f",
                                          "name: a\n",
                                          "name: b\n",
                                          "version: 2\n",
                                          "spec:\n",
                                          "options.tags: x\n",
                                          "\xef\xbb\xbf",
                                          "\xc2\x85",
                                          "#A",
                                          "auto",
                                          "EXTREME_HIGH"};

struct Round {
  uint64_t seed;
  int64_t number;
};

[[noreturn]] void fail(Round round, const std::string& what, const std::string& input) {
  fmt::print(stderr, "seed {} round {}: {}\ninput: {}\n", round.seed, round.number,
             what.substr(0, 5'000),
             Json(input.substr(0, 20'000)).dump(-1, ' ', true, Json::error_handler_t::replace));
  std::exit(1);
}

void judge_errors(Round round, const std::vector<SpecError>& errors, const std::string& input) {
  if (errors.empty()) fail(round, "refused without a reason", input);
  if (errors.size() > kFieldErrorsMax + 1) fail(round, "a flood of errors", input);
  for (const SpecError& error : errors) {
    const std::string line = to_string(error);
    if (error.message.empty()) fail(round, "an error without a text: " + line, input);
    if (line.size() > kErrorBytesMax) fail(round, "a very long error: " + line, input);
    if (printable(line) != line) fail(round, "an error that is not one line: " + line, input);
  }
}

// In the text of an error that names no field only its line can help, unless the whole is meant.
void judge_names(Round round, const std::vector<SpecError>& errors, const std::string& input) {
  for (const SpecError& error : errors) {
    const bool is_whole = error.message.find("bytes, at most") != std::string::npos ||
                          error.message.ends_with("more errors");
    if (error.path.empty() && error.line == 0 && !is_whole) {
      fail(round, "an error that names nothing: " + to_string(error), input);
    }
  }
}

void expect_same(Round round, const JobSpec& spec, const std::string& text,
                 const std::string& input) {
  JobSpec again;
  std::vector<SpecError> errors;
  if (!parse_job_spec(text, &again, &errors)) {
    fail(round, "its own text is refused: " + to_string(errors.front()) + "\n" + text, input);
  }
  if (!(again == spec)) fail(round, "comes back changed from\n" + text, input);
}

void try_text(Rng& rng, Round round) {
  const std::string text =
      mutate_text(rng, rng.chance(0.5) ? kGood : pick_from(rng, kSeeds), kPieces);
  const auto begin = std::chrono::steady_clock::now();
  JobSpec spec;
  std::vector<SpecError> errors;
  const bool taken = parse_job_spec(text, &spec, &errors);
  if (std::chrono::steady_clock::now() - begin > kLongest) fail(round, "takes too long", text);
  if (!taken) {
    judge_errors(round, errors, text);
    judge_names(round, errors, text);
    return;
  }
  if (!check_job_spec(spec).empty()) fail(round, "parsed, but not valid", text);
  expect_same(round, spec, format_job_spec_yaml(spec), text);
}

// Any text at all, a few of them likely.
std::string any_text(Rng& rng, std::string_view usual) {
  if (rng.chance(0.5)) return std::string(usual);
  return mutate_text(rng, std::string(usual), kPieces);
}

JobSpec any_spec(Rng& rng) {
  JobSpec spec;
  spec.name = any_text(rng, "a");
  spec.workspace = any_text(rng, "/w");
  spec.entrypoint = any_text(rng, "e.py");
  spec.parameters = any_text(rng, "--a 'b'");
  for (uint64_t i = rng.below(4); i > 0; --i) {
    spec.environments[any_text(rng, fmt::format("K{}", i))] = any_text(rng, "v w");
  }
  spec.group = any_text(rng, "training");
  spec.zone = rng.chance(0.5) ? "" : any_text(rng, "A");
  spec.image = rng.chance(0.5) ? "" : any_text(rng, "img");
  spec.node_count = static_cast<int>(rng.between(-1, 100'001));
  spec.memory_per_node_bytes = rng.between(-1, int64_t{1} << 51);
  spec.suspend.signal = rng.chance(0.5) ? "" : any_text(rng, "SIGUSR1");
  spec.suspend.grace = Duration(rng.between(-1, 3'600'000'001));
  for (uint64_t i = rng.below(3); i > 0; --i) spec.tags.push_back(any_text(rng, "t"));
  for (uint64_t i = rng.below(3); i > 0; --i) spec.depends_on.push_back(any_text(rng, "7"));
  if (rng.chance(0.3)) spec.begin_at = unix_micros(rng.between(-1, int64_t{1} << 58));
  return spec;
}

Json json_of(const JobSpec& spec) {
  Json json = {
      {"version", 2},
      {"name", spec.name},
      {"priority", to_string(spec.priority)},
      {"spec",
       {{"workspace", spec.workspace},
        {"entrypoint", spec.entrypoint},
        {"parameters", spec.parameters},
        {"environments", spec.environments}}},
      {"resource",
       {{"group", spec.zone.empty() ? spec.group : spec.group + "#" + spec.zone},
        {"node_count", spec.node_count},
        {"memory_per_node", spec.memory_per_node_bytes},
        {"image", spec.image}}},
      {"options",
       {{"suspend",
         {{"signal", spec.suspend.signal}, {"grace", format_duration(spec.suspend.grace)}}},
        {"tags", spec.tags},
        {"depends_on", spec.depends_on}}}};
  if (spec.begin_at) json["options"]["begin_at"] = format_rfc3339(*spec.begin_at);
  return json;
}

// As it comes by gRPC, without any file. What is valid has a text of its own, as YAML and as JSON
// with and without escapes.
void try_values(Rng& rng, Round round) {
  JobSpec spec = any_spec(rng);
  const std::string input = format_job_spec_yaml(spec);
  const std::vector<SpecError> errors = check_job_spec(spec);
  if (!errors.empty()) {
    judge_errors(round, errors, input);
    for (const SpecError& error : errors) {
      if (error.path.empty()) fail(round, "an error without a field: " + error.message, input);
    }
    return;
  }
  JobSpec read;
  std::vector<SpecError> unused;
  // Signals have several names, and only the parser puts them in order.
  if (!parse_job_spec(input, &read, &unused)) expect_same(round, spec, input, input);
  spec.suspend.signal = read.suspend.signal;
  if (spec.image == "default") spec.image.clear();  // HAI's word for none
  expect_same(round, spec, input, input);
  if (spec.begin_at) {  // format_rfc3339, as REST shows it, has milliseconds
    spec.begin_at =
        UnixTime(std::chrono::floor<std::chrono::milliseconds>(spec.begin_at->time_since_epoch()));
  }
  expect_same(round, spec, json_of(spec).dump(-1, ' ', rng.chance(0.5)), input);
}

int run(int seconds, uint64_t seed) {
  const rlimit limit = {kMemoryBytesMax, kMemoryBytesMax};
  setrlimit(RLIMIT_AS, &limit);
  Rng rng(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  Round round = {seed, 0};
  while (std::chrono::steady_clock::now() < end) {
    ++round.number;
    try_text(rng, round);
    try_values(rng, round);
  }
  fmt::print("{} job files and as many values, seed {}: nothing found\n", round.number, seed);
  return 0;
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return hai::run(seconds, seed);
}
