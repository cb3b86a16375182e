#pragma once
// Texts that the store keeps and only this server can read: AES-256-GCM with a key that is derived
// (HKDF-SHA256) from a master key for one purpose, so that no two uses share one. What is sealed is
// bound to a name, of which a copy elsewhere is worth nothing: it opens under that name only.
//
//   base64url( version 1 | id of the key, 4 bytes | nonce, 12 bytes | sealed | tag, 16 bytes )

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace hai {

// Overwrites the text, so that it is in memory no longer than needed, and empties it.
void wipe(std::string& text);

// A text that is overwritten when nobody holds it any more.
struct WipedText {
  explicit WipedText(std::string held) : text(std::move(held)) {}
  ~WipedText() { wipe(text); }
  WipedText(const WipedText&) = delete;
  WipedText& operator=(const WipedText&) = delete;
  std::string text;
};

class Sealer {
 public:
  static constexpr size_t kMasterBytesMin = 32;

  // The first master key seals, all of them open. `purpose` is a fixed word of the program.
  static Result<Sealer> make(std::string_view purpose, const std::vector<std::string>& masters);
  ~Sealer();
  Sealer(Sealer&&) noexcept = default;
  Sealer& operator=(Sealer&&) noexcept = default;
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;

  std::string seal(std::string_view bound_to, std::string_view text) const;
  // failed_precondition if its key is not here; else invalid_argument for whatever is not just as
  // it was sealed, or not for this name.
  Result<std::string> open(std::string_view bound_to, std::string_view sealed) const;

 private:
  struct Key {
    std::string id;
    std::string bytes;
  };
  Sealer() = default;

  std::vector<Key> keys_;  // the first one seals
};

// From files of keys (common/config/token_file.h): the one that seals, and those before it.
Result<Sealer> read_sealer(std::string_view purpose, const std::string& file,
                           const std::vector<std::string>& old_files);

}  // namespace hai
