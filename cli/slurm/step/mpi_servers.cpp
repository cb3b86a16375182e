#include "cli/slurm/step/mpi_servers.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/slurm/step/task_environment.h"
#include "cli/slurm/step/task_runner.h"
#include "cli/slurm/step/work_directory.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "hai-slurm-pmix";
constexpr int kNotStarted = 127;  // as the loader says that a library is missing

// Beside this program in a build folder; an installation has it where it keeps what no person
// calls.
std::string program_path() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path beside = folder / kProgram;
  if (fs::exists(beside, error)) return beside.string();
  return (folder.parent_path() / "libexec" / "hai" / kProgram).string();
}

// Where the rank has its other files, which go with it.
std::string directory_for(const EnvironmentMap& rank, uint32_t step) {
  const auto bin = rank.find(kBinVariable);
  const fs::path parent =
      bin == rank.end() ? fs::path("/tmp") : fs::path(bin->second).parent_path();
  return parent / fmt::format("pmix-{}", step);
}

Result<MpiSetup> setup_of(const StepLaunch& launch, const std::string& directory) {
  auto nodes = parse_hostlist(launch.node_list);
  RETURN_IF_ERROR(nodes.status());
  auto counts = parse_tasks_by_node(launch.tasks_by_node);
  RETURN_IF_ERROR(counts.status());
  const MpiSetup setup = {.space = launch.mpi_space,
                          .directory = directory,
                          .node_index = launch.node_index,
                          .nodes = std::move(nodes.value()),
                          .tasks_by_node = std::move(counts.value())};
  return decode_setup(encode_setup(setup));  // which checks it
}

Result<TaskVariables> unpack_variables(const std::string& data) {
  const auto packed = unpack(data);
  RETURN_IF_ERROR(packed.status());
  TaskVariables variables;
  for (const std::string& task : packed.value()) {
    auto texts = unpack(task);
    RETURN_IF_ERROR(texts.status());
    variables.push_back(std::move(texts.value()));
  }
  return variables;
}

}  // namespace

void MpiServers::start(uint32_t step, const StepLaunch& launch) {
  const Status status = start_server(step, launch);
  if (status.is_ok()) return;
  // Its tasks wait for the end that the host now makes.
  servers_.push_back({.step = step, .channel = FrameChannel(Fd()), .waiting = launch});
  fail(servers_.back(), std::string(status.message()));
}

Status MpiServers::start_server(uint32_t step, const StepLaunch& launch) {
  const Result<MpiSetup> setup = setup_of(launch, directory_for(rank_, step));
  RETURN_IF_ERROR(setup.status());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return resource_exhausted("cannot make a socket: {}", std::strerror(errno));
  }
  FrameChannel channel{Fd(ends[0])};
  const Fd theirs(ends[1]);
  // It has its end of the socket as its standard output.
  const Result<pid_t> pid =
      start_process({program_path()}, "/", texts_of(rank_), theirs.get(), STDERR_FILENO);
  RETURN_IF_ERROR(pid.status());
  channel.send({FrameKind::mpi, step, 0,
                encode_mpi({.kind = MpiKind::setup, .data = encode_setup(setup.value())})});
  servers_.push_back(
      {.step = step, .pid = pid.value(), .channel = std::move(channel), .waiting = launch});
  return ok();
}

void MpiServers::take(uint32_t step, const std::string& body) {
  const auto server = std::find_if(servers_.begin(), servers_.end(),
                                   [&](const Server& each) { return each.step == step; });
  if (server == servers_.end()) return;
  const Result<MpiMessage> message = decode_mpi(body);
  if (!message.is_ok()) return fail(*server, std::string(message.status().message()));
  if (message.value().kind != MpiKind::go) {
    return server->channel.send({FrameKind::mpi, step, 0, body});
  }
  if (!server->is_ready || !server->waiting) return;
  const StepLaunch launch = std::move(*server->waiting);
  server->waiting.reset();
  const TaskVariables variables = std::move(server->variables);
  start_tasks_(step, launch, variables);
}

void MpiServers::add_polls(std::vector<pollfd>& polls) const {
  for (const Server& server : servers_) {
    if (!server.channel.is_open()) continue;
    const short output = server.channel.backlog() > 0 ? POLLOUT : 0;
    polls.push_back({server.channel.fd(), static_cast<short>(POLLIN | output), 0});
  }
}

void MpiServers::on_ready(int fd) {
  for (Server& server : servers_) {
    if (server.channel.fd() == fd) return drain(server);
  }
}

// What is told may end the step, and the server with it: so it is looked for each time.
void MpiServers::drain(Server& server) {
  const uint32_t step = server.step;
  server.channel.flush();
  for (const Frame& frame : server.channel.receive()) {
    const auto found = std::find_if(servers_.begin(), servers_.end(),
                                    [&](const Server& each) { return each.step == step; });
    if (found != servers_.end()) on_message(*found, frame);
  }
}

void MpiServers::on_message(Server& server, const Frame& frame) {
  Result<MpiMessage> message = decode_mpi(frame.body);
  if (!message.is_ok()) return fail(server, std::string(message.status().message()));
  MpiMessage& told = message.value();
  if (told.kind == MpiKind::failed) return fail(server, told.data);
  if (told.kind == MpiKind::ready) {
    auto variables = unpack_variables(std::exchange(told.data, ""));
    const bool is_fine =
        variables.is_ok() && server.waiting &&
        variables.value().size() == static_cast<size_t>(server.waiting->node_tasks);
    if (!is_fine) return fail(server, "the PMIx server knows not all its tasks");
    server.variables = std::move(variables.value());
    server.is_ready = true;
  }
  emit_({FrameKind::mpi, server.step, 0, encode_mpi(told)});
}

void MpiServers::fail(Server& server, const std::string& why) {
  if (std::exchange(server.has_failed, true)) return;
  emit_({FrameKind::mpi, server.step, 0, encode_mpi({.kind = MpiKind::failed, .data = why})});
}

bool MpiServers::on_exit(pid_t pid, int status) {
  if (std::erase(ended_, pid) > 0) return true;
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const Server& server) { return server.pid == pid; });
  if (found == servers_.end()) return false;
  const uint32_t step = found->step;
  found->pid = 0;
  drain(*found);  // it may have said why
  const auto server = std::find_if(servers_.begin(), servers_.end(),
                                   [&](const Server& each) { return each.step == step; });
  if (server == servers_.end()) return true;
  const int code = exit_code_of_wait(status);
  fail(*server, code == kNotStarted && !server->is_ready
                    ? std::string(kMpiRemedy)
                    : fmt::format("the PMIx server of the step has ended with {}", code));
  return true;
}

std::optional<StepLaunch> MpiServers::give_up(uint32_t step) {
  std::optional<StepLaunch> launch;
  for (Server& server : servers_) {
    if (server.step == step) launch = std::exchange(server.waiting, std::nullopt);
  }
  if (launch) end(step);
  return launch;
}

// It sees the end of its channel, and goes.
void MpiServers::end(uint32_t step) {
  for (const Server& server : servers_) {
    if (server.step == step && server.pid > 0) ended_.push_back(server.pid);
  }
  std::erase_if(servers_, [&](const Server& server) { return server.step == step; });
}

}  // namespace hai::cli::slurm
