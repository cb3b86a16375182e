// hai top without a terminal: keys in, lines out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "cli/table.h"
#include "cli/top/layout.h"

namespace hai::cli::top {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kTopTime = 1'795'176'000'000'000;
constexpr int64_t kMinute = 60'000'000;

v1::Job job(int64_t id, const std::string& name, const std::string& state,
            const std::string& user = "ann") {
  v1::Job job;
  job.set_id(id);
  job.set_name(name);
  job.set_user(user);
  job.set_group("training");
  job.set_priority("normal");
  job.set_state(state);
  job.set_node_count(2);
  job.set_submitted_at_us(kTopTime - 10 * kMinute);
  if (state == "running") {
    job.set_started_at_us(kTopTime - 5 * kMinute);
    job.set_attempt_state("running");
  }
  return job;
}

v1::Node node(const std::string& name, const std::string& liveness = "up") {
  v1::Node node;
  node.set_name(name);
  node.set_group(name.starts_with("gpu") ? "dev" : "training");
  node.set_liveness(liveness);
  node.set_scheduling("open");
  node.set_health("ok");
  node.set_gpus(8);
  node.set_gpus_free(8);
  return node;
}

Data small_cluster() {
  News news;
  v1::Cluster cluster;
  cluster.set_name("test");
  cluster.set_gpus_total(40);
  cluster.set_gpus_used(20);
  cluster.set_gpus_draining(8);
  cluster.set_gpus_reserved(4);
  cluster.set_gpus_free(8);
  (*cluster.mutable_jobs_by_state())["running"] = 1;
  (*cluster.mutable_jobs_by_state())["queued"] = 2;
  news.cluster = cluster;
  news.jobs = {job(1, "llm", "running"), job(2, "vision", "queued", "bob"),
               job(3, "audio", "queued")};
  news.jobs[1].mutable_pending_reason()->set_text("2 nodes asked, 1 free");
  news.has_all_jobs = true;
  news.nodes = {node("node-2"), node("node-10", "down"), node("gpu01")};
  news.has_all_nodes = true;
  Data data;
  data.user = "ann";
  data.apply(std::move(news));
  return data;
}

std::vector<std::string> text_of(const Frame& frame) {
  std::vector<std::string> lines;
  for (const Line& line : frame) lines.push_back(plain_text(line));
  return lines;
}

std::string without_styles(const std::string& text) {
  return std::regex_replace(text, std::regex("\033\\[[0-9]*m"), "");
}

struct Screen {
  Data data = small_cluster();
  View view;
  Detail detail;
  Size size;

