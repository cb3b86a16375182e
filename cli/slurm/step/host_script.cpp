// The part of the host that is about the script: its file, its output, the programs it finds.

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "cli/slurm/step/client.h"
#include "cli/slurm/step/host.h"
#include "cli/slurm/step/task_environment.h"

namespace hai::cli::slurm {
namespace {

std::string value_of(const EnvironmentMap& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

Result<Fd> listen_on(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return unavailable("{}: {}", path, std::strerror(errno));
  }
  return fd;
}

}  // namespace

Status BatchHost::prepare() {
  Result<Fd> door = listen_on(directory_.socket());
  RETURN_IF_ERROR(door.status());
  door_ = std::move(door.value());
  signals_ = take_over_signals();
  if (plan_.signal != 0 && plan_.time_limit_seconds > 0) {
    const int64_t after = std::max<int64_t>(0, plan_.time_limit_seconds - plan_.signal_seconds);
    signal_at_ = mono_now() + after * Duration(1s);
  }
  return ok();
}

EnvironmentMap BatchHost::environment_of_script() const {
  EnvironmentMap out = script_environment(rank_, plan_, names_);
  out["PATH"] = path_with_bin(value_of(out, "PATH"), directory_.bin(), "");
  out[kStepSocketVariable] = directory_.socket();
  return out;
}

bool BatchHost::open_output() {
  const PatternValues values = {.job = value_of(rank_, "HAI_JOB_ID"),
                                .name = plan_.name,
                                .user = value_of(rank_, "HAI_USER"),
                                .node = names_[0],
                                .array_job = value_of(rank_, "SLURM_ARRAY_JOB_ID"),
                                .array_task = value_of(rank_, "SLURM_ARRAY_TASK_ID")};
  // What earlier attempts wrote belongs to the job, too.
  const bool append = plan_.append || value_of(rank_, "HAI_ATTEMPT") != "1";
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
  const auto open_one = [&](const std::string& pattern, Fd& file) {
    if (pattern.empty()) return true;
    const std::string path = expand_pattern(pattern, values);
    file = Fd(::open(path.c_str(), flags, 0666));
    if (file.get() >= 0) return true;
    const int error = errno;
    write_all(STDERR_FILENO, fmt::format("hai-slurm: error: {}: {}\n", path, std::strerror(error)));
    return plan_.is_default_output;  // nobody asked for it, and the log has it all
  };
  return open_one(plan_.output, output_file_) && open_one(plan_.error, error_file_);
}

void BatchHost::start_script(const std::vector<std::string>& words) {
  int out[2];
  int error[2] = {-1, -1};
  if (::pipe2(out, O_CLOEXEC) != 0 || (!plan_.error.empty() && ::pipe2(error, O_CLOEXEC) != 0)) {
    script_code_ = 1;
    return;
  }
  // One pipe for both keeps their lines in order.
  const Fd out_writer(out[1]);
  const Fd error_writer(error[1]);
  script_output_ = Fd(out[0]);
  script_error_ = Fd(error[0]);
  const int error_fd = plan_.error.empty() ? out_writer.get() : error_writer.get();
  for (const Fd* fd : {&script_output_, &script_error_}) {
    if (fd->get() >= 0) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  }
  const Result<pid_t> pid =
      start_process(words, plan_.container_directory, texts_of(environment_of_script()),
                    out_writer.get(), error_fd);
  if (pid.is_ok()) {
    script_ = pid.value();
  } else {
    write_all(STDERR_FILENO, fmt::format("hai-slurm: error: {}\n", pid.status().message()));
    script_code_ = 1;
  }
}

int BatchHost::run_script(const std::string& script, const std::vector<std::string>& interpreter) {
  if (const Status status = prepare(); !status.is_ok()) {
    write_all(STDERR_FILENO, fmt::format("hai-slurm: error: {}\n", status.message()));
    return finish(1);
  }
  const std::string path = directory_.script();
  {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700));
    write_all(file.get(), script);
  }
  if (!open_output()) return finish(1);
  std::vector<std::string> words = interpreter;
  words.push_back(path);
  words.insert(words.end(), plan_.arguments.begin(), plan_.arguments.end());
  start_script(words);
  loop();
  if (script_output_.get() >= 0) {
    pass_script_output(script_output_, STDOUT_FILENO, output_file_);
  }
  if (script_error_.get() >= 0) {
    pass_script_output(script_error_, STDERR_FILENO,
                       error_file_.get() < 0 ? output_file_ : error_file_);
  }
  return finish(lost_ ? 1 : *script_code_);
}

// All there is now, to the log and to the file.
void BatchHost::pass_script_output(Fd& from, int own, const Fd& file) {
  char buffer[65'536];
  for (int reads = 0; reads < 64; ++reads) {
    const ssize_t count = ::read(from.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      from.close();
      return;
    }
    const std::string_view bytes(buffer, static_cast<size_t>(count));
    write_all(own, bytes);
    if (file.get() >= 0) write_all(file.get(), bytes);
  }
}

int BatchHost::finish(int code) {
  tasks_.kill_all();  // steps in the background end with the script, as in Slurm
  for (Client& client : clients_) client.channel.flush_and_close();
  for (Peer& peer : peers_) peer.channel.send({FrameKind::bye, 0, 0, ""});
  for (Peer& peer : peers_) peer.channel.flush_and_close();
  return code;
}

}  // namespace hai::cli::slurm
