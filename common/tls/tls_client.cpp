#include "common/tls/tls_client.h"

#include <fmt/ranges.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/host_port.h"
#include "common/tcp_dial.h"
#include "common/tls/certificate.h"
#include "common/tls/openssl.h"

namespace hai {
namespace {

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
  X509_VERIFY_PARAM* rules = SSL_get0_param(connection);
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1;
  return X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(connection, host.c_str()) == 1;
}

// The certificate that was not believed.
struct Shown {
  CertificateFacts facts;
  bool is_servers_own = true;  // else it is one above
};

// Called by OpenSSL when it does not believe a certificate, which it keeps to itself afterwards.
// Which one: the server's own, or one above it.
int note_certificate(int is_believed, X509_STORE_CTX* verdict) {
  if (is_believed == 1) return 1;
  const auto* connection = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(verdict, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), X509_STORE_CTX_get_current_cert(verdict));
  Result<CertificateFacts> facts = read_certificate(openssl::text_of(bio.get()));
  if (facts.is_ok()) {
    *static_cast<Shown*>(SSL_get_app_data(connection)) = {
        .facts = std::move(facts).value(),
        .is_servers_own = X509_STORE_CTX_get_error_depth(verdict) == 0};
  }
  return 0;
}

// Why a certificate is not believed, and what to do about it.
Status not_believed(const std::string& address, const std::string& host, const Shown& refused,
                    long verdict) {
  const CertificateFacts& shown = refused.facts;
  const std::string what =
      refused.is_servers_own
          ? fmt::format("the certificate of {}", address)
          : fmt::format("the certificate of {}, above that of {},", shown.subject, address);
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return permission_denied(
          "{} has expired on {}: its administrator must put a new one in place, unless it is this "
          "machine's clock that is wrong",
          what, format_rfc3339(shown.ends));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return permission_denied("{} begins on {}: is this machine's clock right?", what,
                               format_rfc3339(shown.begins));
    case X509_V_ERR_INVALID_PURPOSE:
      return permission_denied(
          "{} is {}: have one issued for a server", what,
          shown.node.empty() ? "for no server" : fmt::format("node {}'s, no server's", shown.node));
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

// By which the server has ended the conversation (RFC 8446, 6); 0 = it has not.
int last_alert() {
  const unsigned long code = ERR_peek_last_error();
  if (ERR_GET_LIB(code) != ERR_LIB_SSL) return 0;
  const int reason = ERR_GET_REASON(code);
  return reason >= SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : 0;
}

bool is_about_certificates(int alert) {
  const bool is_listed = alert >= SSL3_AD_BAD_CERTIFICATE && alert <= TLS1_AD_UNKNOWN_CA;
  return (is_listed && alert != SSL3_AD_ILLEGAL_PARAMETER) ||
         alert == TLS13_AD_CERTIFICATE_REQUIRED;
}

}  // namespace

struct TlsClient::Impl {
  NoBrokenPipes no_broken_pipes;
  std::string address;
  TcpSocket socket;
  openssl::Context context;
  openssl::Connection connection;
  Shown shown;             // by the server, if it was not believed
  bool has_shown = false;  // a certificate of ours
  Deadline deadline;       // of the whole conversation
  bool is_late = false;

  // Runs one of OpenSSL's calls until it is done or has failed, or time is up.
  template <typename Call>
  int until_done(Call call) {
    for (;;) {
      ERR_clear_error();
      errno = 0;
      const int result = call(connection.get());
      if (result > 0) return result;
      const int wish = SSL_get_error(connection.get(), result);
      if (wish != SSL_ERROR_WANT_READ && wish != SSL_ERROR_WANT_WRITE) return result;
      is_late = !wait_ready(socket, wish == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline);
      if (is_late) return result;
    }
  }

