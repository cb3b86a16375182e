#pragma once
// Every port of every InfiniBand or RoCE adapter: link, rate, flaps, errors, and whether data comes
// in at all while a job of several nodes runs.

#include <map>
#include <string>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/ib_judge.h"

namespace hai {

struct IbCheckOptions {
  std::string sys_root = "/sys";
  std::map<std::string, int64_t> expected_gigabits;  // by port, "mlx5_0/1"
  std::vector<std::string> excluded;                 // devices
  HealthLimits limits;
};

class IbCheck final : public Check {
 public:
  explicit IbCheck(IbCheckOptions options);
  std::vector<CheckResult> run(const CheckInput& input) override;
  CheckMemory memory() const override;
  void restore(const CheckMemory& memory) override;

 private:
  void sample(MonoTime now);
  CheckResult judge_traffic(const CheckInput& input);

  IbCheckOptions options_;
  // When its flaps last grew in number: each is news, though the sentence stays the same.
  struct Port {
    IbPortHistory history;
    int64_t flaps = 0;
    UnixTime flapped_at{};
  };
  CheckResult judge_flaps(const std::string& name, Port& port, UnixTime wall_now) const;
  std::map<std::string, Port> ports_;
  std::optional<MonoTime> distributed_since_;
};

}  // namespace hai
