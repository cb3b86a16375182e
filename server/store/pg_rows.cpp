#include "server/store/pg_rows.h"

#include <algorithm>

#include "server/store/pg_cells.h"
#include "server/store/pg_row_writer.h"

namespace hai {
namespace {

// Takes a row's values from its cells.
template <typename Cells>
struct RowReader {
  Cells& cells;
  const PgTableNames& table;
  int64_t key = 0;  // of a table that is numbered

  template <typename T>
  void operator()(const PgColumn&, T& value) {
    cells.read(value);
  }
  void operator()(const PgColumn& column, int64_t& value) {
    cells.read(value);
    note_key(column, value);
  }
  template <typename Tag>
  void operator()(const PgColumn& column, Id<Tag>& id) {
    (*this)(column, id.value);
  }
  template <typename Make>
  void copy(const PgColumn&, Make&&) {}
  template <typename T, typename Parse>
  void json(const PgColumn&, T& value, Parse&& parse) {
    take(cells.text(), value, parse);
  }
  template <typename T, typename Parse>
  void json(const PgColumn&, std::optional<T>& value, Parse&& parse) {
    std::optional<std::string> text;
    cells.read(text);
    if (text) take(*text, value.emplace(), parse);
  }
  template <typename Make, typename Take>
  void text(const PgColumn&, Make&&, Take&& take_text) {
    check(take_text(cells.text()));
  }

 private:
  void note_key(const PgColumn& column, int64_t value) {
    if (key == 0 &&
        (column.name == std::string_view("id") || column.name == std::string_view("seq")))
      key = value;
  }
  template <typename T, typename Parse>
  void take(std::string_view text, T& value, Parse&& parse) {
    auto parsed = parse(text);
    check(parsed.status());
    value = std::move(parsed).value();
  }
  template <typename T, typename Parse>
  void take(std::string_view text, std::shared_ptr<const T>& value, Parse&& parse) {
    T parsed;
    take(text, parsed, parse);
    value = std::make_shared<const T>(std::move(parsed));
  }
  void check(const Status& status) const {
    if (!status.is_ok()) throw PgError(fmt::format("{} {}: {}", table.name, key, status.message()));
  }
};

template <typename Row, typename Cells>
Row read_from(Cells& cells) {
  Row row{};
  PgColumns<Row>::fields(row, RowReader<Cells>{cells, PgColumns<Row>::kTable});
  return row;
}

// Compares the columns that repeat something, from `column` on.
struct CopyReader {
  const PgResult& rows;
  int row;
  int column;
  std::optional<std::string> wrong = {};

  template <typename T>
  void operator()(const PgColumn&, const T&) {}
  template <typename T, typename Parse>
  void json(const PgColumn&, const T&, Parse&&) {}
  template <typename Make, typename Take>
  void text(const PgColumn&, Make&&, Take&&) {}
  template <typename Make>
  void copy(const PgColumn&, Make&& make) {
    if (!wrong && !is_same(make())) wrong = rows.text(row, column);
    ++column;
  }

 private:
  bool is_same(const std::string& text) const { return rows.text(row, column) == clean_utf8(text); }
  bool is_same(int64_t number) const { return rows.integer(row, column) == number; }
  bool is_same(const std::vector<std::string>& texts) const {
    std::vector<std::string> read;
    return parse_text_array(rows.text(row, column), read) && read == texts;
  }
};

}  // namespace

template <typename Row>
const std::string& select_list() {
  static const std::string list = table_of<Row>().select_list();
  return list;
}

template <typename Row>
const std::string& copies_list() {
  static const std::string list = table_of<Row>().select_list(/*copies=*/true);
  return list;
}

template <typename Row>
std::optional<std::string> wrong_copy(const PgResult& rows, int row, const Row& value) {
  const auto& columns = table_of<Row>().columns;
  const auto read = std::ranges::count(columns, false, &PgColumn::is_copy);
  CopyReader reader{rows, row, static_cast<int>(read)};
  PgColumns<Row>::fields(value, reader);
  return reader.wrong;
}

// Of a row that an older version wrote: nothing was set then, so what holds is what was told.
static void complete(Node& node) {
  if (node.told.group.empty()) node.told = position_of(node.facts);
}

template <typename Row>
Row read_row(const PgResult& rows, int row) {
  PgCells cells(rows, row);
  Row value = read_from<Row>(cells);
  if constexpr (std::is_same_v<Row, Node>) complete(value);
  return value;
}

JobRow read_row(PgBinaryCells& cells) { return read_from<JobRow>(cells); }

#define HAI_ROW(Row)                                                                     \
  template const std::string& select_list<Row>();                                        \
  template const std::string& copies_list<Row>();                                        \
  template std::optional<std::string> wrong_copy<Row>(const PgResult&, int, const Row&); \
  template Row read_row<Row>(const PgResult&, int);
HAI_ROW(Event)
HAI_ROW(JobRow)
HAI_ROW(AttemptRow)
HAI_ROW(RankRow)
HAI_ROW(Node)
HAI_ROW(User)
HAI_ROW(Quota)
HAI_ROW(Token)
HAI_ROW(Secret)
HAI_ROW(NodeIdentity)
HAI_ROW(KnobSetting)
HAI_ROW(Incident)
#undef HAI_ROW

void add_rank(RankRow row, Attempt& attempt) {
  if (row.number != static_cast<int>(attempt.ranks.size())) {
    throw PgError(fmt::format("job {} attempt {}: rank {} follows {} ranks", row.job.value,
                              row.attempt, row.number, attempt.ranks.size()));
  }
  attempt.ranks.push_back(std::move(row.rank));
}

std::string row_subject(JobId job) { return fmt::format("job/{}", job.value); }
std::string row_subject(NodeId node) { return fmt::format("node/{}", node.value); }

std::string row_subject(const EventBody& body) {
  if (JobId job = job_of(body)) return row_subject(job);
  if (NodeId node = node_of(body)) return row_subject(node);
  if (const auto* set = std::get_if<UserSet>(&body)) return "user/" + set->user.name;
  if (const auto* set = std::get_if<QuotaSet>(&body)) return "quota/" + set->quota.owner;
  if (const auto* removed = std::get_if<QuotaRemoved>(&body)) {
    return "quota/" + removed->quota.owner;
  }
  if (const auto* set = std::get_if<TokenSet>(&body)) return "user/" + set->token.user;
  if (const auto* set = std::get_if<SecretSet>(&body)) return "user/" + set->secret.user;
  if (const auto* removed = std::get_if<SecretRemoved>(&body)) return "user/" + removed->user;
  return std::visit(
      [](const auto& event) -> std::string {
        if constexpr (requires { event.incident; }) {
          return fmt::format("incident/{}", event.incident.value);
        } else {
          return "";
        }
      },
      body);
}

}  // namespace hai
