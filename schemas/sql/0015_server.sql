-- Where the servers of this database are reached by agents. Each writes its row while it runs; the
-- leader tells the nodes, so that one that joined through a single server finds the others.
CREATE TABLE server (
  grpc text PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
