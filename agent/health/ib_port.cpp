#include "agent/health/ib_port.h"

#include <algorithm>
#include <charconv>

#include "agent/health/file_values.h"

namespace hai {

namespace {

constexpr size_t kPortsMax = 64;

// "4: ACTIVE" → "ACTIVE"
std::string word_after_colon(const std::optional<std::string>& text) {
  if (!text) return {};
  const size_t colon = text->find(':');
  return std::string(trimmed(colon == std::string::npos
                                 ? std::string_view(*text)
                                 : std::string_view(*text).substr(colon + 1)));
}

// "200 Gb/sec (4X HDR)" → 200; "2.5 Gb/sec (1X SDR)" → 2
int64_t parse_rate(const std::optional<std::string>& text) {
  int64_t rate = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), rate);
  return rate;
}

IbPort read_port(const std::string& folder, std::string name) {
  const std::string counters = folder + "/counters/";
  return {.name = std::move(name),
          .state = word_after_colon(read_text(folder + "/state")),
          .phys_state = word_after_colon(read_text(folder + "/phys_state")),
          .link_layer = read_text(folder + "/link_layer").value_or(""),
          .rate_gigabits = parse_rate(read_text(folder + "/rate")),
          .link_downed = read_integer(counters + "link_downed"),
          .link_error_recovery = read_integer(counters + "link_error_recovery"),
          .symbol_errors = read_integer(counters + "symbol_error"),
          .receive_errors = read_integer(counters + "port_rcv_errors"),
          .received_words = read_integer(counters + "port_rcv_data")};
}

}  // namespace

std::vector<IbPort> read_ib_ports(const std::string& sys_root,
                                  const std::vector<std::string>& excluded) {
  const std::string root = sys_root + "/class/infiniband";
  std::vector<IbPort> ports;
  for (const std::string& device : list_folder(root)) {
    if (std::find(excluded.begin(), excluded.end(), device) != excluded.end()) continue;
    for (const std::string& port : list_folder(root + "/" + device + "/ports")) {
      if (ports.size() >= kPortsMax) return ports;
      ports.push_back(read_port(root + "/" + device + "/ports/" + port, device + "/" + port));
    }
  }
  return ports;
}

}  // namespace hai
