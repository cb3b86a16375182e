#include "server/model/event.h"

#include "server/model/field_hasher.h"

namespace hai {
namespace {

struct TextCounter {
  int64_t count = 0;
  void bytes(std::string_view text) {
    for (const char c : text) count += c == '"' || c == '\\' ? 2 : c >= 0 && c < ' ' ? 6 : 1;
  }
  void number(int64_t) {}
};

template <typename T>
int64_t texts_in(const T& value) {
  TextCounter counter;
  FieldHasher<TextCounter> hasher{counter};
  hasher.add(value);
  return counter.count;
}

}  // namespace

std::string_view kind_of(const EventBody& body) {
  return std::visit([](const auto& event) { return std::remove_cvref_t<decltype(event)>::kKind; },
                    body);
}

bool has_trait(const EventBody& body, EventTraits trait) {
  const unsigned traits = std::visit(
      [](const auto& event) { return std::remove_cvref_t<decltype(event)>::kTraits; }, body);
  return (traits & trait) != 0;
}

JobId job_of(const EventBody& body) {
  return std::visit(
      [](const auto& event) -> JobId {
        if constexpr (requires { event.job; }) {
          return event.job;
        } else {
          return {};
        }
      },
      body);
}

NodeId node_of(const EventBody& body) {
  return std::visit(
      [](const auto& event) -> NodeId {
        if constexpr (requires { event.node; }) {
          return event.node;
        } else {
          return {};
        }
      },
      body);
}

int64_t text_bytes(const EventBody& body) {
  return std::visit([](const auto& event) { return texts_in(event); }, body);
}

int64_t text_bytes(const JobSpec& spec) { return texts_in(spec); }

int64_t memory_bytes(const Event& event) {
  return static_cast<int64_t>(sizeof(Event)) + text_bytes(event.body);
}

}  // namespace hai
