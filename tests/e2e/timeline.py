"""A cluster's events as they happen, each with its time, and waiting for one."""

import datetime
import json
import threading
import time


class Timeline:
    def __init__(self, cluster):
        self.events = []
        self.news = threading.Condition()
        self.process = cluster.start_hai("events", "-w", "-n", 100_000, "-o", "jsonl")
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            event = json.loads(line)
            event["time"] = datetime.datetime.fromisoformat(
                event["time"].replace("Z", "+00:00")
            ).timestamp()
            with self.news:
                self.events.append(event)
                self.news.notify_all()

    def find(self, subject, kind, says="", after=0):
        """The first such event that came after the one of sequence number `after`; subject None =
        of anything."""
        for event in self.events:
            if (
                event["seq"] > after
                and subject in (None, event["subject"])
                and event["kind"] == kind
                and says in event["text"]
            ):
                return event
        return None

    def wait(self, subject, kind, says="", after=0, seconds=60):
        deadline = time.monotonic() + seconds
        with self.news:
            while True:
                event = self.find(subject, kind, says, after)
                if event:
                    return event
                if not self.news.wait(deadline - time.monotonic()):
                    raise AssertionError(
                        f"not within {seconds} s: {kind} of {subject} that says {says!r} after "
                        f"{after}; there were:\n{self.story(subject)}"
                    )

    def last(self):
        with self.news:
            return self.events[-1]["seq"] if self.events else 0

    def story(self, subject):
        return "\n".join(
            f"{event['seq']:6} {event['time'] % 1000:7.3f} {event['kind']}: {event['text']}"
            for event in self.events
            if subject in (None, event["subject"])
        )
