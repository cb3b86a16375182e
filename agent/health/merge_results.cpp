#include "agent/health/merge_results.h"

#include <algorithm>
#include <tuple>

#include "agent/health/health_monitor.h"
#include "agent/health/results.h"
#include "common/digest.h"
#include "common/text_check.h"

namespace hai {

namespace {

constexpr size_t kSubjectBytesMax = 128;

int rank_of(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::ok:
      return 0;
    case CheckVerdict::unknown:
      return 1;
    case CheckVerdict::warn:
      return 2;
    case CheckVerdict::fail:
      return 3;
  }
  return 0;
}

auto key_of(const CheckResult& result) { return std::tie(result.name, result.subject); }

// By key, the worst of a key first.
bool comes_before(const CheckResult& a, const CheckResult& b) {
  if (key_of(a) != key_of(b)) return key_of(a) < key_of(b);
  if (a.verdict != b.verdict) return rank_of(a.verdict) > rank_of(b.verdict);
  return a.tier > b.tier;
}

bool says_the_same(const CheckResult& a, const CheckResult& b) {
  return a.verdict == b.verdict && a.tier == b.tier && a.gpus == b.gpus &&
         summary_kind(a.summary) == summary_kind(b.summary);
}

// Ends at whole characters, as far as the text is UTF-8.
void shorten(std::string& text, size_t bytes_max) {
  if (text.size() <= bytes_max) return;
  size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  text.resize(size);
}

// What helps is said last and worth more than the end of what is wrong.
void shorten_summary(std::string& summary) {
  const size_t mark = summary.rfind(kRemedyMark);
  const std::string remedy = mark == std::string::npos ? "" : summary.substr(mark);
  if (remedy.size() < HealthMonitor::kSummaryBytesMax / 2) {
    summary.resize(summary.size() - remedy.size());
    shorten(summary, HealthMonitor::kSummaryBytesMax - remedy.size());
    summary += remedy;
  }
  shorten(summary, HealthMonitor::kSummaryBytesMax);
}

// Names and versions come from files; what is no text could not be sent.
void make_text(std::string& text) {
  if (find_bad_text(text)) text = printable(text);
}

void bound(CheckResult& result) {
  shorten(result.subject, kSubjectBytesMax);
  shorten_summary(result.summary);
  shorten(result.evidence, kEvidenceBytesMax);
  for (std::string* text : {&result.subject, &result.summary, &result.evidence}) make_text(*text);
}

}  // namespace

std::vector<CheckResult> merge_results(std::vector<CheckResult> found,
                                       const std::vector<CheckResult>& before, UnixTime now) {
  for (CheckResult& result : found) bound(result);
  std::stable_sort(found.begin(), found.end(), comes_before);
  const auto end = std::unique(found.begin(), found.end(),
                               [](const auto& a, const auto& b) { return key_of(a) == key_of(b); });
  found.erase(end, found.end());
  if (found.size() > HealthMonitor::kResultsMax) {
    // What is well goes first.
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return rank_of(a.verdict) > rank_of(b.verdict);
    });
    found.resize(HealthMonitor::kResultsMax);
    std::sort(found.begin(), found.end(), comes_before);
  }
  auto old = before.begin();
  for (CheckResult& result : found) {
    while (old != before.end() && key_of(*old) < key_of(result)) ++old;
    if (result.at != UnixTime{}) continue;  // The check knows when.
    const bool is_known = old != before.end() && key_of(*old) == key_of(result);
    result.at = is_known && says_the_same(*old, result) ? old->at : now;
  }
  return found;
}

uint64_t digest_of(const std::vector<CheckResult>& results) {
  Digest digest;
  for (const CheckResult& result : results) {
    digest.add(result.name).add(result.subject).add(result.verdict).add(result.tier);
    digest.add(summary_kind(result.summary)).add(result.gpus.bits).add(result.at);
    digest.add(result.kind().is_latched);
  }
  return digest.value();
}

}  // namespace hai
