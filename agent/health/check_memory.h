#pragma once
// What a check has seen and the machine cannot tell again: that a link was up once, that a port
// lost its link an hour ago. Kept in a file, so that a restart of the agent mends no hardware.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai {

// subject → field → numbers. A reader asks for what it knows and takes nothing for granted: the
// agent that wrote them may have been an older or a newer one.
using CheckFacts = std::map<std::string, std::map<std::string, std::vector<int64_t>>>;

struct CheckMemory {
  CheckFacts lasting;  // baselines: they hold after a restart of the machine, too
  CheckFacts of_boot;  // counters, and moments on the clock of CheckInput::now
  bool operator==(const CheckMemory&) const = default;
};

// Empty if there is no such fact.
std::vector<int64_t> numbers_of(const CheckFacts& facts, const std::string& subject,
                                const std::string& field);
std::optional<int64_t> number_of(const CheckFacts& facts, const std::string& subject,
                                 const std::string& field);
std::optional<MonoTime> moment_of(const CheckFacts& facts, const std::string& subject,
                                  const std::string& field);
int64_t to_number(MonoTime moment);
MonoTime to_moment(int64_t number);

}  // namespace hai
