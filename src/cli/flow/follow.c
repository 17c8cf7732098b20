/* follow.c: see follow.h.
 *
 * A source is one attempt and how far it was read. While *catching up* each source is read a chunk at a time, and the
 * earliest line of all is printed once every source has shown its next one: a merge, however long the logs are. Then
 * the attempts that still run are followed, each by one request whose answer goes on. */
#include "follow.h"

#include <fnmatch.h>
#include <stdio.h>
#include <time.h>

#include "heap.h"
#include "lineout.h"
#include "map.h"
#include "reason.h"
#include "vec.h"

#define CHUNK_BYTES_MAX 262144u
#define MERGE_BYTES_MAX ((uint64_t)64 << 20) /* held by all chunks together */
#define ASKED_MAX 64u                        /* chunks asked for at a time */
#define PAGE_JOBS 1000u
#define LIVE_MAX 256u /* attempts followed at a time: each is looked at in every pass of the server */
#define AGAIN_MS 250
#define AWAY_MS_MAX 60000 /* so long a server may be away */

struct followed_job {
    struct slice name;
    uint32_t attempts;    /* that have a source */
    uint32_t source_last; /* index + 1; 0 = none */
};

struct source {
    uint32_t job, attempt;
    uint32_t before, after; /* sources of the attempts beside it, index + 1 */
    uint64_t offset;        /* of what is to be read next */
    uint32_t request;
    bool at_end;  /* nothing more was there when it was last read */
    bool is_over; /* and nothing will be */
    bool is_announced;
    struct lineout_parts parts;
    struct arena arena; /* of the lines */
    struct vec lines;   /* struct lineout_line: read and not yet printed */
    uint32_t line_next;
};

enum phase { LISTING, CATCHING_UP, LIVE };

struct follower {
    struct cli *c;
    const struct follow_what *what;
    struct lineout out;
    struct vec jobs, sources;
    struct index by_name; /* of jobs */
    struct map by_request;
    struct heap next_lines; /* sources, by the time of their next line */
    enum phase phase;
    struct u32vec to_ask; /* sources that want to be read on */
    uint32_t asked;       /* sources with an open request */
    uint32_t list_request, events_request, wait_request;
    bool is_over, is_bad; /* the target */
    bool is_listed_last;  /* and the list was made after that */
    bool is_busy;         /* the server wants to be asked later */
    struct slice cursor;  /* of the list */
    struct reason reason; /* why nothing comes */
};

static struct followed_job *job_at(const struct follower *w, uint32_t i) {
    return vec_at(&w->jobs, i);
}

static struct source *source_at(const struct follower *w, uint32_t i) {
    return vec_at(&w->sources, i);
}

static struct slice name_of(const void *ctx, uint32_t value) {
    return job_at(ctx, value - 1)->name;
}

/* ---- jobs and their attempts ---- */

/* An item fits a pattern that fits it or its foreach job; `work[3]` is a name before it is a pattern. */
static bool is_wanted(const struct follower *w, struct slice name) {
    const struct wire_name *patterns = w->what->jobs.at;
    struct slice own = lineout_short_name(name);
    char text[WIRE_TARGET_MAX + 1], whole[WIRE_TARGET_MAX + 1], pattern[WIRE_TARGET_MAX + 1];
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(own));
    snprintf(whole, sizeof whole, "%s", text);
    char *item = strrchr(whole, '[');
    if (item != NULL) *item = 0;
    for (uint32_t i = 0; i < w->what->jobs.count; i++) {
        snprintf(pattern, sizeof pattern, "%.*s", SLICE_FMT(patterns[i].name));
        if (strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0 || fnmatch(pattern, whole, 0) == 0)
            return true;
    }
    return w->what->jobs.count == 0;
}

/* An attempt is followed when the one before it has been shown. */
static void source_wants(struct follower *w, uint32_t i) {
    const struct source *s = source_at(w, i);
    if (w->phase == LISTING || s->is_over || s->request != 0) return;
    if (w->phase == LIVE && s->before != 0 && !source_at(w, s->before - 1)->is_over) return;
    u32vec_push(&w->to_ask, i);
}

static enum err source_add(struct follower *w, uint32_t job, uint32_t attempt) {
    struct followed_job *j = job_at(w, job);
    if (w->sources.count == FOLLOW_ATTEMPTS_MAX)
        return cli_refuse(w->c, ERR_LIMIT, "more than %u attempts: choose some with --job", FOLLOW_ATTEMPTS_MAX);
    struct source *s = vec_push(&w->sources);
    *s = (struct source){.job = job, .attempt = attempt, .before = j->source_last};
    lineout_init(&s->parts);
    arena_init(&s->arena, 4096, (size_t)1 << 30);
    vec_init(&s->lines, sizeof(struct lineout_line));
    if (j->source_last != 0) source_at(w, j->source_last - 1)->after = w->sources.count;
    j->source_last = w->sources.count;
    source_wants(w, w->sources.count - 1);
    return ERR_OK;
}

