#include "cli/slurm/sacct_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/job_view.h"
#include "cli/slurm/job_words.h"
#include "cli/table.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

struct KnownField {
  std::string_view title;
  int width;
  char letter;  // of squeue with the same value; 0 = none
};

constexpr auto kFields = std::to_array<KnownField>(
    {{"Account", 10, 'a'}, {"AllocCPUS", 10, 0},  {"AllocNodes", 10, 'D'}, {"Comment", 14, 0},
     {"Elapsed", 10, 'M'}, {"ElapsedRaw", 10, 0}, {"End", 19, 'e'},        {"ExitCode", 8, 0},
     {"JobID", 12, 'i'},   {"JobIDRaw", 12, 'i'}, {"JobName", 10, 'j'},    {"MaxRSS", 10, 0},
     {"NNodes", 8, 'D'},   {"NodeList", 15, 0},   {"Partition", 10, 'P'},  {"Priority", 10, 'Q'},
     {"QOS", 10, 'q'},     {"Reason", 22, 'r'},   {"Restarts", 8, 0},      {"Start", 19, 0},
     {"State", 10, 'T'},   {"Submit", 19, 'V'},   {"Timelimit", 10, 'l'},  {"User", 9, 'u'},
     {"WorkDir", 20, 'Z'}});

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

const KnownField* find_field(std::string_view title) {
  const auto found = std::find_if(kFields.begin(), kFields.end(), [&](const KnownField& field) {
    return is_same_word(field.title, title);
  });
  return found == kFields.end() ? nullptr : &*found;
}

// "1:0" for exit code 1, "0:9" for signal 9.
std::string recorded_exit_text(const v1::Job& job) {
  const int code = job.has_exit_code() ? job.exit_code() : 0;
  return code > 128 && code < 193 ? fmt::format("0:{}", code - 128) : fmt::format("{}:0", code);
}

int64_t elapsed_seconds(const v1::Job& job, UnixTime now) {
  return std::chrono::duration_cast<std::chrono::seconds>(time_run(job, now)).count();
}

std::string cell(const std::string& text, const AccountField& field) {
  const auto width = static_cast<size_t>(field.width);
  // As Slurm: what is longer ends in a plus.
  std::string shown = text.size() > width ? text.substr(0, width - 1) + "+" : text;
  const std::string gap(width - std::min(width, display_width(shown)), ' ');
  return field.left ? shown + gap : gap + shown;
}

}  // namespace

Result<std::vector<AccountField>> parse_account_fields(std::string_view text) {
  constexpr int kWidthMax = 1'000;
  std::vector<AccountField> fields;
  for (;;) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    const size_t percent = item.find('%');
    const KnownField* known = find_field(item.substr(0, percent));
    if (known == nullptr) {
      return invalid_argument("field '{}' is not known: sacct --helpformat lists them",
                              item.substr(0, 64));
    }
    AccountField field = {std::string(known->title), known->width, false};
    if (percent != std::string_view::npos) {
      std::string_view width = item.substr(percent + 1);
      field.left = width.starts_with('-');
      if (field.left) width.remove_prefix(1);
      field.width = whole_number<int>(width).value_or(0);
      if (field.width < 1 || field.width > kWidthMax) {
        return invalid_argument("field '{}': the width must be 1..{}", item.substr(0, 64),
                                kWidthMax);
      }
    }
    fields.push_back(std::move(field));
    if (comma == std::string_view::npos) return fields;
    text.remove_prefix(comma + 1);
  }
}

std::string known_account_fields() {
  std::string text;
  for (const KnownField& field : kFields) text += fmt::format("{}\n", field.title);
  return text;
}

std::string account_value(const v1::Job& job, std::string_view title, UnixTime now) {
  const KnownField* known = find_field(title);
  if (known == nullptr) return "";
  if (known->letter == 'a') return "";
  if (known->letter != 0) return job_value(job, known->letter, now);
  if (known->title == "ElapsedRaw") return std::to_string(elapsed_seconds(job, now));
  if (known->title == "ExitCode") return recorded_exit_text(job);
  if (known->title == "Restarts") return std::to_string(std::max(0, job.attempt() - 1));
  if (known->title == "Comment") return job.end_reason();
  if (known->title == "Start") {
    return job.has_started_at_us() ? job_value(job, 'S', now) : "Unknown";
  }
  if (known->title == "NodeList") {
    return job.nodes_size() > 0 ? job_value(job, 'N', now) : "None assigned";
  }
  return "";  // CPUs and memory of finished jobs: hai does not keep them
}

std::string format_accounts(const std::vector<v1::Job>& jobs,
                            const std::vector<AccountField>& fields, const AccountStyle& style,
                            UnixTime now) {
  std::string text;
  const auto add_line = [&](const auto& value_of) {
    std::string line;
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string value = printable(value_of(fields[i]));
      if (style.delimiter.empty()) {
        line += cell(value, fields[i]) + " ";
      } else {
        const bool is_last = i + 1 == fields.size();
        line += value + (is_last && !style.ends_with_delimiter ? "" : style.delimiter);
      }
    }
    text += line + "\n";
  };
  if (style.header) {
    add_line([](const AccountField& field) { return field.title; });
    if (style.delimiter.empty()) {
      add_line([](const AccountField& field) {
        return std::string(static_cast<size_t>(field.width), '-');
      });
    }
  }
  for (const v1::Job& job : jobs) {
    add_line([&](const AccountField& field) { return account_value(job, field.title, now); });
  }
  return text;
}

}  // namespace hai::cli::slurm
