#include "cli/commands/incident_view.h"

#include <nlohmann/json.hpp>

#include "cli/format.h"
#include "cli/table.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

Json to_json(const v1::Incident& incident) {
  Json nodes = Json::array();
  for (const std::string& node : incident.nodes()) nodes.push_back(node);
  Json notes = Json::array();
  for (const v1::IncidentNote& note : incident.notes()) {
    notes.push_back({{"at", format_rfc3339(unix_micros(note.at_us()))}, {"text", note.text()}});
  }
  return {{"id", incident.id()},
          {"kind", incident.kind()},
          {"subject", incident.subject()},
          {"summary", incident.summary()},
          {"opened_at", format_rfc3339(unix_micros(incident.opened_at_us()))},
          {"nodes", nodes},
          {"notes", notes}};
}

std::string incident_text(const v1::Incident& incident) {
  std::string text =
      fmt::format("incident {} ({}), {}, open since {}\n", incident.id(), incident.kind(),
                  printable(incident.subject()), local_time(incident.opened_at_us()));
  text +=
      fmt::format("{}  {}\n", local_time(incident.opened_at_us()), printable(incident.summary()));
  for (const v1::IncidentNote& note : incident.notes()) {
    text += fmt::format("{}  {}\n", local_time(note.at_us()), printable(note.text()));
  }
  return text;
}

}  // namespace hai::cli
