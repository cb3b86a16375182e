#include "server/model/digest.h"

#include "server/model/field_hasher.h"

namespace hai {
namespace {

struct Fnv {
  uint64_t hash;

  void bytes(std::string_view text) {
    number(static_cast<int64_t>(text.size()));
    for (unsigned char byte : text) hash = (hash ^ byte) * 1099511628211ULL;
  }
  void number(int64_t value) {
    for (int i = 0; i < 8; ++i) hash = (hash ^ (value >> (8 * i) & 0xff)) * 1099511628211ULL;
  }
};

}  // namespace

uint64_t digest(uint64_t previous, const Event& event) {
  Fnv fnv{previous};
  FieldHasher<Fnv> hasher{fnv};
  fnv.bytes(kind_of(event.body));
  hasher.add(event.time);
  fnv.bytes(event.actor);
  std::visit([&](const auto& body) { hasher.add(body); }, event.body);
  return fnv.hash;
}

}  // namespace hai
