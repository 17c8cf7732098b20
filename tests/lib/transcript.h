/* transcript.h: commands and what they print, word for word, in a text file; tests/e2e/mistakes.txt says at its top how
 * it is read. One server and one worker with two slots run for all of it; `reeve` is in the path. */
#ifndef REEVE_TRANSCRIPT_H
#define REEVE_TRANSCRIPT_H

#include <stdint.h>

int transcript_setup(void **state);
int transcript_teardown(void **state);
/* Runs all of it, and fails with what was printed otherwise, or when it has fewer commands than `least`. */
void transcript_check(const char *path, uint32_t least);

#endif
