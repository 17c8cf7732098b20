/* titan_book.h: which job an id of Titan's means: the newest that was submitted with it. The ids are labels of the jobs
 * (TITAN_ID_LABEL) in flows with the label dialect=titan; this is an index of them, made from the state when it is
 * first asked for and then kept up with each new flow. It is a part of the shard, as the state is. */
#ifndef REEVE_TITAN_BOOK_H
#define REEVE_TITAN_BOOK_H

#include "ids.h"
#include "map.h"
#include "vec.h"

struct server;

struct titan_entry {
    struct job_ref job;
    struct bytes *id;
};
#define TITAN_BOOK_PRUNE 1024u

struct titan_book {
    struct vec entries;  /* struct titan_entry, oldest first */
    struct index newest; /* id -> position + 1 of the newest entry with it */
    uint64_t seen;       /* flows up to this number have been looked at */
    uint32_t prune_at;   /* so many entries, and those that have left memory go */
};

struct titan_book *titan_book_of(const struct server *s);
/* Takes in flows that have come, and lets go of those that have left memory. */
void titan_book_update(struct server *s);
struct job_view;
struct slice titan_id_of(struct server *s, const struct job_view *job); /* empty = it has none; uses s->frame_arena */
bool titan_is_flow(struct server *s, flow_id flow); /* it came by this dialect; uses s->frame_arena */
/* The newest job of that id, or of DAG- and that id. False: there is none. */
bool titan_book_find(struct server *s, struct slice id, struct titan_entry *ret);

#endif
