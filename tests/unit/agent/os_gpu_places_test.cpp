// Which CPUs, memory and network cards are beside which GPUs, from a /sys of two sockets with four
// GPUs and two network cards each.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "agent/os/gpu_places.h"

namespace hai {
namespace {

class GpuPlaces : public ::testing::Test {
 protected:
  GpuPlaces() {
    std::string folder = ::testing::TempDir() + "hai-gpus-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    for (int gpu = 0; gpu < 8; ++gpu) {
      const int socket = gpu / 4;
      const std::string address = "0000:" + std::to_string(10 + gpu) + ":00.0";
      // Two GPUs and a card below each switch.
      const std::string bridge = bridge_of(gpu / 2);
      add_device(bridge + "/gpu" + std::to_string(gpu), address, socket);
      addresses_.push_back(address);
    }
    for (int nic = 0; nic < 4; ++nic) {
      const std::string name = "mlx5_" + std::to_string(3 - nic);
      const std::string device = bridge_of(nic) + "/card";
      add_device(device, "", nic / 2);
      std::filesystem::create_directories(sys() + "/class/infiniband/" + name);
      std::filesystem::create_symlink(sys() + device,
                                      sys() + "/class/infiniband/" + name + "/device");
    }
  }

  ~GpuPlaces() override { std::filesystem::remove_all(folder_); }

  std::string sys() const { return folder_ + "/sys"; }
  static std::string bridge_of(int number) {
    return "/devices/pci" + std::to_string(number / 2) + "/bridge" + std::to_string(number);
  }
  void add_device(const std::string& path, const std::string& address, int socket) {
    std::filesystem::create_directories(sys() + path);
    write(sys() + path + "/numa_node", std::to_string(socket) + "\n");
    write(sys() + path + "/local_cpulist", socket == 0 ? "0-3,16-19\n" : "4-7,20-23\n");
    if (address.empty()) return;
    std::filesystem::create_directories(sys() + "/bus/pci/devices");
    std::filesystem::create_symlink(sys() + path, sys() + "/bus/pci/devices/" + address);
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  std::string folder_;
  std::vector<std::string> addresses_;
};

TEST_F(GpuPlaces, AreReadFromTheKernel) {
  const std::vector<GpuPlace> places = find_gpu_places(addresses_, sys());
  ASSERT_EQ(places.size(), 8u);
  EXPECT_EQ(places[0], (GpuPlace{0, "0-3,16-19", "mlx5_3"}));
  EXPECT_EQ(places[7], (GpuPlace{1, "4-7,20-23", "mlx5_0"}));
  const Environment all = variables_of_places(places, GpuSet{0xff});
  EXPECT_EQ(all.at("HAI_GPU_NUMA"), "0,0,0,0,1,1,1,1");
  EXPECT_EQ(all.at("HAI_GPU_NICS"), "mlx5_3,mlx5_3,mlx5_2,mlx5_2,mlx5_1,mlx5_1,mlx5_0,mlx5_0");
  EXPECT_EQ(variables_of_places(places, GpuSet{0x24}).at("HAI_GPU_NICS"), "mlx5_2,mlx5_1");
  EXPECT_TRUE(variables_of_places(places, GpuSet{}).empty());
}

TEST_F(GpuPlaces, BindSharesOnly) {
  const std::vector<GpuPlace> places = find_gpu_places(addresses_, sys());
  EXPECT_EQ(near_cpus(places, GpuSet{0x01}, 0), "0-3,16-19");
  EXPECT_EQ(near_cpus(places, GpuSet{0xf0}, 8), "4-7,20-23");
  EXPECT_EQ(near_cpus(places, GpuSet{0x18}, 0), "0-3,16-19,4-7,20-23");
  EXPECT_EQ(near_cpus(places, GpuSet{0x01}, 9), "") << "more than are near";
  EXPECT_EQ(near_cpus(places, GpuSet{0xff}, 0), "") << "the whole node";
  EXPECT_EQ(near_cpus(places, GpuSet{}, 0), "") << "no GPUs";
  EXPECT_EQ(near_cpus({}, GpuSet{0x01}, 0), "") << "nothing is known";
}

// Cards that are as near to all go round.
TEST_F(GpuPlaces, ShareCardsThatAreAsNearEvenly) {
  for (int nic = 0; nic < 4; ++nic) {
    const std::string link = sys() + "/class/infiniband/mlx5_" + std::to_string(nic) + "/device";
    std::filesystem::remove(link);
    const std::string far = "/devices/pci9/card" + std::to_string(nic);
    add_device(far, "", nic / 2);
    std::filesystem::create_symlink(sys() + far, link);
  }
  const Environment all = variables_of_places(find_gpu_places(addresses_, sys()), GpuSet{0xff});
  EXPECT_EQ(all.at("HAI_GPU_NICS"), "mlx5_0,mlx5_1,mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_2,mlx5_3");
}

TEST_F(GpuPlaces, AreNotKnownWhereTheKernelDoesNotTell) {
  write(sys() + "/bus/pci/devices/" + addresses_[5] + "/numa_node", "-1\n");
  EXPECT_TRUE(find_gpu_places(addresses_, sys()).empty());
  EXPECT_TRUE(find_gpu_places({"0000:99:00.0"}, sys()).empty());
  EXPECT_TRUE(find_gpu_places({}, sys()).empty());
}

TEST(CpuList, IsAsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list("0-2,5"), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(parse_cpu_list("7"), std::vector<int>{7});
  for (const char* bad : {"", "a", "3-1", "1,", "1--2", "0-99999999"}) {
    EXPECT_TRUE(parse_cpu_list(bad).empty()) << bad;
  }
}

}  // namespace
}  // namespace hai
