// The CUDA programs of the validator, run by the CPU (tests/support/cpu_cuda): they find nothing on
// a GPU that works, and the bit that is wrong on one that doesn't.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "validator/cuda/gpus.h"

namespace hai::validator {
namespace {

using cpu_cuda::machine;

class GpuPrograms : public ::testing::Test {
 protected:
  ~GpuPrograms() override {
    EXPECT_TRUE(machine.blocks.empty()) << "memory that was not given back";
    machine = {};
  }

  static void give(size_t mebibytes) { machine.free_bytes = mebibytes << 20; }

  // Flips bits of the largest blocks after that many kernels.
  static void break_after(int launches, size_t byte, unsigned char bits) {
    machine.after_launch = [=](int done) {
      if (done != launches) return;
      size_t largest = 0;
      for (const auto& [memory, bytes] : machine.blocks) largest = std::max(largest, bytes);
      for (const auto& [memory, bytes] : machine.blocks) {
        if (bytes == largest) static_cast<unsigned char*>(memory)[byte] ^= bits;
      }
    };
  }
};

TEST_F(GpuPrograms, MemoryThatWorksPasses) {
  give(70);
  const gpus::MemoryResult result = gpus::test_memory(0, 0.95, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.bytes, int64_t{64} << 20);
  EXPECT_EQ(result.passes, 2);
  EXPECT_EQ(result.wrong_words, 0u);
}

TEST_F(GpuPrograms, MemoryTellsTheBitThatIsWrong) {
  give(40);
  break_after(1, 800, 0x10);
  const gpus::MemoryResult result = gpus::test_memory(0, 0.95, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.wrong_words, 1u);
  EXPECT_EQ(result.first_wrong_at, 800u);
  EXPECT_EQ(result.first_wrong_got ^ result.first_wrong_expected, 0x10u);
}

// A bit that is always 1 shows in one of the two passes, whatever the pattern has there.
TEST_F(GpuPrograms, MemoryFindsABitThatIsStuck) {
  give(40);
  machine.after_launch = [](int launches) {
    if (launches % 2 == 0) return;  // after each writing
    for (const auto& [memory, bytes] : machine.blocks) {
      if (bytes > 1 << 20) static_cast<unsigned char*>(memory)[12345] |= 1;
    }
  };
  EXPECT_EQ(gpus::test_memory(0, 0.95, 0).wrong_words, 1u);
}

TEST_F(GpuPrograms, MemoryNeedsSome) {
  give(1);
  EXPECT_EQ(gpus::test_memory(0, 0.95, 0).error, "no memory is free on the GPU");
}

TEST_F(GpuPrograms, ProductsAreRightAndEqual) {
  give(2);
  const gpus::GemmResult result = gpus::run_gemm(0, 0.9, 0, 256);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.products, 6);
  EXPECT_EQ(result.unequal_products, 0);
  EXPECT_EQ(result.wrong_samples, 0) << result.first_wrong;
  EXPECT_EQ(gpus::run_gemm(1, 0.9, 0, 256).digest, result.digest) << "another GPU";
  EXPECT_NE(gpus::run_gemm(0, 0.9, 0, 128).digest, result.digest);
}

TEST_F(GpuPrograms, OneBitOfOneProductIsFound) {
  give(2);
  break_after(5, 1000, 1);  // two to fill; product, digest; product
  const gpus::GemmResult result = gpus::run_gemm(0, 0.35, 0, 256);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.products, 2);
  EXPECT_EQ(result.unequal_products, 1);
}

// All products alike, but of matrices that were never what they should be.
TEST_F(GpuPrograms, ProductsThatAreWrongAlikeAreFound) {
  give(1);
  machine.after_launch = [](int launches) {
    if (launches != 2) return;
    for (const auto& [memory, bytes] : machine.blocks) {
      if (bytes == 256 * 256 * 2) std::memset(memory, 0x3f, bytes);
    }
  };
  const gpus::GemmResult result = gpus::run_gemm(0, 0.9, 0, 256);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.unequal_products, 0);
  EXPECT_GT(result.wrong_samples, 0);
  EXPECT_TRUE(result.first_wrong.starts_with("element ")) << result.first_wrong;
}

TEST_F(GpuPrograms, AllReduceAddsUpWhateverTheNumbers) {
  for (int count = 2; count <= 5; ++count) {
    for (const int64_t words : {1, 3, 1001, 70'001}) {
      give(64);
      std::vector<int> members;
      for (int gpu = 0; gpu < count; ++gpu) members.push_back(gpu);
      const gpus::AllReduceResult result = gpus::run_all_reduce(members, words * 4, 0);
      EXPECT_EQ(result.error, "");
      EXPECT_EQ(result.wrong_words, 0u) << count << " GPUs, " << words << " words";
      EXPECT_EQ(result.rounds, 3);
      EXPECT_EQ(result.direct_pairs, count);
    }
  }
}

TEST_F(GpuPrograms, AllReduceFindsASumThatIsWrong) {
  give(64);
  break_after(4, 4000, 1);  // three to fill, and the first sum
  const gpus::AllReduceResult result = gpus::run_all_reduce({0, 1, 2}, 12'000, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_GT(result.wrong_words, 0u);
  EXPECT_GE(result.wrong_gpu, 0);
  EXPECT_EQ(result.rounds, 1);
}

}  // namespace
}  // namespace hai::validator
