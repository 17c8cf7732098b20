/* main.c: the command line of the simulator: sweeps of seeds, one seed in full, the seeds that were once red, and the
 * mutants. Each seed runs in a process of its own: a panic or a hang is one red seed, not the end of a sweep.
 *
 *   reeve-sim run --seeds N --from S [--verbose]
 *   reeve-sim one SEED [--trace]
 *   reeve-sim regress [FILE]
 *   reeve-sim mutants [--seeds N] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

static int usage(void) {
    fprintf(stderr, "usage: reeve-sim run [--seeds N] [--from S] [--verbose]\n"
                    "       reeve-sim one SEED [--trace]\n"
                    "       reeve-sim regress [FILE]\n"
                    "       reeve-sim mutants [--seeds N] [--only NAME]\n");
    return 2;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise) {
    for (int i = 2; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    }
    return otherwise;
}

static bool flag(int argc, char **argv, const char *name) {
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) return true;
    }
    return false;
}

int main(int argc, char **argv) {
    if (argc < 2) return usage();
    struct sweep_tally tally = {0};
    if (strcmp(argv[1], "run") == 0) {
        uint64_t from = strtoull(option(argc, argv, "--from", "1"), NULL, 10);
        uint64_t count = strtoull(option(argc, argv, "--seeds", "200"), NULL, 10);
        sweep_run(&tally, from, count, flag(argc, argv, "--verbose"));
    } else if (strcmp(argv[1], "one") == 0 && argc >= 3) {
        sweep_one(&tally, strtoull(argv[2], NULL, 10), flag(argc, argv, "--trace"));
    } else if (strcmp(argv[1], "regress") == 0) {
        if (!sweep_regress(&tally, argc >= 3 ? argv[2] : "sim/seeds.txt")) return 2;
    } else if (strcmp(argv[1], "mutants") == 0) {
        uint64_t count = strtoull(option(argc, argv, "--seeds", "800"), NULL, 10);
        if (!sweep_mutants(&tally, count, option(argc, argv, "--only", NULL), "sim/mutant_seeds.txt")) return 2;
    } else {
        return usage();
    }
    printf("sim: %" PRIu64 " passed, %" PRIu64 " failed\n", tally.passed, tally.failed);
    return tally.failed == 0 ? 0 : 1;
}
