#include "server/model/digest.h"

#include <bit>

#include "server/model/fields.h"

namespace hai {
namespace {

struct Hasher {
  uint64_t hash;

  void bytes(std::string_view text) {
    number(static_cast<int64_t>(text.size()));
    for (unsigned char byte : text) hash = (hash ^ byte) * 1099511628211ULL;
  }
  void number(int64_t value) {
    for (int i = 0; i < 8; ++i) hash = (hash ^ (value >> (8 * i) & 0xff)) * 1099511628211ULL;
  }

  void add(const std::string& text) { bytes(text); }
  void add(GpuSet gpus) { number(static_cast<int64_t>(gpus.bits)); }
  void add(UnixTime time) { number(to_micros(time)); }
  void add(Duration duration) { number(duration.count()); }
  void add(double value) { number(std::bit_cast<int64_t>(value)); }
  template <typename Tag>
  void add(Id<Tag> id) {
    number(id.value);
  }
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T value) {
    number(static_cast<int64_t>(value));
  }
  template <typename T>
  void add(const std::optional<T>& value) {
    number(value.has_value());
    if (value) add(*value);
  }
  template <typename T>
  void add(const std::shared_ptr<const T>& value) {
    add(*value);
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    number(static_cast<int64_t>(values.size()));
    for (const T& value : values) add(value);
  }
  void add(const std::map<std::string, std::string>& values) {
    number(static_cast<int64_t>(values.size()));
    for (const auto& [key, value] : values) bytes(key), bytes(value);
  }
  template <typename T>
  requires HasFields<const T>
  void add(const T& value) {
    visit_fields(value, [this](const char*, const auto& member) { add(member); });
  }
};

}  // namespace

uint64_t digest(uint64_t previous, const Event& event) {
  Hasher hasher{previous};
  hasher.bytes(kind_of(event.body));
  hasher.add(event.time);
  hasher.bytes(event.actor);
  std::visit([&](const auto& body) { hasher.add(body); }, event.body);
  return hasher.hash;
}

}  // namespace hai
