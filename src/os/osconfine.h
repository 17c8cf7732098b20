/* osconfine.h: port/confine.h on Linux; and what it shares with the sandbox of jobs: giving up privileges. */
#ifndef REEVE_OSCONFINE_H
#define REEVE_OSCONFINE_H

#include "confine.h"

extern const struct confine osconfine;

/* Before a change of uid, with which the right to it goes: nothing that is run from here on can have a capability. */
void osconfine_bound(void);
/* No program that it runs gains a right, it has no capability and can get none, and dumps no memory. */
CHECKED enum err osconfine_privileges(struct why *why);

#endif
