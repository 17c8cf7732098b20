/* history.h: what is kept of flows that are over, for longer than memory: a projection of the journal that can be
 * searched. Losing it loses nothing: it is made again from the journal's archive.
 *
 * The owner puts rows as flows end and says how far it has come; later the history says what of that is durable, and
 * only then a flow may leave memory. Nothing here waits: rows and questions are taken over, `take` tells of what is
 * done, and the descriptor is readable when it is time for it. All calls are the owner's thread's, but for those of a
 * rebuild, which are made by the history's own.
 *
 * What a row says of a flow and its jobs is opaque here; what can be searched comes beside it. */
#ifndef REEVE_HISTORY_H
#define REEVE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "slice.h"

struct history_row {
    uint64_t flow; /* its number */
    uint64_t lsn;  /* of the state it was seen in: a later row of the same flow replaces an earlier one */
    int64_t created_ms, finished_ms;
    struct slice tenant, name, state;
    struct slice schedule;     /* that made it; empty = a submit did */
    struct slice labels;       /* "key=value\n" each */
    struct slice jobs, errors; /* texts to be found by: names of jobs, what went wrong */
    struct slice head;         /* opaque: the flow as a list shows it */
};

/* A run of the flow's jobs: opaque. Parts come before their row, with its numbers, from 0 on. */
struct history_part {
    uint64_t flow, lsn;
    uint32_t number;
    struct slice body;
};

/* Flows below `before` (0 = all), newest first. What is left empty does not choose. */
struct history_query {
    uint64_t token; /* comes back with the answer */
    uint64_t from;  /* not below this number */
    uint64_t before;
    uint32_t most;
    struct slice tenant;
    struct slice name;          /* begins with */
    struct slice text;          /* words in names, labels and errors; the last may be a beginning */
    struct slice schedule;      /* made by it */
    struct slice job;           /* words of the name of one of its jobs */
    const struct slice *states; /* one of these */
    uint32_t state_count;
    const struct slice *labels; /* all of these: "key=value" */
    uint32_t label_count;
    struct slice label_key;     /* has a label of that name, whatever its value */
    int64_t since_ms, until_ms; /* created */
    bool parts;                 /* with the parts of the flow, which is then the only one asked for */
    uint32_t part_first;
    uint32_t part_count; /* 0 = all, as far as they fit HISTORY_PARTS_BYTES_MAX */
};
#define HISTORY_PARTS_BYTES_MAX ((size_t)64 << 20)

struct history_found {
    uint64_t flow, lsn;
    struct slice head;
};

struct history_answer {
    uint64_t token;
    enum err err; /* ERR_LIMIT: the parts are too many to be had at once */
    struct why why;
    const struct history_found *found;
    uint32_t count;
    uint64_t next; /* `before` of the next page; 0 = there is none. A page may be short all the same */
    const struct slice *parts;
    uint32_t part_count;
};

enum history_state {
    HISTORY_EMPTY,      /* new, or set aside for damage: flows from before have to be made again */
    HISTORY_REBUILDING, /* that is under way: old flows may be missing yet */
    HISTORY_WHOLE,
};

struct history_stats {
    enum history_state state;
    uint64_t lives; /* rises when the file was set aside and begun anew */
    uint64_t lsn;   /* durable: every flow that ended up to here is in it */
    uint64_t flows, bytes;
    uint64_t oldest;        /* the lowest number of a flow in it; 0 = there is none */
    uint64_t waiting_bytes; /* taken, and not durable yet */
};

enum history_note { HISTORY_NOTE_INFO, HISTORY_NOTE_WARN, HISTORY_NOTE_ERROR };

struct history {
    const struct history_ops *ops;
};

struct history_turn {
    int64_t now_ms; /* monotonic */
    int64_t wall_ms;
    uint64_t durable_lsn; /* of the journal */
    bool woken;           /* its descriptor may have been readable, also when what it told of was taken before */
};

struct history_taker { /* what `take` tells, each call valid while it lasts */
    void (*answered)(void *ctx, const struct history_answer *a);
    void (*noted)(void *ctx, enum history_note level, const char *text); /* a line for the log */
    void *ctx;
};

/* Makes rows of old flows, on a thread of the history's. It has to end soon when they are no longer wanted. */
struct history_sink {
    bool (*is_wanted)(const struct history_sink *s);
    enum err (*put_part)(struct history_sink *s, const struct history_part *part, struct why *why);
    enum err (*put_row)(struct history_sink *s, const struct history_row *row, struct why *why);
};
typedef enum err (*history_rebuild_fn)(void *ctx, struct history_sink *to, struct why *why);

struct history_ops {
    /* How many bytes of rows may be put now. 0 also while what was put waits for its records to be durable: a history
     * must not tell what a crash could undo. */
    uint64_t (*room)(struct history *h);
    void (*put_part)(struct history *h, const struct history_part *part);
    void (*put_row)(struct history *h, const struct history_row *row);
    /* Every flow that ended up to `lsn` has been put. */
    void (*reach)(struct history *h, uint64_t lsn);
    /* False: too many are asked already. The query is copied. */
    bool (*ask)(struct history *h, const struct history_query *q);
    /* Hands over what was put, as far as the journal is durable, and tells what is done. Once per turn of the owner. */
    void (*take)(struct history *h, const struct history_turn *now, const struct history_taker *to);
    int64_t (*next)(struct history *h); /* monotonic ms when the next `take` is due; INT64_MAX */
    int (*fd)(const struct history *h);
    void (*stats)(struct history *h, struct history_stats *ret);
    void (*rebuild)(struct history *h, history_rebuild_fn fn, void *ctx);
    /* It has lost rows that it had: what it has stays, and is not whole until it was made again. Before `put`. */
    void (*doubt)(struct history *h);
    /* Ends a rebuild that is under way, waiting for it. As it stands it is not whole, and may be made again. */
    void (*rebuild_end)(struct history *h);
    /* The owner's state was lost and is read anew: what was put and had to wait for its records to be durable was never
     * put, and questions are not answered. Rows that are being written are of records that are durable: they stay, and
     * while waiting_bytes tells of them nothing is to be put. */
    void (*forget)(struct history *h);
    void (*close)(struct history *h); /* what was put is made durable first */
};

#endif
