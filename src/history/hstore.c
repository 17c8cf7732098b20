/* hstore.c: see hstore.h.
 *
 * The owner's thread gathers rows in one load while the writer's has the other: they change places at most four times a
 * second, because few large transactions leave the disk to the journal. Whatever belongs to a thread is touched by
 * nobody else from the hand-over until flusher_take (store/flusher.h), so there are no locks.
 *
 * A failed write keeps its load and is tried again: the flows in it stay in memory meanwhile. Damage is set aside, a
 * new file begun, and `lives` tells the owner to start over. */
#include "hstore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flusher.h"
#include "hfind.h"
#include "hload.h"
#include "panic.h"
#include "pool.h"

#define HAND_EVERY_MS 250
#define HAND_BYTES (4u << 20) /* so much does not wait */
#define LOAD_BYTES_MAX (32u << 20)
#define AGAIN_MS 1000
#define DUE_AGAIN_MS 5 /* about how long an append takes */
#define TRIM_EVERY_MS 3600000
#define TRIM_WRITING_MS 10000
#define DAY_MS INT64_C(86400000)
#define AGE_NOTE_MS 600000
#define AGE_RATE 24 /* a machine that runs an hour a day keeps up */
#define QUESTIONS_MAX 1000u
#define ANSWER_BYTES_MAX ((size_t)256 << 20)
#define OLD_BYTES (2u << 20) /* rows of a rebuild are written in such pieces: others want to write too */
#define NICE 10

struct history_question {
    uint64_t number;   /* first: never 0 while in use */
    bool is_forgotten; /* nobody waits for the answer */
    struct arena arena;
    struct history_query query;
    struct history_answer answer;
};

struct row_writing { /* the writer's while it is handed over */
    struct hput put;
    bool is_open;
    struct hload *load;
    int64_t wall_ms, now_ms;
    bool trim;
    bool has_aged;
    int64_t aged_at_ms; /* monotonic: when it last did */
    bool condemned;     /* the reader found damage: `aside_why` */
    bool doubted;
    /* what came of it */
    enum err err;
    struct why why;
    bool set_aside, trim_more;
    struct why aside_why;
    uint32_t trimmed;
    char aside[HDB_PATH_MAX];
    struct history_stats stats;
};

struct row_reading { /* the reader's while it is handed over */
    struct hdb db;
    uint64_t life; /* of the file that is open; 0 = none is */
    struct history_question *question;
    bool is_damaged; /* the file is */
};

struct rebuilding {           /* the rebuilder's while it is handed over */
    struct history_sink sink; /* first: its address comes back */
    struct hstore *of;
    struct hput put;
    struct hload load;
    history_rebuild_fn fn;
    void *ctx;
    uint64_t flows;
    enum err err;
    struct why why;
};

struct hstore {
    struct history history; /* first */
    struct arena birth;
    char dir[HDB_PATH_MAX], path[HDB_PATH_MAX];
    uint32_t days;
    uint64_t bytes_max;
    int fd;
    struct flusher *writer, *reader, *rebuilder;
    struct row_writing writing;
    struct row_reading reading;
    struct rebuilding rebuilding;
    bool is_writing, is_reading, is_rebuilding;
    atomic_bool unwanted; /* a rebuild has to end */

    struct hload loads[2];
    uint32_t filling; /* the other is with the writer, or failed and is kept */
    bool has_kept;
    bool is_due; /* the load waits for its records to be durable, and takes nothing more: else it never would be */
    int64_t handed_ms, again_ms, trim_ms, due_ms;
    uint64_t durable_lsn; /* as it was told last */
    enum err told;        /* the failure that was told last: each is told once */

    struct pool questions;
    struct u32vec asked; /* oldest first, from `asked_at` on */
    uint32_t asked_at;
    uint64_t question_last;
    struct history_stats stats;
    bool is_damaged; /* found by the reader, and not yet told to the writer */
    bool is_doubted; /* rows are missing, and the file does not say so yet */
    struct why damage;
    bool aside_untold; /* the file was set aside when it was opened */
};

static struct hstore *of(struct history *h) {
    return (struct hstore *)h;
}

static void be_nice(void) {
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
}

/* ---- the writer's thread ---- */

/* What flows did is nobody else's business. SQLite makes its other two files as open as the first. Never by opening
 * a file that is there: to close it would end SQLite's locks on it. */
