-- What happened in each hour, for charts over a year: counted from the events before they may leave their table
-- (server/store/hour_queries.h), and kept when they have. Nothing else depends on it.
CREATE TABLE history_hour (
  at                  timestamptz PRIMARY KEY,  -- when it begins
  minutes             integer NOT NULL DEFAULT 0,  -- of cluster_sample that are in the next six
  total_gpu_seconds    bigint NOT NULL DEFAULT 0,
  used_gpu_seconds     bigint NOT NULL DEFAULT 0,
  free_gpu_seconds     bigint NOT NULL DEFAULT 0,
  reserved_gpu_seconds bigint NOT NULL DEFAULT 0,
  draining_gpu_seconds bigint NOT NULL DEFAULT 0,
  broken_gpu_seconds   bigint NOT NULL DEFAULT 0,
  submitted           bigint NOT NULL DEFAULT 0,
  succeeded           bigint NOT NULL DEFAULT 0,
  failed              bigint NOT NULL DEFAULT 0,
  stopped             bigint NOT NULL DEFAULT 0,
  preemptions         bigint NOT NULL DEFAULT 0,
  faults              bigint NOT NULL DEFAULT 0,
  nodes_lost          bigint NOT NULL DEFAULT 0,
  checks_failed       bigint NOT NULL DEFAULT 0,
  ended_gpu_seconds   bigint NOT NULL DEFAULT 0,
  lost_gpu_seconds    bigint NOT NULL DEFAULT 0
);

-- Waits that ended in the hour, by how long they were: bin 0 is less than a second, bin n below 1.15^n seconds.
CREATE TABLE history_wait (
  at    timestamptz NOT NULL,
  bin   smallint    NOT NULL,
  jobs  bigint      NOT NULL,
  PRIMARY KEY (at, bin)
);

-- Events up to here are in the tables above.
CREATE TABLE history_cursor (
  id   smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  seq  bigint   NOT NULL DEFAULT 0,
  at   timestamptz
);
INSERT INTO history_cursor DEFAULT VALUES;
