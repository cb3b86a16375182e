#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/python_environment.h"
#include "common/spec/job_spec_yaml.h"
#include "common/spec/sealed_value.h"

namespace hai {
namespace {

using testing::ElementsAre;

constexpr std::string_view kSmallest =
    "version: 2\nname: j\nspec: {workspace: /w, entrypoint: e.py}\n";

std::vector<std::string> errors_of(std::string_view yaml) {
  JobSpec spec;
  std::vector<SpecError> errors;
  const bool is_good = parse_job_spec(yaml, &spec, &errors);
  EXPECT_EQ(is_good, errors.empty());
  std::vector<std::string> lines;
  for (const SpecError& error : errors) lines.push_back(to_string(error));
  return lines;
}

JobSpec parsed(const std::string& yaml) {
  JobSpec spec;
  std::vector<SpecError> errors;
  EXPECT_TRUE(parse_job_spec(yaml, &spec, &errors)) << to_status(errors).message() << "\n" << yaml;
  return spec;
}

// Appends one line to the smallest spec.
std::vector<std::string> errors_with(const std::string& line) {
  return errors_of(std::string(kSmallest) + line + "\n");
}

TEST(ParseJobSpec, AJobMayDoWithoutGpus) {
  const JobSpec spec = parsed(std::string(kSmallest) + "resource: {gpus_per_node: none}\n");
  EXPECT_EQ(spec.gpus_per_node, kNoGpus);
  EXPECT_FALSE(spec.asks_gpus());
}

TEST(ParseJobSpec, ReadsEveryField) {
  JobSpec expected;
  expected.name = "llm-7b";
  expected.priority = Priority::normal;
  expected.workspace = "/data/ann/llm";
  expected.entrypoint = "train.py";
  expected.parameters = "--config 7b.yaml";
  expected.environments = {{"NCCL_DEBUG", "WARN"}};
  expected.secrets = {{"WANDB_API_KEY", "wandb"}};
  expected.group = "training";
  expected.zone = "A";
  expected.node_count = 16;
  expected.gpus_per_node = 8;
  expected.cpus_per_node = 4;
  expected.memory_per_node_bytes = int64_t{64} << 30;
  expected.image = "team/image:1";
  expected.program.mounts = {"/data", "/3fs/x:/x:ro"};
  expected.program.services = {"lab:8888:keep_path", "raw:9000:tcp:rank=15"};
  expected.launch = LaunchMode::per_gpu;
  expected.env_style = EnvStyle::torch;
  expected.suspend = {90s, "SIGUSR1", 86};
  expected.checkpoint_period = 10min;
  expected.restart = {true, 5};
  expected.timeout = 24h;
  expected.watchdog = 1h;
  expected.program.core_size = int64_t{2} << 30;
  expected.max_leaves = 2;
  expected.cross_zone = CrossZone::never;
  expected.is_interactive = true;
  expected.releases_early = true;
  expected.is_shared_in_group = true;
  expected.tags = {"a", "b"};
  expected.depends_on = {"prep", "17"};
  expected.begin_at = parse_rfc3339("2026-11-20T08:00:00Z").value();
  EXPECT_EQ(parsed(R"(
version: 2
name: llm-7b
priority: normal
spec:
  workspace: /data/ann/llm
  entrypoint: train.py
  parameters: --config 7b.yaml
  environments: {NCCL_DEBUG: WARN}
  secrets: {WANDB_API_KEY: wandb}
resource:
  group: training#A
  node_count: 16
  gpus_per_node: 8
  cpus_per_node: 4
  memory_per_node: 64Gi
  image: team/image:1
  mounts: [/data, "/3fs/x:/x:ro"]
services: [lab:8888:keep_path, raw:9000:tcp:rank=15]
options:
  launch: per_gpu
  env_style: torch
  suspend: {grace: 90s, signal: USR1, exit_code: 86}
  checkpoint: {period: 10m}
  restart: {on_failure: true, max: 5}
  timeout: 1d
  watchdog: 3600
  core_size: 2Gi
  max_leaves: 2
  cross_zone: never
  interactive: true
  release_early: true
  shared_in_group: true
  tags: [a, b]
  depends_on: [prep, 17]
  begin_at: 2026-11-20T08:00:00Z
)"),
            expected);
}

TEST(ParseJobSpec, DefaultsAreThoseOfTheStruct) {
  JobSpec expected;
  expected.name = "j";
  expected.workspace = "/w";
  expected.entrypoint = "e.py";
  EXPECT_EQ(parsed(std::string(kSmallest)), expected);
}

TEST(ParseJobSpec, TakesACoreSizeWithoutALimit) {
  const JobSpec spec = parsed(std::string(kSmallest) + "options: {core_size: unlimited}\n");
  EXPECT_EQ(spec.program.core_size, kUnlimited);
}

TEST(ParseJobSpec, TakesTheFormsOfHaisFiles) {
  const JobSpec spec = parsed(R"(version: 2
name: test
task_type: training
priority: 20
spec: {workspace: /w, entrypoint: e.sh, parameters: , environments: {A: 1}}
resource: {image: default, group: jd_a100#A, node_count: 1}
options: {timeout: 3600, tags: "a, b"}
)");
  EXPECT_EQ(spec.priority, Priority::above_normal);
  EXPECT_EQ(spec.image, "");
  EXPECT_EQ(spec.zone, "A");
  EXPECT_EQ(spec.timeout, 1h);
  EXPECT_THAT(spec.tags, ElementsAre("a", "b"));
}

TEST(ParseJobSpec, ParametersMayBeAList) {
  const JobSpec spec = parsed(
      "version: 2\nname: j\nspec:\n  workspace: /w\n  entrypoint: e\n"
      "  parameters: [--config, 7b x.yaml, \"it's\", 3]\n");
  EXPECT_EQ(spec.parameters, "--config '7b x.yaml' 'it'\\''s' 3");
}

TEST(ParseJobSpec, ReportsEveryErrorWithItsLine) {
  EXPECT_THAT(
      errors_of(R"(version: 3
nam: x
priority: 11
node_count: 4
spec:
  workspace: data
  entrypont: train.py
  parameters: "'open"
  environments: {1A: b}
resource:
  group: training#
  node_count: -3
  gpus_per_node: eight
  memory: 5
options:
  py_venv: ../202111
  suspend: 5s
  launch: per_rank
  tags: [a, _b]
  depends_on: [{x: y}]
services: [jupyter]
)"),
      ElementsAre(
          "line 1: version: must be 2, is 3", "line 1: name: is missing",
          "line 2: nam: unknown key, did you mean name?", testing::StartsWith("line 3: priority: "),
          "line 4: node_count: unknown key, did you mean resource.node_count?",
          "line 5: spec.entrypoint: is missing",
          "line 6: spec.workspace: must be an absolute path, is 'data'",
          "line 7: spec.entrypont: unknown key, did you mean entrypoint?",
          "line 8: spec.parameters: parameters: the quote ' at character 1 is not closed",
          "line 9: spec.environments.1A: a variable's name must be 1..255 letters, digits or _, "
          "the first no digit",
          "line 11: resource.group: must be GROUP#ZONE, the zone is empty",
          "line 12: resource.node_count: must be 1..100000, is -3",
          "line 13: resource.gpus_per_node: must be a whole number, is 'eight'",
          "line 14: resource.memory: say the unit, as 5Gi",
          testing::StartsWith("line 16: options.py_venv: an environment's name is 1..64 of"),
          "line 17: options.suspend: must be a mapping, is a single value",
          "line 18: options.launch: must be per_node or per_gpu, is 'per_rank'",
          "line 19: options.tags[1]: a tag must not be empty, start with _, or hold commas or "
          "blanks, is '_b'",
          "line 20: options.depends_on[0]: must be a text, is a mapping",
          "line 21: services[0]: jupyter: must be NAME:PORT, the port 1..65535, as jupyter:8888"));
}

TEST(ParseJobSpec, TakesServicesAsTextsAndAsHaiWritesThem) {
  JobSpec spec;
  std::vector<SpecError> errors;
  const std::string head =
      "version: 2\nname: j\nspec: {workspace: /w, entrypoint: e}\nresource: {node_count: 3}\n";
  EXPECT_TRUE(parse_job_spec(head + "services: [web:8000, raw:1:tcp:rank=2]\n", &spec, &errors));
  EXPECT_THAT(spec.program.services, ElementsAre("web:8000", "raw:1:tcp:rank=2"));
  EXPECT_TRUE(parse_job_spec(head + "services:\n- {name: web, port: 8000, type: http, rank: [0]}\n"
                                    "- {name: raw, port: 1, type: tcp, rank: 2}\n"
                                    "- {name: lab, port: 2, rewrite_uri: false}\n",
                             &spec, &errors));
  EXPECT_THAT(spec.program.services,
              ElementsAre("web:8000", "raw:1:tcp:rank=2", "lab:2:keep_path"));
  EXPECT_THAT(
      errors_of(head + "services:\n- {name: web, port: 0}\n- {name: a, port: 1, type: local}\n"
                       "- {port: 3}\n- {name: b, port: 4, startup_script: x, rank: [1, 2]}\n"),
      ElementsAre("line 6: services[0].port: must be 1..65535, is 0",
                  "line 7: services[1].type: must be http or tcp, is 'local'",
                  "line 8: services[2].name: is missing",
                  "line 9: services[3].rank: must be one rank, as [0]",
                  "line 9: services[3].startup_script: not supported here: start it from the "
                  "entrypoint"));
  EXPECT_THAT(errors_of(head + "services: [c:5:rank=3, c:6, c:7]\n"),
              ElementsAre("line 5: services[0]: c: the job has 3 nodes, ranks 0 to 2, not 3",
                          "line 5: services[1]: there are two named c",
                          "line 5: services[2]: there are two named c"));
}

TEST(ParseJobSpec, TakesAPythonEnvironmentAsAVariableOfTheJob) {
  JobSpec spec;
  std::vector<SpecError> errors;
  const std::string head = "version: 2\nname: j\nspec: {workspace: /w, entrypoint: e}\n";
  ASSERT_TRUE(parse_job_spec(head + "options: {py_venv: 202111}\n", &spec, &errors));
  EXPECT_EQ(spec.environments[kPythonEnvironment], "202111");
  ASSERT_TRUE(parse_job_spec(head + "options: {py_venv: 'llm[ann]'}\n", &spec, &errors));
  EXPECT_EQ(spec.environments[kPythonEnvironment], "llm[ann]");
  EXPECT_FALSE(parse_job_spec(
      "version: 2\nname: j\nspec: {workspace: /w, entrypoint: e, environments: {HAI_PY_VENV: "
      "'a:b'}}\n",
      &spec, &errors))
      << "nor by its variable";
}

TEST(ParseJobSpec, TakesHaisNamesAndWhatAsksForNothing) {
  JobSpec spec;
  std::vector<SpecError> errors;
  const std::string head = "version: 2\nname: j\nspec: {workspace: /w, entrypoint: e}\n";
  EXPECT_TRUE(parse_job_spec(head +
                                 "services: []\noptions:\n  watchdog_time: 600\n"
                                 "  override_node_resource: {cpu: 12, memory: 64Gi}\n"
                                 "  assigned_nodes: [node-1, 'node-[3-4]']\n"
                                 "  sidecar: []\n  py_venv: \"\"\n  profile: {}\n  mount_code: 0\n",
                             &spec, &errors));
  EXPECT_EQ(spec.watchdog, Duration(600s));
  EXPECT_EQ(spec.cpus_per_node, 12);
  EXPECT_EQ(spec.memory_per_node_bytes, int64_t{64} << 30);
  EXPECT_EQ(spec.node_filter.nodes, "node-1,node-[3-4]");
  EXPECT_FALSE(parse_job_spec(head + "options: {sidecar: [proxy]}\n", &spec, &errors));
  EXPECT_TRUE(parse_job_spec(head + "resource: {gpu_type: h800, labels: [fast, new], "
                                    "nodes: 'node-[1-4]', exclude_nodes: node-2}\n",
                             &spec, &errors));
  EXPECT_EQ(spec.node_filter, (NodeFilter{"h800", {"fast", "new"}, "node-[1-4]", "node-2"}));
}

TEST(ParseJobSpec, RefusesEachBadValue) {
  const struct {
    const char* line;
    const char* error;
  } kCases[] = {
      {"name: k", "line 4: the key 'name' is here twice, first in line 2"},
      {"priority: [1]", "line 4: priority: must be a text, is a list"},
      {"task_type: jupyter", "line 4: task_type: 'jupyter' is not supported, only training is"},
      {"resource: 8", "line 4: resource: must be a mapping, is a single value"},
      {"resource: {node_count: 1.5}",
       "line 4: resource.node_count: must be a whole number, is '1.5'"},
      {"resource: {node_count: 1e3}",
       "line 4: resource.node_count: must be a whole number, is '1e3'"},
      {"resource: {node_count: 0x10}",
       "line 4: resource.node_count: must be a whole number, is '0x10'"},
      {"resource: {node_count: 100001}",
       "line 4: resource.node_count: must be 1..100000, is 100001"},
      {"resource: {gpus_per_node: 65}", "line 4: resource.gpus_per_node: must be 0..64, is 65"},
      {"resource: {gpus_per_node: -1}", "line 4: resource.gpus_per_node: must be 0..64, is -1"},
      {"resource: {gpus_per_node: some}",
       "line 4: resource.gpus_per_node: must be a whole number, is 'some'"},
      {"resource: {memory_per_node: -1}",
       "line 4: resource.memory_per_node: size '-1': write it like 64Gi, 500M or 4096"},
      {"resource: {memory_per_node: 2000Ti}",
       "line 4: resource.memory_per_node: must be 0..1Pi, is 2000Ti"},
      {"resource: {memory_per_node: unlimited}",
       "line 4: resource.memory_per_node: size 'unlimited': write it like 64Gi, 500M or 4096"},
      {"options: {core_size: 2000Ti}", "line 4: options.core_size: must be 0..1Pi, is 2000Ti"},
      {"resource: {group: 'a b'}",
       "line 4: resource.group: must be a group's name, or GROUP#ZONE, is 'a b'"},
      {"resource: {group: 'a#b#c'}",
       "line 4: resource.group: must be GROUP#ZONE, the zone is 'b#c'"},
      {"options: {suspend: {grace: 2h}}", "line 4: options.suspend.grace: must be 0s..1h, is 2h"},
      {"options: {suspend: {signal: SIGKILL}}",
       "line 4: options.suspend.signal: no program can catch SIGKILL and save, take one like "
       "SIGUSR1"},
      {"options: {suspend: {signal: 10}}",
       "line 4: options.suspend.signal: unknown signal '10', write a name like SIGUSR1"},
      {"options: {suspend: {exit_code: 0}}",
       "line 4: options.suspend.exit_code: must be 1..255, is 0"},
      {"options: {restart: {on_failure: 1}}",
       "line 4: options.restart.on_failure: must be true or false, is '1'"},
      {"options: {cross_zone: maybe}",
       "line 4: options.cross_zone: must be allow or never, is 'maybe'"},
      {"options: {env_style: pbs}",
       "line 4: options.env_style: must be hai, torch or slurm, is 'pbs'"},
      {"options: {begin_at: 2026-11-20}",
       "line 4: options.begin_at: time '2026-11-20': write it like 2026-11-20T08:00:00Z"},
      {"options: {depends_on: j}",
       "line 4: options.depends_on[0]: the job cannot depend on itself; to wait for earlier ones "
       "of "
       "its name, say singleton"},
      {"options: {watchdog_time: soon}",
       "line 4: options.watchdog_time: must be a whole number, is 'soon'"},
      {"options: {suspend: {grce: 5s}}",
       "line 4: options.suspend.grce: unknown key, did you mean grace?"},
      {"---\nname: k", "line 4: a second document starts here, only one is allowed"},
  };
  for (const auto& c : kCases) EXPECT_THAT(errors_with(c.line), ElementsAre(c.error)) << c.line;
}

TEST(ParseJobSpec, AnUnreadableTextGivesOneError) {
  EXPECT_THAT(errors_of(std::string(10u << 20, 'x')),
              ElementsAre("10485760 bytes, at most 1048576 are read"));
  EXPECT_THAT(errors_of(std::string("name: \0", 7)),
              ElementsAre("line 1: a NUL byte: this is not a YAML text"));
  EXPECT_THAT(errors_of("\x89PNG\r\n\x1a\n"),
              ElementsAre("line 1: bytes that are not UTF-8: this is not a YAML text"));
  EXPECT_THAT(errors_of("just a text"),
              ElementsAre("line 1: must be a mapping of keys to values, is a single value"));
  EXPECT_THAT(errors_of("a: [1, 2"), ElementsAre(testing::HasSubstr("not valid YAML")));
  EXPECT_THAT(errors_of(""),
              ElementsAre("version: is missing", "name: is missing", "spec.workspace: is missing",
                          "spec.entrypoint: is missing"));
}

TEST(ParseJobSpec, AVariableMaySayThatItsValueIsASecret) {
  const auto with = [](const std::string& environments) {
    return "version: 2\nname: j\nspec: {workspace: /w, entrypoint: e, environments: " +
           environments + "}\n";
  };
  const JobSpec spec = parsed(with("{A: 1, B: {secret: 'x y'}, C: }"));
  EXPECT_EQ(spec.environments,
            (std::map<std::string, std::string>{
                {"A", "1"}, {"B", std::string(kToSealMark) + "x y"}, {"C", ""}}));
  EXPECT_EQ(parsed(format_job_spec_yaml(spec)), spec);
  const std::string why = "line 3: spec.environments.B: must be a text, or {secret: TEXT}, is ";
  EXPECT_THAT(errors_of(with("{B: {hidden: x}}")), ElementsAre(why + "a mapping"));
  EXPECT_THAT(errors_of(with("{B: {secret: }}")), ElementsAre(why + "a mapping"));
  EXPECT_THAT(errors_of(with("{B: {secret: x, other: y}}")), ElementsAre(why + "a mapping"));
  EXPECT_THAT(errors_of(with("{B: [x]}")), ElementsAre(why + "a list"));
}

TEST(ParseJobSpec, ANulByteCannotBeEscapedIn) {
  EXPECT_THAT(errors_with("resource: {image: \"a\\0b\"}"),
              ElementsAre("line 4: resource.image: contains a NUL byte"));
  EXPECT_THAT(errors_of("version: 2\nname: j\nspec: {workspace: /w, entrypoint: e, "
                        "environments: {A: \"\\0\"}}\n"),
              ElementsAre("line 3: spec.environments.A: contains a NUL byte"));
}

}  // namespace
}  // namespace hai
