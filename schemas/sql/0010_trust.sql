-- Tokens end, may do less than their users, and tell when they were used; machines join with some.
ALTER TABLE token ADD COLUMN kind text NOT NULL DEFAULT 'api';
ALTER TABLE token ADD COLUMN scope text NOT NULL DEFAULT 'admin';
ALTER TABLE token ADD COLUMN expires_at timestamptz;
ALTER TABLE token ADD COLUMN last_used_at timestamptz;
ALTER TABLE token ADD COLUMN nodes text NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN uses_left integer NOT NULL DEFAULT 0;

-- What jobs may be given without anybody else seeing it, sealed with a key that is not here.
CREATE TABLE secret (
  user_name text NOT NULL,
  name text NOT NULL,
  sealed text NOT NULL,
  set_at timestamptz NOT NULL,
  version integer NOT NULL,
  PRIMARY KEY (user_name, name)
);

-- The certificates that were made for nodes.
CREATE TABLE node_identity (
  node text PRIMARY KEY,
  serial text NOT NULL,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  joined_with text NOT NULL
);

-- Who did, or tried, what: refused and changing calls, sign-ins, reads of logs and secrets. Rows are
-- only added. `hash` is the SHA-256 of the row before it and this one (server/store/audit_chain.h).
CREATE TABLE audit (
  seq bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  user_name text NOT NULL,
  token text NOT NULL,
  address text NOT NULL,
  call text NOT NULL,
  target text NOT NULL,
  result text NOT NULL,
  detail text NOT NULL,
  hash text NOT NULL
);
CREATE INDEX audit_by_user ON audit (user_name, seq);

-- Neither a bug of hai's nor a slip at the prompt changes what was written. Whoever owns the table
-- can take this away: for that there is the chain, and what was exported.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of table audit are only added';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
