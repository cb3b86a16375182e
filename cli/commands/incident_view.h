#pragma once
// Incidents for people and programs: `hai incidents` and `hai describe` show them alike.

#include <string>

namespace hai::v1 {
class Incident;
}

namespace hai::cli {

// What was seen, decided and done, oldest first.
std::string incident_text(const v1::Incident& incident);

}  // namespace hai::cli
