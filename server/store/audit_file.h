#pragma once
// The audit log as a file of JSON lines, for its owner alone. It may be moved away at any time: the
// next entry makes a new one. A line that was cut off, by a full disk or the death of its writer,
// is taken away before the next is written, so that the file has whole lines only, each once.

#include <sys/types.h>

#include <string>
#include <vector>

#include "server/store/audit_sink.h"

namespace hai {

class AuditFile final : public AuditSink {
 public:
  explicit AuditFile(std::string path) : path_(std::move(path)) {}
  ~AuditFile() override { close(); }
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  // `failed_precondition` while another process writes it.
  Result<std::optional<AuditMark>> open() override;
  // Of the lines in its last 4 MiB.
  std::vector<AuditMark> latest() const override;
  // On the disk when it returns ok.
  Status write(std::span<const AuditRow> rows, size_t& taken) override;

 private:
  Result<std::optional<AuditMark>> open_anew();
  Result<std::optional<AuditMark>> last_entry() const;
  // Its last bytes, at most `bytes_max`.
  Result<std::string> tail(off_t bytes_max) const;
  bool is_at_its_path() const;
  Status append(std::string_view text) const;
  void close();

  const std::string path_;
  int file_ = -1;
};

}  // namespace hai
