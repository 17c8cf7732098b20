/* bench.h: `reeve bench W0 … W10`: the speed of this very program, measured beside what the machine could do at best.
 *
 * A workload starts the program with its defaults as server and workers in a directory of its own, talks to it by TCP
 * with a token, and afterwards counts the records of its journal against the jobs. */
#ifndef REEVE_BENCH_H
#define REEVE_BENCH_H

#include "err.h"

/* The arguments after the verb. */
CHECKED enum err bench_run(int count, char **args, const char *build, struct why *why);

#endif
