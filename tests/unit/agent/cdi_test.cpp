#include "agent/image/cdi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/image/elf_soname.h"
#include "agent/image/rank_devices.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kGpu = "nvidia.com/gpu";

// In the form that `nvidia-ctk cdi generate` writes for two GPUs.
constexpr const char* kTwoGpus = R"(---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
    - path: /dev/dri/card1
      hostPath: /dev/dri/card1
    hooks:
    - hookName: createContainer
      path: /usr/bin/nvidia-cdi-hook
      args: [nvidia-cdi-hook, chmod, --mode, "755", --path, /dev/dri]
      env: [NVIDIA_CTK_DEBUG=false]
- name: "1"
  containerEdits:
    env:
    - OF_GPU=one
    deviceNodes:
    - path: /dev/nvidia1
    mounts:
    - hostPath: /run/gpu-1.sock
      containerPath: /run/gpu.sock/
      options: [rw, bind]
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
    - path: /dev/nvidia1
containerEdits:
  env:
  - NVIDIA_CTK_LIBCUDA_DIR=/usr/lib/x86_64-linux-gnu
  - NVIDIA_VISIBLE_DEVICES=void
  deviceNodes:
  - path: /dev/nvidiactl
  hooks:
  - hookName: createContainer
    path: /usr/bin/nvidia-ctk
    args:
    - nvidia-ctk
    - hook
    - create-symlinks
    - --link
    - libcuda.so.1::/usr/lib/x86_64-linux-gnu/libcuda.so
    - --link=../libnvidia-allocator.so.1::/usr/lib/x86_64-linux-gnu/gbm/nvidia-drm_gbm.so
  - hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
    args: [nvidia-cdi-hook, update-ldcache, --folder, /usr/lib/x86_64-linux-gnu,
           --folder, /usr/lib64]
  - hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
    args: [nvidia-cdi-hook, enable-cuda-compat, --host-driver-version=550.54.15]
  - hookName: startContainer
    path: /opt/site/hook
  mounts:
  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15
    hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15
    options:
    - ro
    - nosuid
    - nodev
    - bind
  - containerPath: /scratch
    hostPath: /scratch
    type: tmpfs
)";

CdiSpec parsed(const std::string& text, const std::string& file = "/etc/cdi/nvidia.yaml") {
  return parse_cdi(file, text, kGpu).value();
}

std::string refusal(const std::string& text) {
  const Result<CdiSpec> spec = parse_cdi("/etc/cdi/x.yaml", text, kGpu);
  EXPECT_FALSE(spec.is_ok());
  EXPECT_EQ(spec.status().code(), Code::failed_precondition);
  return spec.is_ok() ? "" : spec.status().message();
}

std::string small(const std::string& device, const std::string& value) {
  return "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ndevices:\n- name: '" + device +
         "'\n  containerEdits: {env: [FROM=" + value + "]}\n";
}

TEST(Cdi, ReadsWhatNvidiasToolWrites) {
  const CdiSpec spec = parsed(kTwoGpus);
  EXPECT_EQ(spec.kind, kGpu);
  EXPECT_EQ(spec.devices.size(), 3u);
  const CdiEdits& all = spec.edits;
  EXPECT_THAT(all.environment,
              UnorderedElementsAre(Pair("NVIDIA_CTK_LIBCUDA_DIR", "/usr/lib/x86_64-linux-gnu"),
                                   Pair("NVIDIA_VISIBLE_DEVICES", "void")));
  const std::string cuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15";
  EXPECT_THAT(all.mounts, ElementsAre(ImageMount{cuda, cuda, true}));
  EXPECT_THAT(all.links,
              ElementsAre(ImageLink{"/usr/lib/x86_64-linux-gnu/libcuda.so", "libcuda.so.1"},
                          ImageLink{"/usr/lib/x86_64-linux-gnu/gbm/nvidia-drm_gbm.so",
                                    "../libnvidia-allocator.so.1"}));
  EXPECT_THAT(all.library_folders, ElementsAre("/usr/lib/x86_64-linux-gnu", "/usr/lib64"));
  EXPECT_THAT(all.device_nodes, ElementsAre("/dev/nvidiactl"));
  EXPECT_THAT(all.skipped,
              ElementsAre("mount of type tmpfs", "hook enable-cuda-compat", "hook hook"));
  EXPECT_THAT(spec.devices.at("0").skipped, IsEmpty());
}

