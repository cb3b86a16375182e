#pragma once
// A port of a job's program, by a name: how a job says it, and where the program is told of it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/id.h"
#include "common/status.h"

namespace hai {

struct JobService {
  enum class Kind { http, tcp };

  std::string name;  // a-z 0-9 -, up to 63
  int port = 0;      // 1..65535, at the 127.0.0.1 of its rank
  int rank = 0;
  Kind kind = Kind::http;
  // The program is shown the whole address, /jobs/ID/NAME/…; else what is behind that. HTTP only.
  bool keeps_path = false;
  bool operator==(const JobService&) const = default;
};

inline constexpr size_t kServicesMax = 32;

std::string_view to_string(JobService::Kind kind);  // "http", "tcp"

// "NAME:PORT" and, each with a colon before it, "tcp", "keep_path", "rank=N". A mere PORT is an
// HTTP service of rank 0 whose name is that number.
Result<JobService> parse_service(std::string_view text);
// parse_service reads it back.
std::string to_string(const JobService& service);

// The one of this name, or of this number as a port of rank 0. Texts that are none are left out.
Result<JobService> find_service(const std::vector<std::string>& services, std::string_view name);

// "/jobs/17/jupyter/": where the server's port for services has it.
std::string service_path(JobId job, std::string_view name);

// What the programs are told: HAI_SERVICE_NAME_PORT and, of HTTP, HAI_SERVICE_NAME_PATH.
std::vector<std::pair<std::string, std::string>> service_environment(
    const std::vector<std::string>& services, JobId job);

}  // namespace hai
