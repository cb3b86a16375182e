#include "tests/fuzz/message_mutator.h"

#include <google/protobuf/descriptor.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace hai::fuzz {

namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kDepthMax = 6;
constexpr int kElementsMax = 300;

int64_t odd_number(Rng& rng, int64_t present) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr std::array<int64_t, 22> kOdd = {0,
                                                   1,
                                                   -1,
                                                   2,
                                                   3,
                                                   7,
                                                   8,
                                                   63,
                                                   64,
                                                   255,
                                                   256,
                                                   1000,
                                                   65'535,
                                                   65'536,
                                                   1'000'001,
                                                   2'147'483'647,
                                                   -2'147'483'648,
                                                   4'294'967'296,
                                                   kMax,
                                                   kMin,
                                                   kMax / 2,
                                                   kMin / 2};
  switch (rng.below(4)) {
    case 0:
      return present + 1 - 2 * static_cast<int64_t>(rng.below(2) == 0 && present > kMin);
    case 1:
      return static_cast<int64_t>(rng.below(10'000));
    default:
      return kOdd[rng.below(kOdd.size())];
  }
}

double odd_double(Rng& rng) {
  static constexpr std::array<double, 9> kOdd = {0,
                                                 -1,
                                                 0.5,
                                                 1e300,
                                                 -1e300,
                                                 1e-300,
                                                 std::numeric_limits<double>::infinity(),
                                                 -std::numeric_limits<double>::infinity(),
                                                 std::numeric_limits<double>::quiet_NaN()};
  return kOdd[rng.below(kOdd.size())];
}

std::string odd_text(Rng& rng, const std::string& present, bool must_be_utf8) {
  static const std::vector<std::string> kOdd = {"",        "a",
                                                "n1",      "0",
                                                "-1",      "17",
                                                "n[1-4]",  "n[1-99999]",
                                                "*",       "../..",
                                                "auto",    "high",
                                                "running", "\n",
                                                "'; --",   "2026-11-20T08:00:00Z",
                                                "1h",      "-id",
                                                "node-1",  "ann",
                                                "root",    std::string("a\0b", 3),
                                                "\x1b[2J", "\xc3\xa9",
                                                "%s%n"};
  switch (rng.below(5)) {
    case 0:
      return std::string(rng.below(5'000), 'x');
    case 1:
    case 2: {
      std::string text = mutate_text(rng, present, kOdd);
      if (must_be_utf8) std::erase_if(text, [](char c) { return (c & 0x80) != 0; });
      return text;
    }
    case 3:
      return must_be_utf8 ? "" : "\xff\xfe\x80";
    default:
      return pick_from(rng, kOdd);
  }
}

// Also numbers that are no value of it.
int odd_enum(Rng& rng, const EnumDescriptor& type) {
  if (rng.chance(0.2)) return static_cast<int>(odd_number(rng, 0));
  return type.value(static_cast<int>(rng.below(static_cast<uint64_t>(type.value_count()))))
      ->number();
}

class Change {
 public:
  Change(Rng& rng, Message& message, const FieldDescriptor& field)
      : rng_(rng), message_(message), field_(field), reflection_(*message.GetReflection()) {}

  void set_single() {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection_.SetInt32(&message_, &field_, number<int32_t>());
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection_.SetInt64(&message_, &field_, number<int64_t>());
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection_.SetUInt32(&message_, &field_, number<uint32_t>());
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection_.SetUInt64(&message_, &field_, number<uint64_t>());
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection_.SetDouble(&message_, &field_, odd_double(rng_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection_.SetFloat(&message_, &field_, static_cast<float>(odd_double(rng_)));
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection_.SetBool(&message_, &field_, rng_.chance(0.5));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection_.SetEnumValue(&message_, &field_, odd_enum(rng_, *field_.enum_type()));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.SetString(&message_, &field_,
                                     text(reflection_.GetString(message_, &field_)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection_.MutableMessage(&message_, &field_);
    }
  }

  void add_element() {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection_.AddInt32(&message_, &field_, number<int32_t>());
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection_.AddInt64(&message_, &field_, number<int64_t>());
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection_.AddUInt32(&message_, &field_, number<uint32_t>());
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection_.AddUInt64(&message_, &field_, number<uint64_t>());
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection_.AddDouble(&message_, &field_, odd_double(rng_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection_.AddFloat(&message_, &field_, static_cast<float>(odd_double(rng_)));
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection_.AddBool(&message_, &field_, rng_.chance(0.5));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection_.AddEnumValue(&message_, &field_, odd_enum(rng_, *field_.enum_type()));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.AddString(&message_, &field_, text(""));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection_.AddMessage(&message_, &field_);
    }
  }

  // One of an element again, or another with it, or the last one away.
  void change_many() {
    const int size = reflection_.FieldSize(message_, &field_);
    if (size == 0 || rng_.chance(0.3)) {
      const uint64_t more = rng_.chance(0.05) ? rng_.below(kElementsMax) : 1;
      for (uint64_t i = 0; i < more && size < kElementsMax; ++i) add_element();
    } else if (rng_.chance(0.3)) {
      reflection_.RemoveLast(&message_, &field_);
    } else if (rng_.chance(0.3) && field_.message_type() != nullptr && size < kElementsMax) {
      const int which = static_cast<int>(rng_.below(static_cast<uint64_t>(size)));
      Message* copy = reflection_.AddMessage(&message_, &field_);
      copy->CopyFrom(reflection_.GetRepeatedMessage(message_, &field_, which));
    } else if (size > 1) {
      reflection_.SwapElements(&message_, &field_, 0, size - 1);
    }
  }

 private:
  template <typename Number>
  Number number() {
    return static_cast<Number>(odd_number(rng_, 0));
  }
  std::string text(const std::string& present) {
    return odd_text(rng_, present, field_.type() == FieldDescriptor::TYPE_STRING);
  }

  Rng& rng_;
  Message& message_;
  const FieldDescriptor& field_;
  const Reflection& reflection_;
};

// The messages that are there in the field; entries of a map are changed as a whole only.
std::vector<Message*> messages_of(Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  if (field.message_type() == nullptr || field.is_map()) return {};
  if (!field.is_repeated()) {
    if (!reflection.HasField(message, &field)) return {};
    return {reflection.MutableMessage(&message, &field)};
  }
  std::vector<Message*> all;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    all.push_back(reflection.MutableRepeatedMessage(&message, &field, i));
  }
  return all;
}

void change_somewhere(Rng& rng, Message& message, int depth) {
  const auto& type = *message.GetDescriptor();
  if (type.field_count() == 0) return;
  const FieldDescriptor& field =
      *type.field(static_cast<int>(rng.below(static_cast<uint64_t>(type.field_count()))));
  const std::vector<Message*> below = messages_of(message, field);
  if (!below.empty() && depth < kDepthMax && rng.chance(0.8)) {
    return change_somewhere(rng, *below[rng.below(below.size())], depth + 1);
  }
  if (rng.chance(0.1)) return message.GetReflection()->ClearField(&message, &field);
  Change change(rng, message, field);
  field.is_repeated() ? change.change_many() : change.set_single();
}

}  // namespace

void mutate_message(Rng& rng, Message& message) {
  for (uint64_t changes = 1 + rng.below(4); changes > 0; --changes) {
    change_somewhere(rng, message, 0);
  }
}

}  // namespace hai::fuzz