/* The job has had so many attempts: those that are new get a source. */
static enum err job_note(struct follower *w, struct slice name, uint32_t attempts) {
    enum err e = ERR_OK;
    uint32_t found = index_get(&w->by_name, name, name_of, w);
    if (found == 0 && !is_wanted(w, name)) return ERR_OK;
    if (found == 0) {
        struct followed_job *j = vec_push(&w->jobs);
        j->name = arena_slice(&w->c->arena, name);
        found = w->jobs.count;
        index_put(&w->by_name, j->name, found);
        lineout_room(&w->out, j->name);
    }
    struct followed_job *j = job_at(w, found - 1);
    while (e == ERR_OK && j->attempts < attempts) {
        uint32_t attempt = ++j->attempts;
        if (w->what->attempt == 0 || w->what->attempt == attempt) e = source_add(w, found - 1, attempt);
    }
    return e;
}

/* ---- lines ---- */

static struct lineout_from from_of(const struct follower *w, const struct source *s) {
    return (struct lineout_from){job_at(w, s->job)->name, s->job, s->attempt};
}

static void note(struct follower *w, const struct source *s, const char *text) {
    struct lineout_from from = from_of(w, s);
    lineout_note(&w->out, &from, text);
}

struct sink {
    struct follower *w;
    struct source *s;
};

static void announce(struct follower *w, struct source *s) {
    char text[32];
    snprintf(text, sizeof text, "attempt %u", s->attempt);
    if (s->attempt > 1 && !s->is_announced) note(w, s, text);
    s->is_announced = true;
}

static void print_line(struct follower *w, struct source *s, const struct lineout_line *line) {
    if (line->time_ms < w->what->since_ms) return;
    struct lineout_from from = from_of(w, s);
    announce(w, s);
    lineout_print(&w->out, &from, line);
}

static void print_now(void *ctx, const struct lineout_line *line) {
    const struct sink *sink = ctx;
    print_line(sink->w, sink->s, line);
}

static void keep_line(void *ctx, const struct lineout_line *line) {
    struct source *s = ((const struct sink *)ctx)->s;
    struct lineout_line *kept = vec_push(&s->lines);
    *kept = *line;
    kept->text = arena_slice(&s->arena, line->text);
}

/* The next line of the source joins the merge. */
static void offer_line(struct follower *w, uint32_t i) {
    struct source *s = source_at(w, i);
    if (s->line_next < s->lines.count) {
        const struct lineout_line *line = vec_at(&s->lines, s->line_next);
        heap_push(&w->next_lines, line->time_ms, i);
        return;
    }
    s->line_next = s->lines.count = 0;
    arena_reset(&s->arena);
    if (!s->at_end) source_wants(w, i);
}

static void source_data(struct follower *w, uint32_t i, const struct wire_log_data *m, bool is_last) {
    struct source *s = source_at(w, i);
    struct sink sink = {w, s};
    const struct wire_log_piece *pieces = m->pieces.at;
    lineout_fn each = w->phase == LIVE ? print_now : keep_line;
    for (uint32_t k = 0; k < m->pieces.count; k++) {
        lineout_cut(&s->parts, &pieces[k], each, &sink);
        s->offset = pieces[k].offset + pieces[k].data.len;
    }
    if (!is_last) return;
    s->request = 0;
    s->at_end = m->over || m->pieces.count == 0;
    w->asked--;
    /* Of one that may go on the last line waits for its end. */
    s->is_over = s->at_end && (w->phase == LIVE || !w->what->live);
    if (s->is_over) lineout_flush(&s->parts, each, &sink);
    if (w->phase != LIVE) offer_line(w, i);
    if (w->phase == LIVE && s->after != 0) source_wants(w, s->after - 1);
}

static void print_merged(struct follower *w) {
    while (w->asked == 0 && w->to_ask.count == 0 && heap_top(&w->next_lines) != NULL) {
        uint32_t i = (uint32_t)heap_pop(&w->next_lines).ref;
        struct source *s = source_at(w, i);
        print_line(w, s, vec_at(&s->lines, s->line_next++));
        offer_line(w, i);
    }
}

/* ---- asking ---- */

static enum err ask_source(struct follower *w, uint32_t i) {
    struct source *s = source_at(w, i);
    uint64_t share = MERGE_BYTES_MAX / w->sources.count;
    struct wire_logs m = {.job = job_at(w, s->job)->name,
                          .attempt = s->attempt,
                          .offset = s->offset,
                          .tail_bytes = s->offset == 0 ? w->what->tail_bytes : 0,
                          .follow = w->phase == LIVE};
    if (w->phase != LIVE) m.most = share < CHUNK_BYTES_MAX ? share : CHUNK_BYTES_MAX;
    enum err e = client_send(&w->c->client, WIRE_LOGS, &m, &s->request, w->c->why);
    if (e != ERR_OK) return e;
    map_put(&w->by_request, s->request, i + 1);
    w->asked++;
    return ERR_OK;
}

