// Which CPUs, memory and network cards are beside which GPUs, from a /sys of two sockets with four
// GPUs and two network cards each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "agent/os/gpu_places.h"

namespace hai {
namespace {

using ::testing::IsEmpty;

const std::vector<int> kFirst{0, 1, 2, 3, 16, 17, 18, 19};
const std::vector<int> kSecond{4, 5, 6, 7, 20, 21, 22, 23};

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

  // Of an agent that may use all 24 CPUs.
  std::vector<GpuPlace> places_of(const std::vector<std::string>& addresses) const {
    std::vector<int> all(24);
    std::iota(all.begin(), all.end(), 0);
    return find_gpu_places(addresses, all, sys());
  }

  std::string folder_;
  std::vector<std::string> addresses_;
};

TEST_F(GpuPlaces, AreReadFromTheKernel) {
  const std::vector<GpuPlace> places = places_of(addresses_);
  ASSERT_EQ(places.size(), 8u);
  EXPECT_EQ(places[0], (GpuPlace{0, kFirst, "mlx5_3"}));
  EXPECT_EQ(places[7], (GpuPlace{1, kSecond, "mlx5_0"}));
  const Environment all = variables_of_places(places, GpuSet{0xff});
  EXPECT_EQ(all.at("HAI_GPU_NUMA"), "0,0,0,0,1,1,1,1");
  EXPECT_EQ(all.at("HAI_GPU_NICS"), "mlx5_3,mlx5_3,mlx5_2,mlx5_2,mlx5_1,mlx5_1,mlx5_0,mlx5_0");
  EXPECT_EQ(variables_of_places(places, GpuSet{0x24}).at("HAI_GPU_NICS"), "mlx5_2,mlx5_1");
  EXPECT_TRUE(variables_of_places(places, GpuSet{}).empty());
}

TEST_F(GpuPlaces, BindSharesOnly) {
  const std::vector<GpuPlace> places = places_of(addresses_);
  EXPECT_EQ(near_cpus(places, GpuSet{0x01}, 0), kFirst);
  EXPECT_EQ(near_cpus(places, GpuSet{0xf0}, 8), kSecond);
  EXPECT_EQ(near_cpus(places, GpuSet{0x18}, 0).size(), 16u);
  EXPECT_THAT(near_cpus(places, GpuSet{0x01}, 9), IsEmpty()) << "more than are near";
  EXPECT_THAT(near_cpus(places, GpuSet{0xff}, 0), IsEmpty()) << "the whole node";
  EXPECT_THAT(near_cpus(places, GpuSet{}, 0), IsEmpty()) << "no GPUs";
  EXPECT_THAT(near_cpus({}, GpuSet{0x01}, 0), IsEmpty()) << "nothing is known";
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
  const Environment all = variables_of_places(places_of(addresses_), GpuSet{0xff});
  EXPECT_EQ(all.at("HAI_GPU_NICS"), "mlx5_0,mlx5_1,mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_2,mlx5_3");
}

// A single bad reading costs the shares with that GPU their binding, and no others.
TEST_F(GpuPlaces, OfOneGpuMayBeUnknown) {
  write(sys() + "/bus/pci/devices/" + addresses_[5] + "/numa_node", "-1\n");
  const std::vector<GpuPlace> places = places_of(addresses_);
  ASSERT_EQ(places.size(), 8u);
  EXPECT_EQ(places[5].numa_node, -1);
  EXPECT_EQ(variables_of_places(places, GpuSet{0xff}).at("HAI_GPU_NUMA"), "0,0,0,0,1,-1,1,1");
  EXPECT_EQ(near_cpus(places, GpuSet{0x01}, 0), kFirst);
  EXPECT_EQ(near_cpus(places, GpuSet{0xd0}, 0), kSecond);
  EXPECT_THAT(near_cpus(places, GpuSet{0x30}, 0), IsEmpty()) << "GPU 5 is nobody knows where";
}

TEST_F(GpuPlaces, AreNotKnownWhereTheKernelTellsOfNone) {
  for (const std::string& address : addresses_)
    write(sys() + "/bus/pci/devices/" + address + "/numa_node", "-1\n");
  EXPECT_TRUE(places_of(addresses_).empty());
  EXPECT_TRUE(places_of({"0000:99:00.0"}).empty());
  EXPECT_TRUE(places_of({}).empty());
}

// What a site keeps for the system is not given to ranks (CPUAffinity= of the agent's unit).
TEST_F(GpuPlaces, AreOnlyBesideCpusThatTheAgentMayUse) {
  const std::vector<GpuPlace> places = find_gpu_places(addresses_, {2, 3, 4, 18, 23}, sys());
  ASSERT_EQ(places.size(), 8u);
  EXPECT_EQ(near_cpus(places, GpuSet{0x01}, 3), (std::vector<int>{2, 3, 18}));
  EXPECT_THAT(near_cpus(places, GpuSet{0x01}, 4), IsEmpty());
  EXPECT_EQ(near_cpus(places, GpuSet{0x80}, 0), (std::vector<int>{4, 23}));
  const std::vector<GpuPlace> few = find_gpu_places(addresses_, {2, 3}, sys());
  EXPECT_EQ(near_cpus(few, GpuSet{0x01}, 0), (std::vector<int>{2, 3}));
  EXPECT_THAT(near_cpus(few, GpuSet{0x80}, 0), IsEmpty()) << "none beside the others";
}

TEST_F(GpuPlaces, AreNotKnownOfAListThatIsNone) {
  for (const char* bad : {"", "a", "3-1", "1,", "1--2"}) {
    write(sys() + "/bus/pci/devices/" + addresses_[0] + "/local_cpulist", bad);
    EXPECT_THAT(near_cpus(places_of(addresses_), GpuSet{0x01}, 0), IsEmpty()) << bad;
    EXPECT_EQ(near_cpus(places_of(addresses_), GpuSet{0x02}, 0), kFirst) << bad;
  }
}

}  // namespace
}  // namespace hai
