#pragma once
// What archiving of every kind does with files and with the database's time.

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "server/store/archive.h"
#include "server/store/archive_part.h"

namespace hai {

// Names in a folder are on the disk when it returns ok.
Status sync_folder(const std::string& dir);

class ArchiveSteps {
 public:
  explicit ArchiveSteps(const ArchiveOptions& options) : options_(options) {}

  // Checks each .partial file and gives it its name; those that have theirs are checked, too. One
  // of that name and of a history that the database was restored behind is moved aside.
  Status name_files(const std::vector<ArchivedFile>& files) const;

  // Rests as long as the work took, so that the disk is busy with this half of the time at most.
  template <typename Work>
  void gently(Work work) const {
    const auto start = std::chrono::steady_clock::now();
    work();
    step("deleted");
    std::this_thread::sleep_for(std::chrono::steady_clock::now() - start);
  }
  void step(const char* name) const {
    if (options_.between_steps) options_.between_steps(name);
  }

 private:
  const ArchiveOptions& options_;
};

}  // namespace hai
