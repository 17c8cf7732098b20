/* osconfine.h: port/confine.h on Linux; and what it shares with the sandbox of jobs: giving up privileges. */
#ifndef REEVE_OSCONFINE_H
#define REEVE_OSCONFINE_H

#include "confine.h"

extern const struct confine osconfine;

/* No program that it runs gains a right, it has no capability and can get none, and dumps no memory. */
CHECKED enum err osconfine_privileges(struct why *why);

#endif
