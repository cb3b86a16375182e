#include "cli/slurm/step/frame.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace hai::cli::slurm {
namespace {

constexpr size_t kHeadBytes = 13;  // length of the body, kind, step, task

void put_number(std::string& out, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string bytes;
  bytes.reserve(kHeadBytes + frame.body.size());
  put_number(bytes, static_cast<uint32_t>(frame.body.size()));
  bytes += static_cast<char>(frame.kind);
  put_number(bytes, frame.step);
  put_number(bytes, frame.task);
  return bytes + frame.body;
}

Result<std::vector<Frame>> take_frames(std::string& bytes, FrameMac* mac) {
  const size_t mac_bytes = mac == nullptr ? 0 : kMacBytes;
  std::vector<Frame> frames;
  size_t at = 0;
  while (bytes.size() - at >= kHeadBytes) {
    const size_t length = number_at(bytes, at);
    const auto kind = static_cast<uint8_t>(bytes[at + 4]);
    if (length > kFrameBytesMax || kind < static_cast<uint8_t>(FrameKind::start) ||
        kind > static_cast<uint8_t>(FrameKind::cancel)) {
      return invalid_argument("bytes that are no message of a job step");
    }
    const size_t whole = kHeadBytes + length;
    if (bytes.size() - at < whole + mac_bytes) break;
    const std::string_view text = std::string_view(bytes).substr(at);
    if (mac != nullptr &&
        !is_same_mac(mac->next(text.substr(0, whole)), text.substr(whole, mac_bytes))) {
      return unauthenticated(
          "a message has a wrong MAC: something between the job's nodes alters what they say");
    }
    frames.push_back({static_cast<FrameKind>(kind), number_at(bytes, at + 5),
                      number_at(bytes, at + 9), bytes.substr(at + kHeadBytes, length)});
    at += whole + mac_bytes;
  }
  bytes.erase(0, at);
  return frames;
}

std::string pack(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    put_number(packed, static_cast<uint32_t>(text.size()));
    packed += text;
  }
  return packed;
}

Result<std::vector<std::string>> unpack(std::string_view packed) {
  std::vector<std::string> texts;
  while (!packed.empty()) {
    const size_t length = packed.size() >= 4 ? number_at(packed, 0) : packed.size();
    if (packed.size() < 4 || packed.size() - 4 < length) {
      return invalid_argument("a list of texts that is cut off");
    }
    texts.emplace_back(packed.substr(4, length));
    packed.remove_prefix(4 + length);
  }
  return texts;
}

FrameChannel::FrameChannel(Fd fd, std::optional<FrameMacs> macs)
    : fd_(std::move(fd)), macs_(std::move(macs)) {
  ::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
}

void FrameChannel::send(const Frame& frame) {
  if (!is_open()) return;
  const std::string bytes = encode(frame);
  out_ += bytes;
  if (macs_) out_ += macs_->sent.next(bytes);
  flush();
}

std::vector<Frame> FrameChannel::receive() {
  char buffer[65'536];
  bool has_ended = false;
  for (int reads = 0; reads < 16 && is_open(); ++reads) {  // others want their turn, too
    const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (count > 0) {
      in_.append(buffer, static_cast<size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      has_ended = count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
      break;
    }
  }
  Result<std::vector<Frame>> frames = take_frames(in_, macs_ ? &macs_->received : nullptr);
  if (!frames.is_ok()) nonsense_ = frames.status();
  if (has_ended || !frames.is_ok()) fd_.close();
  return frames.is_ok() ? std::move(frames.value()) : std::vector<Frame>{};
}

void FrameChannel::flush() {
  size_t sent = 0;
  while (is_open() && sent < out_.size()) {
    const ssize_t count = ::send(fd_.get(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) fd_.close();
    sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  out_.erase(0, sent);
}

void FrameChannel::flush_and_close() {
  for (int turns = 0; turns < 50 && is_open() && !out_.empty(); ++turns) {
    pollfd wait = {fd_.get(), POLLOUT, 0};
    ::poll(&wait, 1, 100);
    flush();
  }
  fd_.close();
}

}  // namespace hai::cli::slurm
