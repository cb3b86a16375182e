-- Knobs that were set while the cluster ran, and nodes that were taken out of it.
CREATE TABLE knob (
  name text PRIMARY KEY,
  value text NOT NULL,
  set_by text NOT NULL,
  reason text NOT NULL,
  set_at timestamptz NOT NULL
);
ALTER TABLE node ADD COLUMN removed_at timestamptz;
