#include "cli/slurm/pmix/server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <set>

#include "cli/slurm/pmix/inbox.h"
#include "cli/slurm/pmix/info_list.h"

namespace hai::cli::slurm {
namespace {

// The library's callbacks have no context of the server's: it is one to a program, and so is this.
Inbox& inbox() {
  static Inbox one;
  return one;
}

// The name of the step, for the same reason; set once, before the library starts.
std::string& own_space() {
  static std::string name;
  return name;
}

Status failure(std::string_view what, pmix_status_t status) {
  return unavailable("{}: {}", what, PMIx_Error_string(status));
}

pmix_proc_t process_of(const std::string& space, pmix_rank_t rank) {
  pmix_proc_t process{};
  space.copy(process.nspace, sizeof process.nspace - 1);
  process.rank = rank;
  return process;
}

// For a call that says later how it went.
struct Answer {
  std::promise<pmix_status_t> promise;
  static void done(pmix_status_t status, void* context) {
    static_cast<Answer*>(context)->promise.set_value(status);
  }
  pmix_status_t wait(pmix_status_t called) {
    return called == PMIX_SUCCESS ? promise.get_future().get() : called;
  }
};

bool is_good(pmix_status_t status) {
  return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_connected(const pmix_proc_t*, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t,
                           void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* process, void*, int status, const char*, pmix_proc_t*,
                       size_t, pmix_op_cbfunc_t, void*) {
  inbox().post({.kind = MpiKind::abort, .rank = static_cast<int>(process->rank), .status = status});
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_fence(const pmix_proc_t processes[], size_t count, const pmix_info_t*, size_t,
                       char* data, size_t size, pmix_modex_cbfunc_t done, void* context) {
  std::set<int> ranks;
  bool is_all = false;
  for (size_t i = 0; i < count; ++i) {
    if (own_space() != processes[i].nspace) return PMIX_ERR_NOT_SUPPORTED;
    is_all = is_all || processes[i].rank == PMIX_RANK_WILDCARD;
    ranks.insert(static_cast<int>(processes[i].rank));
  }
  if (is_all) ranks.clear();
  inbox().post({.kind = MpiKind::fence,
                .ranks = {ranks.begin(), ranks.end()},
                .data = data == nullptr ? std::string() : std::string(data, size)},
               {done, context});
  return PMIX_SUCCESS;
}

pmix_status_t on_ask(const pmix_proc_t* process, const pmix_info_t*, size_t,
                     pmix_modex_cbfunc_t done, void* context) {
  if (own_space() != process->nspace || process->rank >= kMpiTasksMax) return PMIX_ERR_NOT_FOUND;
  inbox().post({.kind = MpiKind::ask, .rank = static_cast<int>(process->rank)}, {done, context});
  return PMIX_SUCCESS;
}

void on_event(size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t*, size_t,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done, void* context) {
  if (status == PMIX_ERR_LOST_CONNECTION && source != nullptr && own_space() == source->nspace) {
    inbox().post({.kind = MpiKind::lost, .rank = static_cast<int>(source->rank)});
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

void on_event_registered(pmix_status_t status, size_t, void* context) {
  Answer::done(status, context);
}

// Another node's question, until the library has found what it asks for.
void on_found(pmix_status_t status, char* data, size_t size, void* context) {
  const auto answer = std::unique_ptr<MpiMessage>(static_cast<MpiMessage*>(context));
  answer->status = status;
  if (data != nullptr) answer->data.assign(data, size);
  inbox().post(std::move(*answer));
}

void release(void* context) { delete static_cast<std::string*>(context); }

// The library keeps the bytes until it calls release.
void give(const Inbox::Waiting& waiting, const MpiMessage& message) {
  auto* bytes = new std::string(message.data);
  waiting.done(message.status, bytes->empty() ? nullptr : bytes->data(), bytes->size(),
               waiting.context, release, bytes);
}

}  // namespace

Status PmixServer::start() {
  own_space() = setup_.space;
  std::error_code error;
  std::filesystem::create_directories(setup_.directory, error);
  if (error) return unavailable("{}: {}", setup_.directory, error.message());
  static pmix_server_module_t module{};
  module.client_connected2 = on_connected;
  module.client_finalized = on_finalized;
  module.abort = on_abort;
  module.fence_nb = on_fence;
  module.direct_modex = on_ask;
  InfoList infos;
  infos.add(PMIX_SERVER_TMPDIR, setup_.directory);
  infos.add(PMIX_SYSTEM_TMPDIR, setup_.directory);
  infos.add(PMIX_HOSTNAME, setup_.nodes[static_cast<size_t>(setup_.node_index)]);
  const pmix_status_t status = PMIx_server_init(&module, infos.data(), infos.size());
  if (status != PMIX_SUCCESS) return failure("PMIx_server_init", status);
  is_started_ = true;
  Answer registered;
  PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_event, on_event_registered, &registered);
  if (const pmix_status_t events = registered.wait(PMIX_SUCCESS); events != PMIX_SUCCESS) {
    return failure("PMIx_Register_event_handler", events);
  }
  RETURN_IF_ERROR(register_step());
  return register_tasks();
}

PmixServer::~PmixServer() {
  if (is_started_) PMIx_server_finalize();
  std::error_code error;
  std::filesystem::remove_all(setup_.directory, error);
}

Status PmixServer::register_step() const {
  InfoList infos;
  RETURN_IF_ERROR(describe_step(setup_, infos));
  const pmix_proc_t step = process_of(setup_.space, PMIX_RANK_WILDCARD);
  const int local = setup_.tasks_by_node[static_cast<size_t>(setup_.node_index)];
  Answer answer;
  const pmix_status_t status = answer.wait(PMIx_server_register_nspace(
      step.nspace, local, infos.data(), infos.size(), Answer::done, &answer));
  return is_good(status) ? ok() : failure("PMIx_server_register_nspace", status);
}

Status PmixServer::register_tasks() const {
  const int first = first_rank_of(setup_.tasks_by_node, setup_.node_index);
  const int local = setup_.tasks_by_node[static_cast<size_t>(setup_.node_index)];
  for (int rank = first; rank < first + local; ++rank) {
    const pmix_proc_t task = process_of(setup_.space, static_cast<pmix_rank_t>(rank));
    Answer answer;
    const pmix_status_t status = answer.wait(
        PMIx_server_register_client(&task, ::getuid(), ::getgid(), nullptr, Answer::done, &answer));
    if (!is_good(status)) return failure("PMIx_server_register_client", status);
  }
  return ok();
}

Result<std::vector<std::vector<std::string>>> PmixServer::task_variables() const {
  std::vector<std::vector<std::string>> all;
  const int first = first_rank_of(setup_.tasks_by_node, setup_.node_index);
  const int local = setup_.tasks_by_node[static_cast<size_t>(setup_.node_index)];
  for (int rank = first; rank < first + local; ++rank) {
    const pmix_proc_t task = process_of(setup_.space, static_cast<pmix_rank_t>(rank));
    char** variables = nullptr;
    const pmix_status_t status = PMIx_server_setup_fork(&task, &variables);
    if (status != PMIX_SUCCESS) return failure("PMIx_server_setup_fork", status);
    std::vector<std::string>& texts = all.emplace_back();
    for (char** text = variables; text != nullptr && *text != nullptr; ++text) {
      texts.emplace_back(*text);
      std::free(*text);
    }
    std::free(variables);
  }
  return all;
}

int PmixServer::wake_fd() const { return inbox().wake_fd(); }

std::vector<MpiMessage> PmixServer::take_messages() { return inbox().take_all(); }

void PmixServer::take(const MpiMessage& message) {
  if (message.kind == MpiKind::fence_done || message.kind == MpiKind::answer) {
    if (const auto waiting = inbox().take_waiting(message.id)) give(*waiting, message);
    return;
  }
  if (message.kind != MpiKind::ask) return;
  const pmix_proc_t task = process_of(setup_.space, static_cast<pmix_rank_t>(message.rank));
  auto answer = std::make_unique<MpiMessage>(MpiMessage{
      .kind = MpiKind::answer, .id = message.id, .node = message.node, .rank = message.rank});
  const pmix_status_t status = PMIx_server_dmodex_request(&task, on_found, answer.get());
  if (status == PMIX_SUCCESS) {
    static_cast<void>(answer.release());  // on_found has it
    return;
  }
  answer->status = status;
  inbox().post(std::move(*answer));
}

}  // namespace hai::cli::slurm
