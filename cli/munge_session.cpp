#include "cli/munge_session.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/client.h"
#include "cli/file.h"
#include "cli/format.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPayload =
    "hai sign-in";  // as the server asks for (server/api/munge_reader.h)
constexpr size_t kCredentialMax = 16 << 10;
// The server ends a session that was not used for two hours.
constexpr auto kUnusedMax = std::chrono::minutes(100);

fs::path file_of(const Context& context) {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const fs::path cache = xdg != nullptr && *xdg != 0 ? xdg : home_directory() + "/.cache";
  return cache / "hai" / "sessions" / (context.name + ".json");
}

// What was kept and holds still; "" = nothing.
std::string kept_session(const fs::path& path, const Context& context) {
  std::error_code error;
  const auto used = fs::last_write_time(path, error);
  if (error || fs::file_time_type::clock::now() - used > kUnusedMax) return "";
  const Result<std::string> text = read_file(path.string());
  if (!text.is_ok()) return "";
  const auto json = nlohmann::json::parse(text.value(), nullptr, false);
  if (!json.is_object()) return "";
  if (json.value("expires_at_us", int64_t{0}) < to_micros(wall_now()) + Duration(1min).count()) {
    return "";
  }
  // A context of that name may be of another cluster now, which must not see this one's session.
  if (json.value("servers", std::vector<std::string>()) != context.servers ||
      json.value("ca", "") != context.ca) {
    return "";
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return json.value("token", "");
}

Status keep_session(const fs::path& path, const Context& context, const v1::SignInReply& session) {
  const nlohmann::json json = {{"token", session.secret()},
                               {"servers", context.servers},
                               {"ca", context.ca},
                               {"expires_at_us", session.expires_at_us()}};
  RETURN_IF_ERROR(make_directories(path.parent_path().string(), 0700));
  return write_file(path.string(), json.dump() + "\n", 0600);
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t got = 0;
  while (text.size() < kCredentialMax && (got = ::read(fd, piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<size_t>(got));
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// By the program `munge`, which is where munged is: `hai` then needs no library for it elsewhere.
Result<std::string> make_credential(const std::string& socket) {
  const std::string program = find_in_path("munge");
  if (program.empty()) return failed_precondition("there is no munge on this machine");
  std::vector<const char*> words = {program.c_str(), "--string", kPayload};
  if (socket != Context::kSystem) words.insert(words.end(), {"--socket", socket.c_str()});
  words.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return failed_precondition("no pipe can be made");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::execv(program.c_str(), const_cast<char* const*>(words.data()));
    ::_exit(127);
  }
  ::close(pipe[1]);
  std::string credential = child < 0 ? "" : read_all(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  if (child > 0) ::waitpid(child, &status, 0);
  if (child > 0 && status == 0 && !credential.empty()) return credential;
  return unavailable("munge makes no credential: is munged running on this machine?");
}

}  // namespace

Result<std::string> munge_session(const Context& context, const TlsTexts& tls) {
  const fs::path path = file_of(context);
  if (std::string kept = kept_session(path, context); !kept.empty()) return kept;
  Result<std::string> credential = make_credential(context.munge);
  if (!credential.is_ok()) return credential.status();
  v1::SignInRequest request;
  request.set_munge(credential.value());
  Client client(context.servers, "", tls);
  const Result<v1::SignInReply> session = client.sign_in(request);
  if (!session.is_ok()) return session.status();
  RETURN_IF_ERROR(keep_session(path, context, session.value()));
  return session.value().secret();
}

void forget_munge_session(const Context& context) {
  std::error_code ignored;
  fs::remove(file_of(context), ignored);
}

}  // namespace hai::cli
