/* zones.h: compiled time-zone files (RFC 8536), as the world offers them. Implemented in os/ from tzdata. */
#ifndef REEVE_ZONES_H
#define REEVE_ZONES_H

#include "buf.h"
#include "err.h"

struct zones {
    /* The file of a zone, by a name that fits (calendar/zone.h), into `ret`. ERR_NOT_FOUND; ERR_LIMIT: it is larger
     * than the buffer may be. Read each time, so that a new tzdata needs no restart. */
    enum err (*read)(struct zones *z, const char *name, struct buf *ret, struct why *why);
};

#endif
