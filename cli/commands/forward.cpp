#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <thread>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "common/job_service.h"
#include "common/open_files.h"
#include "common/unique_fd.h"
#include "common/whole_number.h"

namespace hai::cli {
namespace {

constexpr int kPortMax = 65'535;
constexpr int kBacklog = 64;
constexpr Duration kAcceptAgain = 100ms;

struct Ports {
  int there = 0;
  std::string service;  // of the job, which says the port there; "" = none
  bool is_same_here = false;
  int here = 0;  // 0 = any that is free
};

struct ForwardOptions {
  std::string job;
  std::string ports;
  int rank = 0;
};

std::optional<int> port_of(const std::string& text, int least) {
  const std::optional<int> port = whole_number<int>(text);
  return port && *port >= least && *port <= kPortMax ? port : std::nullopt;
}

// "8888", "8888:9000", "8888:0", "jupyter", "jupyter:9000".
std::optional<Ports> ports_of(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  Ports ports;
  if (const std::optional<int> there = port_of(name, 1)) {
    ports.there = *there;
  } else if (!name.empty() && !whole_number<int64_t>(name)) {
    ports.service = name;
  } else {
    return std::nullopt;
  }
  ports.is_same_here = colon == std::string::npos;
  if (ports.is_same_here) {
    ports.here = ports.there;
    return ports;
  }
  const std::optional<int> here = port_of(text.substr(colon + 1), 0);
  if (!here) return std::nullopt;
  ports.here = *here;
  return ports;
}

std::string there_of(const Ports& ports) {
  return ports.service.empty() ? std::to_string(ports.there) : ports.service;
}

Result<UniqueFd> listen_here(Ports& ports) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(ports.here));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!fd.is_open() ||
      ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return failed_precondition("cannot listen at port {} here: {}; name another one, as {}:0",
                               ports.here, errno_text(errno), there_of(ports));
  }
  ports.here = ntohs(address.sin_port);
  return fd;
}

v1::ShellOpen open_of(const ForwardOptions& options, const Ports& ports) {
  v1::ShellOpen open;
  open.set_job(options.job);
  open.set_rank(options.rank);
  if (ports.service.empty()) {
    open.mutable_program()->set_port(ports.there);
  } else {
    open.mutable_program()->set_service(ports.service);
  }
  return open;
}

// One connection, on a thread of its own.
void carry(Client& client, const v1::ShellOpen& open, const UniqueFd& connection) {
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const Result<std::unique_ptr<ShellCall>> call = client.open_shell(open);
  if (!call.is_ok()) return say(call.status().message());
  const int fd = connection.get();
  const Result<int> code = carry_shell(
      *call.value(), {.input = fd, .output = fd, .error = STDERR_FILENO}, InputKind::bytes);
  if (!code.is_ok() && code.status().code() != Code::cancelled) say(code.status().message());
}

// A command that does nothing, to hear whether there is a way at all, before anybody connects.
Result<v1::ShellStarted> knock(Client& client, const ForwardOptions& options) {
  v1::ShellOpen open;
  open.set_job(options.job);
  open.set_rank(options.rank);
  open.mutable_program()->add_argv("/bin/true");
  const Result<std::unique_ptr<ShellCall>> call = client.open_shell(open);
  if (!call.is_ok()) return call.status();
  const v1::ShellStarted started = call.value()->started();
  call.value()->cancel();
  static_cast<void>(call.value()->finish());
  return started;
}

Status look_up_service(Client& client, const std::string& job, Ports& ports) {
  v1::GetJobRequest request;
  request.set_job(job);
  const Result<v1::Job> found = client.get_job(request);
  RETURN_IF_ERROR(found.status());
  const auto& texts = found.value().spec().program().services();
  const Result<JobService> service = find_service({texts.begin(), texts.end()}, ports.service);
  if (!service.is_ok()) return not_found("job {}: {}", job, service.status().message());
  ports.there = service.value().port;
  if (ports.is_same_here) ports.here = ports.there;
  return ok();
}

// Of a connection that went, or of files and memory that others use now.
bool will_pass(int error) {
  return error == EINTR || error == ECONNABORTED || error == EMFILE || error == ENFILE ||
         error == ENOBUFS || error == ENOMEM || error == EPROTO;
}

int forward(Session& session, ForwardOptions options) {
  ::signal(SIGPIPE, SIG_IGN);  // of a connection that its program has closed meanwhile
  allow_many_open_files();     // each takes several
  Ports ports = *ports_of(options.ports);
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ShellStarted> started = knock(*client.value(), options);
  if (!started.is_ok()) return session.fail(started.status());
  options.job = std::to_string(started.value().job());  // the name may pass to a newer job
  if (!ports.service.empty()) {
    const Status there = look_up_service(*client.value(), options.job, ports);
    if (!there.is_ok()) return session.fail(there);
  }
  const Result<UniqueFd> listener = listen_here(ports);
  if (!listener.is_ok()) return session.fail(listener.status());
  const std::string what =
      ports.service.empty()
          ? fmt::format("port {} of rank {} of job {} on {}", ports.there, options.rank,
                        options.job, started.value().node())
          : fmt::format("{} of job {}, port {}", ports.service, options.job, ports.there);
  say(fmt::format("127.0.0.1:{} is {}; Ctrl-C ends it", ports.here, what));
  for (;;) {
    const int accepted = ::accept4(listener.value().get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) {
      if (!will_pass(errno)) return session.fail(internal("accept: {}", errno_text(errno)));
      std::this_thread::sleep_for(kAcceptAgain);
      continue;
    }
    std::thread([own = std::shared_ptr<Client>(client.value()->clone()),
                 open = open_of(options, ports),
                 connection = std::make_shared<UniqueFd>(accepted)] {
      carry(*own, open, *connection);
    }).detach();
  }
}

std::string check_ports(const std::string& text) {
  return ports_of(text) ? "" : "must be PORT or PORT:HERE, as 8888, 8888:9000 or jupyter:0";
}

}  // namespace

void add_forward(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("forward", "Reach a port of a running job from here")->group("Jobs");
  const auto options = std::make_shared<ForwardOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_option(
          "PORT", options->ports,
          "its port or a service of its; PORT:HERE for another one on this machine, 0 = any "
          "that is free")
      ->required()
      ->check(check_ports, "");
  verb->add_option("-r,--rank", options->rank, "of this rank, 0 by default")
      ->check(CLI::Range(0, 1'000'000));
  session.help[verb] = {
      .details =
          "Programs on this machine connect to 127.0.0.1; each connection goes over the server to "
          "the rank's machine, where it is made by a process of the rank: what the job's programs "
          "reach at their 127.0.0.1 is reached. Only the job's owner may.",
      .examples = {{"hai forward notebook 8888", "Jupyter at http://127.0.0.1:8888"},
                   {"hai forward notebook jupyter", "a service that its job file names"},
                   {"hai forward train 6006:0 -r 3", "TensorBoard of rank 3, at any free port"}}};
  verb->callback([&session, options] { session.exit_code = forward(session, *options); });
}

}  // namespace hai::cli
