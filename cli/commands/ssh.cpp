#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/child.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "common/shell_words.h"
#include "common/unique_fd.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

// Runs in the rank, as its user: an sshd for one connection, on its standard input and output. Keys
// and config lie in the rank's own temporary directory. Sessions get the rank's environment, which
// sshd would not hand on by itself.
constexpr const char* kServe = R"(set -e
umask 077
d=${TMPDIR:-/tmp}/hai-ssh.$(id -u)
mkdir -p "$d"
# In a folder that others share somebody may have made it before, to say what sshd does.
if [ ! -O "$d" ] || [ -L "$d" ]; then
  echo "hai: $d is somebody else's: let the job's TMPDIR be a folder of your own" >&2
  exit 126
fi
sshd=$(command -v sshd || echo /usr/sbin/sshd)
if [ ! -x "$sshd" ]; then
  echo 'hai: there is no sshd there: use hai shell, or have openssh-server installed there' >&2
  exit 127
fi
if [ ! -f "$d/host" ]; then
  ssh-keygen -q -t ed25519 -N '' -f "$d/host.$$"
  ln "$d/host.$$" "$d/host" 2>/dev/null || :
  rm -f "$d/host.$$" "$d/host.$$.pub"
fi
grep -qxF "$1" "$d/keys" 2>/dev/null || printf '%s\n' "$1" >>"$d/keys"
{
  printf 'HostKey "%s"\nAuthorizedKeysFile "%s"\n' "$d/host" "$d/keys"
  printf '%s\n' 'StrictModes no' 'UsePAM no' 'PidFile none' 'LogLevel ERROR' \
    'PasswordAuthentication no' 'KbdInteractiveAuthentication no' 'Subsystem sftp internal-sftp'
  printf SetEnv
  env | sed -n 's/[\\"]/\\&/g; /^[A-Za-z_][A-Za-z0-9_]*=/s/.*/ "&"/p' |
    grep -v '^ "\(HOME\|USER\|LOGNAME\|SHELL\|PWD\|OLDPWD\|SHLVL\|TERM\|_\)=' | tr -d '\n'
  echo
} >"$d/config.$$"
mv "$d/config.$$" "$d/config"
exec "$sshd" -i -e -f "$d/config")";

struct SshOptions {
  std::string job;
  int rank = 0;
  bool shows_config = false;
  bool is_proxy = false;  // of ssh: it carries the connection
  std::vector<std::string> command;
};

v1::ShellOpen open_of(const SshOptions& options, const std::vector<std::string>& argv) {
  v1::ShellOpen open;
  open.set_job(options.job);
  open.set_rank(options.rank);
  for (const std::string& word : argv) open.mutable_program()->add_argv(word);
  return open;
}

// With the contexts: it is of the same person on the same machine.
std::string key_path() {
  return (fs::path(context_config_path()).parent_path() / "ssh" / "id_ed25519").string();
}

Status run_and_wait(const std::vector<std::string>& words) {
  if (run_child(words) == 0) return ok();
  return failed_precondition("{} failed: is openssh-client installed?", words[0]);
}

// Made at the first use. The public half.
Result<std::string> own_key() {
  const std::string path = key_path();
  std::error_code error;
  if (!fs::exists(path, error)) {
    RETURN_IF_ERROR(make_directories(fs::path(path).parent_path().string(), 0700));
    RETURN_IF_ERROR(
        run_and_wait({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "hai", "-f", path}));
  }
  Result<std::string> key = read_file(path + ".pub");
  RETURN_IF_ERROR(key.status());
  std::string line = key.value().substr(0, key.value().find('\n'));
  return line;
}

// Under which account the rank runs there.
Result<std::string> user_of(Client& client, const SshOptions& options) {
  const Result<ShellOutput> out = run_to_end(client, open_of(options, {"id", "-un"}));
  RETURN_IF_ERROR(out.status());
  std::string user = out.value().output;
  user = user.substr(0, user.find('\n'));
  if (user.empty()) return failed_precondition("`id -un` says nothing there");
  return user;
}