static void keep_private(const struct hstore *s) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[HDB_PATH_MAX];
    int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) (void)close(fd); /* else SQLite says what is wrong */
    for (size_t i = 0; fd < 0 && i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s%s", s->path, ends[i]);
        (void)chmod(path, 0600); /* of an earlier program */
    }
}

/* A damaged file is taken out of the way, and a new one begun; the owner has to start over. */
static enum err writer_begin_anew(struct hstore *s, struct why *why) {
    struct row_writing *w = &s->writing;
    struct why damage = *why;
    if (w->is_open) hput_close(&w->put);
    w->is_open = false;
    enum err e = hdb_set_aside(s->path, w->wall_ms, w->aside, why);
    if (e != ERR_OK) return e;
    w->set_aside = true;
    w->aside_why = damage;
    w->stats.lives++;
    keep_private(s);
    e = hput_open(&w->put, s->path, why);
    w->is_open = e == ERR_OK;
    return e;
}

static enum err writer_open(struct hstore *s, struct why *why) {
    struct row_writing *w = &s->writing;
    if (w->is_open) return ERR_OK;
    if (mkdir(s->dir, 0700) != 0 && errno != EEXIST)
        return why_set(why, errno == ENOSPC ? ERR_NO_SPACE : ERR_IO, "%s: %s", s->dir, strerrordesc_np(errno));
    keep_private(s);
    enum err e = hput_open(&w->put, s->path, why);
    w->is_open = e == ERR_OK;
    return e == ERR_CORRUPT ? writer_begin_anew(s, why) : e;
}

static enum err writer_stats(struct row_writing *w, struct why *why) {
    int64_t lsn = 0, whole = 0;
    enum err e = hdb_meta_get(&w->put.db, "lsn", &lsn, why);
    if (e == ERR_OK) e = hdb_meta_get(&w->put.db, "whole", &whole, why);
    if (e == ERR_OK) e = hdb_size(&w->put.db, &w->stats.flows, &w->stats.bytes, why);
    if (e == ERR_OK) e = hdb_oldest(&w->put.db, &w->stats.oldest, why);
    w->stats.lsn = (uint64_t)lsn;
    w->stats.state = whole != 0 ? HISTORY_WHOLE : HISTORY_EMPTY;
    return e;
}

/* Before the position moves on: after a crash in between nobody could see any more that rows are missing. */
static enum err write_doubt(struct hput *p, struct why *why) {
    enum err e = hput_begin(p, why);
    if (e == ERR_OK) e = hdb_meta_set(&p->db, "whole", 0, why);
    if (e == ERR_OK) return hput_commit(p, why);
    hput_rollback(p);
    return e;
}

/* By which clock rows are too old. It follows the wall clock and gains on it at most AGE_RATE times as fast as this
 * process lives, also over restarts: a start with a wrong clock must not empty the history. */
static enum err age(struct row_writing *w, int64_t *ret_ms, struct why *why) {
    int64_t aged_ms = 0;
    enum err e = hdb_meta_get(&w->put.db, "aged_ms", &aged_ms, why);
    if (e != ERR_OK) return e;
    if (!w->has_aged) w->aged_at_ms = w->now_ms;
    w->has_aged = true;
    int64_t most_ms = aged_ms + (w->now_ms - w->aged_at_ms) * AGE_RATE;
    *ret_ms = aged_ms == 0 || w->wall_ms < most_ms ? w->wall_ms : most_ms;
    if (*ret_ms >= aged_ms && *ret_ms < aged_ms + AGE_NOTE_MS) return ERR_OK; /* not worth a sync */
    w->aged_at_ms = w->now_ms;
    return hdb_meta_set(&w->put.db, "aged_ms", *ret_ms, why);
}

static enum err write_load(struct hstore *s, struct why *why) {
    struct row_writing *w = &s->writing;
    enum err e = w->condemned ? why_set(why, ERR_CORRUPT, "%s", w->aside_why.text) : writer_open(s, why);
    if (e != ERR_OK || w->set_aside) return e;
    if (w->doubted) e = write_doubt(&w->put, why);
    if (e == ERR_OK && !hload_is_empty(w->load)) e = hload_write(w->load, &w->put, why);
    if (e == ERR_OK && w->trim) {
        int64_t aged_ms = 0;
        e = age(w, &aged_ms, why);
        if (e != ERR_OK) return e;
        int64_t before_ms = s->days == 0 ? INT64_MIN : aged_ms - (int64_t)s->days * DAY_MS;
        e = hput_trim(&w->put, before_ms, s->bytes_max, &w->trimmed, &w->trim_more, why);
    }
    return e;
}

