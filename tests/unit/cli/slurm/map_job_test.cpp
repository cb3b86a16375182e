#include "cli/slurm/map_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slurm/map_container.h"
#include "cli/slurm/submit.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Surroundings here() {
  return {.directory = "/data/ann",
          .host = "login",
          .environment = {{"PATH", "/bin"},
                          {"SECRET", "1"},
                          {"SLURM_JOB_ID", "9"},
                          {"CUDA_VISIBLE_DEVICES", "0"},
                          {"BASH_FUNC_ml%%", "() {"}},
          .runner = "/opt/hai/bin/hai-slurm",
          .runner_in_image = "/opt/hai/libexec/hai/in-image/hai-slurm",
          .now = parse_rfc3339("2026-11-20T15:30:00Z").value()};
}

Result<MappedJob> mapped(std::vector<std::string> words) {
  const Result<ParsedWords> parsed = parse_words(Command::sbatch, words);
  RETURN_IF_ERROR(parsed.status());
  return map_job(parsed.value(), "train.sh", here());
}

JobSpec spec_of(std::vector<std::string> words) { return mapped(std::move(words)).value().spec; }

std::string error_of(std::vector<std::string> words) {
  return std::string(mapped(std::move(words)).status().message());
}

TEST(SlurmMapping, DefaultsAreAWholeNodeAndOneTask) {
  const MappedJob job = mapped({}).value();
  EXPECT_EQ(job.spec.name, "train.sh");
  EXPECT_EQ(job.spec.workspace, "/data/ann");
  EXPECT_EQ(job.spec.entrypoint, "/opt/hai/bin/hai-slurm");
  EXPECT_EQ(job.spec.env_style, EnvStyle::slurm);
  EXPECT_EQ(job.spec.launch, LaunchMode::per_node);
  EXPECT_EQ(job.spec.node_count, 1);
  EXPECT_EQ(job.spec.gpus_per_node, 0);
  EXPECT_EQ(job.spec.timeout, Duration(0));
  EXPECT_EQ(job.plan.tasks, 1);
  EXPECT_EQ(job.plan.submit_dir, "/data/ann");
  EXPECT_THAT(job.warnings, IsEmpty());
}

struct Shape {
  std::vector<std::string> words;
  int nodes;
  int tasks;
};

TEST(SlurmMapping, NodesAndTasks) {
  const Shape kShapes[] = {{{"-N4"}, 4, 4},
                           {{"-N4", "--ntasks-per-node=8"}, 4, 32},
                           {{"-n16", "--ntasks-per-node=8"}, 2, 16},
                           {{"-n17", "--ntasks-per-node=8"}, 3, 17},
                           {{"-N2", "-n5"}, 2, 5},
                           {{"-N2-2"}, 2, 2},
                           {{"-n6"}, 1, 6},
                           {{"-N4", "-n2"}, 2, 2}};
  for (const Shape& shape : kShapes) {
    const Result<MappedJob> job = mapped(shape.words);
    ASSERT_TRUE(job.is_ok()) << job.status().message();
    EXPECT_EQ(job.value().spec.node_count, shape.nodes) << shape.words[0];
    EXPECT_EQ(job.value().plan.tasks, shape.tasks) << shape.words[0];
  }
  EXPECT_THAT(mapped({"-N4", "-n2"}).value().warnings,
              ElementsAre("2 tasks cannot run on 4 nodes: 2 nodes are asked for"));
  EXPECT_THAT(error_of({"-N1-4"}), HasSubstr("--nodes: '1-4': a job has one number of nodes"));
  EXPECT_THAT(error_of({"-N0"}), HasSubstr("--nodes: must be a number 1..100000, is '0'"));
  EXPECT_THAT(error_of({"-N-4"}), HasSubstr("--nodes: must be a number"));
  EXPECT_THAT(error_of({"-n9", "-N2", "--ntasks-per-node=4"}), HasSubstr("9 tasks do not fit"));
}

