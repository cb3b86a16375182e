#include "server/auth/ticket.h"
#include "server/auth/base64url.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

constexpr UnixTime kTicketTime = unix_micros(1'000'000'000'000'000);

TEST(Ticket, BringsBackWhatWasSealed) {
  const TicketSeal seal;
  const std::string ticket = seal.seal("a", "who:42", kTicketTime + 10min);
  EXPECT_EQ(seal.open("a", ticket, kTicketTime), "who:42");
  EXPECT_EQ(ticket.find("who:42"), std::string::npos);
  EXPECT_EQ(from_base64url(ticket).value().find("who:42"), std::string::npos) << "and is no text";
  EXPECT_NE(ticket, seal.seal("a", "who:42", kTicketTime + 10min));
}

TEST(Ticket, EndsAndIsForOnePurposeOfOneProcess) {
  const TicketSeal seal;
  const std::string ticket = seal.seal("a", "x", kTicketTime + 10min);
  EXPECT_EQ(seal.open("a", ticket, kTicketTime + 10min), std::nullopt);
  EXPECT_EQ(seal.open("b", ticket, kTicketTime), std::nullopt);
  EXPECT_EQ(TicketSeal().open("a", ticket, kTicketTime), std::nullopt);
}

TEST(Ticket, ThatWasChangedIsNone) {
  const TicketSeal seal;
  const std::string ticket = seal.seal("a", "who:42", kTicketTime + 10min);
  for (size_t at = 0; at < ticket.size(); ++at) {
    std::string changed = ticket;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(seal.open("a", changed, kTicketTime), std::nullopt) << at;
    EXPECT_EQ(seal.open("a", ticket.substr(0, at), kTicketTime), std::nullopt) << at;
  }
  EXPECT_EQ(seal.open("a", std::string(100'000, 'A'), kTicketTime), std::nullopt);
}

TEST(Ticket, WordsAreLongAndNeverTheSame) {
  EXPECT_EQ(random_word().size(), 43u);  // as PKCE wants of a verifier
  EXPECT_NE(random_word(), random_word());
}

}  // namespace
}  // namespace hai