static void writer_run(void *ctx) {
    struct hstore *s = ctx;
    struct row_writing *w = &s->writing;
    be_nice();
    w->set_aside = w->trim_more = false;
    w->trimmed = 0;
    w->err = write_load(s, &w->why);
    if (w->err == ERR_CORRUPT) w->err = writer_begin_anew(s, &w->why);
    if (w->err == ERR_OK) w->err = writer_stats(w, &w->why);
    w->condemned = false;
}

/* ---- the reader's thread ---- */

static void reader_run(void *ctx) {
    struct hstore *s = ctx;
    struct row_reading *r = &s->reading;
    struct history_question *q = r->question;
    enum err e = ERR_OK;
    be_nice();
    if (r->db.db == NULL) e = hdb_open(&r->db, s->path, HDB_READ, &q->answer.why);
    r->is_damaged = e == ERR_CORRUPT;
    if (e == ERR_OK)
        r->is_damaged = hfind(&r->db, &q->query, &q->arena, &q->answer);
    else
        q->answer = (struct history_answer){.token = q->query.token, .err = e, .why = q->answer.why};
    if (q->answer.err != ERR_OK) hdb_close(&r->db); /* whatever it was, the next one begins afresh */
}

/* ---- the rebuilder's thread ---- */

static bool old_is_wanted(const struct history_sink *sink) {
    return !((const struct rebuilding *)sink)->of->unwanted;
}

static enum err old_flush(struct rebuilding *b, struct why *why) {
    if (!old_is_wanted(&b->sink)) return why_set(why, ERR_STATE, "its reading was stopped");
    enum err e = hload_write(&b->load, &b->put, why);
    hload_clear(&b->load);
    return e;
}

static enum err old_part(struct history_sink *sink, const struct history_part *part, struct why *why) {
    struct rebuilding *b = (struct rebuilding *)sink;
    hload_part(&b->load, part);
    return b->load.bytes >= OLD_BYTES ? old_flush(b, why) : ERR_OK;
}

static enum err old_row(struct history_sink *sink, const struct history_row *row, struct why *why) {
    struct rebuilding *b = (struct rebuilding *)sink;
    hload_row(&b->load, row);
    b->flows++;
    return b->load.bytes >= OLD_BYTES ? old_flush(b, why) : ERR_OK;
}

static enum err rebuild(struct rebuilding *b, struct why *why) {
    enum err e = b->fn(b->ctx, &b->sink, why);
    if (e == ERR_OK) e = old_flush(b, why);
    if (e == ERR_OK) e = hput_begin(&b->put, why);
    if (e == ERR_OK) e = hdb_meta_set(&b->put.db, "whole", 1, why);
    return e == ERR_OK ? hput_commit(&b->put, why) : e;
}

static void rebuilder_run(void *ctx) {
    struct hstore *s = ctx;
    struct rebuilding *b = &s->rebuilding;
    be_nice();
    b->err = hput_open(&b->put, s->path, &b->why);
    if (b->err != ERR_OK) return;
    hload_init(&b->load);
    b->err = rebuild(b, &b->why);
    hload_fini(&b->load);
    hput_rollback(&b->put);
    hput_close(&b->put);
}

/* ---- the owner's thread: rows ---- */

static struct hload *filling(struct hstore *s) {
    return &s->loads[s->filling];
}

static uint64_t op_room(struct history *h) {
    uint64_t used = filling(of(h))->bytes;
    return used < LOAD_BYTES_MAX && !of(h)->is_due ? LOAD_BYTES_MAX - used : 0;
}

static void op_put_part(struct history *h, const struct history_part *part) {
    hload_part(filling(of(h)), part);
}

static void op_put_row(struct history *h, const struct history_row *row) {
    hload_row(filling(of(h)), row);
}

static void op_reach(struct history *h, uint64_t lsn) {
    hload_reach(filling(of(h)), lsn);
}

