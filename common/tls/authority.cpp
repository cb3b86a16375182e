#include "common/tls/authority.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "common/host_port.h"
#include "common/hostlist.h"
#include "common/tls/certificate.h"
#include "common/tls/openssl.h"
#include "common/tls/request_key.h"

namespace hai {
namespace {

constexpr size_t kCommonNameMax = 64;  // by X.509
constexpr size_t kNamesMax = 100;
constexpr Duration kClockSkew = 1h;  // a machine whose clock is late believes it, too

struct Extension {
  int kind;
  std::string value;
};

struct Draft {
  std::string common_name;
  std::string unit;  // "" = none
  std::vector<Extension> extensions;
  Validity validity;
};

Validity validity_of(int days) {
  const auto now = UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  return {.begins = now - kClockSkew, .ends = now + days * Duration(24h)};
}

bool set_time(ASN1_TIME* out, UnixTime time) {
  return ASN1_TIME_set(out,
                       std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count()) !=
         nullptr;
}

Status failed(const char* what) {
  return Status(Code::internal, fmt::format("{}: {}", what, openssl::last_error()));
}

bool add_name(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool set_subject(X509* certificate, const Draft& draft) {
  X509_NAME* name = X509_get_subject_name(certificate);
  if (!draft.unit.empty() && !add_name(name, "OU", draft.unit)) return false;
  return add_name(name, "CN", draft.common_name.substr(0, kCommonNameMax));
}

// 16 random bytes: no two certificates of an authority may have the same number, and it keeps none.
bool set_serial(X509* certificate) {
  BIGNUM* number = BN_new();
  const bool done = BN_rand(number, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

bool add_extensions(X509* certificate, X509* issuer, const Draft& draft) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const Extension& each : draft.extensions) {
    X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &context, each.kind, each.value.c_str());
    const bool done = made != nullptr && X509_add_ext(certificate, made, -1) == 1;
    X509_EXTENSION_free(made);
    if (!done) return false;
  }
  return true;
}

Result<KeyAndCertificate> to_pem(EVP_PKEY* key, X509* certificate) {
  const openssl::Bio key_text(BIO_new(BIO_s_mem()));
  const openssl::Bio certificate_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1 ||
      PEM_write_bio_X509(certificate_text.get(), certificate) != 1) {
    return failed("cannot write a certificate");
  }
  return KeyAndCertificate{.key = openssl::text_of(key_text.get()),
                           .certificate = openssl::text_of(certificate_text.get())};
}

// What an expired authority, or a certificate that is of none, has signed is believed by nobody.
Status check_may_issue(X509* issuer) {
  if (X509_check_ca(issuer) == 0) {
    return failed_precondition("this is no authority: its certificate is that of a server or node");
  }
  if (X509_cmp_current_time(X509_get0_notAfter(issuer)) < 0) {
    return failed_precondition("this authority has expired: make a new one");
  }
  return ok();
}

// Nobody believes a certificate longer than the one above it.
bool end_with_issuer(X509* certificate, const X509* issuer) {
  const ASN1_TIME* end = X509_get0_notAfter(issuer);
  return ASN1_TIME_compare(X509_get0_notAfter(certificate), end) <= 0 ||
         X509_set1_notAfter(certificate, end) == 1;
}

// Without an issuer it signs itself, with `issuer_key`.
Result<openssl::Certificate> make_certificate(const Draft& draft, EVP_PKEY* key, X509* issuer,
                                              EVP_PKEY* issuer_key) {
  openssl::Certificate certificate(X509_new());
  if (!certificate) return failed("cannot make a certificate");
  if (issuer == nullptr) issuer = certificate.get();
  const bool is_complete =
      X509_set_version(certificate.get(), X509_VERSION_3) == 1 && set_serial(certificate.get()) &&
      set_time(X509_getm_notBefore(certificate.get()), draft.validity.begins) &&
      set_time(X509_getm_notAfter(certificate.get()), draft.validity.ends) &&
      end_with_issuer(certificate.get(), issuer) && X509_set_pubkey(certificate.get(), key) == 1 &&
      set_subject(certificate.get(), draft) &&
      X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer)) == 1 &&
      add_extensions(certificate.get(), issuer, draft) &&
      X509_sign(certificate.get(), issuer_key, EVP_sha256()) != 0;
  if (!is_complete) return failed("cannot make a certificate");
  return certificate;
}

// With a key of its own.
Result<KeyAndCertificate> make(const Draft& draft, X509* issuer, EVP_PKEY* issuer_key) {
  const openssl::Key key(EVP_EC_gen("P-256"));
  if (!key) return failed("cannot make a key");
  const Result<openssl::Certificate> made =
      make_certificate(draft, key.get(), issuer, issuer_key == nullptr ? key.get() : issuer_key);
  RETURN_IF_ERROR(made.status());
  return to_pem(key.get(), made.value().get());
}

// That one of several which the key belongs to: while a CA is changed, the old one is there, too.
openssl::Certificate certificate_of(EVP_PKEY* key, const std::string& certificates) {
  const openssl::Bio text = openssl::memory(certificates);
  openssl::Certificate found;
  do {
    found.reset(PEM_read_bio_X509(text.get(), nullptr, openssl::no_password, nullptr));
  } while (found && (key == nullptr || X509_check_private_key(found.get(), key) != 1));
  ERR_clear_error();
  return found;
}

std::string pem_of(X509* certificate) {
  const openssl::Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), certificate);
  return openssl::text_of(text.get());
}

