-- Time-sharing: who had how much GPU time, and who runs ahead of an earlier job.
ALTER TABLE attempt ADD COLUMN jumper boolean NOT NULL DEFAULT false;
ALTER TABLE app_user ADD COLUMN usage_gpu_seconds bigint NOT NULL DEFAULT 0;  -- decays, as of usage_at
ALTER TABLE app_user ADD COLUMN usage_at timestamptz NOT NULL DEFAULT 'epoch';
