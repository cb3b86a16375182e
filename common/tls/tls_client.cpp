#include "common/tls/tls_client.h"

#include <arpa/inet.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/tls/certificate.h"
#include "common/tls/openssl.h"

namespace hai {
namespace {

struct Socket {
  int descriptor = -1;
  ~Socket() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

// OpenSSL writes to a connection that the server has closed, and that ends a program which does not
// ignore SIGPIPE. As long as one of these lives, its thread gets none.
class NoBrokenPipes {
 public:
  NoBrokenPipes() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipes() {
    const timespec at_once{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipes(const NoBrokenPipes&) = delete;
  NoBrokenPipes& operator=(const NoBrokenPipes&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

struct HostPort {
  std::string host;  // without brackets
  std::string port;
};

HostPort split(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {.host = address, .port = "443"};
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {.host = host, .port = address.substr(colon + 1)};
}

Status dial_tcp(const TlsDial& dial, const HostPort& to, Socket& socket) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found)) {
    return unavailable("{}: {}", dial.address, ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  const timeval timeout{.tv_sec = dial.timeout.count() / 1'000'000,
                        .tv_usec = dial.timeout.count() % 1'000'000};
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    socket.descriptor = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket.descriptor < 0) continue;
    ::setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    ::setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (::connect(socket.descriptor, at->ai_addr, at->ai_addrlen) == 0) return ok();
    ::close(std::exchange(socket.descriptor, -1));
  }
  return unavailable("{}: {}", dial.address, std::strerror(errno));
}

bool believe(SSL_CTX* context, const std::string& ca) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const openssl::Bio text = openssl::memory(ca);
  bool has_any = false;
  while (X509* each = PEM_read_bio_X509(text.get(), nullptr, openssl::no_password, nullptr)) {
    has_any |= X509_STORE_add_cert(store, each) == 1;
    X509_free(each);
  }
  ERR_clear_error();
  return has_any;
}

Status present(SSL_CTX* context, const TlsTexts& texts) {
  if (texts.certificate.empty()) return ok();
  const openssl::Bio key_text = openssl::memory(texts.key);
  const openssl::Key key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, openssl::no_password, nullptr));
  const openssl::Bio text = openssl::memory(texts.certificate);
  const openssl::Certificate own(
      PEM_read_bio_X509(text.get(), nullptr, openssl::no_password, nullptr));
  const bool done = own && key && SSL_CTX_use_certificate(context, own.get()) == 1 &&
                    SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  while (X509* above = PEM_read_bio_X509(text.get(), nullptr, openssl::no_password, nullptr)) {
    SSL_CTX_add_extra_chain_cert(context, above);  // owns it
  }
  ERR_clear_error();
  return done ? ok() : invalid_argument("certificate and key do not belong together");
}

// For one name: what the server at the other end must prove to be.
bool expect_name(SSL* connection, const std::string& host) {
  in6_addr bytes{};
  const bool is_address = ::inet_pton(AF_INET, host.c_str(), &bytes) == 1 ||
                          ::inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
  X509_VERIFY_PARAM* rules = SSL_get0_param(connection);
  if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1;
  return X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(connection, host.c_str()) == 1;
}

// Called by OpenSSL when it does not believe a certificate, which it keeps to itself afterwards.
int note_certificate(int is_believed, X509_STORE_CTX* verdict) {
  if (is_believed == 1) return 1;
  const auto* connection = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(verdict, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), X509_STORE_CTX_get0_cert(verdict));
  Result<CertificateFacts> facts = read_certificate(openssl::text_of(bio.get()));
  if (facts.is_ok()) {
    *static_cast<CertificateFacts*>(SSL_get_app_data(connection)) = std::move(facts).value();
  }
  return 0;
}

// Why a certificate is not believed, and what to do about it.
Status not_believed(const std::string& address, const std::string& host,
                    const CertificateFacts& shown, long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return permission_denied(
          "the certificate of {} has expired on {}: its administrator must put a new one in place",
          address, format_rfc3339(shown.ends));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return permission_denied("the certificate of {} begins on {}: is this machine's clock right?",
                               address, format_rfc3339(shown.begins));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return permission_denied(
          "the certificate of {} is not for '{}' but for {}: use such a name, or have one issued "
          "for this",
          address, host,
          shown.names.empty() ? "no server" : fmt::format("{}", fmt::join(shown.names, ", ")));
    default:
      return permission_denied(
          "the certificate of {} is of a CA that is not believed here ({}; issued by {}): give the "
          "CA of that cluster",
          address, X509_verify_cert_error_string(verdict),
          shown.issuer.empty() ? "nobody" : shown.issuer);
  }
}

}  // namespace

