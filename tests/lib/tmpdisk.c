/* tmpdisk.c: see tmpdisk.h. */
#include "tmpdisk.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "osdisk.h"
#include "panic.h"

#define SIX_X "XX" "XX" "XX" /* what mkdtemp replaces */

void tmpdisk_make(struct tmpdisk *t) {
    const char *base = getenv("TMPDIR");
    snprintf(t->path, sizeof t->path, "%s/reeve-test-%s", base != NULL ? base : "/tmp", SIX_X);
    ENSURE(mkdtemp(t->path) != NULL);
    struct why why;
    ENSURE(osdisk_open(t->path, &t->disk, &why) == ERR_OK);
}

void tmpdisk_reopen(struct tmpdisk *t) {
    struct why why;
    if (t->disk != NULL) osdisk_close(t->disk);
    ENSURE(osdisk_open(t->path, &t->disk, &why) == ERR_OK);
}

static int entry_remove(const char *path, const struct stat *st, int flag, struct FTW *at) {
    (void)st, (void)flag, (void)at;
    return remove(path);
}

void tmpdisk_remove(struct tmpdisk *t) {
    if (t->disk != NULL) osdisk_close(t->disk);
    t->disk = NULL;
    (void)nftw(t->path, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}
