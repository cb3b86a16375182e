#!/usr/bin/env python3
"""Trains a small character language model, data-parallel over the ranks of a hai job.

The result does not depend on what happens to the job: the final weights are the same, bit for bit,
after any number of interruptions and with any number of ranks. Each step draws a batch of 8 shards;
a rank computes the gradients of its shards, rank 0 adds the eight up in shard order and sends the
sum back. (Given the same Python and C library on all nodes.)
"""

import json
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
try:
    import hai
except ImportError:  # Not installed: take it from this source tree.
    sys.path.insert(0, os.path.join(HERE, "..", "..", "sdk", "python"))
    import hai

from charlm import checkpoints, model, options, peers, records, reduce

SHARDS = 8
PEER_LOST_EXIT_CODE = 75
PROGRESS_PERIOD_SECONDS = 1.0


class Trainer:
    def __init__(self, arguments):
        self.options = arguments
        self.rank, self.world_size = options.rank_and_world_size()
        with open(arguments.corpus, encoding="utf-8") as file:
            self.corpus = model.Corpus(file.read())
        self.net = model.Model(len(self.corpus.alphabet), arguments.hidden, arguments.seed)
        self.rng = random.Random(arguments.seed + 1)  # Every rank draws the same positions.
        self.shape = {
            name: getattr(arguments, name) for name in ("hidden", "shard_examples", "rate", "seed")
        }
        self.shape["corpus"] = self.corpus.sha256
        self.step, self.loss, self.saved_step = 0, 0.0, -1
        self.reported_at = -PROGRESS_PERIOD_SECONDS

    def say(self, text):
        print(f"[rank {self.rank}/{self.world_size}] {text}", flush=True)

    def join(self):
        address, port, identity = options.meeting_point()
        self.peers = peers.join(
            self.rank, self.world_size, address, port, identity,
            self.options.connect_seconds, self.options.silence_seconds)

    def restore(self):
        """Rank 0 reads the checkpoint and sends it to all: ranks that read for themselves could
        differ."""
        if self.rank == 0:
            data, progress, path = checkpoints.load(
                os.environ.get("HAI_CHECKPOINT"), self.options.checkpoint_dir,
                self.net, self.rng, self.shape, self.say)
            for peer in self.peers:
                peer.send({}, data)
        else:
            _, data = self.peers[0].receive()
            progress = checkpoints.unpack(data, self.net, self.rng, self.shape) if data else None
        if progress:
            self.step, self.loss = progress["step"], progress["loss"]
            self.saved_step = self.step
        if self.rank == 0:
            self.say(f"start {self.count_start()}: from step {self.step} {path}")
            self.curve = records.LossCurve(self.options.loss_curve, self.step, self.say)
        records.note(self.options.ledger, "start", self.rank, self.step)

    def count_start(self):
        """The whole-life state is a little memory of the job that outlives its attempts."""
        try:
            starts = int(hai.get_whole_life_state() or 0) + 1
            hai.set_whole_life_state(starts)
            return starts
        except (hai.Error, ValueError) as error:
            self.say(f"start not counted: {error}")
            return "?"

    def run(self):
        while self.step < self.options.steps:
            suspend = self.one_step()
            due = self.step % self.options.checkpoint_every == 0 or self.step == self.options.steps
            if self.rank == 0 and (due or suspend):
                self.save()
            if self.step % self.options.print_every == 0 or self.step == self.options.steps:
                self.say(f"step {self.step} loss {self.loss:.4f}")
            if suspend and self.step < self.options.steps:  # Else it is done anyway.
                self.suspend()
        self.finish()

    def one_step(self):
        """Trains one step on all ranks; true on all of them if this was the last one before a
        suspend."""
        started = time.monotonic()
        count = self.options.shard_examples
        positions = [self.corpus.random_position(self.rng) for _ in range(SHARDS * count)]
        mine = {
            shard: self.net.gradient(self.corpus, positions[shard * count:(shard + 1) * count])
            for shard in range(self.rank, SHARDS, self.world_size)
        }
        time.sleep(max(0.0, started + self.options.step_seconds - time.monotonic()))
        self.report_progress()
        gradient, loss, suspend = reduce.all_reduce(
            self.peers, self.rank, self.step, mine, hai.receive_suspend_command())
        self.net.update(gradient, SHARDS * count, self.options.rate)
        self.loss = loss / (SHARDS * count)
        if self.rank == 0:
            self.curve.append(self.step, self.loss)
        self.step += 1
        return suspend

    def report_progress(self):
        if time.monotonic() - self.reported_at >= PROGRESS_PERIOD_SECONDS:
            self.reported_at = time.monotonic()
            hai.report_progress(self.step)
            if self.rank == 0 and self.step > 0:
                hai.report_metrics(loss=self.loss)

    def save(self):
        started = time.monotonic()
        self.curve.sync()
        progress = {"step": self.step, "loss": self.loss}
        data = checkpoints.pack(self.net, self.rng, progress, self.shape)
        path = checkpoints.save(self.options.checkpoint_dir, self.step, data)
        self.saved_step = self.step
        hai.report_checkpoint(self.step, path, time.monotonic() - started)
        self.say(f"saved {path}")

    def suspend(self):
        """The first rank that calls go_suspend() ends all of them, so none may before rank 0 has
        saved."""
        self.tell_all({"saved": self.saved_step})
        self.say(f"suspending at step {self.step}")
        records.note(self.options.ledger, "suspend", self.rank, self.step)
        hai.go_suspend()

    def finish(self):
        """All ranks must hold the same weights; rank 0 then writes the result, and only then may
        any rank exit: a result that could not be written must fail the job."""
        digest = self.net.sha256()
        if self.rank != 0:
            self.peers[0].send({"sha256": digest})
        else:
            for peer in self.peers:
                other, _ = peer.receive()
                if other["sha256"] != digest:
                    theirs = other["sha256"]
                    raise SystemExit(f"{peer.name} ended with weights {theirs}, not {digest}")
            if self.saved_step != self.step:
                self.save()
            self.write_result(digest)
        self.tell_all({"done": self.step})
        records.note(self.options.ledger, "end", self.rank, self.step)
        self.say(f"final weights sha256={digest}")

    def write_result(self, digest):
        if self.options.result:
            result = {"steps": self.step, "loss": self.loss, "sha256": digest,
                      "world_size": self.world_size}
            line = json.dumps(result).encode() + b"\n"
            checkpoints.write_atomically(self.options.result, line)

    def tell_all(self, header):
        if self.rank != 0:
            self.peers[0].receive()
        for peer in self.peers if self.rank == 0 else []:
            peer.send(header)


def main():
    trainer = Trainer(options.arguments(HERE))
    try:
        trainer.join()
        trainer.restore()
        trainer.run()
    except peers.PeerLost as error:
        trainer.say(str(error))
        return PEER_LOST_EXIT_CODE
    return 0


if __name__ == "__main__":
    sys.exit(main())
