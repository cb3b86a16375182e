#pragma once
// OpenSSL's objects as owners, and what it last complained of. Included by the files of this folder
// only.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "common/free_with.h"

namespace hai::openssl {

using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Free<SSL_free>>;

// In OpenSSL's words, and forgotten by it; "" if it has nothing to say.
inline std::string last_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return code == 0 ? "" : reason != nullptr ? reason : "error " + std::to_string(code);
}

inline Bio memory(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

inline std::string text_of(BIO* bio) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(bio, &begin);
  return {begin, static_cast<size_t>(size)};
}

// Never asks a person for a password.
inline int no_password(char*, int, int, void*) { return 0; }

}  // namespace hai::openssl
