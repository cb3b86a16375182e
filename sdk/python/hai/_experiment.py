"""HAI's experiments on top of hai's jobs: submit, find, look at and act on them, over REST.

As in HAI these are coroutines: asyncio.run(get_experiment(id=7)). The calls themselves block, in a
thread of the loop's pool.
"""

import asyncio
import functools
import io
import json
import os
import re

from . import _rest
from ._channel import Refused, Unreachable


class EXP_PRIORITY:
    """HAI's numbers; hai's words are the same names in lower case."""

    AUTO = -1
    LOW = 0
    BELOW_NORMAL = 5
    UNDER_NORMAL = 8
    NORMAL = 10
    ABOVE_NORMAL = 20
    HIGH = 30
    VERY_HIGH = 40
    EXTREME_HIGH = 50


PRIORITIES = {name.lower(): number for name, number in vars(EXP_PRIORITY).items() if name.isupper()}
TERMINAL = ("succeeded", "failed", "stopped")
JOBS_COUNTED_MAX = 10_000  # by get_experiments
PAGE = 1_000  # of REST
LOG_BYTES = 1 << 20  # of one answer, the most that REST gives


class STOP_CODE:
    NO_STOP = 0
    STOP = 1
    INTERRUPT = 16
    FAILED = 128
    TIMEOUT = 512
    MANUAL_STOP = 1024


class Unsupported(Refused):
    """hai has nothing of the kind; the text says what to do instead."""


def _coroutine(function):
    @functools.wraps(function)
    async def run(*args, **kwargs):
        call = functools.partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(None, call)

    return run


class Pod:
    """One rank of an experiment."""

    def __init__(self, rank, attempt):
        self.rank = self.job_id = rank["rank"]
        self.node = rank["node"]
        self.status = rank.get("phase") or attempt["state"]
        self.exit_code = rank.get("exit_code")
        self.begin_at = attempt.get("running_at") or attempt.get("placed_at")
        self.end_at = attempt.get("ended_at")
        self.assigned_gpus = rank.get("gpus", [])


