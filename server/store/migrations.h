#pragma once
// The SQL files of schemas/sql, built into the program.

#include <cstdint>
#include <span>

namespace hai {

struct Migration {
  int64_t version;
  const char* name;  // "0001_initial"
  const char* sql;
};

std::span<const Migration> migrations();  // by version, without gaps from 1
int64_t latest_schema_version();

}  // namespace hai
