// A conninfo that names several hosts, one of which hangs: it takes connections and never answers.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/store/conninfo.h"
#include "server/store/pg_load.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

class FrozenHost {
 public:
  FrozenHost() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~FrozenHost() { ::close(socket_); }
  FrozenHost(const FrozenHost&) = delete;
  FrozenHost& operator=(const FrozenHost&) = delete;

  int port() const { return port_; }
  // How many have connected since it was asked last.
  int connections() {
    int count = 0;
    for (int taken = ::accept(socket_, nullptr, nullptr); taken >= 0;
         taken = ::accept(socket_, nullptr, nullptr)) {
      ::close(taken);
      ++count;
    }
    return count;
  }

 private:
  int socket_;
  int port_ = 0;
};

using ManyHosts = StoreFixture;

// Two servers took turns at the lease while the first host hung: each load waited for it longer
// than the lease was.
TEST_F(ManyHosts, ALoadAsksOnlyTheHostThatAnswered) {
  FrozenHost frozen;
  const std::string socket = parse_conninfo(conninfo_).value().at("host");
  PgSession session({.conninfo = fmt::format("{} host=127.0.0.1,{} port={},5432"
                                             " target_session_attrs=read-write",
                                             conninfo_, socket, frozen.port()),
                     .connect_timeout = 2s});
  session.run("SELECT 1");
  EXPECT_EQ(frozen.connections(), 1);
  load_state(session);
  EXPECT_EQ(frozen.connections(), 0);
}

using Place = std::pair<std::string, std::string>;  // host and port

TEST(ConninfoAt, TakesTheHostThatWasFound) {
  const auto found = [](const std::string& conninfo, const std::string& host) {
    std::map<std::string, std::string> words =
        parse_conninfo(conninfo_at(conninfo, host, "5433")).value();
    return Place(words["host"], words["port"]);
  };
  EXPECT_EQ(found("host=a,b dbname=hai", "b"), Place("b", "5433"));
  EXPECT_EQ(found("host=a,b port=1,2", "/run/it's \\ here"), Place("/run/it's \\ here", "5433"));
  EXPECT_EQ(found("postgresql://hai@a:1,b:2/hai", "b"), Place("b", "5433"));
  EXPECT_EQ(found("postgresql://hai@a,b/hai?passfile=/x", "/run/a b"), Place("/run/a b", "5433"));
  EXPECT_EQ(conninfo_at("host=a,b hostaddr=10.0.0.1,10.0.0.2", "b", "5433"),
            "host=a,b hostaddr=10.0.0.1,10.0.0.2");
}

}  // namespace
}  // namespace hai