class Experiment:
    """A job under HAI's names. What it was when it was asked for: `await refresh()` asks again.

    id, nb_name, user_name, workspace, code_file, group, nodes, priority (a number),
    whole_life_state, queue_status (queued, scheduled, finished), worker_status, chain_status
    (waiting_init, running, suspended, finished), chain_id, suspend_count, stop_code, exit_code,
    begin_at, end_at, created_at, assigned_nodes, pods, tags, and of all attempts begin_at_list,
    end_at_list, id_list."""

    def __init__(self, job, attempts=(), rest=None):
        self._rest = rest or _rest.Rest()
        self._take(job, attempts)

    def _take(self, job, attempts):
        self.job = job  # as hai has it
        state = job["state"]
        self.id = self.first_id = job["id"]
        self.nb_name, self.user_name = job["name"], job["user"]
        self.workspace, self.group, self.nodes = job["workspace"], job["group"], job["node_count"]
        self.code_file = os.path.join(job["workspace"], job["entrypoint"])
        self.priority = PRIORITIES.get(job["priority"], -1)
        self.task_type, self.backend, self.chain_id = "training", "hai", str(job["id"])
        self.tags, self.star = job.get("tags") or [], "star" in (job.get("tags") or [])
        self.whole_life_state = _int_or_zero(job.get("whole_life_state"))
        is_over = state in TERMINAL
        self.queue_status = (
            "finished" if is_over else "scheduled" if state == "running" else "queued"
        )
        self.worker_status = state
        self.chain_status = (
            "finished" if is_over else "waiting_init" if state == "queued" else state
        )
        self.restart_count = self.suspend_count = max(0, job["attempt"] - 1)
        self.exit_code, self.end_reason = job.get("exit_code"), job.get("end_reason")
        self.stop_code = _stop_code(job)
        self.created_at, self.begin_at = job["submitted_at"], job.get("started_at")
        self.end_at = job.get("ended_at")
        oldest_first = list(reversed(attempts))
        self.id_list = [self.id] * max(1, len(oldest_first))
        self.begin_at_list = [attempt.get("running_at") for attempt in oldest_first]
        self.end_at_list = [attempt.get("ended_at") for attempt in oldest_first]
        latest = attempts[0] if attempts else None
        self.pods = [Pod(rank, latest) for rank in latest["ranks"]] if latest else []
        self.assigned_nodes = job.get("nodes") or [pod.node for pod in self.pods]
        self.config_json = {
            "priority": self.priority,
            "whole_life_state": self.whole_life_state,
            "schema": {"resource": {"group": self.group, "node_count": self.nodes}},
        }

    def __repr__(self):
        return f"Experiment(id={self.id}, nb_name={self.nb_name!r}, {self.worker_status})"

    def _refresh(self):
        self._take(*_job_and_attempts(self._rest, self.id))
        return self

    def _act(self, verb, reason):
        self._rest.post(f"/jobs/{self.id}/{verb}", {"reason": reason})

    @_coroutine
    def refresh(self):
        """Asks again how it is."""
        return self._refresh()

    @_coroutine
    def stop(self, op="stop", **kwargs):
        """Ends it. `op` "succeed" and "fail" set a result in HAI; here a result is what happened."""
        if op != "stop":
            raise Unsupported(f"op={op}: only stop; how a job ended is what its program did")
        self._act("stop", "Experiment.stop")
        return True

    @_coroutine
    def suspend(self, restart_delay=0, **kwargs):
        """It saves, leaves, and waits in the queue to go on."""
        if restart_delay:
            raise Unsupported("restart_delay: use hai suspend JOB now and hai resume JOB then")
        self._act("requeue", "Experiment.suspend")
        return True

    @_coroutine
    def set_priority(self, priority, **kwargs):
        """A number of HAI's or a word of hai's."""
        self._rest.post(f"/jobs/{self.id}/priority", {"priority": _priority_word(priority)})
        return True

    @_coroutine
    def log(self, rank=0, last_seen="null", with_code=False, **kwargs):
        """What the rank wrote after `last_seen`, a text of an earlier answer (self.last_seen)."""
        answer = self._log(rank, last_seen)
        if with_code:
            return answer["data"], answer["exit_code"], answer["stop_code"]
        return answer["data"]

    @_coroutine
    def log_ng(self, rank=0, last_seen="null", **kwargs):
        """data, last_seen, exit_code, stop_code, error_msg."""
        return self._log(rank, last_seen)

    def _log(self, rank, last_seen):
        self._refresh()
        attempt, _, offset = ("" if last_seen in (None, "null") else str(last_seen)).partition(":")
        is_same = attempt == str(self.job["attempt"])  # a later attempt has a log of its own
        start = int(offset) if is_same and offset.isdigit() else 0
        data, end = b"", start
        if self.job["attempt"] > 0:
            data, end = self._read_log(rank, self.job["attempt"], start)
        self.last_seen = f"{self.job['attempt']}:{end}"
        return {
            "data": data.decode(errors="replace"),
            "last_seen": self.last_seen,
            "exit_code": self.exit_code,
            "stop_code": self.stop_code,
            "error_msg": self.end_reason or "",
        }

    def _read_log(self, rank, attempt, start):
        """The log from byte `start` on, as far as it reaches now, and where that is. What was
        rotated away is skipped."""
        data, size = [], None
        while size is None or start < size:
            piece, headers = self._rest.text(
                f"/jobs/{self.id}/logs",
                rank=rank,
                attempt=attempt,
                offset=start,
                max_bytes=LOG_BYTES,
            )
            if not piece:
                break
            data.append(piece)
            start = int(headers["HAI-Log-Offset"]) + len(piece)
            size = size or int(headers["HAI-Log-Size"])  # a log may grow faster than it is read
        return b"".join(data), start

    @_coroutine
    def sys_log(self, **kwargs):
        """What hai did with it, oldest first."""
        lines, after = [], 0
        while after is not None:
            page = self._rest.get(f"/jobs/{self.id}/events", after=after, limit=PAGE)
            lines += [f"[{event['time']}] {event['text']}" for event in page["events"]]
            after = page["next_cursor"] or None
        return "\n".join(lines)

    @_coroutine
    def search_in_global(self, content, **kwargs):
        """How many lines of each rank of the latest attempt hold it."""
        self._refresh()
        counts, cursor = {pod.rank: 0 for pod in self.pods}, None
        while counts:
            page = self._rest.get(
                f"/jobs/{self.id}/logs/search",
                text=content,
                match_case="true",
                attempt=self.job["attempt"],
                limit=PAGE,
                cursor=cursor,
            )
            for log in page["unread"]:
                raise Unreachable(f"the log of rank {log['rank']}: {log['reason']}")
            for line in page["lines"]:
                counts[line["rank"]] += 1
            cursor = page.get("next_cursor")
            if not cursor:
                break
        return list(counts.values())

    @_coroutine
    def get_latest_point(self, **kwargs):
        """Of each of its nodes: the utilisation (percent) and temperature (Celsius) of its GPUs."""
        self._refresh()
        points = []
        for pod in self.pods:
            if self.queue_status != "scheduled":
                break
            node = self._rest.get(f"/nodes/{pod.node}")
            chosen = {}
            for name in ("gpu_utilization", "gpu_temperature"):
                values = node.get(name) or []
                chosen[name] = [values[gpu] for gpu in pod.assigned_gpus if gpu < len(values)]
            points.append({"rank": pod.rank, "node": pod.node, **chosen})
        return points

    @_coroutine
    def rerun(self, **kwargs):
        """A new job of the same spec, once this one has ended; gives it. What waited for this one
        in vain waits for the new one."""
        self._refresh()
        if self.queue_status != "finished":
            raise Refused(
                f"job {self.id} is {self.worker_status}: only one that has ended can be rerun"
            )
        job = self._rest.rerun(self.id)
        return Experiment(*_job_and_attempts(self._rest, job), self._rest)

    @_coroutine
    def tag_task(self, tag, **kwargs):
        """Adds a tag; "star" is what get_experiments(only_star=True) looks for."""
        return self._set_tags(lambda tags: tags if tag in tags else [*tags, tag])

    @_coroutine
    def untag_task(self, tag, **kwargs):
        """Takes a tag away; fine if it has none of the kind."""
        return self._set_tags(lambda tags: [each for each in tags if each != tag])

    def _set_tags(self, change):
        tags = change(self._refresh().tags)
        if tags != self.tags:
            self._rest.post(f"/jobs/{self.id}/edit", {"tags": tags})
            self._refresh()
        return True

    @_coroutine
    def map_task_artifact(self, artifact_name, artifact_version, direction, **kwargs):
        raise Unsupported("map_task_artifact: hai keeps no artifacts, name paths in the job file")

    @_coroutine
    def unmap_task_artifact(self, direction, **kwargs):
        raise Unsupported("unmap_task_artifact: hai keeps no artifacts")

    @_coroutine
    def get_task_artifact(self, **kwargs):
        raise Unsupported("get_task_artifact: hai keeps no artifacts")

    @_coroutine
    def get_chain_time_series(self, query_type, rank=None, **kwargs):
        raise Unsupported("get_chain_time_series: ask the cluster's Prometheus, see the runbooks")