TEST(Cdi, GivesARankWhatItsGpusNeedAndWhatAllDo) {
  const CdiSpec spec = parsed(kTwoGpus);
  const CdiEdits zero = choose_cdi({{spec}}, kGpu, {"0"}).value();
  EXPECT_FALSE(zero.environment.contains("OF_GPU"));
  EXPECT_EQ(zero.mounts.size(), 1u);
  EXPECT_THAT(zero.device_nodes, ElementsAre("/dev/nvidiactl", "/dev/nvidia0", "/dev/dri/card1"));
  const CdiEdits both = choose_cdi({{spec}}, kGpu, {"0", "1"}).value();
  EXPECT_EQ(both.environment.at("OF_GPU"), "one");
  ASSERT_EQ(both.mounts.size(), 2u);
  EXPECT_EQ(both.mounts[1], (ImageMount{"/run/gpu-1.sock", "/run/gpu.sock", false}));
}

TEST(Cdi, ReadsJsonToo) {
  const CdiSpec spec = parsed(R"({"cdiVersion":"0.5.0","kind":"nvidia.com\/gpu","devices":[
    {"name":"0","containerEdits":{"env":["A=b=c"],"mounts":[{"hostPath":"/a","containerPath":"/b",
     "options":["ro","bind"]}]}}],"containerEdits":{}})");
  EXPECT_EQ(spec.devices.at("0").environment.at("A"), "b=c");
  EXPECT_THAT(spec.devices.at("0").mounts, ElementsAre(ImageMount{"/a", "/b", true}));
}

TEST(Cdi, TheLaterFolderCountsAndTwoFilesOfOneAreAnError) {
  const CdiSpec etc = parsed(small("0", "etc"), "/etc/cdi/a.yaml");
  const CdiSpec run = parsed(small("0", "run"), "/var/run/cdi/a.yaml");
  EXPECT_EQ(choose_cdi({{etc}, {run}}, kGpu, {"0"}).value().environment.at("FROM"), "run");
  EXPECT_EQ(choose_cdi({{etc}, {}}, kGpu, {"0"}).value().environment.at("FROM"), "etc");
  EXPECT_EQ(choose_cdi({{etc, run}}, kGpu, {"0"}).status().message(),
            "this node's CDI files /etc/cdi/a.yaml and /var/run/cdi/a.yaml both have "
            "nvidia.com/gpu=0");
}

TEST(Cdi, ADeviceThatNoFileHasIsAnErrorUnlessNoneHasTheKind) {
  const CdiSpec spec = parsed(small("0", "etc"));
  EXPECT_EQ(choose_cdi({{spec}}, kGpu, {"0", "3"}).status().message(),
            "this node's CDI files have no nvidia.com/gpu=3, but 0 in /etc/cdi/nvidia.yaml");
  const CdiSpec other = parsed("cdiVersion: 0.5.0\nkind: intel.com/gpu\ndevices: wrong\n");
  EXPECT_EQ(choose_cdi({{other}}, kGpu, {"3"}).value(), CdiEdits{});
}

TEST(Cdi, WhatIsWrongIsSaidWithTheFileAndTheLine) {
  const std::string head = "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: '0'\n";
  EXPECT_EQ(refusal(head + "  containerEdits: {env: [NOTHING]}\n"),
            "this node's CDI file /etc/cdi/x.yaml, line 5: env must be NAME=VALUE, is NOTHING");
  EXPECT_THAT(refusal("a: [b"), HasSubstr("/etc/cdi/x.yaml, line 2: not valid YAML: "));
  EXPECT_THAT(refusal(""), HasSubstr("/etc/cdi/x.yaml: a mapping is expected here"));
  EXPECT_THAT(refusal("kind: nvidia.com/gpu\n"), HasSubstr("cdiVersion is missing"));
  EXPECT_THAT(refusal("cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n"), HasSubstr("has no devices"));
  EXPECT_THAT(refusal(head + "- name: '0'\n"), HasSubstr("line 5: a second device"));
  for (const char* path : {"usr/lib", "/", "/usr/../etc"}) {
    EXPECT_THAT(refusal(head + "  containerEdits:\n    mounts:\n    - {hostPath: " + path +
                        ", containerPath: /x}\n"),
                HasSubstr("line 7: hostPath must be an absolute path without .., is "))
        << path;
  }
  EXPECT_THAT(refusal(head + "  containerEdits: {hooks: [{path: /usr/bin/nvidia-ctk, args: [x, "
                             "hook, create-symlinks, --link, a]}]}\n"),
              HasSubstr("--link must be TARGET::LINK, is a"));
}

