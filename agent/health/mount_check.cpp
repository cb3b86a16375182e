#include "agent/health/mount_check.h"

#include <algorithm>
#include <sstream>

#include "agent/health/file_values.h"
#include "agent/health/results.h"
#include "agent/os/files.h"

namespace hai {

namespace {

constexpr int64_t kMegabyte = 1'000'000;
constexpr const char* kMakeRoom = "make room";

// "\040" stands for a space in /proc/mounts.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size();
    if (!is_escape) {
      out += text[i];
      continue;
    }
    int code = 0;
    for (size_t digit = i + 1; digit <= i + 3; ++digit) code = code * 8 + (text[digit] - '0');
    out += static_cast<char>(code);
    i += 3;
  }
  return out;
}

int64_t percent_of(int64_t part, int64_t whole) {
  return whole > 0
             ? static_cast<int64_t>(100.0 * static_cast<double>(part) / static_cast<double>(whole))
             : 100;
}

}  // namespace

std::map<std::string, bool> parse_mounts(const std::string& text) {
  std::map<std::string, bool> mounts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, path, type, options;
    if (!(words >> device >> path >> type >> options)) continue;
    mounts[unescaped(path)] = !(options == "ro" || options.starts_with("ro,"));
  }
  return mounts;
}

CheckResult judge_mount(const MountReading& reading, const HealthLimits& limits) {
  const CheckSubject about{.name = "mount", .subject = reading.path, .gpus = {}};
  const auto fail = [&](const std::string& summary, const char* remedy) {
    return make_fail(about, HealthTier::drain, {.summary = summary, .remedy = remedy});
  };
  if (!reading.is_mounted) return fail("not mounted", "mount it");
  if (reading.silences > 0) {
    const std::string summary = fmt::format("did not answer {} times in a row, limit {}",
                                            reading.silences, limits.mount_silences);
    static constexpr const char* kRemedy = "look at its file server and the way there";
    if (reading.silences >= limits.mount_silences) return fail(summary, kRemedy);
    return make_unknown(about, {.summary = summary, .remedy = kRemedy});
  }
  if (reading.answer.error != 0) {
    return fail(fmt::format("cannot be used: {}", errno_text(reading.answer.error)),
                "mount it again; look at its file server");
  }
  if (!reading.is_writable_mount || reading.answer.is_read_only)
    return fail("read-only", "repair its file system, and mount it to be written");
  return make_ok(about, "answers");
}

CheckResult judge_room(const MountReading& reading, const HealthLimits& limits) {
  const CheckSubject about{.name = "disk_space", .subject = reading.path, .gpus = {}};
  const auto fail = [&](const std::string& summary, const char* remedy) {
    return make_fail(about, HealthTier::drain, {.summary = summary, .remedy = remedy});
  };
  if (reading.silences > 0) {
    return make_unknown(about,
                        {.summary = "did not answer", .remedy = "look at its disk or file server"});
  }
  const FileSystemAnswer& answer = reading.answer;
  if (answer.error != 0) {
    return make_unknown(about, {.summary = errno_text(answer.error),
                                .remedy = "correct health.file_systems, or make the path"});
  }
  // A root that is read-only by design is no fault; one that becomes so is the kernel's answer to
  // an error.
  if (reading.was_writable && answer.is_read_only)
    return fail("became read-only", "repair the file system; replace the disk if it comes back");
  const int64_t megabytes = answer.free_bytes / kMegabyte;
  const int64_t percent = percent_of(answer.free_bytes, answer.size_bytes);
  const int64_t inodes_percent = percent_of(answer.free_inodes, answer.inodes);
  if (megabytes < limits.disk_free_megabytes) {
    return fail(fmt::format("{} MB free, limit {} MB", megabytes, limits.disk_free_megabytes),
                kMakeRoom);
  }
  if (answer.inodes > 0 && answer.free_inodes == 0) return fail("no inodes free", kMakeRoom);
  if (percent < limits.disk_free_percent) {
    return make_warn(
        about, {.summary = fmt::format("{} % free, limit {} %", percent, limits.disk_free_percent),
                .remedy = kMakeRoom});
  }
  if (inodes_percent < limits.disk_free_inodes_percent) {
    return make_warn(about,
                     {.summary = fmt::format("{} % of the inodes free, limit {} %", inodes_percent,
                                             limits.disk_free_inodes_percent),
                      .remedy = kMakeRoom});
  }
  return make_ok(about, fmt::format("{} % free", percent));
}

MountCheck::MountCheck(MountCheckOptions options, MountProbe::Ask ask)
    : Check("mounts", {.period = 10s, .deadline = options.patience + 5s}),
      options_(std::move(options)),
      probe_(options_.patience, ask) {}

std::vector<CheckResult> MountCheck::run(const CheckInput&) {
  const std::map<std::string, bool> mounted =
      parse_mounts(read_text(options_.proc_root + "/mounts").value_or(""));
  const std::set<std::string> needed(options_.mounts.begin(), options_.mounts.end());
  std::set<std::string> paths(options_.file_systems.begin(), options_.file_systems.end());
  for (const std::string& path : needed) {
    if (mounted.contains(path)) paths.insert(path);
  }
  std::map<std::string, MountReading> readings;
  for (const MountProbe::Answer& answer : probe_.probe({paths.begin(), paths.end()})) {
    int64_t& silences = silences_[answer.path];
    silences = answer.is_answered ? 0 : silences + 1;
    const bool is_writable =
        answer.is_answered && answer.answer.error == 0 && !answer.answer.is_read_only;
    if (is_writable) writable_.insert(answer.path);
    readings[answer.path] = {.path = answer.path,
                             .was_writable = writable_.contains(answer.path),
                             .silences = silences,
                             .answer = answer.answer};
  }
  std::vector<CheckResult> results;
  for (const std::string& path : needed) {
    const auto mount = mounted.find(path);
    MountReading reading = readings[path];
    reading.path = path;
    reading.is_mounted = mount != mounted.end();
    reading.is_writable_mount = reading.is_mounted && mount->second;
    results.push_back(judge_mount(reading, options_.limits));
  }
  for (const std::string& path : options_.file_systems) {
    results.push_back(judge_room(readings[path], options_.limits));
  }
  if (needed.empty()) results.push_back(make_ok({"mount", "", {}}, "no mount is required"));
  return results;
}

CheckMemory MountCheck::memory() const {
  CheckMemory memory;
  for (const auto& [path, silences] : silences_) {
    // More than fail are no news.
    const int64_t counted = std::min(silences, options_.limits.mount_silences);
    if (counted > 0) memory.of_boot[path]["silences"] = {counted};
  }
  for (const std::string& path : writable_) memory.of_boot[path]["was_writable"] = {1};
  return memory;
}

void MountCheck::restore(const CheckMemory& memory) {
  for (const auto& [path, fields] : memory.of_boot) {
    if (const auto silences = number_of(memory.of_boot, path, "silences"))
      silences_[path] = *silences;
    if (fields.contains("was_writable")) writable_.insert(path);
  }
}

}  // namespace hai