TEST(SlurmMapping, Arrays) {
  EXPECT_EQ(spec_of({"--array=0-15:4%2"}).array, "0-15:4%2");
  EXPECT_THAT(error_of({"--array=5-1"}), HasSubstr("--array: '5-1': range 5-1 runs backwards"));
  EXPECT_THAT(error_of({"--array=0-1000000000"}), HasSubstr("indices go to"));
  EXPECT_THAT(spec_of({"-d", "afterok:7_3:8_*"}).depends_on, ElementsAre("7_3", "8"));
}

TEST(SlurmMapping, WhichNodes) {
  EXPECT_EQ(spec_of({"-C", "fast&h800"}).node_filter, (NodeFilter{.labels = {"fast", "h800"}}));
  EXPECT_THAT(error_of({"-C", "a|b"}), HasSubstr("'a|b': a node must have all that is named"));
  EXPECT_EQ(spec_of({"-x", "node-[1-2]", "-N2"}).node_filter,
            (NodeFilter{.exclude = "node-[1-2]"}));
  const JobSpec all = spec_of({"-w", "node-[1-3],node-2"});
  EXPECT_EQ(all.node_filter.nodes, "node-[1-3],node-2");
  EXPECT_EQ(all.node_count, 3);
  EXPECT_EQ(spec_of({"-w", "node-[1-3]", "-N2"}).node_count, 2);
  EXPECT_THAT(error_of({"-w", "node-1", "-N2"}), HasSubstr("2 nodes are asked for, and 1 named"));
  EXPECT_THAT(error_of({"-w", "./hosts"}), HasSubstr("files are not read"));
  EXPECT_THAT(error_of({"-x", "node-[2-1]"}), HasSubstr("range 2-1 runs backwards"));
}

v1::Node node_with(int cpus, int gpus) {
  v1::Node node;
  node.set_cpus(cpus);
  node.set_gpus(gpus);
  return node;
}

TEST(SlurmMapping, WholeNodesMustHaveWhatIsAskedOfThem) {
  const auto judged = [](const std::vector<std::string>& words,
                         const std::vector<v1::Node>& nodes) {
    return check_whole_nodes(mapped(words).value(), nodes);
  };
  const std::vector<v1::Node> nodes = {node_with(64, 8), node_with(16, 4)};
  EXPECT_TRUE(judged({"-c64"}, nodes).is_ok());
  EXPECT_EQ(judged({"-c5000"}, nodes).message(),
            "5000 CPUs of a node are asked for, but no node of training has more than 64");
  EXPECT_FALSE(judged({"-c16", "-N1", "-n5"}, nodes).is_ok()) << "all on one node";
  EXPECT_EQ(judged({"-c32", "-N2", "-n2"}, nodes).message(),
            "2 nodes asked for, but 1 of training has the CPUs and GPUs that the job names");
  EXPECT_TRUE(judged({"-c5000"}, {node_with(0, 8)}).is_ok()) << "it has not said how many";
  EXPECT_TRUE(judged({"-c5000"}, {}).is_ok()) << "the server says that there is no such group";
  EXPECT_TRUE(judged({"--exclusive", "--gres=gpu:8"}, nodes).is_ok());
  EXPECT_EQ(judged({"--exclusive", "--gres=gpu:16"}, nodes).message(),
            "16 GPUs of a node are asked for, but no node of training has more than 8");
}

TEST(SlurmMapping, ExclusiveSaysThatItGivesWholeNodes) {
  EXPECT_THAT(mapped({"--exclusive", "--gres=gpu:4"}).value().warnings,
              ElementsAre(HasSubstr("whole nodes with all their GPUs, of which there are 4")));
  EXPECT_THAT(mapped({"--exclusive", "--gres=none"}).value().warnings,
              ElementsAre(HasSubstr("whole nodes, and with them their GPUs")));
  EXPECT_THAT(mapped({"--exclusive"}).value().warnings, IsEmpty());
  EXPECT_EQ(spec_of({"--exclusive", "--gres=gpu:4", "--mem-per-gpu=2G"}).memory_per_node_bytes,
            int64_t{8} << 30);
}

