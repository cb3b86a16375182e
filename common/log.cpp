#include "common/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/journal.h"

namespace hai {
namespace {

constexpr std::array<std::pair<LogLevel, spdlog::level::level_enum>, 5> kLevels = {{
    {LogLevel::debug, spdlog::level::debug},
    {LogLevel::info, spdlog::level::info},
    {LogLevel::warning, spdlog::level::warn},
    {LogLevel::error, spdlog::level::err},
    {LogLevel::off, spdlog::level::off},
}};

int priority_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return LOG_ERR;
  if (level == spdlog::level::warn) return LOG_WARNING;
  return level == spdlog::level::info ? LOG_INFO : LOG_DEBUG;
}

// A line's level as the journal reads it: "<6>" before it, see sd-daemon(3). Of lines that come to
// it by stderr, without fields.
class JournalLevel final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string text = fmt::format("<{}>", priority_of(message.level));
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JournalLevel>();
  }
};

// JOURNAL_STREAM names the stream by device and inode; it is inherited by programs whose stderr is
// another one.
bool is_stderr_the_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat found {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &found) == 0 &&
         fmt::format("{}:{}", found.st_dev, found.st_ino) == stream;
}

// Never destroyed, as the logger.
DroppedLines& dropped_lines() {
  static DroppedLines* const kDropped = new DroppedLines;
  return *kDropped;
}

const JournalSocket& journal() {
  static const JournalSocket* const kJournal = new JournalSocket(dropped_lines());
  return *kJournal;
}

// Stderr where it is the journal's stream.
class JournalStreamSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    stream_.send({text.data(), text.size()});
  }
  void flush_() override {}

  JournalStream stream_{dropped_lines(), STDERR_FILENO};
};

bool is_stderr_a_socket() {
  struct stat found {};
  return ::fstat(STDERR_FILENO, &found) == 0 && S_ISSOCK(found.st_mode);
}

// Whether the journal takes fields, too.
bool takes_fields() {
  return is_stderr_the_journal() && is_stderr_a_socket() && journal().is_there();
}

std::unique_ptr<spdlog::formatter> make_formatter(bool for_journal) {
  if (!for_journal) {
    return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                                                       spdlog::pattern_time_type::utc);
  }
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JournalLevel>('*').set_pattern("%*%v");
  return formatter;
}

std::shared_ptr<spdlog::logger> make_logger(spdlog::sink_ptr sink, bool for_journal) {
  auto logger = std::make_shared<spdlog::logger>("hai", std::move(sink));
  logger->set_formatter(make_formatter(for_journal));
  // Each line at once: the last lines before a crash are the ones that matter.
  logger->flush_on(spdlog::level::trace);
  return logger;
}

std::shared_ptr<spdlog::logger> make_stderr_logger() {
  const bool is_journal = is_stderr_the_journal();
  if (is_journal && is_stderr_a_socket()) {
    return make_logger(std::make_shared<JournalStreamSink>(), true);
  }
  return make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), is_journal);
}

// The one logger of the process. Deliberately never destroyed: threads may log while the process
// exits.
struct Target {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger = make_stderr_logger();
  std::string path;                  // "" = stderr
  bool has_fields = takes_fields();  // it goes to the journal's own socket
};
Target& target() {
  static Target* const kTarget = new Target;
  return *kTarget;
}

std::pair<std::shared_ptr<spdlog::logger>, bool> current() {
  const std::lock_guard lock(target().mutex);
  return {target().logger, target().has_fields};
}

void append_value(std::string& line, std::string_view value) {
  const bool is_cut = value.size() > kLogValueBytesMax;
  value = value.substr(0, kLogValueBytesMax);
  bool is_plain = !value.empty() && !is_cut;
  for (const char c : value) {
    is_plain = is_plain && static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' &&
               c != '\\' && c != 0x7f;
  }
  if (is_plain) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  line += is_cut ? "...\"" : "\"";
}

void log_at(spdlog::level::level_enum level, std::string_view event, LogFields fields) {
  const auto [logger, has_fields] = current();
  if (!logger->should_log(level)) return;
  // What it has no time for would hang by stderr, too, which is the journal's.
  if (has_fields && journal().send(journal_entry(priority_of(level), event, fields)) != Taken::no) {
    return;
  }
  logger->log(level, format_log_line(event, fields));
}

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::off:
      return "off";
  }
  return "unknown";
}

Result<LogLevel> parse_log_level(std::string_view text) {
  for (const auto& [level, unused] : kLevels) {
    if (text == to_string(level)) return level;
  }
  return invalid_argument("unknown log level '{}', must be debug, info, warning, error or off",
                          text.substr(0, 64));
}

void log_debug(std::string_view event, LogFields fields) {
  log_at(spdlog::level::debug, event, fields);
}
void log_info(std::string_view event, LogFields fields) {
  log_at(spdlog::level::info, event, fields);
}
void log_warning(std::string_view event, LogFields fields) {
  log_at(spdlog::level::warn, event, fields);
}
void log_error(std::string_view event, LogFields fields) {
  log_at(spdlog::level::err, event, fields);
}

void set_log_level(LogLevel level) {
  for (const auto& [ours, theirs] : kLevels) {
    if (ours == level) current().first->set_level(theirs);
  }
}

Status set_log_file(const std::string& path) {
  std::shared_ptr<spdlog::logger> logger;
  try {
    logger = path.empty()
                 ? make_stderr_logger()
                 : make_logger(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path), false);
  } catch (const spdlog::spdlog_ex& error) {
    return unavailable("log file {}: {}", path, error.what());
  }
  const std::lock_guard lock(target().mutex);
  logger->set_level(target().logger->level());
  target().logger = std::move(logger);
  target().path = path;
  target().has_fields = path.empty() && takes_fields();
  return ok();
}

Status reopen_log_file() {
  std::string path;
  {
    const std::lock_guard lock(target().mutex);
    path = target().path;
  }
  return path.empty() ? ok() : set_log_file(path);
}

std::string format_log_line(std::string_view event, LogFields fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    append_value(line, field.value);
  }
  return line;
}

}  // namespace hai
