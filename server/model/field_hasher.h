#pragma once
// Feeds a value to a hash field by field, by the field lists of the model, so that a digest depends
// on what a value means and never on how it lies in memory. `Sink` has number(int64_t) and
// bytes(std::string_view); bytes() must tell texts of different length apart.

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/model/fields.h"

namespace hai {

template <typename Sink>
struct FieldHasher {
  Sink& sink;

  void add(const std::string& text) { sink.bytes(text); }
  void add(GpuSet gpus) { sink.number(static_cast<int64_t>(gpus.bits)); }
  void add(UnixTime time) { sink.number(to_micros(time)); }
  void add(Duration duration) { sink.number(duration.count()); }
  void add(double value) { sink.number(std::bit_cast<int64_t>(value)); }
  template <typename Tag>
  void add(Id<Tag> id) {
    sink.number(id.value);
  }
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T value) {
    sink.number(static_cast<int64_t>(value));
  }
  template <typename T>
  void add(const std::optional<T>& value) {
    sink.number(value.has_value());
    if (value) add(*value);
  }
  template <typename T>
  void add(const std::shared_ptr<const T>& value) {
    add(*value);
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    sink.number(static_cast<int64_t>(values.size()));
    for (const T& value : values) add(value);
  }
  template <typename T>
  void add(const std::map<std::string, T>& values) {
    sink.number(static_cast<int64_t>(values.size()));
    for (const auto& [key, value] : values) sink.bytes(key), add(value);
  }
  template <typename T>
  requires HasFields<const T>
  void add(const T& value) {
    visit_fields(value, [this](const char*, const auto& member) { add(member); });
  }
  template <typename... Members>
  void add_all(const Members&... members) {
    (add(members), ...);
  }
};

}  // namespace hai