TEST(SlurmMapping, Gpus) {
  const Shape kShapes[] = {{{"--gres=gpu:4"}, 4, 1},
                           {{"--gres=gpu"}, 1, 1},
                           {{"--gpus-per-node=2"}, 2, 1},
                           {{"-G8", "-N2"}, 4, 2},
                           {{"--gpus-per-task=1", "--ntasks-per-node=4"}, 4, 4},
                           {{"--gres=gpu:4", "--gpus-per-node=4"}, 4, 1},
                           {{"--gres=gpu:4", "--exclusive"}, 0, 1}};
  for (const Shape& shape : kShapes) {
    EXPECT_EQ(spec_of(shape.words).gpus_per_node, shape.nodes) << shape.words[0];
  }
  EXPECT_EQ(spec_of({"--gres=gpu:h100:8"}).gpus_per_node, 8);
  EXPECT_EQ(spec_of({"--gres=gpu:h100:8"}).node_filter.gpu_type, "h100");
  EXPECT_EQ(spec_of({"--gpus-per-node=a100:2"}).node_filter.gpu_type, "a100");
  EXPECT_THAT(mapped({"--gres=gpu:h100:8"}).value().warnings, IsEmpty());
  EXPECT_THAT(mapped({"-c4"}).value().warnings, ElementsAre(HasSubstr("whole nodes with all")));
  EXPECT_THAT(mapped({"-c4", "--gres=gpu:1"}).value().warnings, IsEmpty());
  EXPECT_THAT(mapped({"-c4", "--gres=none"}).value().warnings, IsEmpty());
  EXPECT_THAT(mapped({"-c1"}).value().warnings, IsEmpty());
  EXPECT_THAT(error_of({"--gres=gpu:h100:4", "--gpus-per-node=a100:4"}),
              HasSubstr("GPUs of type a100, another option says h100"));
  EXPECT_THAT(error_of({"--gres=gpu::4"}), HasSubstr("write gpu:N, gpu:TYPE:N or none"));
  EXPECT_THAT(error_of({"-G5", "-N2"}), HasSubstr("--gpus: 5 GPUs do not divide by 2 nodes"));
  EXPECT_THAT(error_of({"--gres=gpu:4", "--gpus-per-node=2"}), HasSubstr("another option says 4"));
  EXPECT_THAT(error_of({"--gres=craynetwork:1"}), HasSubstr("write gpu:N"));
  for (const char* none : {"--gres=none", "--gres=gpu:0", "--gpus-per-node=0", "--gpus=0"}) {
    EXPECT_EQ(spec_of({none}).gpus_per_node, kNoGpus) << none;
  }
  EXPECT_THAT(error_of({"--gres=gpu:-1"}), HasSubstr("write gpu:N, gpu:TYPE:N or none"));
  EXPECT_THAT(error_of({"--gres=none", "--gpus-per-node=2"}),
              HasSubstr("another option says none"));
  EXPECT_THAT(error_of({"--gres=gpu:2", "--gpus-per-node=0"}), HasSubstr("another option says 2"));
  EXPECT_THAT(error_of({"--gpus-per-node=65"}), HasSubstr("must be 1..64"));
}