  std::vector<std::string> lines() {
    return text_of(make_frame(data, view, detail, {.now = unix_micros(kTopTime), .size = size}));
  }
  std::string text() {
    std::string text;
    for (const std::string& line : lines()) text += line + "\n";
    return text;
  }
  Errand type(std::string_view bytes) {
    KeyReader reader;
    Errand last;
    std::vector<Key> keys = reader.take(bytes);
    for (const Key& key : reader.pause()) keys.push_back(key);
    for (const Key& key : keys) {
      lines();  // each key is pressed on what is seen
      last = press(view, data, key);
    }
    return last;
  }
};

std::vector<int64_t> ids(const Screen& screen) {
  std::vector<int64_t> ids;
  for (const v1::Job* each : shown_jobs(screen.data, screen.view)) ids.push_back(each->id());
  return ids;
}

TEST(TopFrame, FillsTheScreenAndNotMore) {
  for (const Size size : {Size{80, 24}, Size{120, 40}, Size{200, 12}, Size{61, 10}}) {
    Screen screen{.size = size};
    EXPECT_EQ(screen.lines().size(), static_cast<size_t>(size.height));
    for (const Line& line : make_frame(screen.data, screen.view, {}, {.size = size})) {
      EXPECT_LE(display_width(without_styles(terminal_text(line, size.width, true))),
                static_cast<size_t>(size.width));
    }
  }
}

TEST(TopFrame, TheHeadSaysWhatEachGpuDoes) {
  Screen screen;
  const std::vector<std::string> lines = screen.lines();
  EXPECT_EQ(lines[1], "GPUs  40 in all: 20 used, 4 reserved, 8 draining, 0 broken, 8 free");
  EXPECT_THAT(lines[2], HasSubstr(" 50% used"));
  // Half of the bar is used, and every part that is there is seen.
  EXPECT_EQ(std::count(lines[2].begin(), lines[2].end(), '\x88'), 32) << lines[2];
  EXPECT_THAT(lines[2], HasSubstr("▓▓▓▓▓▓"));
  EXPECT_EQ(lines[3], "Jobs  1 running, 2 queued, 0 suspended; the oldest has waited 10m00s");
}

TEST(TopFrame, RowsSayWhatTheJobDoes) {
  Screen screen{.size = {120, 24}};
  const std::string text = screen.text();
  EXPECT_THAT(text, HasSubstr("1 llm"));
  EXPECT_THAT(text, HasSubstr("2 nodes asked, 1 free"));
  EXPECT_THAT(text, HasSubstr(" 5m00s"));
  EXPECT_THAT(screen.lines()[5], HasSubstr("3 jobs, by state"));
}

TEST(TopFrame, ATerminalThatIsTooSmallSaysSo) {
  Screen screen{.size = {30, 5}};
  EXPECT_THAT(screen.lines(), ElementsAre("40x10 at least", "q quits"));
}

TEST(TopFrame, ForeignTextCannotMoveTheCursor) {
  Screen screen;
  screen.data.jobs[1].set_name("\033[2Jevil");
  screen.data.jobs[1].set_end_reason("a\nb");
  screen.view.filter = "\033c";
  for (const std::string& line : screen.lines()) EXPECT_EQ(line.find('\033'), std::string::npos);
  screen.detail.card = {"\033]0;title\a"};
  screen.view.page = Page::detail;
  for (const std::string& line : screen.lines()) EXPECT_EQ(line.find('\033'), std::string::npos);
}

TEST(TopView, RunningJobsComeFirstThenTheQueueInItsOrder) {
  Screen screen;
  EXPECT_THAT(ids(screen), ElementsAre(1, 2, 3));
  screen.data.jobs[3].set_priority("high");
  EXPECT_THAT(ids(screen), ElementsAre(1, 3, 2));
}

TEST(TopView, SortsByOneColumnAfterTheOther) {
  Screen screen;
  screen.type("s");
  EXPECT_EQ(screen.view.job_sort, JobSort::id);
  EXPECT_THAT(ids(screen), ElementsAre(3, 2, 1));
  screen.type("s");
  EXPECT_THAT(ids(screen), ElementsAre(3, 1, 2));  // audio, llm, vision
  screen.type("r");
  EXPECT_THAT(ids(screen), ElementsAre(2, 1, 3));
  screen.type("rsssss");
  EXPECT_EQ(screen.view.job_sort, JobSort::state);
}

TEST(TopView, FiltersWhatIsTyped) {
  Screen screen;
  screen.type("/viSX");
  EXPECT_TRUE(screen.view.is_typing);
  EXPECT_FALSE(screen.view.question.has_value()) << "X is a letter here";
  screen.type("\x7f");
  EXPECT_THAT(ids(screen), ElementsAre(2));
  EXPECT_THAT(screen.text(), HasSubstr("filter: viS_"));
  screen.type("\r");
  EXPECT_THAT(ids(screen), ElementsAre(2));
  screen.type("\033");
  EXPECT_THAT(ids(screen), ElementsAre(1, 2, 3));
}

TEST(TopView, MineAndGroups) {
  Screen screen;
  screen.type("u");
  EXPECT_THAT(ids(screen), ElementsAre(1, 3));
  screen.type("ug");
  EXPECT_EQ(screen.view.group, "dev");
  EXPECT_THAT(ids(screen), ElementsAre());
  EXPECT_THAT(screen.text(), HasSubstr("no jobs"));
  screen.type("gg");
  EXPECT_EQ(screen.view.group, "");
}

TEST(TopView, TheSelectionStaysWithItsJob) {
  Screen screen;
  screen.type("j");
  screen.type("j");
  EXPECT_EQ(screen.view.job, 3);
  screen.data.jobs[3] = job(3, "audio", "running");
  screen.lines();
  EXPECT_EQ(screen.view.job, 3);
  EXPECT_EQ(ids(screen).front(), 3);
  screen.type("\033[A");  // it is the first one now
  EXPECT_EQ(screen.view.job, 3);
  screen.type("\033[F");
  EXPECT_EQ(screen.view.job, 2);
}

TEST(TopView, AThousandRowsScroll) {
  Screen screen;
  for (int64_t id = 10; id < 1010; ++id) screen.data.jobs[id] = job(id, "many", "queued");
  screen.type("\033[F");
  EXPECT_EQ(screen.view.job, 1009);
  EXPECT_THAT(screen.text(), HasSubstr("1009 many"));
  EXPECT_THAT(screen.text(), Not(HasSubstr(" llm")));
  screen.type("\033[H");
  EXPECT_THAT(screen.text(), HasSubstr("1 llm"));
  screen.type("\033[6~\033[6~");
  EXPECT_THAT(screen.text(), Not(HasSubstr("vision "))) << "pages further";
}

TEST(TopView, NothingIsDoneWithoutAYes) {
  Screen screen;
  EXPECT_EQ(screen.type("X").kind, Errand::Kind::none);
  EXPECT_THAT(screen.lines().back(), HasSubstr("Stop job 1 llm of ann? y/n"));
  EXPECT_EQ(screen.type("n").kind, Errand::Kind::none);
  EXPECT_THAT(screen.lines().back(), HasSubstr("nothing was done"));
  const struct {
    const char* keys;
    v1::JobAction action;
  } cases[] = {
      {"Xy", v1::JOB_ACTION_STOP}, {"Sy", v1::JOB_ACTION_SUSPEND}, {"Ry", v1::JOB_ACTION_RESUME}};
  for (const auto& [keys, action] : cases) {
    const Errand errand = screen.type(keys);
    EXPECT_EQ(errand.kind, Errand::Kind::control);
    EXPECT_EQ(errand.action, action);
    EXPECT_EQ(errand.job, 1);
  }
  screen.type("n");
  EXPECT_EQ(screen.type("Xy").kind, Errand::Kind::none) << "no job is selected among nodes";
}

TEST(TopView, EnterLooksCloselyAndEscapeGoesBack) {
  Screen screen;
  Errand errand = screen.type("\r");
  EXPECT_EQ(errand.kind, Errand::Kind::look_at_job);
  EXPECT_EQ(errand.job, 1);
  screen.detail = {.job = 1, .card = {"job 1"}, .why = {"it waits"}, .log = {"step 7"}};
  EXPECT_THAT(screen.text(), HasSubstr("step 7"));
  errand = screen.type("+");
  EXPECT_EQ(errand.rank, 1);
  EXPECT_EQ(screen.type("+").kind, Errand::Kind::none) << "it has two ranks";
  EXPECT_EQ(screen.type("Xy").kind, Errand::Kind::control);
  EXPECT_EQ(screen.type("\033").kind, Errand::Kind::look_away);
  EXPECT_EQ(screen.view.page, Page::jobs);
  screen.type("n");
  errand = screen.type("\r");
  EXPECT_EQ(errand.kind, Errand::Kind::look_at_node);
  EXPECT_EQ(errand.node, "gpu01");
}

TEST(TopView, NodesAreSortedAsPeopleCount) {
  Screen screen;
  std::vector<std::string> names;
  for (const v1::Node* each : shown_nodes(screen.data, screen.view)) names.push_back(each->name());
  EXPECT_THAT(names, ElementsAre("gpu01", "node-2", "node-10"));
  screen.type("ns");
  EXPECT_EQ(shown_nodes(screen.data, screen.view).front()->name(), "node-10") << "the worst first";
  EXPECT_THAT(screen.text(), HasSubstr("down"));
}

TEST(TopView, KeysThatQuit) {
  for (const char* keys : {"q", "\x03", "?q\x03", "/x\x03", "X\x03"}) {
    Screen screen;
    screen.type(keys);
    EXPECT_TRUE(screen.view.wants_quit) << keys;
  }
  Screen screen;
  screen.type("?");
  EXPECT_THAT(screen.text(), HasSubstr("Keys of hai top"));
  screen.type("q");
  EXPECT_FALSE(screen.view.wants_quit) << "any key leaves the help";
}

TEST(TopData, EndedJobsAreSeenForAWhile) {
  Data data;
  v1::Job ended = job(1, "llm", "succeeded");
  ended.set_ended_at_us(kTopTime);
  data.apply({.jobs = {ended, job(2, "gone", "queued")}});
  data.apply({.has_all_jobs = true});
  EXPECT_TRUE(data.jobs.contains(1));
  EXPECT_FALSE(data.jobs.contains(2));
  data.forget_ended(unix_micros(kTopTime + 30'000'000));
  EXPECT_TRUE(data.jobs.contains(1));
  data.forget_ended(unix_micros(kTopTime + 120'000'000));
  EXPECT_TRUE(data.jobs.empty());
}

TEST(TopKeys, SequencesMayComeInParts) {
  KeyReader reader;
  EXPECT_THAT(reader.take("\033"), ElementsAre());
  EXPECT_TRUE(reader.is_inside());
  EXPECT_THAT(reader.take("[5"), ElementsAre());
  EXPECT_THAT(reader.take("~a"),
              ElementsAre(Key{Key::Kind::page_up, ""}, Key{Key::Kind::letter, "a"}));
  EXPECT_THAT(reader.take("\xC3"), ElementsAre());
  EXPECT_THAT(reader.take("\xA4"), ElementsAre(letter_key("ä")));
  EXPECT_THAT(reader.take("\033"), ElementsAre());
  EXPECT_THAT(reader.pause(), ElementsAre(Key{Key::Kind::escape, ""}));
  EXPECT_THAT(reader.take("\033[1;5Q\033OB"), ElementsAre(Key{}, Key{Key::Kind::down, ""}));
}

TEST(TopScreen, OnlyLinesThatDifferAreWritten) {
  EXPECT_EQ(redraw({"a", "b", "c"}, {"a", "x", "c"}), "\033[2;1H\033[2Kx");
  EXPECT_EQ(redraw({"a", "b"}, {"a"}), "\033[2;1H\033[J");
  EXPECT_EQ(redraw({"a"}, {"a"}), "");
}

TEST(TopScreen, WithoutColourTheSelectedRowIsStillSeen) {
  Line line("x", Style::reverse);
  line.add("y", Style::red);
  EXPECT_EQ(terminal_text(line, 10, false), "\033[7mx\033[0my");
  EXPECT_EQ(terminal_text(line, 10, true), "\033[7mx\033[0m\033[31my\033[0m");
  EXPECT_EQ(terminal_text(line, 1, true), "\033[7mx\033[0m");
}

}  // namespace
}  // namespace hai::cli::top
