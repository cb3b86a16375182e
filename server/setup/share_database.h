#pragma once
// The database of this machine's PostgreSQL, opened for further servers on other machines: it
// listens for them, lets their addresses in by TLS, proves who it is by a certificate of the
// cluster's CA, and the server's role has a password in a passfile.

#include <string>
#include <vector>

#include "common/host_port.h"
#include "common/status.h"
#include "server/setup/setup_plan.h"

namespace hai {

// Of pg_hba.conf, for one address: "hostssl hai hai 192.0.2.12/32 scram-sha-256".
std::string hba_line(const LocalDatabase& database, const std::string& address);
// The words by which a further server, whose passfile it is, reaches the database at this name and
// port. `ca`: the file of the CA that PostgreSQL's certificate is of; "" = it is of another one.
std::string further_conninfo(const LocalDatabase& database, const HostPort& at,
                             const std::string& passfile, const std::string& ca);
// The role and database that a conninfo of this machine's socket names; `failed_precondition` for
// one by TCP.
Result<LocalDatabase> local_database_of(const std::string& conninfo);

// The password that a passfile has for this database at `host`; "" = none.
std::string password_in(const std::string& passfile_text, const LocalDatabase& database,
                        const std::string& host);
// The password of the passfile, which is written first, of `user`, where there is none: of two
// setups at once both get the same. `not_found` if the file that is there has none for the
// database.
Result<std::string> bring_password(const std::string& passfile, const LocalDatabase& database,
                                   const std::string& host, const UnixUser& user);

// As root. What is done already stays as it is; PostgreSQL is restarted if it has listened to this
// machine only. Gives the words by which other machines reach the database, at `name`.
Result<std::string> share_database(const SetupPlan& plan, const std::string& name,
                                   const std::vector<std::string>& addresses);

}  // namespace hai