std::string serial_of(X509* certificate) {
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get_serialNumber(certificate), nullptr);
  char* digits = BN_bn2hex(number);
  std::string text = digits == nullptr ? "" : digits;
  OPENSSL_free(digits);
  BN_free(number);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The authority as OpenSSL has it.
struct Signer {
  openssl::Key key;
  openssl::Certificate certificate;
};

Result<Signer> read_signer(const KeyAndCertificate& authority) {
  const openssl::Bio text = openssl::memory(authority.key);
  Signer signer;
  signer.key.reset(PEM_read_bio_PrivateKey(text.get(), nullptr, openssl::no_password, nullptr));
  signer.certificate = certificate_of(signer.key.get(), authority.certificate);
  if (!signer.key || !signer.certificate) {
    return invalid_argument("this is no authority: certificate and key do not belong together");
  }
  RETURN_IF_ERROR(check_may_issue(signer.certificate.get()));
  return signer;
}

std::vector<Extension> extensions_for(const std::string& names, const char* usage) {
  return {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, usage},
          {NID_subject_key_identifier, "hash"},
          {NID_authority_key_identifier, "keyid"},
          {NID_subject_alt_name, names}};
}

Status check_node(const std::string& node) {
  if (is_node_name(node)) return ok();
  return invalid_argument("a node's name has 1 to 255 letters, digits and . _ -, '{}' is none",
                          node.substr(0, 255));
}

Draft draft_for_node(const std::string& node, const Validity& validity) {
  return {.common_name = node,
          .unit = "hai-node",
          .extensions = extensions_for(fmt::format("URI:{}{}", kNodeUri, node), "clientAuth"),
          .validity = validity};
}

bool is_host_name(const std::string& name) {
  const bool is_plain = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
  return is_plain && !name.empty() && name.size() <= 253 && name.front() != '-';
}

Result<KeyAndCertificate> issue_for_names(const Signer& signer,
                                          const std::vector<std::string>& names, const char* unit,
                                          int days) {
  if (names.empty() || names.size() > kNamesMax) {
    return invalid_argument("a server has 1 to {} names, not {}", kNamesMax, names.size());
  }
  std::vector<std::string> alternatives;
  for (const std::string& name : names) {
    const bool is_number = is_address(name);
    if (!is_number && !is_host_name(name)) {
      return invalid_argument("'{}' is neither a host's name nor an address", name);
    }
    alternatives.push_back((is_number ? "IP:" : "DNS:") + name);
  }
  return make(
      {.common_name = names.front(),
       .unit = unit,
       .extensions = extensions_for(fmt::format("{}", fmt::join(alternatives, ",")), "serverAuth"),
       .validity = validity_of(days)},
      signer.certificate.get(), signer.key.get());
}

}  // namespace

Result<KeyAndCertificate> make_authority(int days) {
  return make({.common_name = "hai cluster CA",
               .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                              {NID_key_usage, "critical,keyCertSign,cRLSign"},
                              {NID_subject_key_identifier, "hash"}},
               .validity = validity_of(days)},
              nullptr, nullptr);
}

Result<KeyAndCertificate> issue_for_server(const KeyAndCertificate& authority,
                                           const std::vector<std::string>& names, int days) {
  const Result<Signer> signer = read_signer(authority);
  RETURN_IF_ERROR(signer.status());
  Result<KeyAndCertificate> made = issue_for_names(signer.value(), names, kServersOu, days);
  if (made.is_ok()) made.value().certificate += pem_of(signer.value().certificate.get());
  return made;
}

Result<KeyAndCertificate> issue_for_database(const KeyAndCertificate& authority,
                                             const std::vector<std::string>& names) {
  const Result<Signer> signer = read_signer(authority);
  RETURN_IF_ERROR(signer.status());
  return issue_for_names(signer.value(), names, kDatabasesOu, kAuthorityDays);
}

Result<KeyAndCertificate> issue_for_node(const KeyAndCertificate& authority,
                                         const std::string& node, int days) {
  RETURN_IF_ERROR(check_node(node));
  const Result<Signer> signer = read_signer(authority);
  RETURN_IF_ERROR(signer.status());
  return make(draft_for_node(node, validity_of(days)), signer.value().certificate.get(),
              signer.value().key.get());
}

Result<IssuedCertificate> issue_for_request(const KeyAndCertificate& authority,
                                            const std::string& request, const std::string& node,
                                            const Validity& validity) {
  RETURN_IF_ERROR(check_node(node));
  const Result<openssl::Key> key = openssl::key_of_request(request);
  RETURN_IF_ERROR(key.status());
  const Result<Signer> signer = read_signer(authority);
  RETURN_IF_ERROR(signer.status());
  X509* issuer = signer.value().certificate.get();
  const Result<openssl::Certificate> made = make_certificate(
      draft_for_node(node, validity), key.value().get(), issuer, signer.value().key.get());
  RETURN_IF_ERROR(made.status());
  IssuedCertificate issued{.certificate = pem_of(made.value().get()),
                           .serial = serial_of(made.value().get())};
  issued.ends = read_certificate(issued.certificate).value().ends;
  const bool is_root =
      X509_NAME_cmp(X509_get_subject_name(issuer), X509_get_issuer_name(issuer)) == 0;
  if (!is_root) issued.certificate += pem_of(issuer);
  return issued;
}

Result<std::string> own_certificate(const KeyAndCertificate& authority) {
  const Result<Signer> signer = read_signer(authority);
  RETURN_IF_ERROR(signer.status());
  return pem_of(signer.value().certificate.get());
}

}  // namespace hai
