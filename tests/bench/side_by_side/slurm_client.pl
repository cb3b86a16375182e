#!/usr/bin/perl
# One-process libslurm client (through Debian's libslurm-perl binding of the
# public C API) used by slurm_scenarios.py.  Prints one JSON object per call.
#   slurm_client.pl submit  SPECFILE HOLD        SPECFILE lines: nodes sleep partition
#   slurm_client.pl latency TRIES NODES MODE     MODE: batch | alloc
#   slurm_client.pl allocq  SPECFILE             queue allocation-only jobs (no script)
#   slurm_client.pl churn   RUN_S TOTAL LIMIT_S  end each running job RUN_S after it was seen
#   slurm_client.pl loadjob TRIES FIRST LAST     slurm_load_job() on random ids
use strict; use warnings;
use Slurm qw(:all);
use Time::HiRes qw(time usleep);

my $slurm = Slurm::new() or die "cannot initialise libslurm";
my ($verb, @a) = @ARGV;

sub pct { my ($p, @s) = @_; return 0 unless @s;
  @s = sort { $a <=> $b } @s; my $i = int($p / 100 * (@s - 1) + 0.5); return $s[$i]; }
sub ms { return sprintf("%.3f", 1000 * $_[0]); }

sub desc {
  my ($nodes, $sleep, $part, $hold) = @_;
  my %d = (name => "b$nodes", min_nodes => $nodes, max_nodes => $nodes,
    shared => 0, tres_per_node => "gres:gpu:8", time_limit => ($sleep < 50 ? 1 : 60),
    partition => $part, user_id => $<, group_id => $( + 0, work_dir => "/tmp",
    std_out => "/dev/null", std_err => "/dev/null", std_in => "/dev/null",
    environment => { PATH => "/usr/bin:/bin" });
  $d{priority} = 0 if $hold;
  return \%d;
}
sub batch {
  my $d = desc(@_);
  $d->{script} = "#!/bin/sh\nexec sleep $_[1]\n";
  for (1 .. 600) {
    my $r = $slurm->submit_batch_job($d);
    return $r->{job_id} if $r;
    my $e = $slurm->get_errno();
    $main::retries++;
    die "submit: " . $slurm->strerror($e) if $main::retries > 500;
    usleep(100000);
  }
}
our $retries = 0;

if ($verb eq "submit") {
  my ($file, $hold) = @a;
  open(my $f, "<", $file) or die "$file: $!";
  my @spec = map { [split] } <$f>;
  my (@lat, $first, $last);
  my $t0 = time;
  for my $s (@spec) {
    my $t = time;
    $last = batch($s->[0], $s->[1], $s->[2], $hold);
    push @lat, time - $t;
    $first //= $last;
  }
  my $dt = time - $t0;
  printf '{"jobs":%d,"seconds":%.3f,"jobs_per_s":%.1f,"p50_ms":%s,"p99_ms":%s,"max_ms":%s,"first":%d,"last":%d,"retries":%d}' . "\n",
    scalar @spec, $dt, @spec / $dt, ms(pct(50, @lat)), ms(pct(99, @lat)), ms(pct(100, @lat)), $first, $last, $retries;
}
elsif ($verb eq "latency") {
  my ($tries, $nodes, $mode) = @a;
  my (@run, @ack, $polls);
  for my $i (1 .. $tries) {
    # de-phase from the controller's 1 s background loop
    usleep(int(rand($mode eq "batch" ? 1_000_000 : 50_000)));
    my ($id, $t0, $t1, $t2);
    $t0 = time;
    if ($mode eq "batch") {
      $id = batch($nodes, 600, "low", 0);
      $t1 = time;
      while (1) {
        my $j = $slurm->load_job($id);
        $polls++;
        $t2 = time;
        last if $j && ($j->{job_array}[0]{job_state} & 0xff) == 1;
        die "job $id not running after 60 s" if $t2 - $t0 > 60;
        usleep(2000);
      }
    } else {
      my $d = desc($nodes, 600, "low", 0);
      $d->{immediate} = 1;
      my $r = $slurm->allocate_resources($d) or die "alloc: " . $slurm->strerror($slurm->get_errno());
      $t1 = $t2 = time;
      $id = $r->{job_id};
      die "alloc of $nodes not immediate" unless $r->{node_list};
    }
    push @ack, $t1 - $t0;
    push @run, $mode eq "batch" ? $t2 - $t1 : $t2 - $t0;
    $slurm->kill_job($id, 9);
    while ($nodes > 64) {              # wait until the nodes are free again
      my $j = $slurm->load_job($id);
      last if !$j;
      my $s = $j->{job_array}[0]{job_state};
      last if ($s & 0xff) >= 3 && !($s & 0x8000);
      usleep(20000);
    }
  }
  printf '{"ack":[%s],"run":[%s]}' . "\n", join(",", map { ms($_) } @ack), join(",", map { ms($_) } @run);
}
elsif ($verb eq "allocq") {
  open(my $f, "<", $a[0]) or die "$a[0]: $!";
  my ($n, $first, $last, $t0) = (0, undef, undef, time);
  while (<$f>) {
    my ($nodes, undef, $part) = split;
    my $r = $slurm->allocate_resources(desc($nodes, 1, $part, 0));
    die "alloc: " . $slurm->strerror($slurm->get_errno()) unless $r;
    $first //= $r->{job_id}; $last = $r->{job_id}; $n++;
  }
  printf '{"jobs":%d,"jobs_per_s":%.1f,"first":%d,"last":%d}' . "\n", $n, $n / (time - $t0), $first, $last;
}
elsif ($verb eq "churn") {
  my ($run, $total, $limit) = @a;
  my (%seen, %done, @lat);
  my $t0 = time;
  while (keys(%done) < $total && time - $t0 < $limit) {
    my $t = time;
    for my $id (split /\s+/, `squeue -h -t R -o %i`) { $seen{$id} //= $t unless $done{$id}; }
    for my $id (grep { $t - $seen{$_} >= $run } keys %seen) {
      my $t1 = time;
      $slurm->complete_job($id, 0);
      push @lat, time - $t1;
      $done{$id} = 1; delete $seen{$id};
    }
    my $rest = 0.25 - (time - $t);
    usleep(1e6 * $rest) if $rest > 0;
  }
  printf '{"done":%d,"seconds":%.2f,"complete_p50_ms":%s,"complete_p99_ms":%s}' . "\n",
    scalar(keys %done), time - $t0, ms(pct(50, @lat)), ms(pct(99, @lat));
}
elsif ($verb eq "loadjob") {
  my ($tries, $first, $last) = @a;
  my @lat;
  for (1 .. $tries) {
    my $id = $first + int(rand($last - $first + 1));
    my $t = time;
    $slurm->load_job($id);
    push @lat, time - $t;
  }
  printf '{"tries":%d,"p50_ms":%s,"p99_ms":%s,"max_ms":%s}' . "\n",
    $tries, ms(pct(50, @lat)), ms(pct(99, @lat)), ms(pct(100, @lat));
}
else { die "unknown verb" }