TEST(SlurmMapping, CpusAndMemory) {
  EXPECT_EQ(spec_of({"-c6", "--gres=gpu:2", "--ntasks-per-node=2"}).cpus_per_node, 12);
  EXPECT_EQ(spec_of({"-c6"}).cpus_per_node, 0);  // a whole node has them all
  EXPECT_EQ(mapped({"-c6"}).value().plan.cpus_per_task, 6);
  EXPECT_EQ(spec_of({"-c6", "--gres=none", "--ntasks-per-node=2"}).cpus_per_node, 12);
  EXPECT_EQ(spec_of({"--gres=none", "--ntasks-per-node=3"}).cpus_per_node, 3) << "one to a task";
  EXPECT_EQ(spec_of({"--cpus-per-gpu=3", "--gres=gpu:2"}).cpus_per_node, 6);
  EXPECT_EQ(spec_of({"--mem=64G"}).memory_per_node_bytes, int64_t{64} << 30);
  EXPECT_EQ(spec_of({"--mem=1500"}).memory_per_node_bytes, int64_t{1500} << 20);
  EXPECT_EQ(spec_of({"--mem=0"}).memory_per_node_bytes, 0);
  EXPECT_EQ(spec_of({"--mem-per-cpu=2GB", "-c4"}).memory_per_node_bytes, int64_t{8} << 30);
  EXPECT_EQ(spec_of({"--mem-per-gpu=2G", "--gres=gpu:4"}).memory_per_node_bytes, int64_t{8} << 30);
  EXPECT_THAT(error_of({"--mem=lots"}), HasSubstr("--mem: 'lots': write 64G"));
  EXPECT_THAT(error_of({"--mem=9999999T"}), HasSubstr("--mem: more than 1024T"));
  EXPECT_THAT(error_of({"--mem-per-gpu=2G"}), HasSubstr("say how many GPUs"));
}

TEST(SlurmMapping, PlaceTimesAndPriority) {
  const JobSpec spec =
      spec_of({"-p", "training#B", "-t", "1-00", "--begin=now+1hour", "--qos=high", "--switches=1",
               "-d", "afterok:12:13,afterok:14", "-D", "sub", "-J", "my job/1"});
  EXPECT_EQ(spec.group, "training");
  EXPECT_EQ(spec.zone, "B");
  EXPECT_EQ(spec.timeout, Duration(24h));
  EXPECT_EQ(spec.begin_at, parse_rfc3339("2026-11-20T16:30:00Z").value());
  EXPECT_EQ(spec.priority, Priority::high);
  EXPECT_EQ(spec.max_leaves, 1);
  EXPECT_THAT(spec.depends_on, ElementsAre("12", "13", "14"));
  EXPECT_EQ(spec.workspace, "/data/ann/sub");
  EXPECT_EQ(spec.name, "my-job-1");
  EXPECT_EQ(spec_of({"--priority=30"}).priority, Priority::high);
  EXPECT_EQ(spec_of({"--nice"}).priority, Priority::low);
  EXPECT_EQ(spec_of({"--nice=0"}).priority, Priority::automatic);
  EXPECT_EQ(spec_of({"-J", "2026"}).name, "job-2026");
  EXPECT_EQ(spec_of({"--begin=now"}).begin_at, std::nullopt);
  EXPECT_TRUE(spec_of({"--qos=interactive"}).is_interactive);
  EXPECT_THAT(error_of({"--qos=debug"}), HasSubstr("--qos: unknown priority 'debug'"));
  EXPECT_THAT(error_of({"--nice=-5"}), HasSubstr("--nice: ask for a higher priority with --qos"));
  EXPECT_THAT(error_of({"-p", "a,b"}), HasSubstr("--partition: 'a,b': name one node group"));
  EXPECT_THAT(error_of({"-p", "a b"}), HasSubstr("resource.group"));
  EXPECT_THAT(error_of({"-t", "soon"}), HasSubstr("--time: time limit 'soon'"));
}

