#pragma once
// Everything about one thing on one page, for `hai describe`: what several other verbs would have
// to be asked for.

#include <memory>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/terminal.h"
#include "common/status.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

class Client;

struct Page {
  std::string text;
  std::shared_ptr<const Json> json;
};

// The job file that makes such a job again.
Result<std::string> job_file_of(Client& client, const std::string& job);

Result<Page> describe_job(Client& client, const std::string& job, const Terminal& terminal);
Result<Page> describe_node(Client& client, const std::string& node, const Terminal& terminal);
Result<Page> describe_incident(Client& client, int64_t incident, const Terminal& terminal);

// A part of a page, with an empty line above. A part that could not be read says so.
std::string page_part(const std::string& title, const Result<std::string>& text,
                      const Terminal& terminal);
// The last few events, oldest first.
Result<std::vector<v1::Event>> last_events(Client& client, const std::string& job,
                                           const std::string& node);
std::string events_text(const std::vector<v1::Event>& events, const Terminal& terminal);

}  // namespace hai::cli
