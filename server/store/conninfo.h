#pragma once
// What a libpq connection string says, read by libpq itself: "key=value" words and URIs alike.

#include <map>
#include <string>

#include "common/status.h"

namespace hai {

// The parameters that are given; `invalid_argument` with libpq's words. Several hosts are one
// value, with commas.
Result<std::map<std::string, std::string>> parse_conninfo(const std::string& conninfo);

// The file that it names for passwords; "" = none.
std::string passfile_of(const std::string& conninfo);
// The file of the CA that the database's certificate must be of; "" = none is named.
std::string root_certificate_of(const std::string& conninfo);
// A value of a "key=value" word, whatever is in it.
std::string quoted_conninfo(const std::string& value);

// For people and logs: as it is, or with passwords hidden. One that libpq does not understand may
// have a password anywhere, so of it nothing is shown.
std::string shown_conninfo(const std::string& conninfo);

}  // namespace hai
