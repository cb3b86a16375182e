"""What must hold on the site after each fault, beside what ha_store's judge looks at."""

import itertools
import types

from ha_judge import CLOCK_SLACK, Judge

CLOCK_WRONG_SECONDS = 30.0  # at most, with the step there and back


class SiteJudge(Judge):
    """Attempts are lost with their node, and else never."""

    # A leader's time is drawn towards a clock that is wrong by a twentieth (docs/reliability.md).
    clock_slack = CLOCK_SLACK + CLOCK_WRONG_SECONDS / 20

    def __init__(self, site, streams, people):
        super().__init__(site, streams)
        self.people = people
        self.excused = set()  # (job, attempt) that had a rank where a fault may cost it
        self.missing = set()  # submits that were acknowledged and were not there when last looked

    def excuse(self, nodes, began, ended, condition="true"):
        """Attempts that were on these nodes between the two times may be lost, if they are such."""
        names = ", ".join(f"'{name}'" for name in nodes)
        self.excused |= {
            (int(job), int(number))
            for job, number in self.world.postgres.rows(
                "SELECT attempt.job, number FROM attempt"
                " JOIN rank ON attempt.job = rank.job AND number = rank.attempt"
                " JOIN node ON rank.node = node.id"
                f" WHERE node.name IN ({names}) AND placed_at < to_timestamp({ended})"
                f" AND coalesce(attempt.ended_at, 'infinity') > to_timestamp({began}) AND {condition}"
            )
        }

    def check_submits(self, acknowledged, jobs):
        """But for the validations that health asks for after a fault of a node, as of a full disk."""
        there = {(job["name"], job["id"]) for job in jobs}
        self.missing = {
            submit.name
            for submit in itertools.chain(*acknowledged)
            if any((submit.name, answer) not in there for answer in submit.answers)
        }
        asked = [job for job in jobs if not job["name"].startswith("validate-node-")]
        yield from super().check_submits(acknowledged, asked)

    def check_attempts(self, attempts):
        states = {(job, number): state for job, number, state in attempts}
        for job, number, state in attempts if not self.may_repeat else []:
            if state == "lost" and (job, number) not in self.excused:
                yield f"attempt {number} of job {job} was lost"
            # Health takes a node out that often lost power; what runs there is asked to save and move.
            before = states.get((job, number - 1))
            if number > 1 and before != "suspended" and (job, number - 1) not in self.excused:
                yield f"job {job} needed attempt {number}"

    def check_all_done(self, runs, jobs):
        """Of each of the people's streams."""
        for stream in self.people:
            one = types.SimpleNamespace(streams=[self.streams[0], stream])
            yield from Judge.check_all_done(one, runs, jobs)

    def lost(self):
        return sum(attempt.state == "lost" for attempt in self.attempts())

    def too_long(self, gap, most):
        """The complaint, if submits were refused for longer than this fault may take."""
        found = [f"submits were refused for {gap:.1f} s, {most:.0f} s at most were expected"] if gap > most else []
        self.complaints += found
        return found