static enum err ask_sources(struct follower *w) {
    uint32_t most = w->phase == LIVE ? LIVE_MAX : ASKED_MAX;
    enum err e = ERR_OK;
    while (e == ERR_OK && w->asked < most && w->to_ask.count > 0) e = ask_source(w, w->to_ask.at[--w->to_ask.count]);
    return e;
}

/* One job, or a page of the jobs of a flow and of their items. */
static enum err ask_page(struct follower *w) {
    struct wire_get get = {.target = w->what->target, .details = true};
    struct wire_list list = {
        .what = WIRE_LIST_JOBS, .flow = w->what->target, .cursor = w->cursor, .most = PAGE_JOBS, .items = true};
    bool is_job = get.target.len > 0 && memchr(get.target.ptr, '/', get.target.len) != NULL;
    return is_job ? client_send(&w->c->client, WIRE_GET, &get, &w->list_request, w->c->why)
                  : client_send(&w->c->client, WIRE_LIST, &list, &w->list_request, w->c->why);
}

static enum err ask_list(struct follower *w) {
    w->is_listed_last = w->is_over;
    w->cursor = (struct slice){0};
    return ask_page(w);
}

static enum err begin(struct follower *w) {
    struct wire_name name = {w->what->target};
    struct wire_follow events = {.targets = {&name, 1}};
    struct wire_name until = {w->what->until.len > 0 ? w->what->until : w->what->target};
    struct wire_wait wait = {.targets = {&until, 1}};
    struct cli *c = w->c;
    enum err e = ERR_OK;
    w->phase = LISTING;
    reason_forget(&w->reason);
    if (w->what->live) e = client_send(&c->client, WIRE_FOLLOW, &events, &w->events_request, c->why);
    if (e == ERR_OK && w->what->live) e = client_send(&c->client, WIRE_WAIT, &wait, &w->wait_request, c->why);
    return e == ERR_OK ? ask_list(w) : e;
}

/* ---- frames ---- */

static enum err hear_list(struct follower *w, const struct client_frame *f) {
    bool is_page = f->op == WIRE_LISTED;
    const struct wire_listed *page = is_page ? f->message : NULL;
    const struct tlv_list *list = is_page ? &page->jobs : &((const struct wire_got *)f->message)->jobs;
    const struct wire_job_view *jobs = list->at;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < list->count; i++) e = job_note(w, jobs[i].job, jobs[i].attempt);
    if (e != ERR_OK || (f->flags & FRAME_MORE)) return e;
    w->list_request = 0;
    if (is_page && page->cursor.len > 0) {
        w->cursor = arena_slice(&w->c->arena, page->cursor);
        return ask_page(w);
    }
    if (e == ERR_OK && w->is_over && !w->is_listed_last) e = ask_list(w);
    if (w->phase != LISTING) return e;
    w->phase = CATCHING_UP;
    for (uint32_t i = w->sources.count; i > 0; i--)
        if (source_at(w, i - 1)->lines.count == 0) source_wants(w, i - 1);
    return e;
}

static enum err hear_events(struct follower *w, const struct wire_events *m) {
    const struct wire_event *events = m->events.at;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < m->events.count; i++)
        if (slice_eq(events[i].kind, SLICE("job"))) e = job_note(w, events[i].target, events[i].attempt);
    if (e == ERR_OK && m->gap && w->list_request == 0) e = ask_list(w);
    return e;
}

static enum err hear_end(struct follower *w, const struct client_frame *f) {
    const struct wire_waited *m = f->message;
    const struct wire_job_view *over = m->over.at;
    for (uint32_t i = 0; i < m->over.count; i++)
        w->is_bad |= !slice_eq(over[i].state, SLICE("succeeded")) && !slice_eq(over[i].state, SLICE("skipped"));
    if (f->flags & FRAME_MORE) return ERR_OK;
    w->is_over = true;
    return w->list_request == 0 ? ask_list(w) : ERR_OK;
}

/* What cannot be read is over, as far as we are concerned. */
static void source_refused(struct follower *w, uint32_t i, enum err e) {
    struct source *s = source_at(w, i);
    s->request = 0;
    w->asked--;
    w->is_busy |= e == ERR_BUSY;
    if (e == ERR_BUSY) {
        source_wants(w, i);
        return;
    }
    s->at_end = s->is_over = true;
    if (e != ERR_NOT_FOUND) note(w, s, w->c->why->text);
    if (s->after != 0) source_wants(w, s->after - 1);
}

