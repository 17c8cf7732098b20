/* sweep.h: runs seeds, each in its own process and twice over, and counts. A red seed is run again with its lines kept
 * and reported once. */
#ifndef REEVE_SWEEP_H
#define REEVE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

struct sweep_tally {
    uint64_t passed;
    uint64_t failed;
};

void sweep_run(struct sweep_tally *t, uint64_t from, uint64_t count, bool verbose);
void sweep_one(struct sweep_tally *t, uint64_t seed, bool trace);
bool sweep_regress(struct sweep_tally *t, const char *path); /* false when the list cannot be read */
/* Each mutant must be caught by one of `count` seeds; the one that the file at `path` knows is tried first. The program
 * as it is must pass all up to the last that was needed. False when this build has no mutants. */
bool sweep_mutants(struct sweep_tally *t, uint64_t count, const char *only, const char *path);

#endif
