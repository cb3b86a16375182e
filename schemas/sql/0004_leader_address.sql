-- Where the leader is reached, so that a standby can send people there. '' = not told.
ALTER TABLE cluster_epoch ADD COLUMN holder_grpc text NOT NULL DEFAULT '';
ALTER TABLE cluster_epoch ADD COLUMN holder_http text NOT NULL DEFAULT '';
