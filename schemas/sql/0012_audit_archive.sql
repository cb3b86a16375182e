-- Entries of the audit log that left the table for files (hai-server archive). The hash of the last one is what the
-- first entry in the table must follow.
CREATE TABLE audit_archive (
  first_seq bigint PRIMARY KEY,
  last_seq bigint NOT NULL,
  last_at timestamptz NOT NULL,   -- the latest time of its entries
  last_hash text NOT NULL,
  file text NOT NULL,
  sha256 text NOT NULL,
  archived_at timestamptz NOT NULL
);

CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of table % are only added', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER audit_archive_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_archive
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- What is recorded as archived may be deleted, and nothing else.
DROP TRIGGER audit_append_only ON audit;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

CREATE FUNCTION audit_leaves_by_the_archive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM gone WHERE seq > coalesce((SELECT max(last_seq) FROM audit_archive), 0)) THEN
    RAISE EXCEPTION 'rows of table audit are only added: hai-server archive moves old ones into files';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER audit_leaves_by_the_archive AFTER DELETE ON audit
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION audit_leaves_by_the_archive();
