/* tmpdisk.h: a real directory for the length of a test. */
#ifndef REEVE_TMPDISK_H
#define REEVE_TMPDISK_H

#include "disk.h"

struct tmpdisk {
    char path[256];
    struct disk *disk;
};

void tmpdisk_make(struct tmpdisk *t);    /* under $TMPDIR or /tmp */
void tmpdisk_reopen(struct tmpdisk *t);  /* as a new process sees it: locks of the old one are gone */
void tmpdisk_remove(struct tmpdisk *t);

#endif
