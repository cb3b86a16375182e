#pragma once
// One port of an InfiniBand or RoCE adapter as /sys/class/infiniband shows it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hai {

inline constexpr int64_t kBytesPerWord = 4;  // the counters of data count words

struct IbPort {
  std::string name;        // "mlx5_0/1"
  std::string state;       // "ACTIVE"
  std::string phys_state;  // "LinkUp"
  std::string link_layer;  // "InfiniBand" | "Ethernet"
  int64_t rate_gigabits = 0;
  std::optional<int64_t> link_downed;
  std::optional<int64_t> link_error_recovery;
  std::optional<int64_t> symbol_errors;
  std::optional<int64_t> receive_errors;
  std::optional<int64_t> received_words;
  bool operator==(const IbPort&) const = default;

  bool is_up() const { return state == "ACTIVE" && (phys_state.empty() || phys_state == "LinkUp"); }
};

// Sorted by name; devices of `excluded` are not touched: reading counters of some functions fills
// the kernel's log.
std::vector<IbPort> read_ib_ports(const std::string& sys_root,
                                  const std::vector<std::string>& excluded);

}  // namespace hai
