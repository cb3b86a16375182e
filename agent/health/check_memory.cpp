#include "agent/health/check_memory.h"

namespace hai {

std::vector<int64_t> numbers_of(const CheckFacts& facts, const std::string& subject,
                                const std::string& field) {
  const auto about = facts.find(subject);
  if (about == facts.end()) return {};
  const auto found = about->second.find(field);
  return found == about->second.end() ? std::vector<int64_t>{} : found->second;
}

std::optional<int64_t> number_of(const CheckFacts& facts, const std::string& subject,
                                 const std::string& field) {
  const std::vector<int64_t> numbers = numbers_of(facts, subject, field);
  if (numbers.empty()) return std::nullopt;
  return numbers.front();
}

std::optional<MonoTime> moment_of(const CheckFacts& facts, const std::string& subject,
                                  const std::string& field) {
  const std::optional<int64_t> number = number_of(facts, subject, field);
  if (!number) return std::nullopt;
  return to_moment(*number);
}

int64_t to_number(MonoTime moment) { return moment.time_since_epoch().count(); }

MonoTime to_moment(int64_t number) { return MonoTime(Duration(number)); }

}  // namespace hai
