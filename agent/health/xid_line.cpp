#include "agent/health/xid_line.h"

#include <charconv>

namespace hai {

namespace {

constexpr size_t kBusIdBytesMax = 20;  // "00000000:3b:00.0"
constexpr int64_t kCodeMax = 1'000'000;

bool is_bus_id(std::string_view text) {
  return !text.empty() && text.size() <= kBusIdBytesMax &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

}  // namespace

std::optional<XidLine> parse_xid_line(std::string_view text) {
  // Only at the beginning: users name their processes, and the kernel prints these names.
  static constexpr std::string_view kGpu = "NVRM: Xid (PCI:";
  static constexpr std::string_view kSwitch = "SXid (PCI:";
  XidLine line;
  if (text.starts_with(kGpu)) {
    text.remove_prefix(kGpu.size());
  } else {
    const size_t start = text.find(": ");
    if (!text.starts_with("nvidia-nvswitch") || start == std::string_view::npos)
      return std::nullopt;
    text.remove_prefix(start + 2);
    if (!text.starts_with(kSwitch)) return std::nullopt;
    line.kind = XidKind::sxid;
    text.remove_prefix(kSwitch.size());
  }
  const size_t close = text.find("): ");
  if (close == std::string_view::npos || !is_bus_id(text.substr(0, close))) return std::nullopt;
  line.bus_id = std::string(text.substr(0, close));
  text.remove_prefix(close + 3);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line.code);
  if (error != std::errc() || line.code < 0 || line.code > kCodeMax) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (line.kind == XidKind::sxid && text.starts_with(", Fatal")) line.severity = XidSeverity::fatal;
  if (line.kind == XidKind::sxid && text.starts_with(", Non-fatal"))
    line.severity = XidSeverity::nonfatal;
  return line;
}

std::string plain_bus_id(std::string_view bus_id) {
  bus_id = bus_id.substr(0, bus_id.find('.'));
  std::string plain;
  for (const char c : bus_id) plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const size_t colon = plain.find(':');
  if (colon == 8 && plain.starts_with("0000")) plain.erase(0, 4);
  return plain;
}

}  // namespace hai
