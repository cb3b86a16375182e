#include "server/setup/add_server.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "common/host_port.h"
#include "common/machine/bounded_child.h"
#include "server/setup/bundle.h"
#include "server/setup/next_steps.h"
#include "server/setup/setup_plan.h"
#include "server/setup/share_database.h"
#include "server/setup/sign_in.h"

namespace hai {
namespace {

std::string host_of(const std::string& target) { return target.substr(target.find('@') + 1); }

Result<std::vector<std::string>> addresses_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); code != 0) {
    return not_found("--add-server: {}: {}", host, ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> kept(found, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST] = "";
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    if (is_loopback(text)) return invalid_argument("--add-server: {} is this machine", host);
    if (std::ranges::count(addresses, text) == 0) addresses.emplace_back(text);
  }
  return addresses;
}

// ssh keeps the terminal, on which it may ask for a password.
Status run_there(const std::string& target, const std::string& script, const std::string& input) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return unavailable("no pipe: {}", std::strerror(errno));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    execute({"ssh", target, script});
  }
  ::close(ends[0]);
  if (pid < 0) return unavailable("no process: {}", std::strerror(errno));
  std::signal(SIGPIPE, SIG_IGN);  // it may end before it has read all
  for (size_t done = 0; done < input.size();) {
    const ssize_t count = ::write(ends[1], input.data() + done, input.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  ::close(ends[1]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return failed_precondition("--add-server: needs ssh here: apt-get install openssh-client");
  }
  return failed_precondition(
      "{} is no further server yet: put right what it says above, and run the same line again",
      target);
}

// Of the packages of this machine; "" = there are none.
std::string installed_version() {
  const std::string installed = "installed ";
  const ChildOutput said =
      run_command({"dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "hai-server"}, {});
  const bool is_there = said.exit_code == 0 && said.text.starts_with(installed);
  return is_there ? said.text.substr(installed.size()) : "";
}

}  // namespace

std::string further_server_script(const SetupOptions& options, const std::string& version) {
  // As whoever adds it calls it, unless he says otherwise.
  const std::string names = options.names.empty()
                                ? host_of(options.add_server)
                                : fmt::format("{}", fmt::join(options.names, ","));
  std::string setup = "hai-server setup --bundle - --names " + names;
  // Plain: a shell takes brackets for a pattern.
  if (!options.listen.empty()) setup += " --listen " + plain_address(options.listen);
  if (!options.starts) setup += " --no-start";
  // Without what is recommended, for PostgreSQL would come with it; skopeo, if there is one.
  const std::string install =
      "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";
  std::string packages;
  for (const char* package : {"hai-server", "hai-web", "hai-cli"}) {
    packages += fmt::format(" {}{}{}", package, version.empty() ? "" : "=", version);
  }
  return fmt::format(
      "set -e; command -v hai-server > /dev/null || {{ apt-get update; {0}{1}; {0} skopeo || true; "
      "}} < /dev/null 1>&2; exec {2}",
      install, packages, setup);
}

Status add_server(const SetupOptions& options) {
  SetupOptions own;
  own.config = options.config;
  own.nodes = options.nodes;
  Result<SetupPlan> plan = make_setup_plan(own);
  RETURN_IF_ERROR(plan.status());
  std::string database = options.database;
  if (database.empty() && is_local_conninfo(plan.value().config.conninfo)) {
    const Result<std::vector<std::string>> addresses = addresses_of(host_of(options.add_server));
    RETURN_IF_ERROR(addresses.status());
    Result<std::string> shared = share_database(
        plan.value(), split_host_port(plan.value().config.advertise.grpc).host, addresses.value());
    RETURN_IF_ERROR(shared.status());
    database = std::move(shared).value();
  }
  const Result<ExportedBundle> made = export_bundle(options.config, database);
  RETURN_IF_ERROR(made.status());
  for (const std::string& file : made.value().left_out) {
    fmt::print(stderr, "hai-server: not in the bundle, copy it yourself: {}\n", file);
  }
  std::fflush(stdout);
  RETURN_IF_ERROR(run_there(options.add_server, further_server_script(options, installed_version()),
                            format_bundle(made.value().bundle)));
  const std::string name =
      options.names.empty() ? host_of(options.add_server) : options.names.front();
  const ServerConfig& config = plan.value().config;
  const std::string address = with_port(name, split_host_port(config.advertise.grpc).port);
  SignedIn signed_in;
  if (options.starts && !config.admin_token_file.empty()) {
    signed_in = sign_in_beside(plan.value(), address);
  }
  fmt::print("{}", next_steps_beside(plan.value(), address, signed_in));
  if (!signed_in.complaint.empty()) {
    return unavailable("{}: the server is added, and the rest can be done as written above",
                       signed_in.complaint);
  }
  return ok();
}

}  // namespace hai
