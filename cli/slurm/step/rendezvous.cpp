#include "cli/slurm/step/rendezvous.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "cli/patience.h"
#include "cli/slurm/step/frame_mac.h"
#include "common/hex.h"
#include "common/shell_words.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

// The port follows. The number is that of the proofs and frames, for nodes with different packages.
constexpr std::string_view kGreeting = "hai-slurm2 ";
constexpr size_t kGreetingBytesMax = 1'024;
constexpr size_t kGuidedMax = 512;             // strangers may come, too
constexpr auto kProofTimeout = timeval{2, 0};  // a stranger that says nothing must not hold us up

std::string nonce() {
  unsigned char bytes[16];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  return to_hex({reinterpret_cast<const char*>(bytes), sizeof bytes});
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

// What both sides must have seen alike: the attempt, who the peer is, both nonces, and the port at
// which the host listens and to which the peer has connected.
struct Meeting {
  std::string key;
  std::string seen;

  Meeting(const Place& job, int rank, const std::string& node, const std::string& host_nonce,
          const std::string& peer_nonce, int port)
      : key(job.key),
        seen(fmt::format("{} {} {} {} {} {}", job.attempt, rank, node, host_nonce, peer_nonce,
                         port)) {}

  std::string proof_of(const char* side) const {
    return to_hex(mac_of(key, fmt::format("{} {}", side, seen)));
  }

  FrameChannel channel(Fd fd, const char* own, const char* other) const {
    use_for_long(fd.get());
    const std::string session = mac_of(key, "session " + seen);
    return FrameChannel(std::move(fd), FrameMacs{FrameMac(session, own), FrameMac(session, other)});
  }
};

constexpr const char* kHostSide = "host";
constexpr const char* kPeerSide = "peer";

bool has_hung_up(const Peer& peer) {
  pollfd poll = {peer.channel.fd(), POLLRDHUP, 0};
  return ::poll(&poll, 1, 0) != 0;
}

// By rank; the host's own stays empty.
using Places = std::vector<std::optional<Peer>>;

// One connection to the host's own port: takes the place of its rank if it knows the key, but not
// that of a peer which is still there.
void admit(const Place& here, Fd fd, int port, Places& places) {
  set_timeouts(fd.get());
  const std::string asked = nonce();
  if (!write_line(fd.get(), asked)) return;
  const auto line = read_line(fd.get());
  const auto words = split_parameters(line.value_or(""));
  if (!words.is_ok() || words.value().size() != 4) return;
  const std::optional<int> rank = whole_number<int>(words.value()[0]);
  const std::string& node = words.value()[1];
  if (!rank || *rank < 1 || *rank >= here.ranks) return;
  const Meeting meeting(here, *rank, node, asked, words.value()[2], port);
  if (!is_same_mac(words.value()[3], meeting.proof_of(kPeerSide))) return;
  std::optional<Peer>& place = places[static_cast<size_t>(*rank)];
  if (place && !has_hung_up(*place)) return;
  if (!write_line(fd.get(), meeting.proof_of(kHostSide))) return;
  place.emplace(Peer{node, meeting.channel(std::move(fd), kHostSide, kPeerSide)});
}

Result<int> ask_for_port(const Place& here) {
  Result<Fd> guide = connect_to(here.master_address, here.master_port);
  RETURN_IF_ERROR(guide.status());
  const std::string line = read_line(guide.value().get()).value_or("");
  guide.value().close();  // first, so that nothing of it stays behind at the host's port
  const std::optional<int> port =
      line.starts_with(kGreeting)
          ? whole_number<int>(std::string_view(line).substr(kGreeting.size()))
          : std::nullopt;
  if (port && *port >= 1 && *port <= 65'535) return *port;
  if (line.starts_with("hai-slurm")) {
    return unavailable(
        "the job's first rank, at {}, has another version of hai-slurm than {}; install the same "
        "package hai-slurm on both nodes",
        here.master_address, here.node);
  }
  return unavailable("{}:{} is not this job's first rank", here.master_address, here.master_port);
}

Result<FrameChannel> try_to_join(const Place& here) {
  const Result<int> port = ask_for_port(here);
  RETURN_IF_ERROR(port.status());
  Result<Fd> fd = connect_to(here.master_address, port.value());
  RETURN_IF_ERROR(fd.status());
  const auto asked = read_line(fd.value().get());
  if (!asked) return unavailable("the job's first rank said nothing");
  const std::string own = nonce();
  const Meeting meeting(here, here.rank, here.node, *asked, own, port.value());
  if (!write_line(fd.value().get(), fmt::format("{} {} {} {}", here.rank, here.node, own,
                                                meeting.proof_of(kPeerSide)))) {
    return unavailable("the job's first rank hung up");
  }
  const auto answer = read_line(fd.value().get());
  if (!answer || !is_same_mac(*answer, meeting.proof_of(kHostSide))) {
    return unavailable("what listens at {}:{} does not know this job's key, or has rank {} already",
                       here.master_address, port.value(), here.rank);
  }
  return meeting.channel(std::move(fd.value()), kPeerSide, kHostSide);
}

}  // namespace

Result<std::vector<Peer>> gather_peers(const Place& here) {
  if (here.ranks <= 1) return std::vector<Peer>{};
  Result<Fd> guide = listen_at(here.master_port);
  RETURN_IF_ERROR(guide.status());
  Result<Fd> door = listen_at(0);
  RETURN_IF_ERROR(door.status());
  const int port = port_of(door.value().get());
  const std::string direction = fmt::format("{}{}", kGreeting, port);
  Places peers(static_cast<size_t>(here.ranks));
  std::vector<Fd> guided;  // kept until they hang up, or the port would not be free at once
  const MonoTime end = mono_now() + here.patience;
  for (;;) {
    const auto missing = std::count(peers.begin() + 1, peers.end(), std::nullopt);
    if (missing == 0) break;
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
    admit(here, Fd(::accept4(door.value().get(), nullptr, nullptr, SOCK_CLOEXEC)), port, peers);
  }
  std::vector<Peer> all;
  for (size_t rank = 1; rank < peers.size(); ++rank) all.push_back(*std::move(peers[rank]));
  return all;
}

// No answer ends it early: anybody may have listened there before the host does.
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
