#include "agent/os/agent_instance.h"

#include <fmt/core.h>

#include <random>
#include <sstream>

#include "agent/os/files.h"

namespace hai {
namespace {

constexpr size_t kInstanceBytesMax = 4 << 10;
constexpr size_t kDigits = 32;

std::string make_instance() {
  std::random_device device;  // the kernel's randomness
  std::string digits;
  while (digits.size() < kDigits) digits += fmt::format("{:08x}", device() & 0xffff'ffff);
  return digits;
}

bool is_instance(const std::string& text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string path_in(const std::string& data_dir) { return data_dir + "/instance"; }

// "" = none is there that is this machine's.
Result<std::string> find_instance(const std::string& data_dir, const std::string& machine) {
  const Result<std::string> text = read_file(path_in(data_dir), kInstanceBytesMax);
  if (!text.is_ok() && text.status().code() != Code::not_found) return text.status();
  std::string instance;
  std::string made_on;
  if (text.is_ok()) std::istringstream(text.value()) >> instance >> made_on;
  const bool is_copy = !machine.empty() && !made_on.empty() && machine != made_on;
  return is_instance(instance) && !is_copy ? instance : "";
}

}  // namespace

Result<std::string> instance_for_now(const std::string& data_dir, const std::string& machine) {
  Result<std::string> found = find_instance(data_dir, machine);
  return found.is_ok() && found.value().empty() ? make_instance() : found;
}

Result<std::string> find_or_make_instance(const std::string& data_dir, const std::string& machine) {
  Result<std::string> found = find_instance(data_dir, machine);
  if (!found.is_ok() || !found.value().empty()) return found;
  std::string instance = make_instance();
  RETURN_IF_ERROR(write_file_atomic(path_in(data_dir), fmt::format("{}\n{}\n", instance, machine),
                                    0600, Durability::survives_crash_of_machine));
  return instance;
}

}  // namespace hai
