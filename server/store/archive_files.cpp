#include "server/store/archive_files.h"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include "common/digest.h"
#include "server/store/json_codec.h"
#include "server/store/line_file.h"

namespace hai {
namespace {

std::optional<int64_t> take_last_number(std::string_view& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const char* end = name.data() + name.size();
  int64_t number = 0;
  const auto parsed = std::from_chars(name.data() + dash + 1, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  name = name.substr(0, dash);
  return number;
}

bool take_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

std::optional<ArchiveFile> parse_name(std::string_view name) {
  ArchiveFile file;
  if (!take_suffix(name, ".jsonl.gz")) return std::nullopt;
  file.has_jobs = take_suffix(name, "-jobs");
  const std::optional<int64_t> last = take_last_number(name);
  const std::optional<int64_t> first = last ? take_last_number(name) : std::nullopt;
  if (!first) return std::nullopt;
  file.first_seq = *first;
  file.last_seq = *last;
  return file;
}

std::string file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq,
                      const char* kind) {
  return fmt::format("hai-{}-{:012}-{:012}{}.jsonl.gz", cluster, first_seq, last_seq, kind);
}

uint64_t hash_of(std::string_view text) { return Digest().add(text).value(); }

}  // namespace

Result<std::vector<ArchiveFile>> find_archive_files(const std::string& dir) {
  std::vector<ArchiveFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(dir, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (auto file = parse_name(name)) {
      file->path = it->path().string();
      files.push_back(std::move(*file));
    }
  }
  if (error) return invalid_argument("{}: {}", dir, error.message());
  std::ranges::sort(files, {}, [](const ArchiveFile& file) {
    return std::tuple(file.first_seq, file.has_jobs, file.path);
  });
  return files;
}

std::string events_file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq) {
  return file_name(cluster, first_seq, last_seq, "");
}

std::string jobs_file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq) {
  return file_name(cluster, first_seq, last_seq, "-jobs");
}

std::string audit_file_name(const std::string& cluster, int64_t first_seq, int64_t last_seq) {
  return file_name(cluster, first_seq, last_seq, "-audit");
}

std::optional<std::string> name_of_partial(std::string_view cluster, std::string_view name) {
  if (!take_suffix(name, kPartialSuffix)) return std::nullopt;
  std::string_view rest = name;
  if (!take_suffix(rest, ".jsonl.gz")) return std::nullopt;
  if (!take_suffix(rest, "-jobs")) take_suffix(rest, "-audit");
  if (!take_last_number(rest) || !take_last_number(rest)) return std::nullopt;
  if (rest != fmt::format("hai-{}", cluster)) return std::nullopt;
  return std::string(name);
}

Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return invalid_argument("{}: can't be opened", path);
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                  &EVP_MD_CTX_free);
  CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  std::string chunk(1 << 16, '\0');
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    CHECK(EVP_DigestUpdate(context.get(), chunk.data(), static_cast<size_t>(file.gcount())) == 1);
  }
  if (file.bad()) return unavailable("{}: can't be read", path);
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(context.get(), bytes, &size) == 1);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

Status read_jobs(const std::string& path, const std::function<void(const ArchivedJob&)>& take) {
  auto opened = LineReader::open(path);
  if (!opened.is_ok()) return opened.status();
  LineReader& reader = *opened.value();
  JobJoiner joiner;
  std::string_view line;
  while (true) {
    Result<bool> got = reader.next(line);
    if (!got.is_ok()) return got.status();
    Result<std::optional<ArchivedJob>> archived = std::optional<ArchivedJob>();
    if (got.value()) {
      archived = joiner.add(line);
    } else if (const Status whole = joiner.finish(); !whole.is_ok()) {
      archived = whole;
    }
    if (!archived.is_ok()) {
      return data_loss(
          fmt::format("{}:{}: {}", path, reader.line_number(), archived.status().message()));
    }
    if (archived.value()) take(*archived.value());
    if (!got.value()) return ok();
  }
}

Status ArchivedJobs::add_file(const std::string& path) {
  return read_jobs(path, [this](const ArchivedJob& archived) {
    const Job& job = archived.job;
    ++jobs_;
    entries_.push_back({job.id, 0, hash_of(whole_job_to_json(job))});
    for (const Attempt& attempt : archived.earlier) {
      entries_.push_back({job.id, attempt.number, hash_of(to_json(attempt))});
    }
  });
}

void ArchivedJobs::sort() {
  std::ranges::sort(entries_, {}, [](const Entry& e) { return std::pair(e.job, e.earlier); });
}

const ArchivedJobs::Entry* ArchivedJobs::find(JobId job, int earlier) const {
  const auto found =
      std::ranges::lower_bound(entries_, std::pair(job, earlier), {},
                               [](const Entry& e) { return std::pair(e.job, e.earlier); });
  const bool is_it = found != entries_.end() && found->job == job && found->earlier == earlier;
  return is_it ? &*found : nullptr;
}

bool ArchivedJobs::holds(const Job& job) const {
  const Entry* entry = find(job.id, 0);
  return entry != nullptr && entry->hash == hash_of(whole_job_to_json(job));
}

bool ArchivedJobs::holds(JobId job, const Attempt& earlier) const {
  const Entry* entry = find(job, earlier.number);
  return entry != nullptr && entry->hash == hash_of(to_json(earlier));
}

}  // namespace hai
