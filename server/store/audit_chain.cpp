#include "server/store/audit_chain.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include <array>

#include "common/hex.h"

namespace hai {
namespace {

// With their lengths, so that no two rows have the same text: what is moved from the end of one
// field to the beginning of the next makes another one.
void append_field(std::string& text, std::string_view field) {
  text += fmt::format("{}:{},", field.size(), field);
}

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data());
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string audit_hash(const std::string& before, int64_t seq, const AuditEntry& entry) {
  std::string text;
  append_field(text, before);
  append_field(text, std::to_string(seq));
  append_field(text, std::to_string(to_micros(entry.at)));
  for (const std::string* field : {&entry.user, &entry.token, &entry.address, &entry.call,
                                   &entry.target, &entry.result, &entry.detail}) {
    append_field(text, *field);
  }
  return sha256_hex(text);
}

std::string AuditChain::add(const AuditRow& row) {
  std::string wrong;
  if (row.seq != last_.seq + 1) {
    wrong = fmt::format("entry {} of the audit log, of {}, follows {}: those between are gone",
                        row.seq, format_rfc3339(row.entry.at), last_.seq);
  } else if (row.hash != audit_hash(last_.hash, row.seq, row.entry)) {
    wrong = fmt::format(
        "entry {} of the audit log, of {}, was changed, or is not the one that "
        "followed {}",
        row.seq, format_rfc3339(row.entry.at), last_.seq);
  }
  ++rows_;
  last_ = {row.seq, row.hash};
  return wrong;
}

}  // namespace hai
