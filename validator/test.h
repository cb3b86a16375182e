#pragma once
// What a test of the validator gets and gives. A test measures and checks results; whether a number
// is good enough is for whoever knows those of other nodes of the model
// (common/fleet_statistics.h).

#include <optional>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai::validator {

enum class Verdict {
  ok,       // ran, and every result that it checked was right
  fail,     // a wrong result or an error of the hardware, whatever the speed
  skipped,  // this node or this job has not what it needs
};
std::string_view to_string(Verdict verdict);

// One number of a test, or why there is none: then it has no value.
struct Measurement {
  std::string test;
  std::string metric;  // what it is about; of those with a value, unique within its test
  std::string unit;
  std::optional<double> value;
  bool higher_is_better = true;
  Verdict verdict = Verdict::ok;
  std::string detail;
};

struct About {
  std::string_view test;
  std::string_view metric;
};
Measurement skipped(About about, std::string why);
Measurement failed(About about, std::string why);

// Which process of which job this is, as its environment says (docs/contract.md, What a job sees).
struct Place {
  std::string node;
  std::string job = "0";
  std::string attempt = "0";
  int rank = 0;
  int ranks = 1;
  std::string master_address;
  int master_port = 0;
};

struct Settings {
  bool is_quick = false;
  Duration seconds{10s};       // of measuring, per test
  Duration patience{60s};      // for other ranks
  int cpus = 0;                // 0 = all that this process may use
  int64_t memory_bytes = 0;    // of the memory test; 0 = by the machine
  int64_t storage_bytes = 0;   // of the file; 0 = by --quick
  int64_t exchange_bytes = 0;  // of the all-reduce between ranks; 0 = by --quick
  double gpu_memory_share = 0.95;
  std::string directory;  // of the storage test
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  std::string nvml_library = "libnvidia-ml.so.1";
  Place place;
};

using Test = std::vector<Measurement> (*)(const Settings&);

std::vector<Measurement> test_link(const Settings& settings);
std::vector<Measurement> test_cpu(const Settings& settings);
std::vector<Measurement> test_gpu_memory(const Settings& settings);
std::vector<Measurement> test_gemm(const Settings& settings);
std::vector<Measurement> test_allreduce(const Settings& settings);
std::vector<Measurement> test_storage(const Settings& settings);

struct NamedTest {
  std::string_view name;
  Test run;
  std::string_view what;
};
const std::vector<NamedTest>& all_tests();  // in the order in which they run

}  // namespace hai::validator
