#include "common/job_service.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "common/ascii.h"
#include "common/whole_number.h"

namespace hai {
namespace {

constexpr size_t kServiceNameMax = 63;
constexpr int kServicePortMax = 65'535;
constexpr int kRankMax = 999'999;
constexpr std::string_view kRankWord = "rank=";

bool is_service_name(std::string_view text) {
  return !text.empty() && text.size() <= kServiceNameMax && text.front() != '-' &&
         text.back() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
         });
}

bool is_all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<int> number_up_to(std::string_view text, int low, int high) {
  const std::optional<int> number = whole_number<int>(text);
  return number && *number >= low && *number <= high ? number : std::nullopt;
}

Status read_option(std::string_view option, JobService& service) {
  if (option == "tcp") {
    service.kind = JobService::Kind::tcp;
  } else if (option == "keep_path") {
    service.keeps_path = true;
  } else if (const auto rank = option.starts_with(kRankWord)
                                   ? number_up_to(option.substr(kRankWord.size()), 0, kRankMax)
                                   : std::nullopt) {
    service.rank = *rank;
  } else {
    return invalid_argument("'{}' is none of tcp, keep_path, rank=N", option.substr(0, 64));
  }
  return ok();
}

// Takes what stands before the next colon.
std::string_view take_service_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(':'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace

std::string_view to_string(JobService::Kind kind) {
  return kind == JobService::Kind::http ? "http" : "tcp";
}

Result<JobService> parse_service(std::string_view text) {
  JobService service;
  std::string_view rest = text;
  service.name = take_service_part(rest);
  const bool is_mere_port = is_all_digits(service.name) && !service.name.empty();
  const std::string_view port =
      is_mere_port ? std::string_view(service.name) : take_service_part(rest);
  if (!is_service_name(service.name)) {
    return invalid_argument(
        "must be NAME:PORT, the name of a-z, 0-9 and -, up to {} of them, is '{}'", kServiceNameMax,
        text.substr(0, 64));
  }
  const std::optional<int> number = number_up_to(port, 1, kServicePortMax);
  if (!number) {
    return invalid_argument("{}: must be NAME:PORT, the port 1..{}, as {}:8888", service.name,
                            kServicePortMax, is_mere_port ? "web" : service.name);
  }
  service.port = *number;
  while (!rest.empty()) {
    if (const Status read = read_option(take_service_part(rest), service); !read.is_ok())
      return invalid_argument("{}: {}", service.name, read.message());
  }
  if (service.kind == JobService::Kind::tcp && service.keeps_path)
    return invalid_argument("{}: keep_path is of HTTP, not of tcp", service.name);
  return service;
}

std::string to_string(const JobService& service) {
  std::string text =
      is_all_digits(service.name) ? service.name : fmt::format("{}:{}", service.name, service.port);
  if (service.kind == JobService::Kind::tcp) text += ":tcp";
  if (service.keeps_path) text += ":keep_path";
  if (service.rank != 0) text += fmt::format(":{}{}", kRankWord, service.rank);
  return text;
}

Result<JobService> find_service(const std::vector<std::string>& services, std::string_view name) {
  std::string names;
  for (const std::string& text : services) {
    const Result<JobService> service = parse_service(text);
    if (!service.is_ok()) continue;
    if (service.value().name == name) return service;
    names += (names.empty() ? "" : ", ") + service.value().name;
  }
  if (!name.empty() && is_all_digits(name)) return parse_service(name);
  if (names.empty()) return not_found("it has no services; a number is a port of its rank 0");
  return not_found("it has no service {}, but {}", name.substr(0, 64), names);
}

std::string service_path(JobId job, std::string_view name) {
  return fmt::format("/jobs/{}/{}/", job.value, name);
}

std::vector<std::pair<std::string, std::string>> service_environment(
    const std::vector<std::string>& services, JobId job) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& text : services) {
    const Result<JobService> service = parse_service(text);
    if (!service.is_ok()) continue;
    std::string name = "HAI_SERVICE_";
    for (const char c : service.value().name) name += c == '-' ? '_' : to_upper(c);
    all.emplace_back(name + "_PORT", std::to_string(service.value().port));
    if (service.value().kind == JobService::Kind::http)
      all.emplace_back(name + "_PATH", service_path(job, service.value().name));
  }
  return all;
}

}  // namespace hai
