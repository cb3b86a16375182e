// Test "storage": writes a file of the directory, syncs it, and reads it back with every byte
// compared. A full disk is not the disk's fault: the file takes at most a tenth of what is free.

#include <fmt/core.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "validator/stopwatch.h"
#include "validator/storage_file.h"
#include "validator/test.h"

namespace hai::validator {

namespace {

int64_t blocks_wanted(const Settings& settings) {
  int64_t bytes = settings.storage_bytes;
  if (bytes == 0) bytes = int64_t{settings.is_quick ? 256 : 4096} << 20;
  struct statvfs space {};
  if (::statvfs(settings.directory.c_str(), &space) == 0)
    bytes = std::min(bytes, static_cast<int64_t>(space.f_bavail * space.f_frsize / 10));
  return bytes / kStorageBlockBytes;
}

Measurement rate(std::string metric, int64_t blocks, double seconds, std::string detail) {
  return {.test = "storage",
          .metric = std::move(metric),
          .unit = "MB/s",
          .value = static_cast<double>(blocks * kStorageBlockBytes) / seconds / 1e6,
          .detail = std::move(detail)};
}

}  // namespace

std::vector<Measurement> test_storage(const Settings& settings) {
  const int64_t wanted = blocks_wanted(settings);
  if (wanted < 1)
    return {skipped({"storage", "write_bandwidth"},
                    fmt::format("{} has less than {} MiB free", settings.directory,
                                10 * kStorageBlockBytes >> 20))};
  Result<StorageFile> file = StorageFile::create(settings.directory);
  if (!file.is_ok()) return {failed({"storage", "write_bandwidth"}, file.status().message())};
  StorageFile& storage = file.value();
  int64_t blocks = 0;
  const Stopwatch writing;
  // Half of the time each way; on a slow disk the file stays smaller.
  while (blocks < wanted && (blocks == 0 || !writing.is_over(settings.seconds / 2))) {
    if (Status status = storage.write_block(blocks); !status.is_ok())
      return {failed({"storage", "write_bandwidth"}, status.message())};
    ++blocks;
  }
  if (Status status = storage.sync(); !status.is_ok())
    return {failed({"storage", "write_bandwidth"}, status.message())};
  const double write_seconds = storage.take_io_seconds();
  storage.forget_cached();
  for (int64_t block = 0; block < blocks; ++block) {
    if (Status status = storage.check_block(block); !status.is_ok())
      return {failed({"storage", "read_bandwidth"}, status.message())};
  }
  const std::string how =
      fmt::format("{} MiB in {}, {}", blocks * kStorageBlockBytes >> 20, settings.directory,
                  storage.is_direct() ? "O_DIRECT" : "through the cache");
  return {rate("write_bandwidth", blocks, write_seconds, how + ", with fsync"),
          rate("read_bandwidth", blocks, storage.take_io_seconds(), how + ", every byte compared")};
}

}  // namespace hai::validator
