#include "server/store/audit_syslog.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "server/store/audit_line.h"

namespace hai {
namespace {

// As syslog(3) writes it: "<85>Nov 23 20:29:06 hai-server[812]: hai-audit: {…}".
std::string message_of(const AuditRow& row) {
  const int priority = LOG_AUTHPRIV | (row.entry.result == "ok" ? LOG_INFO : LOG_NOTICE);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%b %e %H:%M:%S", &local);
  return fmt::format("<{}>{} hai-server[{}]: hai-audit: {}", priority, time.data(), ::getpid(),
                     audit_line(row));
}

}  // namespace

Result<std::optional<AuditMark>> AuditSyslog::open() {
  if (socket_ >= 0) return std::optional<AuditMark>();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) {
    return invalid_argument("{}: longer than a socket's path may be", path_);
  }
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close();
    return unavailable("syslog: {}: {}", path_, std::strerror(error));
  }
  return std::optional<AuditMark>();
}

Status AuditSyslog::write(std::span<const AuditRow> rows, size_t& taken) {
  for (taken = 0; taken < rows.size(); ++taken) {
    const std::string message = message_of(rows[taken]);
    if (::send(socket_, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) continue;
    const int error = errno;
    // Somebody may listen at that path again, at a new socket.
    if (error != EAGAIN && error != ENOBUFS) close();
    return unavailable("syslog: {}: {}", path_, std::strerror(error));
  }
  return ok();
}

void AuditSyslog::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

}  // namespace hai
