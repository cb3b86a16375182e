#include "proto/convert/spec_convert.h"

#include <initializer_list>

#include "common/check.h"
#include "common/overloads.h"
#include "hai/v1/types.pb.h"

namespace hai {
namespace {

// The enumerator whose word `text` is; "" means the first one, so that other clients may leave it
// out.
template <typename Enum>
Result<Enum> parse_word(std::string_view field, std::string_view text,
                        std::initializer_list<Enum> words) {
  if (text.empty()) return *words.begin();
  std::string allowed;
  for (Enum word : words) {
    if (to_string(word) == text) return word;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", to_string(word));
  }
  return invalid_argument("{}: '{}' is not one of {}", field, text, allowed);
}

// Microseconds from outside: within +-10 years, so that sums with them cannot overflow.
Result<Duration> parse_micros(std::string_view field, int64_t micros) {
  constexpr int64_t kMax = 10LL * 366 * 24 * 3600 * 1'000'000;
  if (micros < 0 || micros > kMax) {
    return invalid_argument("{}: {} microseconds is out of range 0 to {}", field, micros, kMax);
  }
  return Duration(micros);
}

template <typename T>
Status take(Result<T> result, T& into) {
  RETURN_IF_ERROR(result.status());
  into = std::move(result).value();
  return ok();
}

Status options_from_proto(const v1::JobSpec& message, JobSpec& spec) {
  RETURN_IF_ERROR(
      take(parse_word("launch", message.launch(), {LaunchMode::per_node, LaunchMode::per_gpu}),
           spec.launch));
  RETURN_IF_ERROR(take(parse_word("env_style", message.env_style(),
                                  {EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm}),
                       spec.env_style));
  RETURN_IF_ERROR(
      take(parse_word("cross_zone", message.cross_zone(), {CrossZone::allow, CrossZone::never}),
           spec.cross_zone));
  if (message.has_suspend()) {
    RETURN_IF_ERROR(
        take(parse_micros("suspend.grace", message.suspend().grace_us()), spec.suspend.grace));
    spec.suspend.signal = message.suspend().signal();
    spec.suspend.exit_code = message.suspend().exit_code();
  }
  if (message.has_restart()) {
    spec.restart.on_failure = message.restart().on_failure();
    spec.restart.max = message.restart().max();
  }
  RETURN_IF_ERROR(take(parse_micros("checkpoint.period", message.checkpoint_period_us()),
                       spec.checkpoint_period));
  RETURN_IF_ERROR(take(parse_micros("timeout", message.timeout_us()), spec.timeout));
  RETURN_IF_ERROR(take(parse_micros("watchdog", message.watchdog_us()), spec.watchdog));
  from_proto(message.program(), spec.program);
  spec.max_leaves = message.max_leaves();
  spec.is_interactive = message.interactive();
  spec.releases_early = message.release_early();
  spec.is_shared_in_group = message.shared_in_group();
  spec.tags.assign(message.tags().begin(), message.tags().end());
  spec.depends_on.assign(message.depends_on().begin(), message.depends_on().end());
  if (message.has_begin_at_us()) {
    constexpr int64_t kMaxUnixMicros = 253'402'300'800'000'000;  // year 10,000
    if (message.begin_at_us() < 0 || message.begin_at_us() >= kMaxUnixMicros) {
      return invalid_argument(
          "begin_at: {} microseconds since 1970 is not in the years 1970 to 9999",
          message.begin_at_us());
    }
    spec.begin_at = unix_micros(message.begin_at_us());
  }
  return ok();
}

void options_to_proto(const JobSpec& spec, v1::JobSpec& message) {
  message.set_launch(std::string(to_string(spec.launch)));
  message.set_env_style(std::string(to_string(spec.env_style)));
  message.set_cross_zone(std::string(to_string(spec.cross_zone)));
  message.mutable_suspend()->set_grace_us(spec.suspend.grace.count());
  message.mutable_suspend()->set_signal(spec.suspend.signal);
  message.mutable_suspend()->set_exit_code(spec.suspend.exit_code);
  message.set_checkpoint_period_us(spec.checkpoint_period.count());
  message.mutable_restart()->set_on_failure(spec.restart.on_failure);
  message.mutable_restart()->set_max(spec.restart.max);
  message.set_timeout_us(spec.timeout.count());
  message.set_watchdog_us(spec.watchdog.count());
  message.set_max_leaves(spec.max_leaves);
  message.set_interactive(spec.is_interactive);
  message.set_release_early(spec.releases_early);
  message.set_shared_in_group(spec.is_shared_in_group);
  message.mutable_tags()->Assign(spec.tags.begin(), spec.tags.end());
  message.mutable_depends_on()->Assign(spec.depends_on.begin(), spec.depends_on.end());
  if (spec.begin_at) message.set_begin_at_us(to_micros(*spec.begin_at));
  to_proto(spec.program, *message.mutable_program());
}

// Looked for one after the other: they are few, and the descriptor's own table costs more.
const google::protobuf::FieldDescriptor* program_field(const char* name) {
  const google::protobuf::Descriptor& all = *v1::ProgramOptions::descriptor();
  for (int i = 0; i < all.field_count(); ++i) {
    if (all.field(i)->name() == name) return all.field(i);
  }
  CHECK(false);  // the message lacks what the struct has
}

}  // namespace

void to_proto(const ProgramOptions& options, v1::ProgramOptions& out) {
  const auto& reflection = *out.GetReflection();
  ProgramOptions::fields(options,
                         Overloads{[&](const char* name, int64_t value) {
                                     reflection.SetInt64(&out, program_field(name), value);
                                   },
                                   [&](const char* name, const std::vector<std::string>& values) {
                                     for (const std::string& value : values) {
                                       reflection.AddString(&out, program_field(name), value);
                                     }
                                   }});
}

void from_proto(const v1::ProgramOptions& message, ProgramOptions& out) {
  const auto& reflection = *message.GetReflection();
  ProgramOptions::fields(
      out, Overloads{[&](const char* name, int64_t& value) {
                       value = reflection.GetInt64(message, program_field(name));
                     },
                     [&](const char* name, std::vector<std::string>& values) {
                       const auto* field = program_field(name);
                       values.clear();
                       for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
                         values.push_back(reflection.GetRepeatedString(message, field, i));
                       }
                     }});
}

