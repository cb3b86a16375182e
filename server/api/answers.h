#pragma once
// How operations answer: with a value that becomes a message where it is written.

#include <memory>
#include <utility>
#include <vector>

#include "server/api/messages.h"
#include "server/api/operations.h"

namespace hai {

// The `done` of a query or action: `write(value, reply)` fills the reply, on whatever thread.
template <typename T, typename Reply, typename Write>
Done<T> answer_with(Answer<Reply> answer, Write write) {
  return [answer = std::move(answer), write = std::move(write)](Result<T> result) {
    if (!result.is_ok()) return answer(result.status());
    auto value = std::make_shared<const T>(std::move(result).value());
    answer(Fill<Reply>([value, write](Reply& reply) { write(*value, reply); }));
  };
}

template <typename Values, typename Messages>
void add_all(const Values& values, Messages* messages) {
  messages->Reserve(static_cast<int>(values.size()));
  for (const auto& value : values) to_proto(value, *messages->Add());
}

// Of a command whose reply is empty.
template <typename Reply>
Done<CommandReply> answer_done(Answer<Reply> answer) {
  return answer_with<CommandReply>(std::move(answer), [](const CommandReply&, Reply&) {});
}

// Of a command that leaves a job in another state: the job as it is then.
template <typename Reply, typename Write>
Done<CommandReply> answer_with_job(Queries& queries, const Caller& caller, Answer<Reply> answer,
                                   Write write) {
  return [&queries, caller, answer = std::move(answer),
          write = std::move(write)](Result<CommandReply> done) {
    if (!done.is_ok()) return answer(done.status());
    queries.get_job(caller, std::to_string(done.value().job.value),
                    answer_with<JobView>(answer, [write, message = done.value().message](
                                                     const JobView& job, Reply& reply) {
                      write(job, message, reply);
                    }));
  };
}

}  // namespace hai
