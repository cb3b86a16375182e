#include "common/spec/check_job_spec.h"

#include <algorithm>
#include <csignal>
#include <set>

#include "common/array_range.h"
#include "common/ascii.h"
#include "common/bytes.h"
#include "common/count_of.h"
#include "common/dependency.h"
#include "common/hostlist.h"
#include "common/image.h"
#include "common/job_service.h"
#include "common/python_environment.h"
#include "common/shell_words.h"
#include "common/signal_name.h"
#include "common/spec/job_keys.h"
#include "common/text_check.h"

namespace hai {
namespace {

constexpr size_t kMountsMax = 64;
constexpr size_t kImageTextMax = 1'024;
constexpr size_t kNameMax = 255;
constexpr size_t kPathBytesMax = 4'095;
constexpr size_t kParametersBytesMax = 65'536;
constexpr size_t kEnvironmentsMax = 1'000;
constexpr size_t kSecretsMax = 100;
constexpr size_t kEnvironmentBytesMax = 262'144;  // names and values together
constexpr size_t kArrayBytesMax = 1'024;
constexpr int64_t kArrayTextBytesMax = int64_t{256} << 20;
constexpr size_t kGpuTypeBytesMax = 64;
constexpr size_t kLabelsMax = 16;
constexpr size_t kHostlistBytesMax = 2'048;  // each node's name is looked for in it
constexpr size_t kListedNodesMax = 20'000;
constexpr int64_t kMemoryPerNodeBytesMin = 1 << 20;
constexpr size_t kTagsMax = 64;
constexpr size_t kTagBytesMax = 128;
constexpr size_t kDependenciesMax = 100;
// What has a text of four digits for the year.
constexpr UnixTime kBeginAtLow{Duration(0)};
constexpr UnixTime kBeginAtHigh{Duration(253'402'300'799s)};  // 9999-12-31T23:59:59Z

std::string shown(std::string_view text) {
  return text.size() <= 64 ? fmt::format("'{}'", text) : fmt::format("'{}...'", text.substr(0, 64));
}

bool is_all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= kNameMax && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool has_name_characters(std::string_view text) {
  return !text.empty() && text.size() <= kNameMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

// Collects the errors of one spec.
class Validator {
 public:
  explicit Validator(const JobSpec& spec) : spec_(spec) {}

  std::vector<SpecError> run() {
    check_name();
    check_program();
    check_environments();
    check_resources();
    for_each_key(spec_, RangeCheck{*this});
    check_array();
    check_node_filter();
    check_without_gpus();
    check_options();
    check_tags();
    check_dependencies();
    return std::move(errors_);
  }

 private:
  template <typename... Args>
  void fail(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    errors_.push_back(
        {0, printable(path), printable(fmt::format(text, std::forward<Args>(args)...))});
  }

  // False, with an error, if protobuf or PostgreSQL could not hold it.
  bool check_text(const std::string& path, std::string_view text, size_t bytes_max,
                  ControlCharacters controls = ControlCharacters::refuse) {
    if (text.size() > bytes_max) {
      fail(path, "{} bytes, at most {} are allowed", text.size(), bytes_max);
      return false;
    }
    if (const auto bad = find_bad_text(text, controls)) {
      fail(path, "contains {}", bad->what);
      return false;
    }
    return true;
  }

  // Of each number in job_keys.h.
  struct RangeCheck {
    Validator& validator;

    void operator()(const char* path, int value, int low, int high) const {
      if (value >= low && value <= high) return;
      validator.fail(path, "must be {}..{}{}, is {}", std::max(low, 0), high,
                     low == kNoGpus ? " or none" : "", value);
    }
    void operator()(const char* path, int64_t bytes, int64_t low, int64_t high) const {
      if (bytes >= low && bytes <= high) return;
      validator.fail(path, "must be {}..{}, is {}", format_bytes(std::max<int64_t>(low, 0)),
                     format_bytes(high), bytes);
    }
    void operator()(const char* path, Duration value, Duration low, Duration high) const {
      if (value >= low && value <= high) return;
      validator.fail(path, "must be {}..{}, is {}", format_duration(low), format_duration(high),
                     format_duration(value));
    }
    template <typename... Others>
    void operator()(const char*, const Others&...) const {}  // no number
  };

  void check_array() {
    if (spec_.array.empty() || !check_text("array", spec_.array, kArrayBytesMax)) return;
    const Result<ArrayRange> range = ArrayRange::parse(spec_.array);
    if (!range.is_ok()) return fail("array", "{}", range.status().message());
    // Each task keeps them.
    int64_t bytes = static_cast<int64_t>(spec_.parameters.size());
    for (const auto& [name, value] : spec_.environments) {
      bytes += static_cast<int64_t>(name.size() + value.size());
    }
    const int64_t tasks = range.value().count();
    if (bytes * tasks <= kArrayTextBytesMax) return;
    fail(
        "array",
        "{} tasks with {} of parameters and environments each are more than {} in all; put what is "
        "long into a file, or submit fewer tasks at once",
        tasks, format_bytes(bytes), format_bytes(kArrayTextBytesMax));
  }

  void check_node_filter() {
    const NodeFilter& filter = spec_.node_filter;
    const std::string& type = filter.gpu_type;
    const bool is_type =
        type.size() <= kGpuTypeBytesMax && std::ranges::all_of(type, [](char c) {
          return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-' || c == ' ';
        });
    if (!is_type || (!type.empty() && std::ranges::none_of(type, [](char c) {
          return is_letter(c) || is_digit(c);
        }))) {
      fail("resource.gpu_type", "must be a word of the GPU's model, like h800, is {}", shown(type));
    }
    if (filter.labels.size() > kLabelsMax) {
      fail("resource.labels", "{} labels, at most {} are allowed", filter.labels.size(),
           kLabelsMax);
    }
    for (size_t i = 0; i < filter.labels.size() && i < kLabelsMax; ++i) {
      if (has_name_characters(filter.labels[i])) continue;
      fail(fmt::format("resource.labels[{}]", i),
           "must be 1..{} of the characters A-Z a-z 0-9 . _ -, is {}", kNameMax,
           shown(filter.labels[i]));
    }
    check_hostlist("resource.nodes", filter.nodes);
    check_hostlist("resource.exclude_nodes", filter.exclude);
  }

  void check_hostlist(const std::string& path, const std::string& list) {
    if (!check_text(path, list, kHostlistBytesMax)) return;
    const auto names = parse_hostlist(list, kListedNodesMax);
    if (!names.is_ok()) fail(path, "{}", names.status().message());
  }

  void check_name() {
    if (spec_.name.empty()) {
      fail("name", "is missing");
    } else if (!has_name_characters(spec_.name)) {
      fail("name", "must be 1..{} of the characters A-Z a-z 0-9 . _ -, is {}", kNameMax,
           shown(spec_.name));
    } else if (is_all_digits(spec_.name)) {
      fail("name", "must not be only digits, as a job id is: {}", shown(spec_.name));
    }
    if (to_string(spec_.priority) == "unknown") {
      fail("priority", "{}",
           parse_priority(std::to_string(static_cast<int>(spec_.priority))).status().message());
    }
  }

  void check_program() {
    if (spec_.workspace.empty()) {
      fail("spec.workspace", "is missing");
    } else if (check_path("spec.workspace", spec_.workspace) && spec_.workspace.front() != '/') {
      fail("spec.workspace", "must be an absolute path, is {}", shown(spec_.workspace));
    }
    if (spec_.entrypoint.empty()) {
      fail("spec.entrypoint", "is missing");
    } else if (check_path("spec.entrypoint", spec_.entrypoint) && spec_.entrypoint.back() == '/') {
      fail("spec.entrypoint", "must be a file, is {}", shown(spec_.entrypoint));
    }
    if (check_text("spec.parameters", spec_.parameters, kParametersBytesMax,
                   ControlCharacters::allow)) {
      const auto words = split_parameters(spec_.parameters);
      if (!words.is_ok()) fail("spec.parameters", "{}", words.status().message());
    }
  }

  bool check_path(const std::string& path, std::string_view text) {
    if (!check_text(path, text, kPathBytesMax)) return false;
    if (text.find_first_of("\t\n\r") == std::string_view::npos) return true;
    fail(path, "must be one line without tabs");
    return false;
  }

  void check_environments() {
    if (spec_.environments.size() > kEnvironmentsMax) {
      fail("spec.environments", "{} variables, at most {} are allowed", spec_.environments.size(),
           kEnvironmentsMax);
      return;
    }
    size_t bytes = 0;
    for (const auto& [name, value] : spec_.environments) {
      const std::string path = "spec.environments." + name.substr(0, 64);
      bytes += name.size() + value.size();
      if (!is_identifier(name)) {
        fail(path, "a variable's name must be 1..{} letters, digits or _, the first no digit",
             kNameMax);
      }
      check_text(path, value, kParametersBytesMax, ControlCharacters::allow);
      if (name != kPythonEnvironment) continue;
      const Status venv = parse_python_environment(value).status();
      if (!venv.is_ok()) fail(path, "{}", venv.message());
    }
    if (bytes > kEnvironmentBytesMax) {
      fail("spec.environments", "{} bytes in all, at most {} are allowed", bytes,
           kEnvironmentBytesMax);
    }
    check_secrets();
  }

  void check_secrets() {
    if (spec_.secrets.size() > kSecretsMax) {
      fail("spec.secrets", "{} variables, at most {} are allowed", spec_.secrets.size(),
           kSecretsMax);
      return;
    }
    for (const auto& [name, secret] : spec_.secrets) {
      const std::string path = "spec.secrets." + name.substr(0, 64);
      if (!is_identifier(name)) {
        fail(path, "a variable's name must be 1..{} letters, digits or _, the first no digit",
             kNameMax);
      } else if (spec_.environments.contains(name)) {
        fail(path, "is in spec.environments, too: name it in one of them only");
      }
      if (!has_name_characters(secret)) {
        fail(path, "must be a secret's name, 1..{} of the characters A-Z a-z 0-9 . _ -, is {}",
             kNameMax, shown(secret));
      }
    }
  }

  void check_resources() {
    // Nobody means so few bytes, but GiB.
    if (spec_.memory_per_node_bytes > 0 && spec_.memory_per_node_bytes < kMemoryPerNodeBytesMin) {
      fail("resource.memory_per_node",
           "{} bytes are too few for any program; say the unit, as 64Gi",
           spec_.memory_per_node_bytes);
    }
    if (spec_.group.empty()) {
      fail("resource.group", "is missing");
    } else if (!has_name_characters(spec_.group)) {
      fail("resource.group", "must be a group's name, or GROUP#ZONE, is {}", shown(spec_.group));
    }
    if (!spec_.zone.empty() && !has_name_characters(spec_.zone)) {
      fail("resource.group", "must be GROUP#ZONE, the zone is {}", shown(spec_.zone));
    }
    check_image();
    check_services();
  }

  void check_services() {
    const std::vector<std::string>& services = spec_.program.services;
    if (services.size() > kServicesMax)
      return fail("services", "{} services, at most {} are allowed", services.size(), kServicesMax);
    std::set<std::string> names;
    for (size_t i = 0; i < services.size(); ++i) {
      const std::string path = fmt::format("services[{}]", i);
      const Result<JobService> parsed = parse_service(services[i]);
      if (!parsed.is_ok()) {
        fail(path, "{}", parsed.status().message());
        continue;
      }
      const JobService& service = parsed.value();
      if (!names.insert(service.name).second) fail(path, "there are two named {}", service.name);
      if (service.rank >= spec_.node_count) {
        fail(path, "{}: the job has {}, ranks 0 to {}, not {}", service.name,
             count_of(spec_.node_count, "node"), spec_.node_count - 1, service.rank);
      }
    }
  }

  void check_image() {
    if (spec_.image.empty()) {
      if (!spec_.program.mounts.empty())
        fail("resource.mounts", "are for jobs with resource.image");
      return;
    }
    if (check_text("resource.image", spec_.image, kImageTextMax)) {
      const Result<ImageName> image = parse_image(spec_.image);
      if (!image.is_ok()) fail("resource.image", "{}", image.status().message());
    }
    const std::vector<std::string>& mounts = spec_.program.mounts;
    if (mounts.size() > kMountsMax) {
      fail("resource.mounts", "{} mounts, at most {} are allowed", mounts.size(), kMountsMax);
    }
    for (size_t i = 0; i < mounts.size() && i < kMountsMax; ++i) {
      const std::string path = fmt::format("resource.mounts[{}]", i);
      if (!check_text(path, mounts[i], kImageTextMax)) continue;
      const Result<ImageMount> mount = parse_mount(mounts[i]);
      if (!mount.is_ok()) fail(path, "{}", mount.status().message());
    }
  }

  // A gang may wait for it to save: docs/design/0010.
  void check_without_gpus() {
    if (spec_.asks_gpus()) return;
    if (spec_.launch == LaunchMode::per_gpu) {
      fail("options.launch", "per_gpu is for jobs with GPUs, this one has none; use per_node");
    }
    if (spec_.suspend.grace > kGraceWithoutGpusMax) {
      fail("options.suspend.grace", "must be at most {} for a job without GPUs, is {}",
           format_duration(kGraceWithoutGpusMax), format_duration(spec_.suspend.grace));
    }
    if (spec_.is_interactive) {
      fail("options.interactive",
           "a job without GPUs leaves for every job with GPUs: leave it out, or ask for one");
    }
  }

  void check_options() {
    if (spec_.is_interactive && !spec_.array.empty()) {
      fail("options.interactive",
           "nobody sits in all tasks of an array: leave it out, or submit one job");
    }
    if (spec_.begin_at && (*spec_.begin_at < kBeginAtLow || *spec_.begin_at > kBeginAtHigh)) {
      fail("options.begin_at", "must be in the years 1970 to 9999");
    }
    const std::string& name = spec_.suspend.signal;
    if (!spec_.suspend.has_signal()) return;
    const Result<int> signal = parse_signal(name);
    if (!signal.is_ok()) {
      fail("options.suspend.signal", "{}", signal.status().message());
    } else if (signal.value() == SIGKILL || signal.value() == SIGSTOP) {
      fail("options.suspend.signal", "no program can catch {} and save, take one like SIGUSR1",
           signal_name(signal.value()));
    }
  }

  void check_tags() {
    if (spec_.tags.size() > kTagsMax) {
      fail("options.tags", "{} tags, at most {} are allowed", spec_.tags.size(), kTagsMax);
      return;
    }
    std::set<std::string> seen;
    for (size_t i = 0; i < spec_.tags.size(); ++i) {
      const std::string& tag = spec_.tags[i];
      const std::string path = fmt::format("options.tags[{}]", i);
      if (!check_text(path, tag, kTagBytesMax)) continue;
      if (tag.empty() || tag.front() == '_' || tag.find_first_of(", \t\n\r") != std::string::npos) {
        fail(path, "a tag must not be empty, start with _, or hold commas or blanks, is {}",
             shown(tag));
      } else if (!seen.insert(tag).second) {
        fail(path, "the tag {} is here twice", shown(tag));
      }
    }
  }

  void check_dependencies() {
    if (spec_.depends_on.size() > kDependenciesMax) {
      fail("options.depends_on", "{} jobs, at most {} are allowed", spec_.depends_on.size(),
           kDependenciesMax);
      return;
    }
    std::set<std::string> seen;
    for (size_t i = 0; i < spec_.depends_on.size(); ++i) {
      const std::string& text = spec_.depends_on[i];
      const std::string path = fmt::format("options.depends_on[{}]", i);
      const Result<DependencyWord> word = parse_dependency(text);
      if (!word.is_ok()) {
        fail(path, "{}", word.status().message());
      } else if (word.value().job.size() > kNameMax) {
        fail(path, "a name has at most {} characters", kNameMax);
      } else if (word.value().job == spec_.name) {
        fail(
            path,
            "the job cannot depend on itself; to wait for earlier ones of its name, say singleton");
      } else if (!seen.insert(format_dependency(word.value())).second) {
        fail(path, "the job {} is here twice", shown(text));
      }
    }
  }

  const JobSpec& spec_;
  std::vector<SpecError> errors_;
};

}  // namespace

std::vector<SpecError> check_job_spec(const JobSpec& spec) { return Validator(spec).run(); }

}  // namespace hai
