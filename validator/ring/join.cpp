#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <sstream>

#include "validator/ring/ring.h"

namespace hai::validator {

namespace {

// Connections that are none of ours (a port scan, a rank of another attempt) are dropped.
constexpr int kStrangersMax = 1000;
constexpr Duration kHelloPatience{2s};

struct Member {
  std::string address;
  int port = 0;
  std::string node;
};

struct Hello {
  int rank = -1;
  Member member;
};

std::string greeting(const Place& place, std::string_view what) {
  return fmt::format("hai-validator {} {} {}", what, place.job, place.attempt);
}

// "hai-validator WHAT JOB ATTEMPT RANK PORT NODE"
std::string hello_line(const Place& place, std::string_view what, int port) {
  return fmt::format("{} {} {} {}\n", greeting(place, what), place.rank, port,
                     place.node.empty() ? "-" : place.node);
}

std::optional<Hello> parse_hello(const Place& place, std::string_view what,
                                 const std::string& line) {
  const std::string start = greeting(place, what) + " ";
  if (!line.starts_with(start)) return std::nullopt;
  std::istringstream words(line.substr(start.size()));
  Hello hello;
  words >> hello.rank >> hello.member.port >> hello.member.node;
  if (words.fail() || hello.rank < 0 || hello.rank >= place.ranks) return std::nullopt;
  return hello;
}

// Accepts until somebody says hello in the right words.
struct Guest {
  UniqueFd fd;
  Hello hello;
};
Result<Guest> next_guest(const Listener& listener, const Place& place, std::string_view what,
                         const Deadline& deadline) {
  for (int strangers = 0; strangers < kStrangersMax; ++strangers) {
    Result<UniqueFd> fd = accept_one(listener, deadline);
    if (!fd.is_ok()) return fd.status();
    // Whoever connects and says nothing must not hold up the others.
    const Deadline for_hello(std::min(kHelloPatience, deadline.left()));
    const Result<std::string> line = read_line(fd.value().get(), for_hello);
    if (!line.is_ok()) continue;
    if (std::optional<Hello> hello = parse_hello(place, what, line.value()))
      return Guest{std::move(fd).value(), *std::move(hello)};
  }
  return unavailable("{} connections that are no ranks of this attempt", kStrangersMax);
}

std::string missing(const Place& place, const std::map<int, Member>& members) {
  std::vector<int> ranks;
  for (int rank = 0; rank < place.ranks; ++rank) {
    if (!members.contains(rank)) ranks.push_back(rank);
  }
  return fmt::format("rank{} {} of {} did not come", ranks.size() == 1 ? "" : "s",
                     fmt::join(ranks, ","), place.ranks);
}

// Rank 0: collects where the others listen and tells all.
Result<std::vector<Member>> host(const Place& place, int own_port, const Deadline& deadline) {
  const Result<Listener> listener = listen_on(place.master_port);
  if (!listener.is_ok()) return listener.status();
  std::map<int, Member> members = {{0, {"-", own_port, place.node.empty() ? "-" : place.node}}};
  std::vector<UniqueFd> guests;
  while (members.size() < static_cast<size_t>(place.ranks)) {
    Result<Guest> guest = next_guest(listener.value(), place, "join", deadline);
    if (!guest.is_ok())
      return Status(guest.status().code(),
                    missing(place, members) + ": " + guest.status().message());
    Hello& hello = guest.value().hello;
    hello.member.address = peer_address(guest.value().fd.get());
    if (!members.emplace(hello.rank, hello.member).second)
      return failed_precondition("two processes are rank {}", hello.rank);
    guests.push_back(std::move(guest.value().fd));
  }
  std::string table;
  std::vector<Member> result;
  for (const auto& [rank, member] : members) {
    table += fmt::format("{} {} {}\n", member.address, member.port, member.node);
    result.push_back(member);
  }
  for (const UniqueFd& guest : guests) RETURN_IF_ERROR(write_all(guest.get(), table, deadline));
  return result;
}

Result<std::vector<Member>> visit(const Place& place, int own_port, const Deadline& deadline) {
  const Result<UniqueFd> fd = connect_to(place.master_address, place.master_port, deadline);
  if (!fd.is_ok()) return unavailable("rank 0 did not come: {}", fd.status().message());
  RETURN_IF_ERROR(write_all(fd.value().get(), hello_line(place, "join", own_port), deadline));
  std::vector<Member> members;
  while (members.size() < static_cast<size_t>(place.ranks)) {
    const Result<std::string> line = read_line(fd.value().get(), deadline);
    if (!line.is_ok())
      return Status(line.status().code(),
                    "rank 0 did not say who is there: " + line.status().message());
    Member member;
    std::istringstream words(line.value());
    words >> member.address >> member.port >> member.node;
    if (words.fail()) return unavailable("rank 0 said \"{}\"", line.value().substr(0, 100));
    if (member.address == "-") member.address = place.master_address;
    members.push_back(member);
  }
  return members;
}

}  // namespace

Result<Ring> Ring::join(const Place& place, Duration patience) {
  if (place.ranks < 2) return invalid_argument("a ring needs two ranks, not {}", place.ranks);
  const Deadline deadline(patience);
  const Result<Listener> listener = listen_on(0);
  if (!listener.is_ok()) return listener.status();
  const int port = listener.value().port;
  const Result<std::vector<Member>> members =
      place.rank == 0 ? host(place, port, deadline) : visit(place, port, deadline);
  if (!members.is_ok()) return members.status();
  const Member& next = members.value()[static_cast<size_t>((place.rank + 1) % place.ranks)];
  const int before = (place.rank + place.ranks - 1) % place.ranks;
  // The kernel accepts for us, so that all may connect before anyone accepts. Rank 0 reaches the
  // others by the addresses that they came from.
  Result<UniqueFd> right = connect_to(next.address, next.port, deadline);
  if (!right.is_ok())
    return unavailable("rank {} ({}): {}", (place.rank + 1) % place.ranks, next.node,
                       right.status().message());
  RETURN_IF_ERROR(write_all(right.value().get(), hello_line(place, "ring", port), deadline));
  Result<Guest> left = next_guest(listener.value(), place, "ring", deadline);
  if (!left.is_ok() || left.value().hello.rank != before)
    return unavailable("rank {} ({}) did not connect: {}", before,
                       members.value()[static_cast<size_t>(before)].node,
                       left.is_ok() ? "another did" : left.status().message());
  std::vector<std::string> nodes;
  for (const Member& member : members.value()) nodes.push_back(member.node);
  return Ring(place.rank, std::move(nodes), std::move(left.value().fd), std::move(right).value());
}

}  // namespace hai::validator
