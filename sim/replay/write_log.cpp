#include "sim/replay/write_log.h"

#include "server/store/event_line.h"
#include "server/store/line_file.h"

namespace hai {

Status write_log(const std::string& path, const std::vector<Event>& events) {
  auto writer = LineWriter::create(path, /*replace=*/true);
  if (!writer.is_ok()) return writer.status();
  for (const Event& event : events) RETURN_IF_ERROR(writer.value()->write(event_line(event)));
  return writer.value()->finish();
}

}  // namespace hai
