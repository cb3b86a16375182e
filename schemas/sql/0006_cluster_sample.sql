-- How the cluster was used, minute by minute, for charts over weeks. Nothing else depends on it.
CREATE TABLE cluster_sample (
  at             timestamptz PRIMARY KEY,
  gpus_total     real NOT NULL,
  gpus_used      real NOT NULL,
  gpus_free      real NOT NULL,
  gpus_reserved  real NOT NULL,
  gpus_draining  real NOT NULL,
  gpus_broken    real NOT NULL,
  jobs_running   real NOT NULL,
  jobs_queued    real NOT NULL,
  jobs_suspended real NOT NULL
);
