#pragma once
// Something an operator should know of and that has a beginning and an end: one row for what would
// otherwise be a thousand alarms.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/id.h"
#include "common/time.h"

namespace hai {

using IncidentId = Id<struct IncidentTag>;

// What was seen, decided or done, and when.
struct IncidentNote {
  UnixTime at{};
  std::string text;
  bool operator==(const IncidentNote&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("at", self.at);
    visit("text", self.text);
  }
};

// Kinds that more than one room knows.
inline constexpr std::string_view kMassLoss = "mass_loss";   // many nodes fell silent at once
inline constexpr std::string_view kBisection = "bisection";  // the bad one of several is looked for

struct Incident {
  IncidentId id;
  std::string kind;     // "mass_loss"
  std::string subject;  // "leaf/leaf-3", "cluster"
  std::string summary;  // one sentence with numbers
  UnixTime opened_at{};
  std::optional<UnixTime> closed_at;
  std::string close_reason;
  std::vector<NodeId> nodes;        // whom it concerns
  std::vector<IncidentNote> notes;  // oldest first, bounded
  static constexpr size_t kNotesMax = 100;
  bool operator==(const Incident&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    // Names all members, so that one that is added and not listed below is an error here.
    auto& [id, kind, subject, summary, opened_at, closed_at, close_reason, nodes, notes] = self;
    visit("id", id);
    visit("kind", kind);
    visit("subject", subject);
    visit("summary", summary);
    visit("opened_at", opened_at);
    visit("closed_at", closed_at);
    visit("close_reason", close_reason);
    visit("nodes", nodes);
    visit("notes", notes);
  }
};

}  // namespace hai