  Status broken(int result, const char* what) const {
    if (is_late) return unavailable("{}: {}: no answer in time", address, what);
    const int system_error = errno;
    const int error = SSL_get_error(connection.get(), result);
    const int alert = last_alert();
    const std::string reason = openssl::last_error();
    if (is_about_certificates(alert) && has_shown) {
      return permission_denied("{} does not take the certificate of this side: {}", address,
                               reason);
    }
    if (is_about_certificates(alert)) {
      return permission_denied("{} wants a certificate of this side, which has none: {}", address,
                               reason);
    }
    if (alert != 0) {
      return failed_precondition("{} speaks TLS, but not TLS 1.3 as this program does: {}", address,
                                 reason);
    }
    if (!reason.empty()) return unavailable("{}: {}: {}", address, what, reason);
    if (error == SSL_ERROR_ZERO_RETURN) return unavailable("{} has ended the connection", address);
    return unavailable("{}: {}: {}", address, what,
                       system_error == 0 ? "the connection was cut" : std::strerror(system_error));
  }

  Status open(const TlsDial& dial) {
    HostPort to = split_host_port(dial.address);
    address = dial.address;
    deadline = deadline_after(dial.timeout);
    if (to.port.empty()) to.port = "443";
    Result<TcpSocket> dialled = dial_tcp(to, deadline);
    RETURN_IF_ERROR(dialled.status());
    socket = std::move(dialled).value();
    context.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
    SSL_CTX_set_verify(context.get(), dial.is_blind ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       dial.is_blind ? nullptr : note_certificate);
    if (!believe(context.get(), dial.texts.ca) && !dial.texts.ca.empty()) {
      return invalid_argument("no certificate to believe {} by", address);
    }
    // As gRPC does: whoever is named is believed, an authority above it or not.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.get()),
                                X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
    RETURN_IF_ERROR(present(context.get(), dial.texts));
    has_shown = !dial.texts.certificate.empty();
    constexpr unsigned char kGrpc[] = {2, 'h', '2'};
    constexpr unsigned char kHttp[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    connection.reset(SSL_new(context.get()));
    dial.is_grpc ? SSL_set_alpn_protos(connection.get(), kGrpc, sizeof(kGrpc))
                 : SSL_set_alpn_protos(connection.get(), kHttp, sizeof(kHttp));
    if (!expect_name(connection.get(), to.host)) return invalid_argument("no host: '{}'", to.host);
    SSL_set_app_data(connection.get(), &shown);
    SSL_set_fd(connection.get(), socket.descriptor());
    const int done = until_done(SSL_connect);
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
  const int sent = impl_->until_done([text](SSL* connection) {
    return SSL_write(connection, text.data(), static_cast<int>(text.size()));
  });
  return sent > 0 ? ok() : impl_->broken(sent, "cannot send");
}

Result<std::string> TlsClient::read_all(size_t bytes_max) {
  std::string text;
  char chunk[4096];
  while (text.size() < bytes_max) {
    const int got = impl_->until_done(
        [&chunk](SSL* connection) { return SSL_read(connection, chunk, sizeof(chunk)); });
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
  const int got =
      impl_->until_done([&byte](SSL* connection) { return SSL_read(connection, &byte, 1); });
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

std::vector<std::string> TlsClient::shown() const {
  std::vector<std::string> texts;
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(impl_->connection.get());
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const openssl::Bio text(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(text.get(), sk_X509_value(chain, i));
    texts.push_back(openssl::text_of(text.get()));
  }
  return texts;
}

Result<std::string> authority_shown_by(const std::string& address,
                                       const std::vector<std::string>& fingerprints) {
  const Result<std::unique_ptr<TlsClient>> client =
      TlsClient::connect({.address = address, .is_grpc = true, .is_blind = true});
  RETURN_IF_ERROR(client.status());
  for (const std::string& pem : client.value()->shown()) {
    const Result<CertificateFacts> facts = read_certificate(pem);
    if (facts.is_ok() && facts.value().is_authority &&
        std::ranges::find(fingerprints, facts.value().fingerprint) != fingerprints.end()) {
      return pem;
    }
  }
  return permission_denied(
      "{} shows no CA with that fingerprint: somebody may be standing between you and the server, "
      "or its certificate is not of that CA; with the file of the CA (--ca) it need not be shown",
      address);
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