@_coroutine
def create_experiment(config, **kwargs):
    """Submits a job file: the path of one, its text, a stream, or the same as a dict or Munch."""
    return _submitted(_rest.Rest(), _job_file(config))


create_experiment_v2 = create_experiment  # job files have version 2


@_coroutine
def get_experiment(name=None, id=None, chain_id=None, **kwargs):
    """By id, by name, or by chain_id, which is the id as a text."""
    wanted = next((each for each in (id, name, chain_id) if each is not None), None)
    if wanted is None:
        raise ValueError("get_experiment needs a name, an id or a chain_id")
    rest = _rest.Rest()
    return Experiment(*_job_and_attempts(rest, wanted), rest)


@_coroutine
def get_experiments(
    page=1,
    page_size=10,
    only_star=False,
    select_pods=True,
    nb_name_pattern=None,
    task_type_list=("training", "virtual", "background"),
    worker_status_list=(),
    queue_status_list=(),
    tag_list=(),
    **kwargs,
):
    """Your own, newest first: how many there are (10,000 are counted) and those of the page."""
    if page < 1 or page_size < 1:
        raise ValueError("page and page_size begin at 1")
    rest = _rest.Rest()
    if "training" not in task_type_list:
        return 0, []  # hai has no other type
    tags = list(tag_list) + (["star"] if only_star else [])
    found = []
    for job in _own_jobs(rest, tags):
        experiment = Experiment(job, (), rest)
        if nb_name_pattern and nb_name_pattern not in experiment.nb_name:
            continue
        if worker_status_list and experiment.worker_status not in worker_status_list:
            continue
        if queue_status_list and experiment.queue_status not in queue_status_list:
            continue
        found.append(experiment)
    chosen = found[(page - 1) * page_size : page * page_size]
    if select_pods:
        for experiment in chosen:
            if experiment.job["attempt"] > 0:
                experiment._take(*_job_and_attempts(rest, experiment.id))
    return len(found), chosen


