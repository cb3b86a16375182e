-- The peers a silent node asks before it ends its ranks (docs/design/0005).
ALTER TABLE node ADD COLUMN peers json NOT NULL DEFAULT '{}';