// What ssh needs to come in, as lines of its config.
std::vector<std::pair<std::string, std::string>> settings_of(const Session& session,
                                                             const SshOptions& options,
                                                             const std::string& user) {
  std::error_code error;
  std::vector<std::string> proxy = {fs::read_symlink("/proc/self/exe", error).string()};
  // An editor starts it without this shell's variables.
  if (const char* config = std::getenv("HAI_CONFIG"); config != nullptr && *config != '\0') {
    proxy.insert(proxy.begin(), {"env", std::string("HAI_CONFIG=") + config});
  }
  if (!session.context.empty()) proxy.insert(proxy.end(), {"--context", session.context});
  proxy.insert(proxy.end(), {"ssh", "--proxy", "-r", std::to_string(options.rank), options.job});
  // The way is hai's: who is at its other end is known by that.
  return {{"User", user},
          {"ProxyCommand", join_words(proxy)},
          {"IdentityFile", "\"" + key_path() + "\""},
          {"IdentitiesOnly", "yes"},
          {"StrictHostKeyChecking", "no"},
          {"UserKnownHostsFile", "/dev/null"},
          {"LogLevel", "ERROR"}};
}

int carry(Session& session, Client& client, const SshOptions& options) {
  const Result<std::string> key = own_key();
  if (!key.is_ok()) return session.fail(key.status());
  const Result<int> code =
      enter_job(client, open_of(options, {"/bin/sh", "-c", kServe, "hai-ssh", key.value()}), false);
  return code.is_ok() ? code.value() : session.fail(code.status());
}

int ssh(Session& session, const SshOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  if (options.is_proxy) return carry(session, *client.value(), options);
  const Result<std::string> key = own_key();
  if (!key.is_ok()) return session.fail(key.status());
  const Result<std::string> user = user_of(*client.value(), options);
  if (!user.is_ok()) return session.fail(user.status());
  const auto settings = settings_of(session, options, user.value());
  const std::string host = "hai-" + options.job;
  if (options.shows_config) {
    std::string text = "Host " + host + "\n";
    for (const auto& [name, value] : settings) text += fmt::format("  {} {}\n", name, value);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kOk;
  }
  std::vector<std::string> words = {"ssh"};
  for (const auto& [name, value] : settings) {
    words.push_back("-o");
    words.push_back(name + "=" + value);
  }
  words.push_back(host);
  for (const std::string& word : options.command) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return session.fail(
      failed_precondition("cannot run ssh: {}; is openssh-client installed?", errno_text(errno)));
}

}  // namespace

void add_ssh(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("ssh", "Log in to a running job by ssh")->group("Jobs");
  const auto options = std::make_shared<SshOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_option("CMD", options->command, "run this instead of a login shell; after --");
  verb->add_option("-r,--rank", options->rank, "to this rank, 0 by default")
      ->check(CLI::Range(0, 1'000'000));
  CLI::Option* config = verb->add_flag(
      "--config", options->shows_config,
      "print lines for ~/.ssh/config, for scp, rsync, sftp and editors: host hai-JOB");
  verb->add_flag("--proxy", options->is_proxy, "carry the connection, as ssh's ProxyCommand")
      ->excludes(config);
  session.help[verb] = {
      .details =
          "An sshd of the node runs in the rank, as its user and for this connection only; no port "
          "is opened and no machine dialled. What comes in has the rank's environment, GPUs and "
          "limits, and ends with it. For a shell alone hai shell is quicker and needs no sshd.",
      .examples = {{"hai ssh train", "a login shell in rank 0"},
                   {"hai ssh --config train >> ~/.ssh/config", "then: scp data hai-train:"},
                   {"hai ssh 17 -r 2 -- nvidia-smi", "one command in rank 2"}}};
  verb->callback([&session, options] { session.exit_code = ssh(session, *options); });
}

}  // namespace hai::cli
