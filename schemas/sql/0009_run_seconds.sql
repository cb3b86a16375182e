-- How long a job's attempts ran, which was not counted before: a whole number of seconds each.
UPDATE job SET rest = (rest::jsonb || jsonb_build_object('run_seconds', ran.seconds))::json
FROM (SELECT attempt.job,
             sum(greatest(0, trunc(extract(epoch FROM ended_at - running_at))))::bigint AS seconds
      FROM attempt WHERE running_at IS NOT NULL AND ended_at IS NOT NULL
      GROUP BY attempt.job) ran
WHERE ran.job = job.id AND ran.seconds > 0 AND NOT rest::jsonb ? 'run_seconds';
