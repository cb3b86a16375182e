#include "cli/slurm/pmix/info_list.h"

#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>

namespace hai::cli::slurm {
namespace {

// PMIx's own short form of a list, which may be any bytes.
Status add_map(const char* key, const std::string& text,
               pmix_status_t (*shorten)(const char*, char**), InfoList& infos) {
  char* shortened = nullptr;
  const pmix_status_t status = shorten(text.c_str(), &shortened);
  if (status != PMIX_SUCCESS) return unavailable("{}: {}", key, PMIx_Error_string(status));
  infos.add(key, std::string(shortened));
  std::free(shortened);
  return ok();
}

void add_task(const MpiSetup& setup, int node, int local, int rank, InfoList& infos) {
  InfoList task;
  task.add_rank(PMIX_RANK, rank);
  task.add(PMIX_APPNUM, uint32_t{0});
  task.add_rank(PMIX_APP_RANK, rank);
  task.add_rank(PMIX_GLOBAL_RANK, rank);
  task.add(PMIX_LOCAL_RANK, static_cast<uint16_t>(local));
  task.add(PMIX_NODE_RANK, static_cast<uint16_t>(local));
  task.add(PMIX_NODEID, static_cast<uint32_t>(node));
  task.add(PMIX_HOSTNAME, setup.nodes[static_cast<size_t>(node)]);
  infos.add_list(PMIX_PROC_DATA, task);
}

}  // namespace

InfoList::~InfoList() {
  for (pmix_info_t& info : infos_) PMIX_INFO_DESTRUCT(&info);
}

void InfoList::load(const char* key, const void* value, pmix_data_type_t type) {
  pmix_info_t info;
  PMIX_INFO_CONSTRUCT(&info);
  PMIX_INFO_LOAD(&info, key, value, type);
  infos_.push_back(info);
}

void InfoList::add(const char* key, const std::string& text) {
  load(key, text.c_str(), PMIX_STRING);
}

void InfoList::add(const char* key, uint32_t number) { load(key, &number, PMIX_UINT32); }

void InfoList::add(const char* key, uint16_t number) { load(key, &number, PMIX_UINT16); }

void InfoList::add_rank(const char* key, int rank) {
  const auto number = static_cast<pmix_rank_t>(rank);
  load(key, &number, PMIX_PROC_RANK);
}

void InfoList::add_list(const char* key, const InfoList& list) {
  pmix_data_array_t array{};
  array.type = PMIX_INFO;
  array.size = list.infos_.size();
  array.array = const_cast<pmix_info_t*>(list.infos_.data());
  load(key, &array, PMIX_DATA_ARRAY);
}

Status describe_step(const MpiSetup& setup, InfoList& infos) {
  const auto tasks = static_cast<uint32_t>(
      first_rank_of(setup.tasks_by_node, static_cast<int>(setup.tasks_by_node.size())));
  const auto node = static_cast<size_t>(setup.node_index);
  const auto local = static_cast<uint32_t>(setup.tasks_by_node[node]);
  infos.add(PMIX_JOBID, setup.space);
  infos.add(PMIX_UNIV_SIZE, tasks);
  infos.add(PMIX_JOB_SIZE, tasks);
  infos.add(PMIX_APP_SIZE, tasks);
  infos.add(PMIX_MAX_PROCS, tasks);
  infos.add(PMIX_JOB_NUM_APPS, uint32_t{1});
  infos.add(PMIX_NUM_NODES, static_cast<uint32_t>(setup.nodes.size()));
  infos.add(PMIX_NODE_SIZE, local);
  infos.add(PMIX_LOCAL_SIZE, local);
  infos.add(PMIX_LOCAL_PEERS, ranks_on(setup.tasks_by_node, setup.node_index));
  infos.add_rank(PMIX_LOCALLDR, first_rank_of(setup.tasks_by_node, setup.node_index));
  infos.add(PMIX_NODEID, static_cast<uint32_t>(setup.node_index));
  infos.add(PMIX_TMPDIR, setup.directory);
  infos.add(PMIX_NSDIR, setup.directory);
  RETURN_IF_ERROR(add_map(PMIX_NODE_MAP, node_text(setup), PMIx_generate_regex, infos));
  RETURN_IF_ERROR(add_map(PMIX_PROC_MAP, rank_text(setup), PMIx_generate_ppn, infos));
  int rank = 0;
  for (size_t each = 0; each < setup.nodes.size(); ++each) {
    for (int task = 0; task < setup.tasks_by_node[each]; ++task) {
      add_task(setup, static_cast<int>(each), task, rank++, infos);
    }
  }
  return ok();
}

}  // namespace hai::cli::slurm
