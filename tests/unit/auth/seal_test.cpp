// A sealed text opens where it was sealed for, unchanged and with its key, or not at all.

#include "server/auth/seal.h"
#include "server/auth/base64url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace hai::test {
namespace {

using ::testing::HasSubstr;

const std::string kMaster(32, 'm');
const std::string kOther(32, 'o');

Sealer sealer(const std::vector<std::string>& masters = {kMaster},
              const std::string& purpose = "secrets") {
  return Sealer::make(purpose, masters).value();
}
Code code_of(const Result<std::string>& opened) {
  return opened.is_ok() ? Code::ok : opened.status().code();
}

TEST(Seal, OpensWhatItSealed) {
  const Sealer seal = sealer();
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>(i * 7);
  for (const std::string& text : {std::string("x"), std::string("hunter2"), bytes}) {
    const std::string sealed = seal.seal("ann/key", text);
    if (text.size() > 4) {  // less may stand in it by chance
      EXPECT_EQ(sealed.find(text), std::string::npos);
      EXPECT_EQ(from_base64url(sealed).value().find(text), std::string::npos);
    }
    EXPECT_EQ(seal.open("ann/key", sealed).value(), text);
    EXPECT_EQ(sealer().open("ann/key", sealed).value(), text) << "after a restart";
    EXPECT_NE(seal.seal("ann/key", text), sealed) << "never twice with one nonce";
  }
}

TEST(Seal, IsOfOneUserAndName) {
  const Sealer seal = sealer();
  const std::string sealed = seal.seal("ann/key", "hunter2");
  for (const char* moved : {"bob/key", "ann/other", "ann/key ", "ann", ""}) {
    EXPECT_EQ(code_of(seal.open(moved, sealed)), Code::invalid_argument) << moved;
  }
}

TEST(Seal, NeedsItsKey) {
  const std::string sealed = sealer().seal("ann/key", "hunter2");
  EXPECT_EQ(code_of(sealer({kOther}).open("ann/key", sealed)), Code::failed_precondition);
  EXPECT_EQ(code_of(sealer({kMaster}, "cookies").open("ann/key", sealed)),
            Code::failed_precondition)
      << "the same master key for another purpose is another key";
  EXPECT_EQ(sealer({kOther, kMaster}).open("ann/key", sealed).value(), "hunter2") << "an old key";
  const std::string anew = sealer({kOther, kMaster}).seal("ann/key", "hunter2");
  EXPECT_EQ(sealer({kOther}).open("ann/key", anew).value(), "hunter2") << "the first one seals";
}

TEST(Seal, EveryBitCounts) {
  const Sealer seal = sealer();
  const std::string sealed = seal.seal("ann/key", "hunter2");
  for (size_t i = 0; i < sealed.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = sealed;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_NE(code_of(seal.open("ann/key", flipped)), Code::ok) << i << " " << bit;
    }
    EXPECT_NE(code_of(seal.open("ann/key", sealed.substr(0, i))), Code::ok) << i;
  }
  EXPECT_NE(code_of(seal.open("ann/key", sealed + "AAAA")), Code::ok);
  EXPECT_NE(code_of(seal.open("ann/key", " " + sealed)), Code::ok);
  EXPECT_NE(code_of(seal.open("ann/key", sealed + "\n")), Code::ok);
}

TEST(Seal, ShortKeysAreRefused) {
  EXPECT_FALSE(Sealer::make("secrets", {std::string(31, 'm')}).is_ok());
  EXPECT_FALSE(Sealer::make("secrets", {}).is_ok());
}

TEST(Seal, KeysComeFromFilesThatOthersCannotRead) {
  const std::string path = ::testing::TempDir() + "/seal_key";
  const auto write = [&](const std::string& text, mode_t mode) {
    std::ofstream(path, std::ios::trunc) << text;
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  };
  write(std::string(64, 'a') + "\n", 0600);
  const std::string sealed = read_sealer("secrets", path, {}).value().seal("ann/key", "hunter2");
  write(std::string(32, '\xaa'), 0600);
  EXPECT_EQ(read_sealer("secrets", path, {}).value().open("ann/key", sealed).value(), "hunter2")
      << "the same bytes, not as digits";
  write(std::string(32, '\xaa'), 0644);
  EXPECT_EQ(read_sealer("secrets", path, {}).status().code(), Code::permission_denied);
  write(std::string(62, 'a'), 0600);
  EXPECT_THAT(read_sealer("secrets", path, {}).status().message(), HasSubstr("31 bytes"));
  EXPECT_EQ(read_sealer("secrets", path + ".none", {}).status().code(), Code::not_found);
}

TEST(Seal, WipedTextsAreEmpty) {
  std::string text = "hunter2";
  wipe(text);
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace hai::test
