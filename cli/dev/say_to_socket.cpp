#include "cli/dev/say_to_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hai::cli {
namespace {

constexpr size_t kAnswerMax = 1 << 20;
constexpr timeval kAnswerLimit{.tv_sec = 30, .tv_usec = 0};

Result<std::string> exchange(int fd, const std::string& path, const std::string& line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return invalid_argument("{}: too long", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kAnswerLimit, sizeof(kAnswerLimit));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return unavailable("{}: {}", path, std::strerror(errno));
  }
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return unavailable("{}: {}", path, std::strerror(errno));
    sent += static_cast<size_t>(count);
  }
  std::string answer;
  std::array<char, 4096> part{};
  while (!answer.ends_with('\n') && answer.size() < kAnswerMax) {
    const ssize_t count = recv(fd, part.data(), part.size(), 0);
    if (count <= 0) return unavailable("{} does not answer", path);
    answer.append(part.data(), static_cast<size_t>(count));
  }
  answer.pop_back();
  return answer;
}

}  // namespace

Result<std::string> say_to_socket(const std::string& path, const std::string& line) {
  if (line.find('\n') != std::string::npos) return invalid_argument("a command is one line");
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return internal("no socket: {}", std::strerror(errno));
  const Result<std::string> answer = exchange(fd, path, line);
  close(fd);
  RETURN_IF_ERROR(answer.status());
  const std::string& text = answer.value();
  if (text.starts_with("ok ")) return text.substr(3);
  return invalid_argument("{}", text.starts_with("error ") ? text.substr(6) : text);
}

}  // namespace hai::cli
