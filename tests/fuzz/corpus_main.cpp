// Runs a fuzzed reader without libFuzzer: once with each file that is named or lies in a folder
// that is named, and then, if it is told to, with mutations of them. Says which file it was before
// it dies of one.
//
// usage: fuzz_NAME [--mutate SECONDS [--seed N]] FILE_OR_FOLDER...

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"

// A reader may have a mutator of its own, and asks for this one in it.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned seed);

namespace hai::fuzz {
namespace {

// Of one input; milliseconds are usual. On a busy machine much time passes without the processor.
constexpr auto kLongestAtWork = std::chrono::seconds(10);
constexpr auto kLongest = std::chrono::seconds(30);
constexpr size_t kBytesMax = 64 << 10;

Rng& rng() {
  static Rng one(1);
  return one;
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_in(std::span<char* const> names) {
  std::vector<std::filesystem::path> files;
  for (const char* name : names) {
    if (!std::filesystem::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(name)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

char present[512] = "";

// In a signal's handler: only what is allowed there.
void say_which(int signal) {
  constexpr std::string_view kWords = "\nit was ";
  (void)!::write(STDERR_FILENO, kWords.data(), kWords.size());
  (void)!::write(STDERR_FILENO, present, std::strlen(present));
  (void)!::write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// That of all threads of this process.
std::chrono::nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

void run_one(const std::string& name, const std::string& input) {
  std::strncpy(present, name.c_str(), sizeof(present) - 1);
  // A copy of exactly this size, so that AddressSanitizer sees a read beyond its end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds work_before = processor_time();
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  if (processor_time() - work_before > kLongestAtWork ||
      std::chrono::steady_clock::now() - begin > kLongest) {
    broken(name + " takes too long");
  }
}

std::string mutated(const std::string& input) {
  std::vector<uint8_t> bytes(input.begin(), input.end());
  bytes.resize(std::max(kBytesMax, input.size()));
  const auto mutate = [&](size_t size) {
    if (LLVMFuzzerCustomMutator == nullptr)
      return LLVMFuzzerMutate(bytes.data(), size, bytes.size());
    const auto seed = static_cast<unsigned>(rng().below(1u << 31));
    return LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), seed);
  };
  size_t size = input.size();
  for (uint64_t i = rng().below(4); i != 0; --i) size = mutate(size);
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

int64_t mutate_for(int seconds, uint64_t seed, const std::vector<std::string>& inputs) {
  rng() = Rng(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int64_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    run_one(fmt::format("round {} of seed {}", runs, seed), mutated(pick_from(rng(), inputs)));
  }
  return runs;
}

struct Options {
  int seconds = 0;
  uint64_t seed = 1;
  std::span<char* const> names;
};

Options parse(std::span<char* const> arguments) {
  Options options;
  while (arguments.size() > 1 && arguments[0][0] == '-') {
    const std::string_view name = arguments[0];
    if (name == "--mutate") options.seconds = std::atoi(arguments[1]);
    if (name == "--seed") options.seed = std::strtoull(arguments[1], nullptr, 10);
    arguments = arguments.subspan(2);
  }
  options.names = arguments;
  return options;
}

int run(const Options& options) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) {
    std::signal(signal, say_which);
  }
  std::vector<std::string> inputs;
  for (const std::filesystem::path& file : files_in(options.names)) {
    inputs.push_back(read_whole(file));
    run_one(file.string(), inputs.back());
  }
  if (inputs.empty()) {
    fmt::print(stderr, "no inputs\n");
    return 1;
  }
  const int64_t mutations = mutate_for(options.seconds, options.seed, inputs);
  fmt::print("{} inputs and {} mutations: nothing found\n", inputs.size(), mutations);
  std::fflush(stdout);
  // A reader may keep a server with threads for as long as the process lives.
  std::_Exit(0);
}

}  // namespace
}  // namespace hai::fuzz

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  static const std::vector<std::string> kPieces = {"\n",    "\r\n",
                                                   ":",     "\"",
                                                   "{",     "}",
                                                   "[",     "]",
                                                   ",",     "-1",
                                                   "0",     "99999999999999999999",
                                                   "null",  "true",
                                                   "1e999", "\xff\xff\xff\xff\x0f",
                                                   "\xff",  std::string(8, '\0'),
                                                   "%",     "/"};
  const std::string text =
      hai::mutate_text(hai::fuzz::rng(), {reinterpret_cast<char*>(data), size}, kPieces);
  const size_t kept = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), kept);
  return kept;
}

int main(int argc, char** argv) {
  return hai::fuzz::run(
      hai::fuzz::parse(std::span<char* const>(argv + 1, static_cast<size_t>(argc - 1))));
}