v1::JobSpec to_proto(const JobSpec& spec) {
  v1::JobSpec message;
  message.set_name(spec.name);
  message.set_priority(std::string(to_string(spec.priority)));
  message.set_array(spec.array);
  message.set_workspace(spec.workspace);
  message.set_entrypoint(spec.entrypoint);
  message.set_parameters(spec.parameters);
  message.mutable_environments()->insert(spec.environments.begin(), spec.environments.end());
  message.mutable_secrets()->insert(spec.secrets.begin(), spec.secrets.end());
  message.set_group(spec.group);
  message.set_zone(spec.zone);
  message.set_node_count(spec.node_count);
  message.set_gpus_per_node(spec.gpus_per_node);
  message.set_cpus_per_node(spec.cpus_per_node);
  message.set_memory_per_node_bytes(spec.memory_per_node_bytes);
  if (!spec.node_filter.is_empty()) {
    v1::NodeFilter& filter = *message.mutable_node_filter();
    filter.set_gpu_type(spec.node_filter.gpu_type);
    filter.mutable_labels()->Assign(spec.node_filter.labels.begin(), spec.node_filter.labels.end());
    filter.set_nodes(spec.node_filter.nodes);
    filter.set_exclude(spec.node_filter.exclude);
  }
  message.set_image(spec.image);
  options_to_proto(spec, message);
  return message;
}

Result<JobSpec> from_proto(const v1::JobSpec& message) {
  JobSpec spec;
  spec.name = message.name();
  if (!message.priority().empty()) {
    RETURN_IF_ERROR(take(parse_priority(message.priority()), spec.priority));
  }
  spec.array = message.array();
  spec.workspace = message.workspace();
  spec.entrypoint = message.entrypoint();
  spec.parameters = message.parameters();
  spec.environments = {message.environments().begin(), message.environments().end()};
  spec.secrets = {message.secrets().begin(), message.secrets().end()};
  spec.group = message.group();
  spec.zone = message.zone();
  spec.node_count = message.node_count();
  spec.gpus_per_node = message.gpus_per_node();
  spec.cpus_per_node = message.cpus_per_node();
  spec.memory_per_node_bytes = message.memory_per_node_bytes();
  const v1::NodeFilter& filter = message.node_filter();
  spec.node_filter = {.gpu_type = filter.gpu_type(),
                      .labels = {filter.labels().begin(), filter.labels().end()},
                      .nodes = filter.nodes(),
                      .exclude = filter.exclude()};
  spec.image = message.image();
  RETURN_IF_ERROR(options_from_proto(message, spec));
  return spec;
}

}  // namespace hai