TEST(SlurmMapping, Dependencies) {
  EXPECT_THAT(
      spec_of({"-d", "afterok:1:2,afterany:3,afternotok:4,after:5:prep,aftercorr:6_*,singleton"})
          .depends_on,
      ElementsAre("1", "2", "afterany:3", "afternotok:4", "after:5", "after:prep", "aftercorr:6",
                  "singleton"));
  const std::pair<const char*, const char*> kRefused[] = {
      {"afterok:12?afterok:13", "with ? any of them would do"},
      {"afterok:", "name or id"},
      {"afterok", "name jobs after it"},
      {"after:7+5", "+MINUTES"},
      {"afterburstbuffer:7", "burst buffers"},
      {"expand:7", "do not grow"},
      {"whenever:7", "afterok, afterany, afternotok, after, aftercorr or singleton"}};
  for (const auto& [words, why] : kRefused) {
    EXPECT_THAT(error_of({std::string("--dependency=") + words}), HasSubstr(why)) << words;
  }
}

TEST(SlurmMapping, SignalIsTheNoticeToSave) {
  const MappedJob job = mapped({"--signal=B:USR1@120"}).value();
  EXPECT_EQ(job.spec.suspend.signal, "SIGUSR1");
  EXPECT_EQ(job.spec.suspend.grace, Duration(120s));
  EXPECT_TRUE(job.plan.signal_script);
  EXPECT_EQ(job.plan.signal, 10);
  EXPECT_EQ(job.plan.signal_seconds, 120);
  EXPECT_EQ(job.plan.time_limit_seconds, 0);
  EXPECT_EQ(mapped({"--signal=USR1", "-t", "5"}).value().plan.time_limit_seconds, 300);
  EXPECT_EQ(mapped({"--signal=USR1"}).value().plan.signal_seconds, 60);
  EXPECT_FALSE(mapped({"--signal=USR2"}).value().plan.signal_script);
  EXPECT_EQ(spec_of({"--signal=USR2"}).suspend.grace, Duration(60s));
  EXPECT_THAT(error_of({"--signal=NOPE"}), HasSubstr("--signal: "));
  EXPECT_THAT(error_of({"--signal=USR1@7200"}), HasSubstr("must be a number 1..3600"));
  EXPECT_THAT(error_of({"--signal=KILL"}), HasSubstr("no program can catch SIGKILL"));
}

TEST(SlurmMapping, Export) {
  EXPECT_THAT(spec_of({}).environments,
              ElementsAre(testing::Pair("PATH", "/bin"), testing::Pair("SECRET", "1")));
  EXPECT_THAT(spec_of({"--export=NONE"}).environments, IsEmpty());
  EXPECT_THAT(spec_of({"--export=PATH,A=b=c"}).environments,
              ElementsAre(testing::Pair("A", "b=c"), testing::Pair("PATH", "/bin")));
  EXPECT_EQ(spec_of({"--export=HAI_CONTEXT=a,HAI_TOKEN=b"}).environments,
            (EnvironmentMap{{"HAI_CONTEXT", "a"}}));
  EXPECT_EQ(spec_of({"--export=ALL,SECRET=2"}).environments.at("SECRET"), "2");
  EXPECT_THAT(error_of({"--export=ALL,a b=1"}), HasSubstr("--export: 'a b' is no name"));
}

