#include "common/tls/certificate.h"

#include <arpa/inet.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "common/tls/openssl.h"

namespace hai {
namespace {

std::string name_of(const X509_NAME* name) {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  return openssl::text_of(bio.get());
}

UnixTime time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return UnixTime(std::chrono::seconds(::timegm(&parts)));
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes->length == 4 ? AF_INET : AF_INET6;
  if (bytes->length != 4 && bytes->length != 16) return "";
  const char* written = ::inet_ntop(family, bytes->data, text.data(), text.size());
  return written == nullptr ? "" : written;
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

void read_names(const X509* certificate, CertificateFacts& facts) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) facts.names.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_IPADD) facts.names.push_back(address_of(name->d.iPAddress));
    if (name->type != GEN_URI) continue;
    const std::string uri = text_of(name->d.uniformResourceIdentifier);
    if (uri.starts_with(kNodeUri)) facts.node = uri.substr(kNodeUri.size());
  }
  GENERAL_NAMES_free(names);
}

std::string fingerprint_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  X509_digest(certificate, EVP_sha256(), digest.data(), &size);
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

CertificateFacts facts_of(X509* certificate) {
  CertificateFacts facts{.subject = name_of(X509_get_subject_name(certificate)),
                         .issuer = name_of(X509_get_issuer_name(certificate)),
                         .begins = time_of(X509_get0_notBefore(certificate)),
                         .ends = time_of(X509_get0_notAfter(certificate)),
                         .is_authority = X509_check_ca(certificate) != 0,
                         .fingerprint = fingerprint_of(certificate)};
  read_names(certificate, facts);
  return facts;
}

// Who renews by hand needs time for it. Nodes' certificates are renewed by themselves long before.
constexpr Duration kRenewalNoticeMax = 24h * 30;

}  // namespace

Duration renewal_notice(const CertificateFacts& facts) {
  return std::min(kRenewalNoticeMax, (facts.ends - facts.begins) / 4);
}

bool is_issued_by(const std::string& pem, const std::string& authority) {
  const openssl::Bio text = openssl::memory(pem);
  const openssl::Bio above = openssl::memory(authority);
  const openssl::Certificate certificate(
      PEM_read_bio_X509(text.get(), nullptr, openssl::no_password, nullptr));
  bool is_so = false;
  while (certificate && !is_so) {
    const openssl::Certificate issuer(
        PEM_read_bio_X509(above.get(), nullptr, openssl::no_password, nullptr));
    if (!issuer) break;
    is_so = X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())) == 1;
  }
  ERR_clear_error();
  return is_so;
}

std::string joined_certificates(const std::string& pem, const std::string& more) {
  const openssl::Bio out(BIO_new(BIO_s_mem()));
  std::set<std::string> there;
  for (const std::string* text : {&pem, &more}) {
    const openssl::Bio bio = openssl::memory(*text);
    while (const openssl::Certificate each{
        PEM_read_bio_X509(bio.get(), nullptr, openssl::no_password, nullptr)}) {
      if (there.insert(fingerprint_of(each.get())).second) {
        PEM_write_bio_X509(out.get(), each.get());
      }
    }
  }
  ERR_clear_error();
  return openssl::text_of(out.get());
}

std::vector<CertificateFacts> read_certificates(const std::string& pem) {
  const openssl::Bio bio = openssl::memory(pem);
  std::vector<CertificateFacts> found;
  while (const openssl::Certificate each{
      PEM_read_bio_X509(bio.get(), nullptr, openssl::no_password, nullptr)}) {
    found.push_back(facts_of(each.get()));
  }
  ERR_clear_error();
  return found;
}

Result<CertificateFacts> read_certificate(const std::string& pem) {
  const openssl::Bio bio = openssl::memory(pem);
  const openssl::Certificate certificate(
      PEM_read_bio_X509(bio.get(), nullptr, openssl::no_password, nullptr));
  ERR_clear_error();
  if (!certificate) return invalid_argument("no certificate in PEM");
  return facts_of(certificate.get());
}

}  // namespace hai
