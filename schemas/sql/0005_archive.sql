-- Parts of the event log, and finished jobs, that were written to files and left the tables.
CREATE TABLE archive (
  id           bigint      PRIMARY KEY,
  first_seq    bigint      NOT NULL,
  last_seq     bigint      NOT NULL,
  jobs         bigint      NOT NULL,
  file         text        NOT NULL,
  sha256       text        NOT NULL,
  archived_at  timestamptz NOT NULL
);