struct TlsClient::Impl {
  NoBrokenPipes no_broken_pipes;
  std::string address;
  Socket socket;
  openssl::Context context;
  openssl::Connection connection;
  CertificateFacts shown;  // by the server, if it was not believed
  bool has_shown = false;  // a certificate of ours

  Status broken(int result, const char* what) const {
    const int error = SSL_get_error(connection.get(), result);
    const unsigned long code = ERR_peek_last_error();
    const bool is_alert =
        ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;
    const std::string reason = openssl::last_error();
    if (is_alert) {
      return permission_denied("{} does not take the certificate of this side: {}", address,
                               reason);
    }
    if (!reason.empty()) return unavailable("{}: {}: {}", address, what, reason);
    if (error == SSL_ERROR_ZERO_RETURN) return unavailable("{} has ended the connection", address);
    return unavailable("{}: {}: {}", address, what,
                       errno == EAGAIN ? "no answer in time"
                       : errno == 0    ? "the connection was cut"
                                       : std::strerror(errno));
  }

  Status open(const TlsDial& dial) {
    const HostPort to = split(dial.address);
    address = dial.address;
    RETURN_IF_ERROR(dial_tcp(dial, to, socket));
    context.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, note_certificate);
    believe(context.get(), dial.texts.ca);
    RETURN_IF_ERROR(present(context.get(), dial.texts));
    has_shown = !dial.texts.certificate.empty();
    constexpr unsigned char kGrpc[] = {2, 'h', '2'};
    constexpr unsigned char kHttp[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    connection.reset(SSL_new(context.get()));
    dial.is_grpc ? SSL_set_alpn_protos(connection.get(), kGrpc, sizeof(kGrpc))
                 : SSL_set_alpn_protos(connection.get(), kHttp, sizeof(kHttp));
    if (!expect_name(connection.get(), to.host)) return invalid_argument("no host: '{}'", to.host);
    SSL_set_app_data(connection.get(), &shown);
    SSL_set_fd(connection.get(), socket.descriptor);
    errno = 0;
    const int done = SSL_connect(connection.get());
    if (done == 1) return ok();
    if (SSL_get_verify_result(connection.get()) != X509_V_OK) {
      ERR_clear_error();
      return not_believed(address, to.host, shown, SSL_get_verify_result(connection.get()));
    }
    if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER) {
      ERR_clear_error();
      return failed_precondition(
          "{} does not speak TLS: give its server a certificate, or this side no CA", address);
    }
    return broken(done, "TLS");
  }
};

TlsClient::TlsClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsClient::~TlsClient() = default;

Result<std::unique_ptr<TlsClient>> TlsClient::connect(const TlsDial& dial) {
  auto impl = std::make_unique<Impl>();
  RETURN_IF_ERROR(impl->open(dial));
  return std::unique_ptr<TlsClient>(new TlsClient(std::move(impl)));
}

Status TlsClient::send(std::string_view text) {
  const int sent = SSL_write(impl_->connection.get(), text.data(), static_cast<int>(text.size()));
  return sent > 0 ? ok() : impl_->broken(sent, "cannot send");
}

Result<std::string> TlsClient::read_all(size_t bytes_max) {
  std::string text;
  char chunk[4096];
  while (text.size() < bytes_max) {
    errno = 0;
    const int got = SSL_read(impl_->connection.get(), chunk, sizeof(chunk));
    if (got <= 0) {
      const bool is_end = SSL_get_error(impl_->connection.get(), got) == SSL_ERROR_ZERO_RETURN;
      if (is_end) return text;
      return impl_->broken(got, "no whole answer");
    }
    text.append(chunk, static_cast<size_t>(got));
  }
  return text;
}

Status TlsClient::hear() {
  char byte = 0;
  errno = 0;
  const int got = SSL_read(impl_->connection.get(), &byte, 1);
  if (got > 0) return ok();
  // gRPC ends the connection without a word.
  const bool is_cut = errno == ECONNRESET ||
                      ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  if (!is_cut || !impl_->has_shown) return impl_->broken(got, "no answer");
  ERR_clear_error();
  return permission_denied(
      "{} does not take the certificate of this side: it ended the connection when it saw it",
      impl_->address);
}

Status why_no_grpc(const std::string& address, const TlsTexts& texts) {
  Result<std::unique_ptr<TlsClient>> client =
      TlsClient::connect({.address = address, .texts = texts, .timeout = 2s, .is_grpc = true});
  Status why = client.is_ok() ? client.value()->hear() : client.status();
  if (why.code() == Code::unavailable) return ok();
  const bool speaks_tls = why.is_ok() || why.code() == Code::permission_denied;
  if (!texts.ca.empty()) return why;
  return !speaks_tls ? ok()
                     : failed_precondition("{} speaks TLS: give the CA of that cluster", address);
}

}  // namespace hai
