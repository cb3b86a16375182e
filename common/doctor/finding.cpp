#include "common/doctor/finding.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/json/json_text.h"
#include "common/text_check.h"

namespace hai {
namespace {

constexpr std::array kWords{std::pair(Verdict::ok, "ok"), std::pair(Verdict::warn, "warn"),
                            std::pair(Verdict::fail, "fail")};

std::optional<Verdict> verdict_of(std::string_view word) {
  for (const auto& [verdict, its_word] : kWords) {
    if (word == its_word) return verdict;
  }
  return std::nullopt;
}

std::optional<Finding> finding_of(const JsonView& object) {
  JsonView::Members members;
  if (!object.members(members)) return std::nullopt;
  Finding finding;
  bool has_verdict = false;
  for (const auto& [key, value] : members) {
    const std::optional<std::string> text = value.as_string();
    if (!text) return std::nullopt;
    if (key == "part") finding.part = *text;
    if (key == "check") finding.check = *text;
    if (key == "found") finding.found = *text;
    if (key == "remedy") finding.remedy = *text;
    if (key != "verdict") continue;
    const std::optional<Verdict> verdict = verdict_of(*text);
    if (!verdict) return std::nullopt;
    finding.verdict = *verdict;
    has_verdict = true;
  }
  return has_verdict ? std::optional(finding) : std::nullopt;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  for (const auto& [each, word] : kWords) {
    if (each == verdict) return word;
  }
  return "fail";
}

Finding all_well(std::string found) { return {.found = std::move(found)}; }

Finding warning(std::string found, std::string remedy) {
  return {.verdict = Verdict::warn, .found = std::move(found), .remedy = std::move(remedy)};
}

Finding failure(std::string found, std::string remedy) {
  return {.verdict = Verdict::fail, .found = std::move(found), .remedy = std::move(remedy)};
}

std::string format_findings(const std::vector<Finding>& findings) {
  std::string out = "[";
  for (const Finding& finding : findings) {
    out += out.size() > 1 ? ",\n {" : "\n {";
    const std::pair<const char*, std::string_view> fields[] = {
        {"part", finding.part},
        {"check", finding.check},
        {"verdict", to_string(finding.verdict)},
        {"found", finding.found},
        {"remedy", finding.remedy}};
    for (const auto& [key, value] : fields) {
      if (!out.ends_with('{')) out += ", ";
      append_json_string(out, key);
      out += ": ";
      append_json_string(out, value);
    }
    out += "}";
  }
  return out + "\n]\n";
}

Result<std::vector<Finding>> parse_findings(std::string_view json) {
  const Result<JsonView> whole = JsonView::parse(json);
  RETURN_IF_ERROR(whole.status());
  std::vector<JsonView> elements;
  if (!whole.value().elements(elements)) return invalid_argument("is no array of findings");
  std::vector<Finding> findings;
  for (const JsonView& element : elements) {
    std::optional<Finding> finding = finding_of(element);
    if (!finding) return invalid_argument("has an element that is no finding");
    findings.push_back(std::move(*finding));
  }
  return findings;
}

std::string describe_findings(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    out += fmt::format("{:<4}  {:<6}  {:<12}  {}\n", to_string(finding.verdict), finding.part,
                       finding.check, printable(finding.found));
    if (!finding.remedy.empty()) {
      out += fmt::format("{:>28}do: {}\n", "", printable(finding.remedy));
    }
  }
  return out;
}

int exit_code_of(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings,
                             [](const Finding& each) { return each.verdict == Verdict::fail; })
             ? 1
             : 0;
}

}  // namespace hai
