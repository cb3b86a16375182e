// Certificates for keys that were made elsewhere, and authorities that are changed.

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <chrono>

#include "common/tls/authority_folder.h"
#include "common/tls/certificate.h"
#include "common/tls/pair_files.h"
#include "common/tls/replace_file.h"
#include "common/tls/request.h"
#include "tests/support/certificates.h"

namespace hai {
namespace {

// A request as another program might make it, for this key: with names of its own choice.
std::string request_of(EVP_PKEY* key, const EVP_MD* digest = EVP_sha256()) {
  X509_REQ* request = X509_REQ_new();
  X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("root"), -1, -1, 0);
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  sk_X509_EXTENSION_push(extensions, X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name,
                                                         "URI:hai:node:node-2,DNS:hai.example"));
  sk_X509_EXTENSION_push(
      extensions, X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE"));
  X509_REQ_add_extensions(request, extensions);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  X509_REQ_set_pubkey(request, key);
  X509_REQ_sign(request, key, digest);
  BIO* text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_REQ(text, request);
  char* begin = nullptr;
  const long size = BIO_get_mem_data(text, &begin);
  std::string pem(begin, static_cast<size_t>(size));
  BIO_free(text);
  X509_REQ_free(request);
  EVP_PKEY_free(key);
  return pem;
}

UnixTime second(int64_t seconds) { return UnixTime(std::chrono::seconds(seconds)); }

UnixTime now() {
  return UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

const Validity kYear{.begins = now() - 1h, .ends = now() + 24h * 365};

TEST(Request, GetsACertificateForThatNodeOnlyAndForItsKeyOnly) {
  const KeyAndCertificate ca = make_authority().value();
  const KeyAndRequest made = make_request("node-7").value();
  const int64_t begins = 1'800'000'000;
  const IssuedCertificate issued =
      issue_for_request(ca, made.request, "node-1",
                        {.begins = second(begins) + 999ms, .ends = second(begins + 60)})
          .value();
  const CertificateFacts facts = read_certificate(issued.certificate).value();
  EXPECT_EQ(facts.node, "node-1") << "what the request says of names is nothing";
  EXPECT_TRUE(facts.names.empty());
  EXPECT_EQ(facts.begins, second(begins)) << "rounded down";
  EXPECT_EQ(facts.ends, second(begins + 60));
  EXPECT_EQ(issued.ends, facts.ends);
  EXPECT_TRUE(do_belong_together(made.key, issued.certificate));
  EXPECT_TRUE(is_issued_by(issued.certificate, ca.certificate));
  EXPECT_GE(issued.serial.size(), 28u);
}

TEST(Request, TakesNothingElseFromIt) {
  const KeyAndCertificate ca = make_authority().value();
  const std::string request = request_of(EVP_EC_gen("P-384"));
  const IssuedCertificate issued = issue_for_request(ca, request, "node-1", kYear).value();
  const CertificateFacts facts = read_certificate(issued.certificate).value();
  EXPECT_EQ(facts.node, "node-1");
  EXPECT_TRUE(facts.names.empty());
  EXPECT_FALSE(facts.is_authority);
  EXPECT_EQ(facts.subject.find("root"), std::string::npos) << facts.subject;
}

TEST(Request, OfALastingKeyIsTaken) {
  EXPECT_TRUE(check_request(request_of(EVP_RSA_gen(2'048))).is_ok());
  EXPECT_TRUE(check_request(request_of(EVP_EC_gen("P-256"))).is_ok());
  EXPECT_TRUE(
      check_request(request_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), nullptr)).is_ok());
}

TEST(Request, OfAWeakOrOddKeyIsRefused) {
  const auto said = [](EVP_PKEY* key) { return check_request(request_of(key)).message(); };
  EXPECT_EQ(said(EVP_RSA_gen(1'024)), "csr: its RSA key has 1024 bits, allowed is 2048 to 8192");
  EXPECT_EQ(said(EVP_EC_gen("secp256k1")), "csr: its key is on another curve than P-256 and P-384");
  EXPECT_EQ(said(EVP_EC_gen("P-224")), "csr: its key is on another curve than P-256 and P-384");
  EXPECT_EQ(
      check_request(request_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448"), nullptr)).message(),
      "csr: its key is neither of P-256, P-384, Ed25519 nor RSA");
}

TEST(Request, OfAnotherKeyThanItIsSignedWithIsRefused) {
  const std::string good = request_of(EVP_EC_gen("P-256"));
  BIO* text = BIO_new_mem_buf(good.data(), static_cast<int>(good.size()));
  X509_REQ* request = PEM_read_bio_X509_REQ(text, nullptr, nullptr, nullptr);
  EVP_PKEY* other = EVP_EC_gen("P-256");
  X509_REQ_set_pubkey(request, other);  // the signature stays
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_REQ(out, request);
  char* begin = nullptr;
  const long size = BIO_get_mem_data(out, &begin);
  const std::string forged(begin, static_cast<size_t>(size));
  BIO_free(out);
  BIO_free(text);
  X509_REQ_free(request);
  EVP_PKEY_free(other);
  EXPECT_EQ(check_request(forged).message(), "csr: it was not signed with the key that is in it");
  EXPECT_EQ(issue_for_request(make_authority().value(), forged, "node-1", kYear).status().code(),
            Code::invalid_argument);
}

TEST(Request, ThatIsNoneIsRefused) {
  EXPECT_EQ(check_request("").message(), "csr: no request for a certificate in PEM (PKCS#10)");
  EXPECT_EQ(check_request(make_authority().value().certificate).code(), Code::invalid_argument);
  EXPECT_EQ(check_request(std::string(kRequestBytesMax + 1, 'x')).message(),
            "csr has 16385 bytes, allowed is 16384");
  const std::string request = make_request("n").value().request;
  EXPECT_EQ(issue_for_request(make_authority().value(), request, "n,URI:hai:node:m", kYear)
                .status()
                .code(),
            Code::invalid_argument);
}

TEST(PairFiles, AreBroughtToAnEndIfCutOffBetween) {
  TestAuthority ca;
  const TlsFiles files = ca.node("n", "node-1");
  const KeyAndRequest made = make_request("node-1").value();
  const TlsFiles other = ca.node("m", "node-1");
  const std::string fresh = read_tls_files(other).value().certificate;
  const std::string fresh_key = read_tls_files(other).value().key;
  // The key is there already, the certificate not yet.
  ASSERT_TRUE(replace_file(files.certificate + ".next", fresh, 0644).is_ok());
  ASSERT_TRUE(replace_file(files.key, fresh_key, 0600).is_ok());
  EXPECT_FALSE(read_tls_files(files).is_ok());
  finish_replacing(files);
  ASSERT_TRUE(read_tls_files(files).is_ok());
  EXPECT_EQ(read_tls_files(files).value().certificate, fresh);
  // One that was cut off before, and has nothing to do with the key, is left alone.
  ASSERT_TRUE(replace_file(files.certificate + ".next", ca.ca_text(), 0644).is_ok());
  finish_replacing(files);
  EXPECT_EQ(read_tls_files(files).value().certificate, fresh);
}

TEST(PairFiles, OfOneFileAreReplacedAtOnce) {
  TestAuthority ca;
  const TlsFiles old = ca.node("n", "node-1");
  const TlsTexts texts = read_tls_files(old).value();
  const std::string path = ca.path("node.pem");
  const TlsFiles one{.certificate = path, .key = path, .ca = old.ca};
  ASSERT_TRUE(replace_pair(one, texts.key, texts.certificate).is_ok());
  EXPECT_TRUE(read_tls_files(one).is_ok());
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

class Rotation : public testing::Test {
 protected:
  Rotation() {
    std::string path = testing::TempDir() + "/hai-ca-XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder = std::make_unique<AuthorityFolder>(path);
    EXPECT_TRUE(folder->write_authority(make_authority().value()).is_ok());
  }
  ~Rotation() override { std::filesystem::remove_all(folder->path()); }
  std::unique_ptr<AuthorityFolder> folder;
};

TEST_F(Rotation, BelievesBothAndIssuesWithTheNewOne) {
  const std::string old = folder->read().value().certificate;
  const KeyAndCertificate of_old = issue_for_node(folder->read().value(), "node-1").value();
  ASSERT_TRUE(folder->rotate(make_authority().value()).is_ok());
  const KeyAndCertificate both = folder->read().value();
  ASSERT_EQ(read_certificates(both.certificate).size(), 2u);
  const std::string own = own_certificate(both).value();
  EXPECT_NE(own, old);
  EXPECT_TRUE(is_issued_by(issue_for_node(both, "node-1").value().certificate, own));
  EXPECT_TRUE(is_issued_by(of_old.certificate, old));
  EXPECT_EQ(folder->rotate(make_authority().value()).code(), Code::failed_precondition)
      << "one change at a time";
  ASSERT_TRUE(folder->retire().is_ok());
  EXPECT_EQ(folder->read().value().certificate, own);
  EXPECT_FALSE(std::filesystem::exists(folder->path() + "/ca-old.key"));
  EXPECT_EQ(folder->retire().code(), Code::failed_precondition) << "nothing to retire";
}

TEST_F(Rotation, RetiresNothingThatIsInUse) {
  const KeyAndCertificate server = issue_for_server(folder->read().value(), {"a"}).value();
  ASSERT_TRUE(folder->write_pair("server-a", server).is_ok());
  ASSERT_TRUE(folder->rotate(make_authority().value()).is_ok());
  const Status status = folder->retire();
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_NE(status.message().find("server-a.crt is of the old CA"), std::string::npos)
      << status.message();
  std::filesystem::remove(folder->path() + "/server-a.crt");
  EXPECT_TRUE(folder->retire().is_ok());
}

TEST_F(Rotation, RetiresNothingThatPostgresqlShows) {
  const KeyAndCertificate pair = issue_for_database(folder->read().value(), {"a"}).value();
  ASSERT_TRUE(replace_file(folder->database_certificate(), pair.certificate, 0644).is_ok());
  EXPECT_EQ(folder->read_old().status().code(), Code::not_found);
  const std::string old = folder->read().value().key;
  ASSERT_TRUE(folder->rotate(make_authority().value()).is_ok());
  EXPECT_EQ(folder->read_old().value().key, old);
  const Status status = folder->retire();
  EXPECT_NE(status.message().find("`hai-server setup --add-server`"), std::string::npos)
      << status.message();
  const KeyAndCertificate fresh = issue_for_database(folder->read().value(), {"a"}).value();
  ASSERT_TRUE(replace_file(folder->database_certificate(), fresh.certificate, 0644).is_ok());
  EXPECT_TRUE(folder->retire().is_ok());
}

// Whoever may write there, root as a rule, changes the authority; the server's user reads it.
TEST_F(Rotation, LeavesKeysToTheUserOfTheServer) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kUser = 65534;
  const auto owner = [&](const std::string& name) {
    struct stat facts {};
    EXPECT_EQ(::stat((folder->path() + "/" + name).c_str(), &facts), 0) << name;
    EXPECT_EQ(facts.st_mode & 0777, name.ends_with(".key") ? 0600u : 0644u) << name;
    return facts.st_uid;
  };
  ASSERT_EQ(::chown(folder->key().c_str(), kUser, kUser), 0);
  ASSERT_TRUE(folder->rotate(make_authority().value()).is_ok());
  EXPECT_EQ(owner("ca.key"), kUser);
  EXPECT_EQ(owner("ca-old.key"), kUser);
  EXPECT_EQ(owner("ca.crt"), 0u);
  const KeyAndCertificate pair = issue_for_server(folder->read().value(), {"a"}).value();
  ASSERT_TRUE(folder->write_pair("server-a", pair).is_ok());
  EXPECT_EQ(owner("server-a.key"), kUser) << "it is the server's";
}

}  // namespace
}  // namespace hai
