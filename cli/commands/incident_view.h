#pragma once
// Incidents for people and programs: `hai incidents` and `hai describe` show them alike.

#include <string>

#include "cli/json_out.h"

namespace hai::v1 {
class Incident;
}

namespace hai::cli {

Json to_json(const v1::Incident& incident);
// What was seen, decided and done, oldest first.
std::string incident_text(const v1::Incident& incident);

}  // namespace hai::cli
