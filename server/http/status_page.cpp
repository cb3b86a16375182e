// "/": what the cluster does now, for a person with a browser; rendered here, without scripts.

#include <algorithm>

#include "server/api/call_queue.h"
#include "server/api/queries.h"
#include "server/http/html.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

constexpr size_t kNodesShown = 500;
constexpr Duration kKeptFor = 1s;  // however many ask

struct PageData {
  ClusterSummary cluster;
  std::vector<NodeView> nodes;
  size_t nodes_left_out = 0;
};

// Anybody sees the page, whom nobody knows: of jobs only their numbers.
PageData gather(const Controller::ReadContext& context) {
  PageData data{.cluster = summarize(context)};
  for (const auto& [id, node] : context.state.nodes()) {
    if (node.removed_at) continue;
    if (data.nodes.size() == kNodesShown) {
      ++data.nodes_left_out;
    } else {
      data.nodes.push_back(view_node(node, context.soft));
    }
  }
  std::ranges::sort(data.nodes, {}, [](const NodeView& view) { return view.node.facts.name; });
  return data;
}

void add_head(Html& html, const ClusterSummary& cluster) {
  html.raw(R"(<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5"><title>)")
      .text(cluster.view.name)
      .raw(R"( · hai</title><style>
:root{color-scheme:light dark;--line:#8883;--dim:#888;--good:#2a8a4a;--bad:#c0392b;--wait:#b7791f}
body{font:14px/1.5 system-ui,sans-serif;max-width:1200px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1rem;margin:2rem 0 .5rem}p{color:var(--dim);margin:.2rem 0}
.bar{display:flex;height:14px;border-radius:7px;overflow:hidden;background:var(--line);margin:1rem 0 .5rem}
.bar i{display:block;flex:0 0 auto}.used{background:var(--good)}.held{background:var(--wait)}
.broken{background:var(--bad)}
table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:600;color:var(--dim)}
th,td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n{font-variant-numeric:tabular-nums}
.up,.open{color:var(--good)}.down{color:var(--bad)}
.suspect,.draining,.cordoned,.drained{color:var(--wait)}
</style></head><body><h1>)")
      .text(cluster.view.name)
      .raw("</h1><p>hai ")
      .text(cluster.version)
      .raw(", epoch ")
      .number(cluster.view.epoch)
      .raw("</p>");
}

void add_bar(Html& html, std::string_view css_class, int part, int total) {
  if (total == 0 || part == 0) return;
  html.raw("<i class=\"")
      .text(css_class)
      .raw("\" style=\"width:")
      .text(fmt::format("{:.2f}", 100.0 * part / total))
      .raw("%\"></i>");
}

void add_totals(Html& html, const ClusterSummary& cluster) {
  const int total = cluster.view.gpus_total;
  html.raw("<div class=\"bar\">");
  add_bar(html, "used", cluster.view.gpus_used, total);
  add_bar(html, "held", cluster.gpus_draining + cluster.gpus_reserved, total);
  add_bar(html, "broken", cluster.gpus_broken, total);
  html.raw("</div><p>")
      .text(fmt::format("{} GPUs: {} used, {} free, {} draining, {} broken", total,
                        cluster.view.gpus_used, cluster.view.gpus_free, cluster.gpus_draining,
                        cluster.gpus_broken))
      .raw("</p><p>");
  std::string counts;
  for (const auto& [word, count] : cluster.view.jobs_by_state) {
    counts += fmt::format("{}{} {}", counts.empty() ? "jobs: " : ", ", count, word);
  }
  html.text(counts.empty() ? "no jobs yet" : counts).raw("</p>");
}

void add_word(Html& html, std::string_view word) {
  html.raw("<td class=\"").text(word).raw("\">").text(word).raw("</td>");
}

void add_nodes(Html& html, const PageData& data) {
  html.raw("<h2>Nodes</h2>");
  if (data.nodes.empty()) {
    html.raw("<p>No node has registered yet.</p>");
    return;
  }
  const Sight stranger{.of_others = Seen::nothing};
  html.raw(
      "<table><tr><th>name</th><th>group</th><th>zone</th><th>leaf</th><th>liveness</th>"
      "<th>scheduling</th><th>GPUs</th><th>free</th><th>jobs</th><th>reason</th></tr>");
  for (const NodeView& view : data.nodes) {
    const NodeFacts& facts = view.node.facts;
    html.raw("<tr><td>").text(facts.name).raw("</td><td>").text(facts.group);
    html.raw("</td><td>").text(facts.zone).raw("</td><td>").text(facts.leaf).raw("</td>");
    add_word(html, to_string(view.node.liveness));
    add_word(html, to_string(view.node.scheduling));
    html.raw("<td class=\"n\">").number(facts.gpus).raw("</td><td class=\"n\">");
    html.number(view.gpus_free).raw("</td><td class=\"n\">");
    for (size_t i = 0; i < view.jobs.size(); ++i) {
      if (i > 0) html.raw(", ");
      html.number(view.jobs[i]);
    }
    const std::string& reason = view.node.scheduling_reason.empty() ? view.node.liveness_reason
                                                                    : view.node.scheduling_reason;
    html.raw("</td><td>").text(stranger.clean(reason)).raw("</td></tr>");
  }
  html.raw("</table>");
  if (data.nodes_left_out > 0) {
    html.raw("<p>and ").number(static_cast<int64_t>(data.nodes_left_out)).raw(" more</p>");
  }
}

HttpResponse render(const PageData& data) {
  Html html;
  add_head(html, data.cluster);
  add_totals(html, data.cluster);
  add_nodes(html, data);
  html.raw("</body></html>\n");
  HttpResponse response = text_response(html.take(), "text/html");
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; style-src 'unsafe-inline'");
  return response;
}

// On the loop's thread.
struct KeptPage {
  MonoTime until{};
  std::shared_ptr<const HttpResponse> page;
};

void show_kept(const KeptPage& kept, const HttpRespond& respond) {
  respond({.render = [page = kept.page] { return *page; }});
}

}  // namespace

void add_status_page(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/",
             [&parts, kept = std::make_shared<KeptPage>()](
                 const HttpRequest&, const HttpRouter::Parameters&, HttpRespond respond) {
               parts.queue.post("", [&parts, kept, respond] {
                 if (parts.loop.now() < kept->until) return show_kept(*kept, respond);
                 parts.queries.controller().read(
                     {.is_server = true},
                     [&parts, kept, respond](const Controller::ReadContext& context, const Actor&) {
                       const MonoTime now = parts.loop.now();
                       // Of many who came at once the first has had it made.
                       if (now >= kept->until) {
                         kept->page = std::make_shared<const HttpResponse>(render(gather(context)));
                         kept->until = now + kKeptFor;
                       }
                       show_kept(*kept, respond);
                     },
                     [respond](Status status) { respond(problem(status)); });
               });
             });
}

}  // namespace hai
