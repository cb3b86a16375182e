#include "cli/slurm/long_format.h"

#include <algorithm>

#include "cli/job_view.h"
#include "cli/slurm/job_words.h"
#include "cli/table.h"
#include "common/job_spec.h"

namespace hai::cli::slurm {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

int64_t priority_of(const v1::Job& job) {
  const Result<Priority> priority = parse_priority(job.priority());
  return priority.is_ok() ? static_cast<int>(priority.value()) : 0;
}

// What a letter is sorted by if not by its text.
std::optional<int64_t> sort_number(const v1::Job& job, char letter, UnixTime now) {
  switch (letter) {
    case 'A':
    case 'F':
    case 'i':
      return job.id();
    case 'D':
      return job.node_count();
    case 'p':
    case 'Q':
      return priority_of(job);
    case 'M':
      return time_run(job, now) / 1s;
    case 'l':
    case 'L': {  // no limit is the longest
      const int64_t limit = job.spec().timeout_us();
      if (limit == 0) return INT64_MAX;
      return letter == 'l' ? limit : limit - time_run(job, now) / 1us;
    }
    case 'S':
      return job.has_started_at_us() ? job.started_at_us() : INT64_MAX;
    case 'e':
      return job.has_ended_at_us() ? job.ended_at_us() : INT64_MAX;
    case 'V':
      return job.submitted_at_us();
    case 't':
    case 'T':
      return static_cast<int64_t>(state_order(job));
    default:
      return std::nullopt;
  }
}

bool comes_before(const v1::Job& a, const v1::Job& b, const std::vector<SortKey>& keys,
                  UnixTime now) {
  for (const SortKey& key : keys) {
    const v1::Job& first = key.is_descending ? b : a;
    const v1::Job& second = key.is_descending ? a : b;
    if (const auto number = sort_number(first, key.letter, now)) {
      const int64_t other = *sort_number(second, key.letter, now);
      if (*number != other) return *number < other;
    } else {
      const std::string text = job_value(first, key.letter, now);
      const std::string other = job_value(second, key.letter, now);
      if (text != other) return text < other;
    }
  }
  return false;
}

}  // namespace

const std::vector<FieldName>& job_field_names() {
  static const std::vector<FieldName> kNames = {
      {"account", 'a'},   {"arrayjobid", 'F'}, {"arraytaskid", 'K'},  {"batchhost", 'B'},
      {"command", 'o'},   {"comment", 'k'},    {"dependency", 'E'},   {"endtime", 'e'},
      {"feature", 'f'},   {"gres", 'b'},       {"jobarrayid", 'i'},   {"jobid", 'A'},
      {"maxcpus", 'C'},   {"minmemory", 'm'},  {"name", 'j'},         {"nice", 'y'},
      {"nodelist", 'N'},  {"numcpus", 'C'},    {"numnodes", 'D'},     {"oversubscribe", 'h'},
      {"partition", 'P'}, {"priority", 'p'},   {"prioritylong", 'Q'}, {"qos", 'q'},
      {"reason", 'r'},    {"reasonlist", 'R'}, {"reqnodes", 'n'},     {"reservation", 'v'},
      {"starttime", 'S'}, {"state", 'T'},      {"statecompact", 't'}, {"submittime", 'V'},
      {"timeleft", 'L'},  {"timelimit", 'l'},  {"timeused", 'M'},     {"tres-per-node", 'b'},
      {"username", 'u'},  {"workdir", 'Z'}};
  return kNames;
}

Result<std::vector<FormatField>> parse_long_format(std::string_view text,
                                                   const std::vector<FieldName>& names) {
  constexpr int kWidth = 20;
  constexpr int kWidthMost = 1'000;
  std::vector<FormatField> fields;
  std::string before;
  for (;;) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    const size_t colon = std::min(item.find(':'), item.size());
    const std::string name = lower_case(item.substr(0, colon));
    const auto known = std::find_if(names.begin(), names.end(),
                                    [&](const FieldName& field) { return field.name == name; });
    if (known == names.end()) {
      std::string all;
      for (const FieldName& field : names)
        all += (all.empty() ? "" : ", ") + std::string(field.name);
      return invalid_argument("field '{}' is not known, only these are: {}",
                              printable(item.substr(0, 64)), all);
    }
    FormatField field = {.before = std::exchange(before, ""), .letter = known->letter};
    item.remove_prefix(std::min(colon + 1, item.size()));
    if (item.starts_with('.')) {
      field.right = true;
      item.remove_prefix(1);
    }
    while (!item.empty() && item[0] >= '0' && item[0] <= '9') {
      field.width = std::min(field.width * 10 + (item[0] - '0'), kWidthMost);
      item.remove_prefix(1);
    }
    if (field.width == 0) field.width = kWidth;
    before = std::string(item);  // what follows the value, up to the next one
    fields.push_back(std::move(field));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  fields.push_back({.before = before});
  return fields;
}

Result<std::vector<SortKey>> parse_sort(std::string_view text,
                                        const std::vector<KnownLetter>& known) {
  std::vector<SortKey> keys;
  bool is_descending = false;
  for (const char c : text) {
    if (c == ',' || c == '+') {
      is_descending = false;
    } else if (c == '-') {
      is_descending = true;
    } else {
      const bool is_known = std::any_of(known.begin(), known.end(),
                                        [&](const KnownLetter& k) { return k.letter == c; });
      if (!is_known) {
        return invalid_argument("'{}': letters of -o with - or + in front, commas between them",
                                printable(text.substr(0, 64)));
      }
      keys.push_back({c, std::exchange(is_descending, false)});
    }
  }
  return keys;
}

void sort_jobs(std::vector<v1::Job>& jobs, const std::vector<SortKey>& keys, UnixTime now) {
  std::stable_sort(jobs.begin(), jobs.end(), [&](const v1::Job& a, const v1::Job& b) {
    return comes_before(a, b, keys, now);
  });
}

}  // namespace hai::cli::slurm
