#include "cli/commands/incident_view.h"

#include "cli/format.h"
#include "cli/table.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

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
