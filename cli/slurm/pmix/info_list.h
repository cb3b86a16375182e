#pragma once
// Keys and values for libpmix, and what a step is in them.

#include <pmix_common.h>

#include <string>
#include <vector>

#include "cli/slurm/step/mpi_message.h"
#include "common/status.h"

namespace hai::cli::slurm {

class InfoList {
 public:
  InfoList() = default;
  ~InfoList();
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;

  void add(const char* key, const std::string& text);
  void add(const char* key, uint32_t number);
  void add(const char* key, uint16_t number);
  void add_rank(const char* key, int rank);
  void add_list(const char* key, const InfoList& list);  // copied
  pmix_info_t* data() { return infos_.data(); }
  size_t size() const { return infos_.size(); }

 private:
  void load(const char* key, const void* value, pmix_data_type_t type);
  std::vector<pmix_info_t> infos_;
};

// What PMIx_server_register_nspace is to know of the step.
Status describe_step(const MpiSetup& setup, InfoList& infos);

}  // namespace hai::cli::slurm
