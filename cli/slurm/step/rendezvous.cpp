#include "cli/slurm/step/rendezvous.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "cli/patience.h"
#include "common/hex.h"
#include "common/shell_words.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

constexpr size_t kGreetingBytesMax = 1'024;
constexpr size_t kGuidedMax = 512;             // strangers may come, too
constexpr auto kProofTimeout = timeval{2, 0};  // a stranger that says nothing must not hold us up

std::string nonce() {
  unsigned char bytes[16];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  return to_hex({reinterpret_cast<const char*>(bytes), sizeof bytes});
}

std::string proof(const std::string& key, const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest,
             &length) != nullptr);
  return to_hex({reinterpret_cast<const char*>(digest), length});
}

bool is_equal(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool write_line(int fd, const std::string& line) {
  const std::string bytes = line + "\n";
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

// Byte by byte: what follows the line belongs to the channel.
std::optional<std::string> read_line(int fd) {
  std::string line;
  char c = 0;
  while (line.size() < kGreetingBytesMax && ::recv(fd, &c, 1, 0) == 1) {
    if (c == '\n') return line;
    line += c;
  }
  return std::nullopt;
}

void set_timeouts(int fd) {
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kProofTimeout, sizeof kProofTimeout);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kProofTimeout, sizeof kProofTimeout);
}

void use_for_long(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

Result<Fd> listen_at(int port) {
  Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(static_cast<uint16_t>(port));
  int bound = fd.get() < 0 ? -1 : ::bind(fd.get(), reinterpret_cast<sockaddr*>(&any6), sizeof any6);
  if (bound != 0 && (fd.get() < 0 || errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
    fd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // a host without IPv6
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(static_cast<uint16_t>(port));
    bound = ::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), sizeof any);
  }
  if (bound != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return unavailable("cannot listen at port {}: {}", port, std::strerror(errno));
  }
  return fd;
}

int port_of(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Result<Fd> connect_to(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return unavailable("{}: {}", host, ::gai_strerror(error));
  Status status = unavailable("{}: no address", host);
  Fd connected;
  for (const addrinfo* at = found; at != nullptr && connected.get() < 0; at = at->ai_next) {
    Fd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.get() >= 0) set_timeouts(fd.get());
    if (fd.get() >= 0 && ::connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0) {
      connected = std::move(fd);
    } else {
      status = unavailable("{}:{}: {}", host, port, std::strerror(errno));
    }
  }
  ::freeaddrinfo(found);
  if (connected.get() < 0) return status;
  return connected;
}

std::string peer_text(const Place& job, int rank, const std::string& node, const std::string& asked,
                      const std::string& own) {
  return fmt::format("peer {} {} {} {} {}", job.attempt, rank, node, asked, own);
}

// One connection to the host's own port: the rank and node behind it, if it knows the key.
std::optional<std::pair<int, Peer>> admit(const Place& here, Fd fd) {
  set_timeouts(fd.get());
  const std::string asked = nonce();
  if (!write_line(fd.get(), asked)) return std::nullopt;
  const auto line = read_line(fd.get());
  const auto words = split_parameters(line.value_or(""));
  if (!words.is_ok() || words.value().size() != 4) return std::nullopt;
  const std::optional<int> rank = whole_number<int>(words.value()[0]);
  const std::string& node = words.value()[1];
  const std::string& own = words.value()[2];
  if (!rank || *rank < 1 || *rank >= here.ranks) return std::nullopt;
  const std::string expected = proof(here.key, peer_text(here, *rank, node, asked, own));
  if (!is_equal(words.value()[3], expected)) return std::nullopt;
  if (!write_line(fd.get(), proof(here.key, "host " + own + " " + asked))) return std::nullopt;
  use_for_long(fd.get());
  return std::pair{*rank, Peer{node, FrameChannel(std::move(fd))}};
}

Result<FrameChannel> try_to_join(const Place& here) {
  Result<Fd> guide = connect_to(here.master_address, here.master_port);
  RETURN_IF_ERROR(guide.status());
  const std::string line = read_line(guide.value().get()).value_or("");
  guide.value().close();  // first, so that nothing of it stays behind at the host's port
  const std::optional<int> port = line.starts_with("hai-slurm ")
                                      ? whole_number<int>(std::string_view(line).substr(10))
                                      : std::nullopt;
  if (!port || *port < 1 || *port > 65'535) {
    return unavailable("{}:{} is not this job's first rank", here.master_address, here.master_port);
  }
  Result<Fd> fd = connect_to(here.master_address, *port);
  RETURN_IF_ERROR(fd.status());
  const auto asked = read_line(fd.value().get());
  if (!asked) return unavailable("the job's first rank said nothing");
  const std::string own = nonce();
  const std::string mine = proof(here.key, peer_text(here, here.rank, here.node, *asked, own));
  if (!write_line(fd.value().get(), fmt::format("{} {} {} {}", here.rank, here.node, own, mine))) {
    return unavailable("the job's first rank hung up");
  }
  const auto answer = read_line(fd.value().get());
  if (!answer || !is_equal(*answer, proof(here.key, "host " + own + " " + *asked))) {
    return unavailable("what listens there does not know this job's key");
  }
  use_for_long(fd.value().get());
  return FrameChannel(std::move(fd.value()));
}

}  // namespace

Result<std::vector<Peer>> gather_peers(const Place& here) {
  if (here.ranks <= 1) return std::vector<Peer>{};
  Result<Fd> guide = listen_at(here.master_port);
  RETURN_IF_ERROR(guide.status());
  Result<Fd> door = listen_at(0);
  RETURN_IF_ERROR(door.status());
  const std::string direction = fmt::format("hai-slurm {}", port_of(door.value().get()));
  std::vector<std::optional<Peer>> peers(static_cast<size_t>(here.ranks));
  std::vector<Fd> guided;  // kept until they hang up, or the port would not be free at once
  const MonoTime end = mono_now() + here.patience;
  int missing = here.ranks - 1;
  while (missing > 0) {
    if (mono_now() > end) {
      return deadline_exceeded("{} of {} ranks have not come within {}", missing, here.ranks,
                               format_duration(here.patience));
    }
    pollfd polls[] = {{guide.value().get(), POLLIN, 0}, {door.value().get(), POLLIN, 0}};
    ::poll(polls, 2, 1'000);
    if ((polls[0].revents & POLLIN) != 0) {
      Fd fd(::accept4(guide.value().get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (fd.get() >= 0 && write_line(fd.get(), direction)) guided.push_back(std::move(fd));
      if (guided.size() > kGuidedMax) guided.erase(guided.begin());
    }
    if ((polls[1].revents & POLLIN) == 0) continue;
    auto admitted = admit(here, Fd(::accept4(door.value().get(), nullptr, nullptr, SOCK_CLOEXEC)));
    if (!admitted) continue;
    std::optional<Peer>& place = peers[static_cast<size_t>(admitted->first)];
    if (!place) --missing;
    place.emplace(std::move(admitted->second));
  }
  std::vector<Peer> all;
  for (size_t rank = 1; rank < peers.size(); ++rank) all.push_back(*std::move(peers[rank]));
  return all;
}

Result<FrameChannel> join_host(const Place& here) {
  const MonoTime end = mono_now() + here.patience;
  int pause_ms = 20;
  for (;;) {
    Result<FrameChannel> channel = try_to_join(here);
    if (channel.is_ok() || mono_now() > end) return channel;
    ::poll(nullptr, 0, pause_ms);
    pause_ms = std::min(pause_ms * 2, 1'000);
  }
}

}  // namespace hai::cli::slurm