TEST(SlurmMapping, FunctionsOfTheShellTravelApart) {
  const auto functions = [](const std::string& text) { return parse_functions(text).value(); };
  const MappedJob job = mapped({}).value();
  EXPECT_FALSE(job.spec.environments.contains("BASH_FUNC_ml%%"));
  EXPECT_EQ(functions(job.functions_text), (EnvironmentMap{{"BASH_FUNC_ml%%", "() {"}}));
  EXPECT_EQ(mapped({"--export=NONE"}).value().functions_text, "");
  EXPECT_EQ(mapped({"--export=PATH"}).value().functions_text, "");
  // Only what is a function: a program that reads such a name runs its value.
  EnvironmentMap odd = {{"BASH_FUNC_a%%", "rm -r x"}, {"BASH_FUNC_b()", "() { :; }"}};
  EXPECT_EQ(take_functions(odd), (EnvironmentMap{{"BASH_FUNC_b()", "() { :; }"}}));
  // More than fits is said.
  std::vector<std::string> warnings;
  const std::string much = format_functions(
      {{"BASH_FUNC_a%%", "() {"}, {"BASH_FUNC_b%%", std::string(70'000, 'x')}}, warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("the shell function BASH_FUNC_b%% does not travel")));
  EXPECT_EQ(functions(much).size(), 1u);
  EXPECT_FALSE(parse_functions("[1]").is_ok());
}

TEST(SlurmMapping, AnEnvironmentMayBeTooLarge) {
  Surroundings full = here();
  for (int i = 0; i < 6; ++i) full.environment[fmt::format("V{}", i)] = std::string(60'000, 'x');
  const Result<MappedJob> job = map_job(parse_words(Command::sbatch, {}).value(), "a.sh", full);
  EXPECT_THAT(job.status().message(),
              HasSubstr("at most 262144 are allowed; say with --export what the job needs"));
}

TEST(SlurmMapping, ContainerImages) {
  const MappedJob job =
      mapped({"--container-image=nvcr.io#nvidia/pytorch:24.05", "--container-workdir=/opt/app",
              "--container-mounts=/data:/in:ro,./out:/out", "--container-mounts", "/home/ann"})
          .value();
  EXPECT_EQ(job.spec.image, "docker://nvcr.io/nvidia/pytorch:24.05");
  EXPECT_THAT(job.spec.program.mounts,
              ElementsAre("/data:/in:ro", "/data/ann/out:/out", "/home/ann"));
  EXPECT_EQ(job.spec.entrypoint, "/opt/hai/libexec/hai/in-image/hai-slurm");
  EXPECT_EQ(job.spec.workspace, "/data/ann");
  EXPECT_EQ(job.plan.container_image, job.spec.image);
  EXPECT_EQ(job.plan.container_mounts, job.spec.program.mounts);
  EXPECT_EQ(job.plan.container_directory, "/opt/app");
  EXPECT_FALSE(job.spec.environments.contains("PATH"));
  EXPECT_TRUE(job.spec.environments.contains("SECRET"));
  const auto kept = spec_of({"--container-image=box", "--export=ALL,PATH=/opt/bin"}).environments;
  EXPECT_EQ(kept.at("PATH"), "/opt/bin");
  // A later one takes the place of the script's.
  EXPECT_EQ(spec_of({"--container-image=a", "--container-image=b"}).image, "docker://b");
}

TEST(SlurmMapping, ContainerImagesThatCannotBe) {
  EXPECT_THAT(error_of({"--container-mounts=/a:/b"}),
              HasSubstr("--container-mounts: is for jobs with --container-image"));
  EXPECT_THAT(error_of({"--container-workdir=/a"}), HasSubstr("is for jobs with"));
  const auto of_image = [](const std::string& image) {
    return error_of({"--container-image=" + image});
  };
  EXPECT_THAT(of_image(""), HasSubstr("--container-image needs a value"));
  EXPECT_THAT(of_image("/data/torch.sqsh"), HasSubstr("nodes read no squashfs files"));
  EXPECT_THAT(of_image("./torch.sqsh"), HasSubstr("nodes read no squashfs files"));
  EXPECT_THAT(of_image("dockerd://box"), HasSubstr("nodes have no such images"));
  EXPECT_THAT(of_image("ann@nvcr.io#box"), HasSubstr("ann@: registries are entered with the site"));
  EXPECT_THAT(of_image("nvcr#box"), HasSubstr("'nvcr' before the # must be a registry's whole"));
  EXPECT_THAT(of_image("a b"), HasSubstr("must be NAME[:TAG]"));
  const auto of_mount = [](const std::string& mount) {
    return error_of({"--container-image=box", "--container-mounts=" + mount});
  };
  EXPECT_THAT(of_mount("/a:/b:rx"), HasSubstr("--container-mounts: 'rx' is no flag of a mount"));
  EXPECT_THAT(of_mount("/a:/b:ro:x"), HasSubstr("must be FROM[:TO[:FLAGS]]"));
  EXPECT_THAT(of_mount("data:/b"), HasSubstr("absolute paths"));
  EXPECT_THAT(of_mount("/proc:/b"), HasSubstr("ranks have their own"));
  EXPECT_THAT(of_mount("/a:/b,"), HasSubstr("absolute paths"));
  EXPECT_THAT(error_of({"--container-image=box", "--container-workdir=app"}),
              HasSubstr("--container-workdir: must be an absolute path"));
  EXPECT_THAT(error_of({"--container-name=x"}), HasSubstr("--container-name is not supported"));
}

TEST(SlurmMapping, NamesOfContainerImages) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const std::pair<std::string, std::string> kNames[] = {
      {"ubuntu", "docker://ubuntu"},
      {"docker://ubuntu:24.04", "docker://ubuntu:24.04"},
      {"docker://nvcr.io#nvidia/pytorch", "docker://nvcr.io/nvidia/pytorch"},
      {"localhost:5000#box", "docker://localhost:5000/box"},
      {"nvcr.io/nvidia/pytorch:24.05", "docker://nvcr.io/nvidia/pytorch:24.05"},
      {"nvcr.io#box@" + digest, "docker://nvcr.io/box@" + digest},
      {"oci:/data/a@b#c:tag", "oci:/data/a@b#c:tag"},
      {"rootfs:/data/root", "rootfs:/data/root"}};
  for (const auto& [text, wanted] : kNames) {
    const Result<std::string> image = parse_container_image(text);
    EXPECT_EQ(image.is_ok() ? image.value() : image.status().message(), wanted) << text;
  }
}

TEST(SlurmMapping, AStepRunsInTheImageOfItsJob) {
  const auto checked = [](std::vector<std::string> words, const Container& job) {
    words.push_back("true");
    const ParsedWords parsed = parse_words(Command::srun, words).value();
    const Container step = container_of(parsed, "/data").value();
    return std::string(check_container_of_step(parsed, step, job).message());
  };
  const Container kBox{.image = "docker://nvcr.io/box", .mounts = {"/a:/b"}, .directory = {}};
  EXPECT_EQ(checked({}, {}), "");
  EXPECT_EQ(checked({}, kBox), "");
  EXPECT_EQ(checked({"--container-image=nvcr.io#box", "--container-mounts=/a:/b"}, kBox), "");
  EXPECT_EQ(checked({"--container-workdir=/opt"}, kBox), "");
  EXPECT_THAT(checked({"--container-image=box"}, {}),
              HasSubstr("this job runs in no image, and so do its steps: name the image for"));
  EXPECT_THAT(checked({"--container-image=other"}, kBox),
              HasSubstr("this job runs in docker://nvcr.io/box"));
  EXPECT_THAT(checked({"--container-mounts=/c"}, kBox),
              HasSubstr("--container-mounts: /c is not mounted in this job"));
}

TEST(SlurmMapping, PlanTravelsUnchanged) {
  JobPlan plan = mapped({"-N2", "-n5", "-c3", "-o", "a-%j.log", "--signal=USR1",
                         "--container-image=box", "--container-mounts=/a,/b"})
                     .value()
                     .plan;
  plan.command = {"a", "", "b c\n"};
  plan.arguments = {"\xff"};
  const Result<JobPlan> back = parse_plan(format_plan(plan));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  plan.arguments = {"\xef\xbf\xbd"};  // JSON holds no other bytes than UTF-8
  EXPECT_EQ(back.value(), plan);
  EXPECT_EQ(parse_plan(R"({"tasks":2})").value().signal_seconds, 60);  // of an older sbatch
  EXPECT_FALSE(parse_plan("{}").is_ok());
  EXPECT_FALSE(parse_plan("").is_ok());
}

}  // namespace
}  // namespace hai::cli::slurm
