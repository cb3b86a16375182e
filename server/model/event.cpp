#include "server/model/event.h"

namespace hai {

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

}  // namespace hai
