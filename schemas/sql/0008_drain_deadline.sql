-- Until when the jobs of a cordoned node may run before they have to leave; null: it is only cordoned.
ALTER TABLE node ADD COLUMN drain_at timestamptz;
