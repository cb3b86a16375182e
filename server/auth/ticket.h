#pragma once
// What somebody is given to bring back later, and can neither read nor change: sealed with a key
// that this process has made and nobody else has. So nothing is kept for strangers, and with the
// process all tickets end.

#include <optional>
#include <string>
#include <string_view>

#include "common/time.h"
#include "server/auth/seal.h"

namespace hai {

class TicketSeal {
 public:
  TicketSeal();

  // Letters, digits, - and _. A ticket for one purpose is none for another.
  std::string seal(std::string_view purpose, std::string_view text, UnixTime ends) const;
  // What was sealed; nullopt if it was not here, for something else, or has ended.
  std::optional<std::string> open(std::string_view purpose, std::string_view ticket,
                                  UnixTime now) const;

 private:
  Sealer sealer_;
};

// 256 random bits, as letters that need no escape.
std::string random_word();

}  // namespace hai
