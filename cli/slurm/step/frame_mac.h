#pragma once
// What shows that a frame comes from a rank of the job, unchanged and in its turn: HMAC-SHA256 over
// who sends, how many frames came before, and the frame's bytes. It hides nothing.

#include <cstdint>
#include <string>
#include <string_view>

namespace hai::cli::slurm {

inline constexpr size_t kMacBytes = 32;

std::string mac_of(std::string_view key, std::string_view text);
// Takes as long wherever they differ.
bool is_same_mac(std::string_view a, std::string_view b);

// One direction of a connection.
class FrameMac {
 public:
  FrameMac(std::string key, std::string sender)
      : key_(std::move(key)), sender_(std::move(sender)) {}
  std::string next(std::string_view frame);

 private:
  std::string key_;
  std::string sender_;
  uint64_t count_ = 0;
};

struct FrameMacs {
  FrameMac sent;
  FrameMac received;
};

}  // namespace hai::cli::slurm
