#include "server/setup/database_pair.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "common/tls/certificate.h"
#include "common/whole_file.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

bool has_unit(const std::string& certificate, const std::string& unit) {
  const Result<CertificateFacts> facts = read_certificate(certificate);
  return facts.is_ok() && facts.value().subject.find("OU=" + unit) != std::string::npos;
}

void add_names(std::vector<std::string>& names, const std::string& certificate) {
  const Result<CertificateFacts> facts = read_certificate(certificate);
  if (!facts.is_ok()) return;
  for (const std::string& name : facts.value().names) {
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  }
}

bool is_over(const std::string& certificate, UnixTime now) {
  const Result<CertificateFacts> facts = read_certificate(certificate);
  return facts.is_ok() && facts.value().ends < now;
}

// In force, not near its end, and for the name.
bool will_do(const std::string& certificate, const std::string& name, UnixTime now) {
  const Result<CertificateFacts> facts = read_certificate(certificate);
  return facts.is_ok() && facts.value().begins <= now &&
         now < facts.value().ends - renewal_notice(facts.value()) &&
         std::ranges::count(facts.value().names, name) > 0;
}

std::string text_or_none(const std::string& path) {
  const Result<std::string> text = read_whole_file(path);
  return text.is_ok() ? text.value() : "";
}

// By which another pair is issued.
Result<KeyAndCertificate> issuer_of_pair(const AuthorityFolder& authority,
                                         const KeyAndCertificate& own, bool by_old, UnixTime now) {
  if (!by_old) return own;
  Result<KeyAndCertificate> old = authority.read_old();
  if (!old.is_ok()) {
    return failed_precondition(
        "{} has two CAs, and further servers may believe only the old one, whose key is not here "
        "({}): end the change with `hai-server ca retire` first",
        authority.certificate(), old.status().message());
  }
  if (is_over(old.value().certificate, now)) return own;
  return old;
}

}  // namespace

std::string format_shown(const ShownPair& shown) {
  return fmt::format("{:d} {:d}\n{}\n{}\n{}", shown.has_tls, shown.is_in_data, shown.file,
                     shown.place, shown.certificate);
}

ShownPair parse_shown(const std::string& text) {
  std::istringstream in(text);
  ShownPair shown;
  in >> shown.has_tls >> shown.is_in_data;
  in.ignore();
  std::getline(in, shown.file);
  std::getline(in, shown.place);
  shown.certificate.assign(std::istreambuf_iterator<char>(in), {});
  return shown;
}

std::string folder_of_pair(const std::string& data_directory, const std::string& hba_file) {
  std::error_code error;
  const std::string folder = fs::path(hba_file).parent_path().string();
  const fs::path inside = fs::weakly_canonical(folder, error)
                              .lexically_relative(fs::weakly_canonical(data_directory, error));
  const bool is_outside = !inside.empty() && *inside.begin() == "..";
  return is_outside ? folder : data_directory;
}

bool is_spare_certificate(const std::string& file, const std::string& certificate) {
  if (file == "/etc/ssl/certs/ssl-cert-snakeoil.pem") return true;
  const bool is_by_setup = certificate.empty() || has_unit(certificate, kDatabasesOu) ||
                           has_unit(certificate, kServersOu);  // as setup made it before
  return fs::path(file).filename() == kDatabasePair && is_by_setup;
}

Result<KeyAndCertificate> pair_for_database(const AuthorityFolder& authority,
                                            const ShownPair& shown, const std::string& name,
                                            const std::string& servers, UnixTime now) {
  const Result<KeyAndCertificate> authorities = authority.read();
  RETURN_IF_ERROR(authorities.status());
  const Result<std::string> own = own_certificate(authorities.value());
  RETURN_IF_ERROR(own.status());
  const std::string& believed = authorities.value().certificate;
  const std::string copy = text_or_none(authority.database_certificate());
  const bool is_by_setup = has_unit(shown.certificate, kDatabasesOu);
  // By a copy that is of the new CA, or was moved away.
  const bool is_told_new = is_issued_by(copy, own.value()) || (copy.empty() && is_by_setup);
  const bool by_old = read_certificates(believed).size() > 1 && !is_told_new;
  if (is_by_setup && shown.file == shown.place && will_do(shown.certificate, name, now) &&
      is_issued_by(shown.certificate, by_old ? believed : own.value())) {
    return KeyAndCertificate{.certificate = shown.certificate};
  }
  const Result<KeyAndCertificate> issuer =
      issuer_of_pair(authority, authorities.value(), by_old, now);
  RETURN_IF_ERROR(issuer.status());
  std::vector<std::string> names{name};
  if (is_spare_certificate(shown.file, shown.certificate) &&
      fs::path(shown.file).filename() == kDatabasePair) {
    add_names(names, shown.certificate);
  }
  add_names(names, copy);  // of a PostgreSQL that was made anew since
  if (is_issued_by(servers, believed)) add_names(names, servers);
  return issue_for_database(issuer.value(), names);
}

Result<std::string> pair_still_to_change(const AuthorityFolder& authority,
                                         const std::string& certificate) {
  const Result<KeyAndCertificate> now = authority.read();
  RETURN_IF_ERROR(now.status());
  const Result<std::string> own = own_certificate(now.value());
  RETURN_IF_ERROR(own.status());
  if (is_issued_by(certificate, own.value())) return std::string();
  return fmt::format(
      "PostgreSQL's certificate is of the old CA, which all servers believe: once ca.crt of each "
      "has both, move {} away and run this again, before `hai-server ca retire`",
      authority.database_certificate());
}

}  // namespace hai
