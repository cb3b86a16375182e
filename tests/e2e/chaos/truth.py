"""What the database says at the end, in plain rows; and the clocks to compare it with the ledgers."""

import dataclasses
import time

from world import boot_now


@dataclasses.dataclass
class JobRow:
    id: int
    name: str
    user: str
    state: str
    nodes: int
    attempts: int
    exit_code: int
    reason: str
    suspends: int
    requeues: int
    ended: float


@dataclasses.dataclass
class AttemptRow:
    job: int
    number: int
    state: str
    placed: float
    running: float
    ended: float
    ranks: list = dataclasses.field(default_factory=list)

    def __str__(self):
        causes = sorted({f"{rank.node}: {rank.cause} {rank.message}" for rank in self.ranks})
        return (
            f"job {self.job} attempt {self.number} {self.state}, placed {self.placed:.1f},"
            f" running {self.running:.1f}, ended {self.ended:.1f}; {'; '.join(causes)}"
        )


@dataclasses.dataclass
class RankRow:
    rank: int
    node: str
    state: str
    cause: str
    message: str


class Truth:
    """Times are boot times, as in the ledgers; 0 = not yet."""

    def __init__(self, postgres):
        offset = time.time() - boot_now()

        def boot(text):
            return float(text) - offset if text else 0.0

        self.jobs = {
            int(row[0]): JobRow(
                *[int(row[0]), *row[1:4], *map(int, row[4:7]), row[7], int(row[8]), int(row[9])],
                boot(row[10]),
            )
            for row in postgres.rows(
                "SELECT id, name, user_name, state, node_count, attempt, exit_code,"
                " translate(end_reason, E'\\t\\n', '  '), suspend_count, requeue_count,"
                " extract(epoch FROM ended_at) FROM job ORDER BY id"
            )
        }
        self.attempts = {
            (int(row[0]), int(row[1])): AttemptRow(
                int(row[0]), int(row[1]), row[2], *map(boot, row[3:6])
            )
            for row in postgres.rows(
                "SELECT job, number, state, extract(epoch FROM placed_at),"
                " extract(epoch FROM running_at), extract(epoch FROM ended_at)"
                " FROM attempt ORDER BY job, number"
            )
        }
        for row in postgres.rows(
            "SELECT r.job, r.attempt, r.rank, n.name, r.state, r.cause,"
            " translate(r.message, E'\\t\\n', '  ')"
            " FROM rank r JOIN node n ON n.id = r.node ORDER BY 1, 2, 3"
        ):
            attempt = self.attempts[(int(row[0]), int(row[1]))]
            attempt.ranks.append(RankRow(int(row[2]), *row[3:7]))
        self.downs = [  # (node, when it was given up)
            (row[0], boot(row[1]))
            for row in postgres.rows(
                "SELECT n.name, extract(epoch FROM e.time) FROM event e"
                " JOIN node n ON n.id = (e.body->>'node')::bigint"
                " WHERE e.kind = 'node_liveness_changed' AND e.body->>'liveness' = 'down'"
            )
        ]
        names = {row[0]: row[1] for row in postgres.rows("SELECT id, name FROM node")}
        self.peers = {}  # of each node: when a list was named, and who is on it
        for row in postgres.rows(
            "SELECT e.body->>'node', extract(epoch FROM e.time),"
            " array_to_string(ARRAY(SELECT jsonb_array_elements_text(e.body->'peers')), ' ')"
            " FROM event e WHERE e.kind = 'node_peers_named' ORDER BY e.seq"
        ):
            named = [names.get(peer, "") for peer in row[2].split()]
            self.peers.setdefault(names.get(row[0], ""), []).append((boot(row[1]), named))
        self.terms = int(
            postgres.rows("SELECT count(*) FROM event WHERE kind = 'epoch_started'")[0][0]
        )
        self.events = int(postgres.rows("SELECT count(*) FROM event")[0][0])
