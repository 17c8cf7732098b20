/* pack.h: many small things in few files: one directory of packs, appended to in groups that share a sync.
 *
 * Everything here belongs to one thread (the loop) and touches no disk, but for `packs_open` and `pack_flush_run`:
 *
 *     packs_append(p, …)                          to memory; readable at once, durable when packs_durable() reaches
 *                                                 the ticket
 *     if (packs_flush_begin(p, &f))               takes all that waits
 *         pack_flush_run(f);                      writes and syncs: on any thread, while the loop goes on appending
 *         e = packs_flush_end(p, f, &why);        ERR_OK: durable. ERR_NO_SPACE: nothing harmed, begin again later.
 *                                                 Anything else: the store is dead, stop the process
 *
 * One flush at a time. Who owns an entry keeps its place and says when it is dead (packs_release); a closed pack in
 * which nothing lives is removed, one that is less than half alive is moved into the open one, a few blocks with each
 * flush. Nothing tells the disk that an entry died: after a restart it is back, and its owner must let it go again. */
#ifndef REEVE_PACK_H
#define REEVE_PACK_H

#include "clock.h"
#include "packio.h"

struct pack_place {
    uint32_t pack; /* 0 = none */
    uint32_t block;
    uint32_t at, len; /* of the body in the block's payload */
};

static inline bool pack_place_eq(struct pack_place a, struct pack_place b) {
    return a.pack == b.pack && a.block == b.block && a.at == b.at && a.len == b.len;
}

/* What the owner of the entries answers. `found` is called at the start for every entry of every pack (also for what
 * its owner let go before, and twice for what was being moved): an entry that it does not take (false) is dead.
 * `moved` asks whether the entry at `from` is alive, and tells that it is at `to` now. */
struct pack_owner {
    bool (*found)(struct pack_owner *o, const struct pack_entry *e, struct pack_place place);
    bool (*lives)(struct pack_owner *o, const struct pack_entry *e, struct pack_place from);
    void (*moved)(struct pack_owner *o, const struct pack_entry *e, struct pack_place from, struct pack_place to);
};

struct packs_options {
    const char *dir;            /* made when missing; a literal */
    uint32_t kind;              /* enum pack_kind of the shared packs */
    uint64_t pack_bytes;        /* a pack that has reached this is closed */
    uint64_t pending_bytes_max; /* what may wait in memory; beyond it packs_append answers busy */
    uint64_t reserve_bytes;     /* of the disk, left free for the journal */
};

struct packs;
struct pack_flush;

CHECKED enum err packs_open(struct disk *disk, struct clock *clock, const struct packs_options *o,
                            struct pack_owner *owner, struct packs **ret, struct why *why);
void packs_close(struct packs *p); /* what was not flushed is lost, as in a crash */

/* ERR_BUSY, ERR_NO_SPACE: try later. */
CHECKED enum err packs_append(struct packs *p, uint32_t kind, struct slice head, struct slice body,
                              struct pack_place *ret, struct why *why);
/* Would it be taken? `bytes` beside what waits. */
CHECKED enum err packs_admit(struct packs *p, uint64_t bytes, struct why *why);
/* Has the next flush look how much room the disk has. */
void packs_ask(struct packs *p);
uint64_t packs_room(const struct packs *p); /* of the disk, beyond what is reserved, when it was last looked at */
void packs_release(struct packs *p, struct pack_place place);
uint64_t packs_ticket(const struct packs *p);  /* of what is appended now */
uint64_t packs_durable(const struct packs *p); /* every ticket up to here is on disk */
/* Where to read a place: true = its bytes are still in memory, in `ret_bytes`, valid until the next call here. */
bool packs_find(const struct packs *p, struct pack_place place, struct slice *ret_bytes, struct pack_spot *ret_spot);

bool packs_wait(const struct packs *p); /* there is something to flush, and no flush under way */
bool packs_flush_begin(struct packs *p, struct pack_flush **ret); /* false: nothing to do */
void pack_flush_run(struct pack_flush *f);
CHECKED enum err packs_flush_end(struct packs *p, struct pack_flush *f, struct why *why);

/* A pack of its own for one large thing: written by its maker under the .tmp name, given to the store when it is whole
 * and durable under its real name. */
uint32_t packs_number_take(struct packs *p);
void packs_adopt(struct packs *p, uint32_t number, uint64_t bytes);

struct packs_stats {
    uint32_t packs;
    uint64_t file_bytes;
    uint64_t entries; /* alive */
    uint64_t flushes;
    uint64_t moved;   /* entries */
    uint32_t damaged; /* packs in which something was unreadable */
};
void packs_stats(const struct packs *p, struct packs_stats *ret);
/* ERR_OK, or ERR_CORRUPT with the first damage found: something that was durable may be missing from the index. */
CHECKED enum err packs_damage(const struct packs *p, struct why *why);

#endif
