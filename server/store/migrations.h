#pragma once
// The SQL files of schemas/sql, built into the program.

#include <cstdint>
#include <span>
#include <string>

namespace hai {

struct Migration {
  int64_t version;
  const char* name;  // "0001_initial"
  const char* sql;
};

std::span<const Migration> migrations();  // by version, without gaps from 1
int64_t latest_schema_version();
// Why a database of this schema is not for this program, and what to do; "" if it is.
std::string schema_mismatch(int64_t found);

}  // namespace hai