@_coroutine
def get_user_info(**kwargs):
    """Who you are: user_name, role, groups, quotas."""
    who = _rest.Rest().get("/whoami")
    return {"user_name": who["user"], **{key: who.get(key) for key in ("role", "groups", "quotas")}}


@_coroutine
def get_cluster_overview(**kwargs):
    """hai's summary of nodes, GPUs and jobs."""
    return _rest.Rest().get("/cluster")


def _own_jobs(rest, tags):
    me, cursor, count = rest.get("/whoami")["user"], None, 0
    while count < JOBS_COUNTED_MAX:
        page = rest.get(
            "/jobs", user=me, finished="true", limit=PAGE, tag=tags or None, cursor=cursor
        )
        count += len(page["jobs"])
        yield from page["jobs"]
        cursor = page.get("next_cursor")
        if not cursor:
            return


def _job_and_attempts(rest, job):
    """`job`: an id or a name."""
    found = rest.get(f"/jobs/{_quoted(job)}")
    if found["attempt"] == 0:
        return found, []
    return found, rest.get(f"/jobs/{found['id']}/attempts")["attempts"]


def _submitted(rest, text):
    job = rest.submit("/jobs", text)
    return Experiment(job, (), rest)


def _quoted(name):
    name = str(name)
    if not re.fullmatch(r"[\w.-]+", name):
        raise ValueError(f"{name!r} is neither an id nor a name of a job")
    return name


def _job_file(config):
    if isinstance(config, io.IOBase) or hasattr(config, "read"):
        return config.read()
    if isinstance(config, dict):  # a Munch is one
        return json.dumps(config)
    text = os.fspath(config)
    if "\n" in text or text.lstrip().startswith("{"):
        return text
    with open(text, encoding="utf-8") as file:
        return file.read()


def _priority_word(priority):
    if isinstance(priority, str) and not re.fullmatch(r"-?\d+", priority):
        return priority
    for word, number in PRIORITIES.items():
        if number == int(priority):
            return word
    raise ValueError(f"priority {priority}: must be one of {sorted(PRIORITIES.values())}")


def _stop_code(job):
    if job["state"] == "succeeded":
        return STOP_CODE.STOP
    if job["state"] == "stopped":
        return STOP_CODE.MANUAL_STOP
    if job["state"] == "failed":
        is_late = "longer than its timeout" in (job.get("end_reason") or "")
        return STOP_CODE.TIMEOUT if is_late else STOP_CODE.FAILED
    return STOP_CODE.NO_STOP


def _int_or_zero(text):
    try:
        return int(text or 0)
    except ValueError:
        return 0
