-- The state of the cluster and the log of how it came about. Rows say what is; events say why.
-- Both are written in one transaction, so that replaying the events gives exactly the rows.
-- There are no foreign keys: the one writer keeps the rows right, and each key would cost every
-- submit a lookup.

-- One row: who leads. Each append checks and updates it, which fences whoever led before.
CREATE TABLE cluster_epoch (
  id              smallint    PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  epoch           bigint      NOT NULL DEFAULT 0,
  holder          text        NOT NULL DEFAULT '',  -- host:pid, '' = nobody
  holder_process  text        NOT NULL DEFAULT '',  -- tells a dead process from its successor
  expires_at      timestamptz NOT NULL DEFAULT '-infinity',
  started_epoch   bigint      NOT NULL DEFAULT 0,   -- of the last epoch_started event
  last_seq        bigint      NOT NULL DEFAULT 0    -- of the last event
) WITH (fillfactor = 10);
INSERT INTO cluster_epoch DEFAULT VALUES;

CREATE TABLE event (
  seq      bigint      PRIMARY KEY,
  time     timestamptz NOT NULL,
  actor    text        NOT NULL,
  kind     text        NOT NULL,
  subject  text        COLLATE "C" NOT NULL,  -- job/17, node/3, user/ann, …; '' = the cluster
  body     jsonb       NOT NULL
);
CREATE INDEX event_by_subject ON event (subject, seq);

CREATE TABLE job (
  id                bigint      PRIMARY KEY,
  name              text        NOT NULL,
  user_name         text        COLLATE "C" NOT NULL,
  group_name        text        NOT NULL,
  priority          text        NOT NULL,  -- as asked; the attempt has the level it ran at
  state             text        COLLATE "C" NOT NULL,
  held              boolean     NOT NULL,
  hold_reason       text        NOT NULL,
  stop_requested    boolean     NOT NULL,
  node_count        integer     NOT NULL,
  gpus_per_node     integer     NOT NULL,  -- 0 = whole nodes
  tags              text[]      NOT NULL,
  request_id        text        NOT NULL,
  submitted_at      timestamptz NOT NULL,
  started_at        timestamptz,
  ended_at          timestamptz,
  attempt           integer     NOT NULL,  -- number of the latest, 0 = none yet
  exit_code         integer     NOT NULL,
  end_reason        text        NOT NULL,
  suspend_count     integer     NOT NULL,
  requeue_count     integer     NOT NULL,
  launch_failures   integer     NOT NULL,
  failure_restarts  integer     NOT NULL,
  lost_gpu_seconds  bigint      NOT NULL,
  spec              json        NOT NULL,  -- as text: it never changes, and a restart reads many
  rest              json        NOT NULL   -- reservation, checkpoint, dependencies, avoided nodes
) WITH (fillfactor = 70);
CREATE INDEX job_by_state ON job (state, id);
CREATE INDEX job_by_user ON job (user_name, id);
CREATE INDEX job_by_name ON job (user_name, left(name, 200) COLLATE "C", id);

CREATE TABLE attempt (
  job               bigint      NOT NULL,
  number            integer     NOT NULL,
  state             text        NOT NULL,
  priority          text        NOT NULL,
  master_port       integer     NOT NULL,
  exclusive         boolean     NOT NULL,
  placed_at         timestamptz NOT NULL,
  running_at        timestamptz,
  ended_at          timestamptz,
  suspend_deadline  timestamptz,
  suspended_for     bigint      NOT NULL,  -- the job it makes room for, 0 = none
  suspend_reason    text        NOT NULL,
  ending            json,                  -- how it ends, once that is decided
  PRIMARY KEY (job, number)
) WITH (fillfactor = 70);

CREATE TABLE rank (
  job        bigint   NOT NULL,
  attempt    integer  NOT NULL,
  rank       integer  NOT NULL,
  node       bigint   NOT NULL,
  gpus       text     NOT NULL,  -- 0,1,2
  state      text     NOT NULL,
  cause      text     NOT NULL,
  exit_code  integer  NOT NULL,
  message    text     NOT NULL,
  PRIMARY KEY (job, attempt, rank)
) WITH (fillfactor = 70);
CREATE INDEX rank_by_node ON rank (node, job);

CREATE TABLE node (
  id                 bigint PRIMARY KEY,
  name               text   NOT NULL,
  group_name         text   NOT NULL,
  zone               text   NOT NULL,
  leaf               text   NOT NULL,
  liveness           text   NOT NULL,
  liveness_reason    text   NOT NULL,
  scheduling         text   NOT NULL,
  scheduling_reason  text   NOT NULL,
  scheduling_by      text   NOT NULL,
  facts              json   NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE quota (
  owner       text   NOT NULL,
  group_name  text   NOT NULL,
  priority    text   NOT NULL,
  nodes       bigint NOT NULL,
  PRIMARY KEY (owner, group_name, priority)
);

CREATE TABLE app_user (
  name    text    PRIMARY KEY,
  role    text    NOT NULL,
  active  boolean NOT NULL,
  groups  text[]  NOT NULL
);

CREATE TABLE token (
  hash        text        PRIMARY KEY,  -- SHA-256 of the secret, hex
  user_name   text        NOT NULL,
  label       text        NOT NULL,
  created_at  timestamptz NOT NULL
);

CREATE TABLE incident (
  id         bigint      PRIMARY KEY,
  kind       text        NOT NULL,
  subject    text        NOT NULL,
  summary    text        NOT NULL,
  opened_at  timestamptz NOT NULL,
  closed_at  timestamptz,
  body       jsonb       NOT NULL DEFAULT '{}'
);
CREATE INDEX incident_open ON incident (opened_at) WHERE closed_at IS NULL;

CREATE TABLE node_check (
  node        bigint      NOT NULL,
  name        text        NOT NULL,
  verdict     text        NOT NULL,  -- ok | warn | fail | unknown
  summary     text        NOT NULL,
  checked_at  timestamptz NOT NULL,
  PRIMARY KEY (node, name)
);
