"""srun --mpi=pmix: programs of MPI over the nodes of a job without mpirun, their ends, and what is refused."""

import re
import shutil
import subprocess
import unittest

from cluster import ClusterTest, programs

# Values that are wrong if a rank, the number of ranks or who is who is; to be ended in the ways that programs end.
PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
  int rank = 0, size = 0, sum = 0, squares[64];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count > 1 && rank == 2) {
    if (strcmp(words[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(words[1], "leave") == 0) _Exit(0);
    if (strcmp(words[1], "crash") == 0) abort();
  }
  int square = rank * rank;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(&square, 1, MPI_INT, squares, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  char text[256];
  int length = sprintf(text, "%s rank %d of %d: %d", count > 1 ? words[1] : "", rank, size, sum);
  for (int i = 0; i < size; ++i) length += sprintf(text + length, " %d", squares[i]);
  puts(text);
  return MPI_Finalize();
}
"""


class SlurmMpiTest(ClusterTest):
    shape = {"name": "mpi", "nodes": 2, "gpus": 4}

    def setUp(self):
        if not shutil.which("mpicc"):
            self.skipTest("no Open MPI: deploy/install_packages.sh --tests")
        source = self.cluster.file("program.c", PROGRAM)
        subprocess.run(["mpicc", source, "-o", self.cluster.work / "program"], check=True)

    def call(self, command, *words, stdin=None):
        return subprocess.run(
            [programs() / "slurm" / command, *map(str, words)],
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            cwd=self.cluster.work,
            # All nodes of a dev cluster are one machine, which shared memory can't tell apart.
            # There are more tasks than cores, and one that waits would keep its own busy.
            env=self.cluster.environment(OMPI_MCA_btl="tcp,self", OMPI_MCA_mpi_yield_when_idle="1"),
        )

    def log_of(self, script, *sbatch):
        done = self.call(*(sbatch or ("sbatch",)), "--parsable", "-N2", "--ntasks-per-node=2", stdin="#!/bin/bash\n" + script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.cluster.wait_end(int(done.stdout))
        return self.cluster.log(int(done.stdout))

    def test_programs_of_mpi(self):
        text = self.log_of(
            """srun --mpi=pmix ./program first
export SLURM_MPI_TYPE=pmix_v4
srun -n3 ./program second & srun --mpi=pmix ./program third & wait
OMPI_MCA_pmix_base_collect_data=0 srun ./program asked
srun -n1 ./program alone
srun --mpi=none sh -c 'echo pmix ${PMIX_RANK-none}'
"""
        )
        for name in ("first", "third", "asked"):
            found = re.findall(rf"^{name} rank (\d) of 4: 6 0 1 4 9$", text, re.M)
            self.assertEqual(sorted(found), ["0", "1", "2", "3"], text)
        found = re.findall(r"^second rank (\d) of 3: 3 0 1 4$", text, re.M)
        self.assertEqual(sorted(found), ["0", "1", "2"], text)
        self.assertEqual(re.findall(r"^alone .*", text, re.M), ["alone rank 0 of 1: 0 0"])
        self.assertEqual(text.count("pmix none\n"), 4, text)
        self.assertNotIn("error", text)

    def test_a_task_that_fails_ends_the_others(self):
        text = self.log_of(
            """for way in abort leave crash; do srun --mpi=pmix ./program $way; echo "$way $?"; done
srun --mpi=pmix sh -c 'exit $SLURM_PROCID'; echo "none of MPI $?"
srun --mpi=pmix ./program again
"""
        )
        # Its server's word and its exit are heard of in either order.
        self.assertRegex(text, r"task 2(: Exited with exit code 5| called MPI_Abort with 5)\n")
        self.assertIn("\nabort 5\n", text)
        self.assertIn("srun: error: task 2 ended without MPI_Finalize\n", text)
        self.assertIn("\nleave 1\n", text)
        self.assertRegex(text, r"srun: error: node-\d: task 2: Aborted\n")
        self.assertIn("\ncrash 134\n", text)
        self.assertRegex(text, r"\nnone of MPI [123]\n")
        self.assertEqual(len(re.findall(r"^again rank \d of 4: 6 0 1 4 9$", text, re.M)), 4, text)

    def test_a_node_without_the_library(self):
        bare = self.cluster.work / "bare"
        bare.mkdir()
        shutil.copy(programs() / "hai-slurm", bare)
        server = (programs() / "hai-slurm-pmix").read_bytes()
        self.assertIn(b"libpmix.so.2", server)
        (bare / "hai-slurm-pmix").write_bytes(server.replace(b"libpmix.so.2", b"libnone.so.2"))
        (bare / "hai-slurm-pmix").chmod(0o755)
        script = 'srun --mpi=pmix echo started; echo "ended with $?"; srun -n1 echo next\n'
        text = self.log_of(script, bare / "hai-slurm", "sbatch")
        remedy = r"srun: error: node-\d: --mpi=pmix needs libpmix2 on each node: apt-get install libpmix2\n"
        self.assertEqual(len(re.findall(remedy, text)), 1, text)  # beside what the loader itself says
        self.assertIn("ended with 1\n", text)
        self.assertIn("next\n", text)
        self.assertNotIn("started", text)

    def test_other_types_are_refused(self):
        done = self.call("srun", "--mpi=list")
        self.assertEqual((done.returncode, done.stdout), (0, "MPI plugin types are...\n\tnone\n\tpmix\n"))
        text = self.log_of('srun --mpi=pmi2 ./program; echo "ended with $?"\n')
        self.assertEqual(
            text,
            "srun: error: --mpi: none, pmix (as PMIx 4 has it) or list; or use mpirun\nended with 2\n",
        )


if __name__ == "__main__":
    unittest.main()
