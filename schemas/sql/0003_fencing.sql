-- The peers a silent node asks before it ends its ranks (docs/design/0005): nodes by id. Of two lists
-- the second is named but not yet confirmed, and the node may go by either.
ALTER TABLE node ADD COLUMN peers bigint[] NOT NULL DEFAULT '{}';
ALTER TABLE node ADD COLUMN next_peers bigint[];
ALTER TABLE node ADD COLUMN peers_version bigint NOT NULL DEFAULT 0;
