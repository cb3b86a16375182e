#include "server/http/http_tls.h"

#include <sys/stat.h>

#include <boost/asio/buffer.hpp>

#include "common/log.h"

namespace hai {

namespace asio = boost::asio;

Result<std::unique_ptr<HttpTls>> HttpTls::open(const TlsFiles& files) {
  auto tls = std::unique_ptr<HttpTls>(
      new HttpTls({.certificate = files.certificate, .key = files.key, .ca = ""}));
  tls->seen_ = tls->look();
  RETURN_IF_ERROR(tls->load());
  return tls;
}

std::vector<HttpTls::Stamp> HttpTls::look() const {
  std::vector<Stamp> stamps;
  for (const std::string& path : {files_.certificate, files_.key}) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) facts = {};
    stamps.push_back({.changed = facts.st_mtim, .inode = facts.st_ino});
  }
  return stamps;
}

void HttpTls::take_changes() {
  std::vector<Stamp> now = look();
  if (now == seen_) return;
  seen_ = std::move(now);
  const Status status = load();
  if (status.is_ok()) {
    log_info("certificate_replaced", {{"file", files_.certificate}});
  } else {
    log_warning("certificate_kept", {{"reason", status}});
  }
}

Status HttpTls::load() {
  Result<TlsTexts> texts = read_tls_files(files_);
  if (!texts.is_ok()) return texts.status();
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  boost::system::error_code error;
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_3_VERSION);
  context->use_certificate_chain(asio::buffer(texts.value().certificate), error);
  if (!error) {
    context->use_private_key(asio::buffer(texts.value().key), asio::ssl::context::pem, error);
  }
  if (error) return invalid_argument("{}: {}", files_.certificate, error.message());
  context_ = std::move(context);
  return ok();
}

}  // namespace hai