static enum err hear(struct follower *w, const struct client_frame *f) {
    if (reason_hear(w->c, &w->reason, f)) return ERR_OK;
    enum err e = client_refusal(f, w->c->why);
    uint32_t source = map_get(&w->by_request, f->request);
    if (source != 0 && e != ERR_OK) {
        source_refused(w, source - 1, e);
        return ERR_OK;
    }
    if (f->request == w->events_request && e != ERR_OK) return ERR_OK; /* one that is over has none */
    if (e != ERR_OK) return e;
    if (source != 0 && f->op == WIRE_LOG_DATA) source_data(w, source - 1, f->message, !(f->flags & FRAME_MORE));
    if (f->request == w->list_request && (f->op == WIRE_GOT || f->op == WIRE_LISTED)) return hear_list(w, f);
    if (f->request == w->events_request && f->op == WIRE_EVENTS) return hear_events(w, f->message);
    if (f->request == w->wait_request && f->op == WIRE_WAITED) return hear_end(w, f);
    return ERR_OK;
}

/* ---- the whole ---- */

static void nap(int ms) {
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* The server went away: it is waited for, and everything asked again from where it was. */
static enum err come_back(struct follower *w) {
    enum err e = ERR_UNKNOWN;
    fflush(stdout);
    if (!w->c->json) fprintf(stderr, "reeve: connection lost; waiting for the server\n");
    client_close(&w->c->client);
    for (int waited = 0; e == ERR_UNKNOWN && waited < AWAY_MS_MAX; waited += AGAIN_MS) {
        nap(AGAIN_MS);
        e = cli_connect(w->c);
    }
    if (e != ERR_OK) return e;
    map_fini(&w->by_request);
    map_init(&w->by_request);
    w->asked = w->to_ask.count = 0;
    w->is_over = w->is_bad = false;
    for (uint32_t i = 0; i < w->sources.count; i++) source_at(w, i)->request = 0;
    return begin(w);
}

static bool is_idle(const struct follower *w) {
    return w->asked == 0 && w->to_ask.count == 0 && w->list_request == 0;
}

/* True: all has been said. */
static bool step(struct follower *w) {
    print_merged(w);
    if (w->phase == CATCHING_UP && is_idle(w) && heap_top(&w->next_lines) == NULL) {
        if (!w->what->live) return true;
        w->phase = LIVE;
        for (uint32_t i = w->sources.count; i > 0; i--) source_wants(w, i - 1);
    }
    return w->phase == LIVE && is_idle(w) && w->is_over && w->is_listed_last;
}

static enum err run(struct follower *w) {
    enum err e = begin(w);
    while (e == ERR_OK && !step(w)) {
        struct client_frame f;
        e = ask_sources(w);
        if (w->asked > 0 || w->what->live) fflush(stdout);
        if (e == ERR_OK) e = client_next(&w->c->client, w->what->live ? REASON_AFTER_MS : -1, &f, w->c->why);
        if (e == ERR_OK && f.op != 0)
            e = hear(w, &f);
        else if (e == ERR_OK && w->what->live)
            e = reason_ask(w->c, &w->reason, w->what->target);
        if (e == ERR_OK) client_forget(&w->c->client);
        if (w->is_busy) nap(AGAIN_MS);
        w->is_busy = false;
        if (e == ERR_UNKNOWN && w->what->live) e = come_back(w);
    }
    return e;
}

enum err follow_target(struct cli *c, const struct follow_what *what) {
    struct follower w = {.c = c, .what = what, .out = {.cli = c, .plain = what->plain, .times = what->times}};
    vec_init(&w.jobs, sizeof(struct followed_job));
    vec_init(&w.sources, sizeof(struct source));
    index_init(&w.by_name);
    map_init(&w.by_request);
    heap_init(&w.next_lines, NULL, NULL);
    enum err e = run(&w);
    if (e == ERR_OK && what->jobs.count > 0 && w.jobs.count == 0) {
        const struct wire_name *first = what->jobs.at;
        e = cli_refuse(c, ERR_NOT_FOUND, "no job of flow %.*s matches %.*s; `reeve ls %.*s` lists its jobs",
                       SLICE_FMT(what->target), SLICE_FMT(first->name), SLICE_FMT(what->target));
    }
    for (uint32_t i = 0; i < w.sources.count; i++) {
        struct source *s = source_at(&w, i);
        lineout_fini(&s->parts);
        arena_fini(&s->arena);
        vec_fini(&s->lines);
    }
    heap_fini(&w.next_lines);
    map_fini(&w.by_request);
    index_fini(&w.by_name);
    u32vec_fini(&w.to_ask);
    vec_fini(&w.sources);
    vec_fini(&w.jobs);
    if (e == ERR_OK && w.is_over && w.is_bad) c->exit_code = EXIT_ENDED_BADLY;
    return e;
}
