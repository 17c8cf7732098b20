/* zone_book.h: time zones by name, from the files of the world. Those asked for lately are kept, so that a page of a
 * thousand flows reads one file; after some questions everything is read anew, so that a new tzdata holds soon. */
#ifndef REEVE_ZONE_BOOK_H
#define REEVE_ZONE_BOOK_H

#include "zone.h"
#include "zones.h"

#define ZONE_BOOK_NAMES 4u

struct zone_book {
    struct zones *zones; /* NULL = UTC is the only one */
    struct arena arena;
    struct {
        char name[ZONE_NAME_BYTES_MAX + 1];
        const struct zone *zone;
    } kept[ZONE_BOOK_NAMES];
    uint32_t count, asked;
};

void zone_book_init(struct zone_book *b, struct zones *zones);
void zone_book_fini(struct zone_book *b);
/* Good until the next question. An empty name is UTC. */
CHECKED enum err zone_book_find(struct zone_book *b, struct slice name, const struct zone **ret, struct why *why);

/* A slot as its zone writes it, in the arena: 2026-03-29T02:30:00+01:00. In UTC without a book, and when
 * the zone is not there any more. */
struct slice zone_book_slot(struct zone_book *b, struct slice zone, int64_t slot_ms, struct arena *arena);

#endif