static bool wants_to_hand(const struct hstore *s, int64_t now_ms) {
    const struct hload *l = &s->loads[s->filling];
    if (s->has_kept) return now_ms >= s->again_ms;
    if (now_ms >= s->trim_ms || s->is_damaged || s->is_doubted) return true;
    return !hload_is_empty(l) && (now_ms >= s->handed_ms + HAND_EVERY_MS || l->bytes >= HAND_BYTES);
}

static void hand(struct hstore *s, const struct history_turn *t) {
    int64_t now_ms = t->now_ms;
    if (s->is_writing || !wants_to_hand(s, now_ms)) return;
    s->is_due = !s->has_kept && filling(s)->lsn > t->durable_lsn;
    s->due_ms = now_ms;
    if (s->is_due) return;
    if (!s->has_kept) s->filling ^= 1;
    s->has_kept = false;
    s->writing.load = &s->loads[s->filling ^ 1];
    s->writing.wall_ms = t->wall_ms;
    s->writing.now_ms = now_ms;
    if (s->is_damaged) s->writing.aside_why = s->damage;
    s->writing.condemned = s->is_damaged;
    s->writing.doubted = s->is_doubted;
    s->is_damaged = false;
    s->writing.trim = now_ms >= s->trim_ms - (TRIM_EVERY_MS - TRIM_WRITING_MS); /* beside a write, sooner */
    s->handed_ms = now_ms;
    s->is_writing = true;
    flusher_hand(s->writer, writer_run, s);
}

static void tell_failure(struct hstore *s, const struct history_taker *to) {
    const struct row_writing *w = &s->writing;
    char text[400];
    if (w->err == s->told) return;
    s->told = w->err;
    snprintf(text, sizeof text, "%s; flows stay in memory until it works again", w->why.text);
    to->noted(to->ctx, HISTORY_NOTE_WARN, text);
}

static void tell_aside(struct hstore *s, const struct history_taker *to) {
    char text[2 * HDB_PATH_MAX];
    snprintf(text, sizeof text, "%s: set aside as %s, a new one is begun", s->writing.aside_why.text, s->writing.aside);
    to->noted(to->ctx, HISTORY_NOTE_ERROR, text);
}

static void written(struct hstore *s, int64_t now_ms, const struct history_taker *to) {
    struct row_writing *w = &s->writing;
    s->is_writing = false;
    if (w->set_aside) {
        tell_aside(s, to);
        s->is_damaged = false;     /* what the reader found was in that file too */
        hload_clear(&s->loads[0]); /* the owner starts over */
        hload_clear(&s->loads[1]);
    }
    if (w->err != ERR_OK) {
        s->has_kept = true;
        s->again_ms = now_ms + AGAIN_MS;
        tell_failure(s, to);
    } else {
        if (s->told != ERR_OK) to->noted(to->ctx, HISTORY_NOTE_INFO, "the history works again");
        s->told = ERR_OK;
        s->is_doubted = false;
        hload_clear(w->load);
        if (w->trim) s->trim_ms = w->trim_more ? now_ms : now_ms + TRIM_EVERY_MS;
    }
    s->stats = w->stats;
}

/* ---- the owner's thread: questions ---- */

static void copy_list(struct arena *a, const struct slice **list, uint32_t count) {
    struct slice *copy = ARENA_ARRAY(a, struct slice, count + 1);
    for (uint32_t i = 0; i < count; i++) copy[i] = arena_slice(a, (*list)[i]);
    *list = copy;
}

static bool op_ask(struct history *h, const struct history_query *query) {
    struct hstore *s = of(h);
    uint32_t index = pool_alloc(&s->questions);
    if (index == 0) return false;
    struct history_question *q = pool_at(&s->questions, index);
    q->number = ++s->question_last;
    arena_init(&q->arena, 4096, ANSWER_BYTES_MAX);
    q->query = *query;
    q->query.tenant = arena_slice(&q->arena, query->tenant);
    q->query.name = arena_slice(&q->arena, query->name);
    q->query.text = arena_slice(&q->arena, query->text);
    q->query.schedule = arena_slice(&q->arena, query->schedule);
    q->query.job = arena_slice(&q->arena, query->job);
    q->query.label_key = arena_slice(&q->arena, query->label_key);
    copy_list(&q->arena, &q->query.states, query->state_count);
    copy_list(&q->arena, &q->query.labels, query->label_count);
    u32vec_push(&s->asked, index);
    return true;
}

