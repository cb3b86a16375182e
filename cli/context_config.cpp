#include "cli/context_config.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/file.h"
#include "common/nearest.h"

namespace hai::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kPlainScheme = "grpc://";
constexpr std::array<std::string_view, 2> kTlsSchemes = {"https://", "grpcs://"};

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Context context_from_json(const ordered_json& item) {
  Context context;
  context.name = item.at("name").get<std::string>();
  context.servers = item.at("servers").get<std::vector<std::string>>();
  context.token = item.value("token", "");
  context.dev_data = item.value("dev_data", "");
  context.before = item.value("before", "");
  context.ca = item.value("ca", "");
  context.munge = item.value("munge", "");
  return context;
}

std::vector<std::string> names_of(const ContextConfig& config) {
  std::vector<std::string> names;
  for (const Context& context : config.contexts) names.push_back(context.name);
  return names;
}

}  // namespace

std::string home_directory() {
  if (const std::string home = env("HOME"); !home.empty()) return home;
  const passwd* entry = getpwuid(getuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "/";
}

std::string context_config_path() {
  if (const std::string path = env("HAI_CONFIG"); !path.empty()) return path;
  const std::string xdg = env("XDG_CONFIG_HOME");
  return (xdg.empty() ? home_directory() + "/.config" : xdg) + "/hai/config.json";
}

Result<ContextConfig> parse_contexts(std::string_view json) {
  try {
    const ordered_json root = ordered_json::parse(json);
    ContextConfig config;
    config.current = root.value("current", "");
    for (const ordered_json& item : root.at("contexts")) {
      config.contexts.push_back(context_from_json(item));
    }
    return config;
  } catch (const nlohmann::json::exception& error) {
    return failed_precondition("not a list of contexts: {}", error.what());
  }
}

std::string format_contexts(const ContextConfig& config) {
  ordered_json root;
  root["current"] = config.current;
  root["contexts"] = ordered_json::array();
  for (const Context& context : config.contexts) {
    ordered_json item = {
        {"name", context.name}, {"servers", context.servers}, {"token", context.token}};
    if (!context.dev_data.empty()) item["dev_data"] = context.dev_data;
    if (!context.before.empty()) item["before"] = context.before;
    if (!context.ca.empty()) item["ca"] = context.ca;
    if (!context.munge.empty()) item["munge"] = context.munge;
    root["contexts"].push_back(std::move(item));
  }
  return root.dump(2) + "\n";
}

Result<ContextConfig> load_contexts(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (text.status().code() == Code::not_found) return ContextConfig{};
  RETURN_IF_ERROR(text.status());
  Result<ContextConfig> config = parse_contexts(text.value());
  if (!config.is_ok()) {
    return failed_precondition("{}: {}; repair or remove it", path, config.status().message());
  }
  return config;
}

Status update_contexts(const std::string& path, const std::function<void(ContextConfig&)>& change) {
  return edit_contexts(path, [&](ContextConfig& config) {
    change(config);
    return ok();
  });
}

Status edit_contexts(const std::string& path, const std::function<Status(ContextConfig&)>& change) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) RETURN_IF_ERROR(make_directories(folder, 0700));
  const std::string lock_path = path + ".lock";
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return failed_precondition("{}: cannot be opened for writing", lock_path);
  flock(lock, LOCK_EX);
  Result<ContextConfig> config = load_contexts(path);
  Status status = config.status();
  if (status.is_ok()) status = change(config.value());
  if (status.is_ok()) status = write_file(path, format_contexts(config.value()), 0600);
  close(lock);
  return status;
}

void put_context(ContextConfig& config, Context context) {
  for (Context& known : config.contexts) {
    if (known.name == context.name) {
      known = std::move(context);
      return;
    }
  }
  config.contexts.push_back(std::move(context));
}

bool remove_context(ContextConfig& config, std::string_view name) {
  const auto found = std::ranges::find(config.contexts, name, &Context::name);
  if (found == config.contexts.end()) return false;
  const std::string before = found->before;
  config.contexts.erase(found);
  if (config.current == name) {
    const bool is_there =
        std::ranges::find(config.contexts, before, &Context::name) != config.contexts.end();
    config.current = is_there ? before : "";
  }
  return true;
}

Result<Context> choose_context(const ContextConfig& config, std::string_view name) {
  const std::string_view wanted = name.empty() ? std::string_view(config.current) : name;
  if (wanted.empty() && config.contexts.empty()) {
    return failed_precondition(
        "no cluster is known yet: `hai dev up` starts one on this machine, "
        "`hai init TOKEN --url grpc://HOST:PORT` joins one");
  }
  if (wanted.empty()) {
    return failed_precondition("no cluster is the current one: choose with --context: {}",
                               fmt::join(names_of(config), ", "));
  }
  return named_context(config, wanted);
}

Result<Context> named_context(const ContextConfig& config, std::string_view name) {
  for (const Context& context : config.contexts) {
    if (context.name == name) return context;
  }
  const std::vector<std::string> known = names_of(config);
  if (known.empty()) return not_found("no context {}: none is known yet", name);
  const std::string near = nearest(name, known);
  return not_found("no context {}: {}known are {}", name,
                   near.empty() ? "" : fmt::format("did you mean {}? ", near),
                   fmt::join(known, ", "));
}

Status check_context_name(std::string_view name) {
  constexpr size_t kLengthMax = 64;
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (is_plain && !name.empty() && name.front() != '-' && name.size() <= kLengthMax) return ok();
  return invalid_argument("'{}' is no name of a context: 1 to {} letters, digits, - _ .",
                          name.substr(0, kLengthMax), kLengthMax);
}

Result<TlsTexts> tls_of(const Context& context) {
  if (context.ca == Context::kSystem) return read_tls_files({.ca = kSystemCa});
  if (context.ca.empty()) return TlsTexts{};
  const std::string what = fmt::format("the CA of context {}", context.name);
  RETURN_IF_ERROR(check_authorities(context.ca, what));
  return TlsTexts{.ca = context.ca};
}

bool wants_tls(std::string_view address) {
  return std::ranges::any_of(
      kTlsSchemes, [address](std::string_view scheme) { return address.starts_with(scheme); });
}

Result<std::string> parse_server_address(std::string_view text) {
  std::string_view address = text;
  for (const std::string_view scheme : {kPlainScheme, kTlsSchemes[0], kTlsSchemes[1]}) {
    if (!address.starts_with(scheme)) continue;
    address.remove_prefix(scheme.size());
    break;
  }
  while (address.ends_with('/')) address.remove_suffix(1);
  const size_t colon = address.rfind(':');
  const std::string_view port =
      colon == std::string_view::npos ? std::string_view() : address.substr(colon + 1);
  const bool is_number =
      !port.empty() && port.size() <= 5 &&
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (address.find('/') != std::string_view::npos || colon == 0 || !is_number ||
      std::stoi(std::string(port)) < 1 || std::stoi(std::string(port)) > 65535) {
    return invalid_argument(
        "'{}' is no server address: write grpc://HOST:PORT or https://HOST:PORT", text);
  }
  return std::string(address);
}

}  // namespace hai::cli
