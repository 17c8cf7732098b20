/* serve_memory.h: how the server's memory comes from the system and goes back.
 *
 *     memory_set()              at the start of the process
 *     memory_recovers(h, n)     n bytes of the past are about to be applied: memory for them is made ready beforehand
 *     memory_recovered(h)       the past is over: what was ready and not needed goes back
 *     memory_give_back()        at rest */
#ifndef REEVE_SERVE_MEMORY_H
#define REEVE_SERVE_MEMORY_H

#include <stddef.h>

struct osprefault;

struct memory_recovery { /* zeroes at first */
    struct osprefault *ahead;
    size_t bytes; /* of the past so far */
};

void memory_set(void);
void memory_recovers(void *recovery, size_t bytes);
void memory_recovered(struct memory_recovery *h);
void memory_give_back(void);

#endif
