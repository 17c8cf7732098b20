/* oslandlock.h: files that a process keeps access to, all others it gives up for good (Landlock).
 *
 * The rules hold for it and all its children, and are about files as they are, not about their names: a link into a
 * forbidden place opens nothing. Kernels know more or less of it (its ABI); what a kernel does not know is not kept by
 * it, and who needs it asks for the ABI. */
#ifndef REEVE_OSLANDLOCK_H
#define REEVE_OSLANDLOCK_H

#include <stdint.h>

#include "err.h"

enum oslandlock_may {
    OSLANDLOCK_READ,  /* and execute, and list */
    OSLANDLOCK_WRITE, /* everything but making devices */
    OSLANDLOCK_LIST,  /* directories, and no file in them */
    OSLANDLOCK_USE,   /* read and write what is there: devices, /proc */
};

struct oslandlock_rule {
    const char *path; /* and all below it; left out when it does not exist */
    enum oslandlock_may may;
};

int oslandlock_abi(void); /* 0: the kernel has none */
/* From now on only these, and nothing is told to processes outside: neither signals nor abstract Unix sockets, where
 * the kernel can keep that. Without rules files stay as they are. Nothing at all where the kernel has no Landlock: look
 * at the ABI before. Needs PR_SET_NO_NEW_PRIVS. */
CHECKED enum err oslandlock_keep(const struct oslandlock_rule *rules, uint32_t count, struct why *why);

#endif