// -- on this machine

std::string libc_path() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/libc.so.6")) return line.substr(line.find('/'));
  }
  return "";
}

TEST(Soname, IsReadFromALibraryAndFromNothingElse) {
  std::ifstream file(libc_path(), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(soname_of(text), "libc.so.6");
  for (const size_t size : {0u, 3u, 64u, 100u, 500u, 4'096u})
    EXPECT_EQ(soname_of(std::string_view(text).substr(0, size)), "") << size;
  EXPECT_EQ(soname_of("#!/bin/sh\n"), "");
}

class RankDevicesTest : public testing::Test {
 protected:
  RankDevicesTest() : folder_(testing::TempDir() + "hai-cdi-" + std::to_string(::getpid())) {
    std::filesystem::create_directory(folder_);
    ::chmod(folder_.c_str(), 0755);
    settings_.cdi = {folder_, folder_ + "/none"};
  }
  ~RankDevicesTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text, mode_t mode = 0644) {
    std::ofstream(folder_ + "/" + name) << text;
    ::chmod((folder_ + "/" + name).c_str(), mode);
  }
  Result<ImageDevices> find(GpuSet gpus = GpuSet::first(1)) {
    return find_devices(settings_, gpus,
                        [this](const std::string& line) { said_.push_back(line); });
  }

  const std::string folder_;
  ImageSettings settings_;
  std::vector<std::string> said_;
};

TEST_F(RankDevicesTest, MakesTheLinksThatALibraryIsFoundBy) {
  const std::string libc = libc_path();
  write("a.json", R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":"0"}],
    "containerEdits":{"mounts":[{"hostPath":")" +
                      libc + R"(","containerPath":"/lib64/libc-2.so"}],
    "deviceNodes":[{"path":"/dev/null"},{"path":"/dev/hai-none"}],
    "hooks":[{"path":"/usr/bin/nvidia-cdi-hook",
              "args":["x","update-ldcache","--folder","/lib64"]}]}})");
  const ImageDevices devices = find().value();
  EXPECT_EQ(devices.library_folder, "/usr/lib/hai-driver");
  EXPECT_THAT(devices.links,
              ElementsAre(ImageLink{"/lib64/libc.so.6", "libc-2.so"},
                          ImageLink{"/usr/lib/hai-driver/libc.so.6", "/lib64/libc-2.so"}));
  EXPECT_THAT(said_, ElementsAre("of this node's CDI files is left out: /dev/hai-none, which is "
                                 "not there"));
  EXPECT_EQ(find(GpuSet()).value(), ImageDevices{});
}

TEST_F(RankDevicesTest, WhatOthersCanWriteIsRefused) {
  write("a.yaml", small("0", "here"), 0646);
  EXPECT_THAT(find().status().message(), HasSubstr("a.yaml can be written by others than root"));
  write("a.yaml", small("0", "here"));
  EXPECT_EQ(find().value().environment.at("FROM"), "here");
  ::chmod(folder_.c_str(), 0777);
  EXPECT_THAT(find().status().message(), HasSubstr("can be written by others than root"));
}

TEST_F(RankDevicesTest, WhatIsNotThereIsSaid) {
  write("a.yaml",
        "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: '0'\n"
        "containerEdits: {mounts: [{hostPath: /hai-none, containerPath: /x}]}\n");
  EXPECT_EQ(find().status().message(),
            "this node's CDI files mount /hai-none: No such file or directory");
  settings_.gpu_device = "amd.com/gpu";
  EXPECT_EQ(find().value(), ImageDevices{});
}

}  // namespace
}  // namespace hai
