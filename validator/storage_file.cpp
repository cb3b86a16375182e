#include "validator/storage_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "validator/stopwatch.h"

namespace hai::validator {

namespace {

constexpr size_t kWords = kStorageBlockBytes / sizeof(uint64_t);
constexpr size_t kAlignment = 4096;

uint64_t word_at(uint64_t seed, int64_t block, size_t index) {
  uint64_t x = seed + static_cast<uint64_t>(block) * kWords + index;
  x *= 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

}  // namespace

Result<StorageFile> StorageFile::create(const std::string& directory) {
  std::string path = directory + "/.hai-validator-XXXXXX";
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.is_open()) return unavailable("{}: {}", directory, errno_text(errno));
  ::unlink(path.c_str());
  const bool is_direct = ::fcntl(fd.get(), F_SETFL, O_DIRECT) == 0;
  void* buffer = std::aligned_alloc(kAlignment, 2 * kStorageBlockBytes);
  if (buffer == nullptr) return resource_exhausted("no memory for {} bytes", kStorageBlockBytes);
  const auto seed =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return StorageFile(std::move(fd), is_direct, seed * 0x9e3779b97f4a7c15u, buffer);
}

void StorageFile::fill(int64_t block, uint64_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = word_at(seed_, block, i);
}

// Some file systems accept the flag and refuse the reads and writes.
Status StorageFile::stop_direct() {
  is_direct_ = false;
  if (::fcntl(fd_.get(), F_SETFL, 0) != 0) return unavailable("fcntl: {}", errno_text(errno));
  return ok();
}

Status StorageFile::write_block(int64_t block) {
  auto* bytes = static_cast<char*>(buffer_.get());
  fill(block, reinterpret_cast<uint64_t*>(bytes));
  for (int64_t done = 0; done < kStorageBlockBytes;) {
    const Stopwatch watch;
    const ssize_t wrote = ::pwrite(fd_.get(), bytes + done, kStorageBlockBytes - done,
                                   block * kStorageBlockBytes + done);
    io_seconds_ += watch.seconds();
    if (wrote > 0) {
      done += wrote;
    } else if (wrote < 0 && errno == EINVAL && is_direct_) {
      RETURN_IF_ERROR(stop_direct());
    } else if (wrote == 0 || errno != EINTR) {
      return unavailable("write at {}: {}", block * kStorageBlockBytes + done, errno_text(errno));
    }
  }
  return ok();
}

Status StorageFile::sync() {
  const Stopwatch watch;
  const int result = ::fsync(fd_.get());
  io_seconds_ += watch.seconds();
  return result == 0 ? ok() : unavailable("fsync: {}", errno_text(errno));
}

double StorageFile::take_io_seconds() { return std::exchange(io_seconds_, 0); }

void StorageFile::forget_cached() { ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); }

Status StorageFile::check_block(int64_t block) {
  auto* bytes = static_cast<char*>(buffer_.get());
  for (int64_t done = 0; done < kStorageBlockBytes;) {
    const Stopwatch watch;
    const ssize_t got = ::pread(fd_.get(), bytes + done, kStorageBlockBytes - done,
                                block * kStorageBlockBytes + done);
    io_seconds_ += watch.seconds();
    if (got > 0) {
      done += got;
    } else if (got == 0) {
      return {Code::data_loss,
              fmt::format("the file ends at {}", block * kStorageBlockBytes + done)};
    } else if (errno == EINVAL && is_direct_) {
      RETURN_IF_ERROR(stop_direct());
    } else if (errno != EINTR) {
      return unavailable("read at {}: {}", block * kStorageBlockBytes + done, errno_text(errno));
    }
  }
  auto* expected = reinterpret_cast<uint64_t*>(bytes + kStorageBlockBytes);
  fill(block, expected);
  if (std::memcmp(bytes, expected, kStorageBlockBytes) == 0) return ok();
  const auto* got = reinterpret_cast<uint64_t*>(bytes);
  size_t i = 0;
  while (got[i] == expected[i]) ++i;
  return {Code::data_loss, fmt::format("byte {} read back as {:016x}, written {:016x}",
                                       block * kStorageBlockBytes + static_cast<int64_t>(i * 8),
                                       got[i], expected[i])};
}

}  // namespace hai::validator
