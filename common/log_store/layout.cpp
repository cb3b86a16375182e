#include "common/log_store/layout.h"

#include <fmt/core.h>

#include "common/whole_number.h"

namespace hai {

namespace {

constexpr int64_t kJobsPerFolder = 1000;
constexpr std::string_view kChunkSuffix = ".gz";
constexpr size_t kChunkDigits = 16;

// The number whose name this is, written as we write it: without a sign and zeros in front.
std::optional<int64_t> plain_number(std::string_view text) {
  const std::optional<int64_t> value = whole_number(text);
  if (!value || *value < 0 || std::to_string(*value) != text) return std::nullopt;
  return value;
}

}  // namespace

std::string thousand_folder(JobId job) { return std::to_string(job.value / kJobsPerFolder); }
std::string job_folder(JobId job) { return std::to_string(job.value); }
std::string rank_folder(const RankKey& key) { return fmt::format("{}.{}", key.attempt, key.rank); }
std::string chunk_name(int64_t start) {
  return fmt::format("{:0{}}{}", start, kChunkDigits, kChunkSuffix);
}

std::optional<int64_t> parse_thousand_folder(std::string_view name) { return plain_number(name); }

std::optional<JobId> parse_job_folder(std::string_view name) {
  const std::optional<int64_t> id = plain_number(name);
  if (!id || *id == 0) return std::nullopt;
  return JobId{*id};
}

std::optional<RankKey> parse_rank_folder(JobId job, std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto attempt = whole_number<int>(name.substr(0, dot));
  const auto rank = whole_number<int>(name.substr(dot + 1));
  if (!attempt || !rank) return std::nullopt;
  const RankKey key{.job = job, .attempt = *attempt, .rank = *rank};
  if (*attempt < 1 || *rank < 0 || rank_folder(key) != name) return std::nullopt;
  return key;
}

std::optional<int64_t> parse_chunk_name(std::string_view name) {
  if (!name.ends_with(kChunkSuffix)) return std::nullopt;
  const auto start = whole_number(name.substr(0, name.size() - kChunkSuffix.size()));
  if (!start || *start < 0 || chunk_name(*start) != name) return std::nullopt;
  return start;
}

}  // namespace hai
