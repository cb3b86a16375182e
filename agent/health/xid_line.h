#pragma once
// Lines in which NVIDIA's drivers report a fault of a GPU (Xid) or of an NVSwitch (SXid). Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hai {

enum class XidKind { xid, sxid };
enum class XidSeverity { not_said, fatal, nonfatal };

struct XidLine {
  XidKind kind = XidKind::xid;
  std::string bus_id;  // as printed: "0000:3b:00", "0000:c3:00.0"
  int64_t code = 0;
  XidSeverity severity = XidSeverity::not_said;  // only SXids say it
  bool operator==(const XidLine&) const = default;
};

// "NVRM: Xid (PCI:0000:3b:00): 79, …", "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006,
// Non-fatal, …"
std::optional<XidLine> parse_xid_line(std::string_view text);

// Lower case, domain of four digits, no function: how two ways to print a bus id compare.
std::string plain_bus_id(std::string_view bus_id);

}  // namespace hai