static void ask_next(struct hstore *s) {
    if (s->is_reading || s->asked_at == s->asked.count) return;
    if (s->reading.life != s->stats.lives) hdb_close(&s->reading.db); /* of a file that was set aside */
    s->reading.life = s->stats.lives;
    s->reading.question = pool_at(&s->questions, s->asked.at[s->asked_at]);
    s->is_reading = true;
    flusher_hand(s->reader, reader_run, s);
}

static void question_free(struct hstore *s, uint32_t index) {
    struct history_question *q = pool_at(&s->questions, index);
    arena_fini(&q->arena);
    pool_free(&s->questions, index);
}

static void answered(struct hstore *s, const struct history_taker *to) {
    uint32_t index = s->asked.at[s->asked_at++];
    s->is_reading = false;
    if (s->reading.is_damaged && s->reading.life == s->stats.lives) {
        s->damage = s->reading.question->answer.why;
        s->is_damaged = true;
    }
    if (!s->reading.question->is_forgotten) to->answered(to->ctx, &s->reading.question->answer);
    question_free(s, index);
    if (s->asked_at < s->asked.count) return;
    s->asked.count = s->asked_at = 0;
}

/* ---- the owner's thread: the rest ---- */

static void rebuilt(struct hstore *s, const struct history_taker *to) {
    const struct rebuilding *b = &s->rebuilding;
    char text[400];
    s->is_rebuilding = false;
    s->trim_ms = 0; /* it may be too large now; and the state is read again */
    if (b->err == ERR_OK)
        snprintf(text, sizeof text, "whole: %llu flows were found in the archive", (unsigned long long)b->flows);
    else
        snprintf(text, sizeof text, "old flows are missing, because the archive could not be read: %s", b->why.text);
    to->noted(to->ctx, b->err == ERR_OK ? HISTORY_NOTE_INFO : HISTORY_NOTE_ERROR, text);
}

static void op_take(struct history *h, const struct history_turn *now, const struct history_taker *to) {
    struct hstore *s = of(h);
    if (s->aside_untold) tell_aside(s, to);
    s->aside_untold = false;
    s->durable_lsn = now->durable_lsn;
    if ((s->is_writing || now->woken) && flusher_take(s->writer)) written(s, now->now_ms, to);
    if (s->is_reading && flusher_take(s->reader)) answered(s, to);
    if (s->is_rebuilding && flusher_take(s->rebuilder)) rebuilt(s, to);
    hand(s, now);
    ask_next(s);
}

static int64_t op_next(struct history *h) {
    const struct hstore *s = of(h);
    if (s->is_writing) return INT64_MAX; /* its end wakes the owner */
    if (s->is_due) return s->due_ms + DUE_AGAIN_MS;
    if (s->has_kept) return s->again_ms;
    if (s->is_damaged || s->is_doubted || s->aside_untold) return 0;
    int64_t next = s->trim_ms;
    if (!hload_is_empty(&s->loads[s->filling]) && s->handed_ms + HAND_EVERY_MS < next)
        next = s->handed_ms + HAND_EVERY_MS;
    return next;
}

static int op_fd(const struct history *h) {
    return ((const struct hstore *)h)->fd;
}

static void op_stats(struct history *h, struct history_stats *ret) {
    const struct hstore *s = of(h);
    *ret = s->stats;
    ret->waiting_bytes = s->loads[0].bytes + s->loads[1].bytes;
    if (s->is_doubted) ret->state = HISTORY_EMPTY;
    if (s->is_rebuilding) ret->state = HISTORY_REBUILDING;
}

static void op_rebuild(struct history *h, history_rebuild_fn fn, void *ctx) {
    struct hstore *s = of(h);
    REQUIRE(!s->is_rebuilding);
    s->rebuilding = (struct rebuilding){.sink = {old_is_wanted, old_part, old_row}, .of = s, .fn = fn, .ctx = ctx};
    s->is_rebuilding = true;
    flusher_hand(s->rebuilder, rebuilder_run, s);
}

static void op_doubt(struct history *h) {
    struct hstore *s = of(h);
    REQUIRE(hload_is_empty(filling(s)));
    s->is_doubted = true;
}

static void op_rebuild_end(struct history *h) {
    struct hstore *s = of(h);
    if (!s->is_rebuilding) return;
    s->unwanted = true;
    flusher_wait(s->rebuilder);
    s->unwanted = s->is_rebuilding = false;
    s->trim_ms = 0; /* as after every rebuild: the state is read again */
}

