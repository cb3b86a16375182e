#include "common/spec/check_job_spec.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/text_check.h"

namespace hai {
namespace {

JobSpec good_spec() {
  JobSpec spec;
  spec.name = "llm-7b";
  spec.workspace = "/data/ann";
  spec.entrypoint = "train.py";
  return spec;
}

struct Case {
  const char* path;
  std::function<void(JobSpec&)> change;
};

TEST(CheckJobSpec, AcceptsWhatIsAllowed) {
  const std::function<void(JobSpec&)> kChanges[] = {
      [](JobSpec&) {},
      [](JobSpec& s) { s.name = std::string(255, 'x'); },
      [](JobSpec& s) { s.name = "7b"; },
      [](JobSpec& s) { s.parameters = "--a 'b c'\n--d"; },
      [](JobSpec& s) {
        s.environments = {{"_A1", "x=y\x1b"}, {"B", ""}};
      },
      [](JobSpec& s) { s.zone = "A"; },
      [](JobSpec& s) { s.node_count = 100'000; },
      [](JobSpec& s) { s.gpus_per_node = 64; },
      [](JobSpec& s) {
        s.suspend = {0s, "USR1", 255};
      },
      [](JobSpec& s) { s.watchdog = 0s; },
      [](JobSpec& s) {
        s.depends_on = {"17", "prep"};
      },
      [](JobSpec& s) { s.begin_at = unix_micros(0); },
      [](JobSpec& s) { s.image = "registry/team/image:1"; },
      [](JobSpec& s) {
        s.image = "rootfs:/3fs/debian";
        s.program.mounts = {"/data", "/a:/b:ro"};
      },
      [](JobSpec& s) { s.name = "Az09._-"; },
      [](JobSpec& s) { s.workspace = "/" + std::string(4094, 'x'); },
      [](JobSpec& s) { s.parameters = std::string(65'536, 'x'); },
      [](JobSpec& s) {
        for (int i = 0; i < 1000; ++i) s.environments["A" + std::to_string(i)] = "x";
      },
      [](JobSpec& s) {
        s.environments = {{"Zz_09", "x"}};
      },
      [](JobSpec& s) {
        s.secrets = {{"Zz_09", "a.b-c"}, {"B", "a.b-c"}};
      },
      [](JobSpec& s) { s.gpus_per_node = 0, s.suspend.exit_code = 1, s.max_leaves = 0; },
      [](JobSpec& s) { s.suspend.grace = 1h, s.watchdog = 30 * 24h, s.checkpoint_period = 1s; },
      [](JobSpec& s) { s.tags = {std::string(128, 'x')}; },
      [](JobSpec& s) {
        for (int i = 0; i < 64; ++i) s.tags.push_back(std::to_string(i) + std::string(100, 'x'));
      },
      [](JobSpec& s) {
        for (int i = 0; i < 100; ++i) s.depends_on.push_back("j" + std::to_string(i));
      },
      [](JobSpec& s) { s.depends_on = {"999999999999999999"}; },
      [](JobSpec& s) { s.begin_at = unix_micros(253'402'300'799'000'000); },
  };
  for (const auto& change : kChanges) {
    JobSpec spec = good_spec();
    change(spec);
    EXPECT_TRUE(to_status(check_job_spec(spec)).is_ok())
        << to_status(check_job_spec(spec)).message();
  }
}

TEST(CheckJobSpec, RefusesEachBadField) {
  const Case kCases[] = {
      {"name", [](JobSpec& s) { s.name = ""; }},
      {"name", [](JobSpec& s) { s.name = std::string(256, 'x'); }},
      {"name", [](JobSpec& s) { s.name = "a b"; }},
      {"name", [](JobSpec& s) { s.name = "a\n"; }},
      {"name", [](JobSpec& s) { s.name = std::string("a\0", 2); }},
      {"name", [](JobSpec& s) { s.name = "\xc3\xa9"; }},
      {"name", [](JobSpec& s) { s.name = "12345"; }},
      {"priority", [](JobSpec& s) { s.priority = static_cast<Priority>(11); }},
      {"array", [](JobSpec& s) { s.array = "0-1000000000"; }},
      {"array", [](JobSpec& s) { s.array = "5-1"; }},
      {"array",
       [](JobSpec& s) {
         s.array = "0-99999";
         s.environments = {{"A", std::string(3'000, 'x')}};
       }},
      {"resource.gpu_type", [](JobSpec& s) { s.node_filter.gpu_type = "h800; rm"; }},
      {"resource.gpu_type", [](JobSpec& s) { s.node_filter.gpu_type = " - "; }},
      {"resource.gpu_type", [](JobSpec& s) { s.node_filter.gpu_type = std::string(65, 'h'); }},
      {"resource.labels", [](JobSpec& s) { s.node_filter.labels.assign(17, "a"); }},
      {"resource.labels[0]", [](JobSpec& s) { s.node_filter.labels = {"a b"}; }},
      {"resource.nodes", [](JobSpec& s) { s.node_filter.nodes = "node-[4-1]"; }},
      {"resource.nodes", [](JobSpec& s) { s.node_filter.nodes = "node-[1-100000]"; }},
      {"resource.nodes", [](JobSpec& s) { s.node_filter.nodes = std::string(2'049, 'n'); }},
      {"resource.exclude_nodes", [](JobSpec& s) { s.node_filter.exclude = "a,,b"; }},
      {"spec.workspace", [](JobSpec& s) { s.workspace = ""; }},
      {"spec.workspace", [](JobSpec& s) { s.workspace = "data"; }},
      {"spec.workspace", [](JobSpec& s) { s.workspace = "~/x"; }},
      {"spec.workspace", [](JobSpec& s) { s.workspace = "/" + std::string(4095, 'x'); }},
      {"spec.workspace", [](JobSpec& s) { s.workspace = std::string("/a\0b", 4); }},
      {"spec.workspace", [](JobSpec& s) { s.workspace = "/a\nb"; }},
      {"spec.entrypoint", [](JobSpec& s) { s.entrypoint = ""; }},
      {"spec.entrypoint", [](JobSpec& s) { s.entrypoint = "bin/"; }},
      {"spec.entrypoint", [](JobSpec& s) { s.entrypoint = "a\x01"; }},
      {"spec.parameters", [](JobSpec& s) { s.parameters = "'open"; }},
      {"spec.parameters", [](JobSpec& s) { s.parameters = std::string("a\0b", 3); }},
      {"spec.parameters", [](JobSpec& s) { s.parameters = std::string(65'537, 'x'); }},
      {"spec.secrets.1A",
       [](JobSpec& s) {
         s.secrets = {{"1A", "x"}};
       }},
      {"spec.secrets.A",
       [](JobSpec& s) {
         s.secrets = {{"A", "x/y"}};
       }},
      {"spec.secrets.A",
       [](JobSpec& s) {
         s.environments = {{"A", "x"}};
         s.secrets = {{"A", "x"}};
       }},
      {"spec.secrets",
       [](JobSpec& s) {
         for (int i = 0; i < 101; ++i) s.secrets["A" + std::to_string(i)] = "x";
       }},
      {"spec.environments.1A",
       [](JobSpec& s) {
         s.environments = {{"1A", "x"}};
       }},
      {"spec.environments.A-B",
       [](JobSpec& s) {
         s.environments = {{"A-B", "x"}};
       }},
      {"spec.environments.",
       [](JobSpec& s) {
         s.environments = {{"", "x"}};
       }},
      {"spec.environments.A",
       [](JobSpec& s) {
         s.environments = {{"A", std::string("x\0", 2)}};
       }},
      {"spec.environments.A",
       [](JobSpec& s) {
         s.environments = {{"A", "\xff"}};
       }},
      {"spec.environments",
       [](JobSpec& s) {
         for (int i = 0; i < 1001; ++i) s.environments["A" + std::to_string(i)] = "x";
       }},
      {"spec.environments",
       [](JobSpec& s) {
         for (int i = 0; i < 5; ++i) {
           s.environments["A" + std::to_string(i)] = std::string(60'000, 'x');
         }
       }},
      {"resource.group", [](JobSpec& s) { s.group = ""; }},
      {"resource.group", [](JobSpec& s) { s.group = "a#b"; }},
      {"resource.group", [](JobSpec& s) { s.zone = "a b"; }},
      {"resource.node_count", [](JobSpec& s) { s.node_count = 0; }},
      {"resource.node_count", [](JobSpec& s) { s.node_count = 100'001; }},
      {"resource.gpus_per_node", [](JobSpec& s) { s.gpus_per_node = -2; }},
      {"resource.gpus_per_node", [](JobSpec& s) { s.gpus_per_node = 65; }},
      {"options.launch",
       [](JobSpec& s) {
         s.gpus_per_node = kNoGpus;
         s.launch = LaunchMode::per_gpu;
       }},
      {"options.suspend.grace",
       [](JobSpec& s) {
         s.gpus_per_node = kNoGpus;
         s.suspend.grace = 61s;
       }},
      {"resource.cpus_per_node", [](JobSpec& s) { s.cpus_per_node = -1; }},
      {"resource.memory_per_node", [](JobSpec& s) { s.memory_per_node_bytes = -1; }},
      {"resource.memory_per_node", [](JobSpec& s) { s.memory_per_node_bytes = 64; }},
      {"options.core_size", [](JobSpec& s) { s.program.core_size = -2; }},
      {"resource.image", [](JobSpec& s) { s.image = "a b"; }},
      {"resource.image", [](JobSpec& s) { s.image = "oci:relative"; }},
      {"resource.image", [](JobSpec& s) { s.image = std::string(1'025, 'a'); }},
      {"resource.mounts", [](JobSpec& s) { s.program.mounts = {"/data"}; }},
      {"services", [](JobSpec& s) { s.program.services.assign(33, "web:1"); }},
      {"services[1]",
       [](JobSpec& s) {
         s.program.services = {"web:1", "web:2"};
       }},
      {"services[0]", [](JobSpec& s) { s.program.services = {"web:1:rank=100000"}; }},
      {"services[0]", [](JobSpec& s) { s.program.services = {"web"}; }},
      {"resource.mounts",
       [](JobSpec& s) {
         s.image = "box";
         s.program.mounts.assign(65, "/data");
       }},
      {"resource.mounts[1]",
       [](JobSpec& s) {
         s.image = "box";
         s.program.mounts = {"/data", "/proc:/x"};
       }},
      {"options.suspend.grace", [](JobSpec& s) { s.suspend.grace = 61min; }},
      {"options.suspend.grace", [](JobSpec& s) { s.suspend.grace = -1s; }},
      {"options.suspend.signal", [](JobSpec& s) { s.suspend.signal = "SAVE"; }},
      {"options.suspend.signal", [](JobSpec& s) { s.suspend.signal = "SIGKILL"; }},
      {"options.suspend.signal", [](JobSpec& s) { s.suspend.signal = "STOP"; }},
      {"options.suspend.exit_code", [](JobSpec& s) { s.suspend.exit_code = 0; }},
      {"options.suspend.exit_code", [](JobSpec& s) { s.suspend.exit_code = 256; }},
      {"options.checkpoint.period", [](JobSpec& s) { s.checkpoint_period = 0s; }},
      {"options.restart.max", [](JobSpec& s) { s.restart.max = -1; }},
      {"options.timeout", [](JobSpec& s) { s.timeout = -1s; }},
      {"options.watchdog", [](JobSpec& s) { s.watchdog = 31 * 24h; }},
      {"options.max_leaves", [](JobSpec& s) { s.max_leaves = -1; }},
      {"options.interactive",
       [](JobSpec& s) { s.is_interactive = true, s.gpus_per_node = kNoGpus; }},
      {"options.interactive", [](JobSpec& s) { s.is_interactive = true, s.array = "0-3"; }},
      {"options.tags[0]", [](JobSpec& s) { s.tags = {""}; }},
      {"options.tags[0]", [](JobSpec& s) { s.tags = {std::string(129, 'x')}; }},
      {"options.tags[1]", [](JobSpec& s) { s.tags = {"a", "_b"}; }},
      {"options.tags[1]", [](JobSpec& s) { s.tags = {"a", "a"}; }},
      {"options.tags", [](JobSpec& s) { s.tags.assign(65, "a"); }},
      {"options.depends_on[0]", [](JobSpec& s) { s.depends_on = {"a b"}; }},
      {"options.depends_on[0]", [](JobSpec& s) { s.depends_on = {"0"}; }},
      {"options.depends_on[0]", [](JobSpec& s) { s.depends_on = {"9999999999999999999"}; }},
      {"options.depends_on[0]", [](JobSpec& s) { s.depends_on = {"llm-7b"}; }},
      {"options.depends_on[1]", [](JobSpec& s) { s.depends_on = {"a", "a"}; }},
      {"options.depends_on", [](JobSpec& s) { s.depends_on.assign(101, "a"); }},
      {"options.begin_at", [](JobSpec& s) { s.begin_at = unix_micros(-1); }},
      // The year 10000, which no text of a time can hold.
      {"options.begin_at", [](JobSpec& s) { s.begin_at = unix_micros(253'402'300'800'000'000); }},
  };
  for (const Case& c : kCases) {
    JobSpec spec = good_spec();
    c.change(spec);
    const std::vector<SpecError> errors = check_job_spec(spec);
    ASSERT_EQ(errors.size(), 1u) << c.path << "\n" << to_status(errors).message();
    EXPECT_EQ(errors[0].path, c.path);
    EXPECT_EQ(errors[0].line, 0);
    // Messages go to terminals, JSON and protobuf, whatever was in the field.
    EXPECT_FALSE(find_bad_text(errors[0].message).has_value());
  }
}

TEST(CheckJobSpec, ReportsAllAtOnce) {
  EXPECT_EQ(to_status(check_job_spec(JobSpec{.node_count = -3})).message(),
            "name: is missing\nspec.workspace: is missing\nspec.entrypoint: is missing\n"
            "resource.node_count: must be 1..100000, is -3");
}

}  // namespace
}  // namespace hai
