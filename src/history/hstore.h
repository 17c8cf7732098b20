/* hstore.h: the history (port/history.h) on SQLite: a file that one thread writes, one reads, and one makes anew when
 * it was lost. See README.md. */
#ifndef REEVE_HSTORE_H
#define REEVE_HSTORE_H

#include "history.h"

struct hstore_options {
    const char *dir;    /* made when it is not there */
    uint32_t days;      /* flows that finished longer ago leave; 0 = never */
    uint64_t bytes_max; /* in use; beyond, the oldest leave; 0 = no limit */
    int64_t wall_ms;    /* now: part of the name of a file that is set aside */
};

/* A damaged file is set aside here already; ERR_UNSUPPORTED: it is of a later program, and stays as it is. */
CHECKED enum err hstore_open(const struct hstore_options *o, struct history **ret, struct why *why);

#endif