static void op_forget(struct history *h) {
    struct hstore *s = of(h);
    hload_clear(filling(s));
    s->is_due = false;
    for (uint32_t i = s->asked_at; i < s->asked.count; i++)
        ((struct history_question *)pool_at(&s->questions, s->asked.at[i]))->is_forgotten = true;
}

/* What the owner put last is written here: nobody is in a hurry any more. */
static void write_rest(struct hstore *s) {
    struct why why = {{0}};
    struct hload *first = &s->loads[s->filling ^ 1], *second = &s->loads[s->filling];
    bool fit = s->writing.is_open && !s->is_damaged && !s->is_doubted && !s->writing.set_aside;
    enum err e = fit ? ERR_OK : ERR_STATE;
    if (e == ERR_OK && s->is_writing && s->writing.err == ERR_OK) hload_clear(first); /* its end was not taken */
    if (e == ERR_OK && !hload_is_empty(first)) e = hload_write(first, &s->writing.put, &why);
    if (e == ERR_OK && !hload_is_empty(second) && second->lsn <= s->durable_lsn)
        e = hload_write(second, &s->writing.put, &why);
    (void)e; /* what could not be written is put again after the next start */
}

static void op_close(struct history *h) {
    struct hstore *s = of(h);
    s->unwanted = true;
    flusher_close(s->rebuilder);
    flusher_close(s->reader);
    flusher_close(s->writer);
    write_rest(s);
    if (s->writing.is_open) hput_close(&s->writing.put);
    hdb_close(&s->reading.db);
    for (uint32_t i = s->asked_at; i < s->asked.count; i++) question_free(s, s->asked.at[i]);
    u32vec_fini(&s->asked);
    pool_fini(&s->questions);
    hload_fini(&s->loads[0]);
    hload_fini(&s->loads[1]);
    (void)close(s->fd);
    struct arena birth = s->birth;
    arena_fini(&birth);
}

static const struct history_ops ops = {
    .room = op_room,
    .put_part = op_put_part,
    .put_row = op_put_row,
    .reach = op_reach,
    .ask = op_ask,
    .take = op_take,
    .next = op_next,
    .fd = op_fd,
    .stats = op_stats,
    .rebuild = op_rebuild,
    .doubt = op_doubt,
    .rebuild_end = op_rebuild_end,
    .forget = op_forget,
    .close = op_close,
};

/* ---- opening ---- */

static struct hstore *hstore_new(const struct hstore_options *o, int fd) {
    struct arena birth;
    arena_init(&birth, sizeof(struct hstore) + 64, sizeof(struct hstore) + 4096);
    struct hstore *s = ARENA_NEW(&birth, struct hstore);
    s->birth = birth;
    s->history.ops = &ops;
    s->days = o->days;
    s->bytes_max = o->bytes_max;
    s->fd = fd;
    s->trim_ms = INT64_MIN / 2;
    s->writing.wall_ms = o->wall_ms;
    s->writing.stats.lives = 1;
    snprintf(s->dir, sizeof s->dir, "%s", o->dir);
    snprintf(s->path, sizeof s->path, "%s/flows.db", o->dir);
    hload_init(&s->loads[0]);
    hload_init(&s->loads[1]);
    pool_init(&s->questions, sizeof(struct history_question), QUESTIONS_MAX);
    s->writer = flusher_open_on(fd);
    s->reader = flusher_open_on(fd);
    s->rebuilder = flusher_open_on(fd);
    return s;
}

enum err hstore_open(const struct hstore_options *o, struct history **ret, struct why *why) {
    if (strlen(o->dir) + 64 > HDB_PATH_MAX) return why_set(why, ERR_LIMIT, "history: the path is too long");
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) return why_set(why, ERR_IO, "eventfd: %s", strerrordesc_np(errno));
    struct hstore *s = hstore_new(o, fd);
    enum err e = writer_open(s, why);
    if (e == ERR_OK) e = writer_stats(&s->writing, why);
    if (e == ERR_UNSUPPORTED) {
        op_close(&s->history);
        return e;
    }
    s->stats = s->writing.stats;
    s->aside_untold = s->writing.set_aside;
    if (e != ERR_OK) { /* no room, say: the writer tries again, and tells */
        s->has_kept = true;
        s->again_ms = INT64_MIN / 2;
    }
    *ret = &s->history;
    return ERR_OK;
}
