#include "common/journal.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdint>

namespace hai {
namespace {

constexpr size_t kNameBytesMax = 64;  // longer ones the journal drops

std::string name_of(std::string_view key) {
  std::string name = "HAI_";
  for (const char c : key.substr(0, kNameBytesMax - name.size())) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

// "NAME=VALUE\n"; a value with line ends goes with its length, of 64 bits, the lowest byte first.
void append(std::string& entry, std::string_view name, std::string_view value) {
  entry += name;
  if (value.find('\n') == std::string_view::npos) {
    entry += '=';
  } else {
    entry += '\n';
    for (int shift = 0; shift < 64; shift += 8) {
      entry += static_cast<char>((static_cast<uint64_t>(value.size()) >> shift) & 0xff);
    }
  }
  entry += value;
  entry += '\n';
}

}  // namespace

std::string journal_entry(int priority, std::string_view event, LogFields fields) {
  std::string entry;
  append(entry, "MESSAGE", format_log_line(event, fields));
  append(entry, "PRIORITY", std::to_string(priority));
  append(entry, "SYSLOG_IDENTIFIER", program_invocation_short_name);
  append(entry, "HAI_EVENT", event);
  for (const LogField& field : fields) {
    const std::string_view value = std::string_view(field.value).substr(0, kLogValueBytesMax);
    append(entry, name_of(field.key), value);
    // "7.1.0": job, attempt, rank.
    if (field.key == "rank") append(entry, "HAI_JOB", value.substr(0, value.find('.')));
  }
  return entry;
}

JournalSocket::JournalSocket(DroppedLines& dropped, const char* path)
    : dropped_(dropped), path_(path), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

JournalSocket::~JournalSocket() {
  if (socket_ >= 0) ::close(socket_);
}

bool JournalSocket::is_there() const { return ::access(path_.c_str(), W_OK) == 0; }

Taken JournalSocket::try_send(const std::string& entry) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  for (;;) {
    const ssize_t sent = ::sendto(socket_, entry.data(), entry.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                  reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (sent >= 0) return Taken::yes;
    if (errno == EAGAIN || errno == ENOBUFS) return Taken::dropped;
    if (errno != EINTR) return Taken::no;
  }
}

Taken JournalSocket::send(const std::string& entry) const {
  if (const uint64_t lines = dropped_.take(); lines > 0) {
    const Taken told = try_send(journal_entry(LOG_WARNING, kLinesDropped, {{"lines", lines}}));
    if (told != Taken::yes) dropped_.add(lines);
  }
  const Taken taken = try_send(entry);
  if (taken == Taken::dropped) dropped_.add();
  return taken;
}

std::string_view JournalStream::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(stream_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return text;
}

Taken JournalStream::send(std::string_view line) {
  rest_ = write(rest_);
  if (!rest_.empty()) {
    dropped_.add();
    return Taken::dropped;
  }
  std::string text;
  const uint64_t lines = dropped_.take();
  if (lines > 0) {
    text = fmt::format("<{}>{}\n", LOG_WARNING, format_log_line(kLinesDropped, {{"lines", lines}}));
  }
  text += line;
  const std::string_view left = write(text);
  if (left.size() == text.size()) {
    dropped_.add(lines + 1);
    return Taken::dropped;
  }
  rest_ = left;
  return Taken::yes;
}

}  // namespace hai
