#pragma once
// The certificate, with its key, by which this machine's PostgreSQL proves to further servers who
// it is. They dial it by the name that held when each was added, and believe the CAs of their own
// ca.crt: a pair that replaces another one is for all names of that, and of a CA that all believe.

#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/authority_folder.h"

namespace hai {

// Key and certificate are one file, so that they change at once.
inline constexpr const char* kDatabasePair = "hai.pem";

struct ShownPair {
  bool has_tls = false;
  std::string file;         // of the certificate that PostgreSQL shows, whole path
  std::string certificate;  // in that file; "" = none
  std::string place;        // where setup puts a pair
  bool is_in_data = false;  // that is in PostgreSQL's data directory
};
std::string format_shown(const ShownPair& shown);
ShownPair parse_shown(const std::string& text);

// The folder for the pair: that of pg_hba.conf, so that copies of the data directory carry no key;
// the data directory if pg_hba.conf is in it.
std::string folder_of_pair(const std::string& data_directory, const std::string& hba_file);

// Whether the certificate that PostgreSQL shows is one that nobody has chosen: the one that Debian
// makes for each machine, or setup's own. `certificate`: the file's content.
bool is_spare_certificate(const std::string& file, const std::string& certificate);

// What PostgreSQL is to show from now on; without a key it is the pair that it has. While the CA is
// changed it is of the old CA, which all believe, until somebody has moved the copy of its
// certificate (AuthorityFolder::database_certificate()) away. `servers`: this server's certificate.
Result<KeyAndCertificate> pair_for_database(const AuthorityFolder& authority,
                                            const ShownPair& shown, const std::string& name,
                                            const std::string& servers, UnixTime now);
// What is left to be done after that while the CA is changed; "" = nothing.
Result<std::string> pair_still_to_change(const AuthorityFolder& authority,
                                         const std::string& certificate);

}  // namespace hai
