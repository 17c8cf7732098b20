/* verb_wait.c: waiting, with a bar on a terminal. One request waits; on a terminal a second one subscribes to events,
 * which only say that it is time to look again: what is drawn is always read from the server. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api_print.h"
#include "out.h"
#include "reason.h"
#include "verbs.h"

#define REDRAW_MS 100

struct waiting {
    struct cli *c;
    struct tlv_list targets;
    uint32_t wait_request, events_request, get_request;
    uint32_t get_next;                                /* target that is asked about */
    uint32_t *done, *jobs, *bad, *upstream, *running; /* per target, as last seen; upstream: of the bad ones */
    bool any;                                         /* one of them is enough */
    bool is_again;                                    /* the server was gone in between */
    bool draws, dirty, over, timed_out, any_bad;
    int64_t drawn_ms;
    int64_t until_ms; /* 0 = however long it takes */
    bool tells;       /* why nothing happens, and at the end what failed */
    struct reason reason;
    uint32_t asked;     /* targets, for their reason */
    struct slice *said; /* what is over and was told: a server that came back tells it once more */
    uint32_t said_count;
    struct slice *bad_ones;
    uint32_t bad_count;
};

static int64_t now_ms(const struct cli *c) {
    return c->world->clock->mono(c->world->clock).ms;
}

/* ---- the bar ---- */

static bool is_one_of(struct slice word, const char *const *words) {
    for (; *words != NULL; words++)
        if (slice_eq(word, slice_str(*words))) return true;
    return false;
}

static void note_flow(struct waiting *w, uint32_t i, const struct wire_got *m) {
    static const char *const ends[] = {"succeeded", "skipped", "cancelled",   "failed",
                                       "timed_out", "denied",  "quarantined", NULL};
    static const char *const bads[] = {"failed", "timed_out", "denied", "quarantined", NULL};
    static const char *const runs[] = {"dispatched", "running", "checking", NULL};
    const struct wire_amount *states = m->flow.states.at;
    w->jobs[i] = m->flow.job_count;
    w->done[i] = w->bad[i] = w->running[i] = 0;
    w->upstream[i] = m->flow.upstream_failed;
    for (uint32_t k = 0; k < m->flow.states.count; k++) {
        if (is_one_of(states[k].name, ends)) w->done[i] += (uint32_t)states[k].amount;
        if (is_one_of(states[k].name, bads)) w->bad[i] += (uint32_t)states[k].amount;
        if (is_one_of(states[k].name, runs)) w->running[i] += (uint32_t)states[k].amount;
    }
}

static void draw(struct waiting *w) {
    struct winsize size = {0};
    uint32_t done = 0, jobs = 0, bad = 0, upstream = 0, running = 0;
    for (uint32_t i = 0; i < w->targets.count; i++) {
        done += w->done[i];
        jobs += w->jobs[i];
        bad += w->bad[i] - w->upstream[i];
        upstream += w->upstream[i];
        running += w->running[i];
    }
    if (jobs == 0) return;
    (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    uint32_t width = size.ws_col > 60 ? 40 : 20, filled = (uint32_t)((uint64_t)width * done / jobs);
    fprintf(stderr, "\r\033[K%s", out_paint(w->c, bad > 0 ? OUT_RED : OUT_GREEN));
    for (uint32_t i = 0; i < width; i++) fputs(i < filled ? "━" : "─", stderr);
    fprintf(stderr, "%s %u/%u", out_plain(w->c), done, jobs);
    if (running > 0) fprintf(stderr, ", %u running", running);
    if (bad > 0) fprintf(stderr, ", %s%u failed%s", out_paint(w->c, OUT_RED), bad, out_plain(w->c));
    if (upstream > 0) fprintf(stderr, ", %u upstream", upstream);
    fflush(stderr);
}

static void wipe(const struct waiting *w) {
    if (w->draws) fprintf(stderr, "\r\033[K");
}

/* ---- frames ---- */

static bool was_said(const struct waiting *w, struct slice job) {
    for (uint32_t i = 0; i < w->said_count; i++)
        if (slice_eq(w->said[i], job)) return true;
    return false;
}

static void say_over(struct waiting *w, const struct wire_job_view *v) {
    if (w->is_again && was_said(w, v->job)) return;
    if (w->said_count < w->targets.count) w->said[w->said_count++] = arena_slice(&w->c->arena, v->job);
    bool good = slice_eq(v->state, SLICE("succeeded")) || slice_eq(v->state, SLICE("skipped"));
    if (!good) w->any_bad = true;
    if (!good && w->bad_count < w->targets.count) w->bad_ones[w->bad_count++] = arena_slice(&w->c->arena, v->job);
    if (w->c->json) {
        api_print_line(w->c, &wire_job_view_desc, v);
        return;
    }
    wipe(w);
    printf("%s%s%s ", out_paint(w->c, out_state_colour(v->state)), out_state_sign(v->state), out_plain(w->c));
    out_clean(stdout, v->job);
    printf(" %.*s", SLICE_FMT(v->state));
    if (v->reason.len > 0) fputs(": ", stdout), out_clean(stdout, v->reason);
    printf("\n");
    fflush(stdout);
}

static enum err hear(struct waiting *w, const struct client_frame *f) {
    if (w->reason.list_request != 0 || w->reason.why_request != 0) {
        wipe(w);
        if (reason_hear(w->c, &w->reason, f)) return ERR_OK;
    }
    enum err e = client_refusal(f, w->c->why);
    if (e != ERR_OK && f->request == w->wait_request) return e;
    if (e != ERR_OK) return ERR_OK; /* without a bar, then */
    if (f->request == w->events_request) w->dirty = true;
    if (f->request == w->get_request && f->op == WIRE_GOT) {
        note_flow(w, w->get_next, f->message);
        w->get_request = 0;
        w->get_next++;
    }
    if (f->request != w->wait_request || f->op != WIRE_WAITED) return ERR_OK;
    const struct wire_waited *m = f->message;
    const struct wire_job_view *list = m->over.at;
    for (uint32_t i = 0; i < m->over.count; i++) say_over(w, &list[i]);
    w->timed_out = m->timed_out;
    w->over = !(f->flags & FRAME_MORE);
    return ERR_OK;
}

/* Asks about one target after the other; when all are known, draws. */
static enum err look(struct waiting *w) {
    const struct wire_name *names = w->targets.at;
    if (!w->draws || w->get_request != 0) return ERR_OK;
    if (w->get_next == w->targets.count) {
        draw(w);
        w->drawn_ms = now_ms(w->c);
        w->get_next = UINT32_MAX;
    }
    bool due = w->dirty && now_ms(w->c) - w->drawn_ms >= REDRAW_MS;
    if (w->get_next == UINT32_MAX) {
        if (!due) return ERR_OK;
        w->get_next = 0;
        w->dirty = false;
        client_forget(&w->c->client);
    }
    struct wire_get m = {.target = names[w->get_next].name};
    return client_send(&w->c->client, WIRE_GET, &m, &w->get_request, w->c->why);
}

static enum err begin(struct waiting *w) {
    struct cli *c = w->c;
    struct wire_wait m = {.targets = w->targets, .any = w->any};
    struct wire_follow s = {.targets = w->targets};
    enum err e = ERR_OK;
    if (w->until_ms != 0) m.timeout_ms = w->until_ms > now_ms(c) ? w->until_ms - now_ms(c) : 1;
    w->get_request = w->get_next = 0;
    reason_forget(&w->reason);
    w->dirty = true;
    if (w->draws) e = client_send(&c->client, WIRE_FOLLOW, &s, &w->events_request, c->why);
    if (e == ERR_OK) e = client_send(&c->client, WIRE_WAIT, &m, &w->wait_request, c->why);
    return e;
}

/* About one target after the other, of those that are not over. */
static enum err ask_reason(struct waiting *w) {
    const struct wire_name *names = w->targets.at;
    client_forget(&w->c->client);
    for (uint32_t i = 0; i < w->targets.count; i++) {
        struct slice name = names[w->asked++ % w->targets.count].name;
        if (!was_said(w, name)) return reason_ask(w->c, &w->reason, name);
    }
    return ERR_OK;
}

/* Until it is over, or the connection is. */
static enum err watch(struct waiting *w) {
    struct cli *c = w->c;
    enum err e = begin(w);
    while (e == ERR_OK && !w->over) {
        struct client_frame f;
        e = look(w);
        bool redraws = w->draws && w->dirty;
        if (e == ERR_OK) e = client_next(&c->client, redraws ? REDRAW_MS : w->tells ? REASON_AFTER_MS : -1, &f, c->why);
        if (e == ERR_OK && f.op != 0)
            e = hear(w, &f);
        else if (e == ERR_OK && w->tells && !redraws)
            e = ask_reason(w);
    }
    wipe(w);
    return e;
}

enum err wait_for(struct cli *c, struct tlv_list targets, bool any, int64_t timeout_ms, bool quiet, bool *ret_bad) {
    struct waiting w = {.c = c, .targets = targets, .any = any};
    uint32_t n = targets.count;
    w.draws = c->is_terminal && !quiet && !c->json;
    w.tells = !quiet && !c->json;
    if (timeout_ms != 0) w.until_ms = now_ms(c) + timeout_ms;
    w.done = ARENA_ARRAY(&c->arena, uint32_t, n);
    w.jobs = ARENA_ARRAY(&c->arena, uint32_t, n);
    w.bad = ARENA_ARRAY(&c->arena, uint32_t, n);
    w.upstream = ARENA_ARRAY(&c->arena, uint32_t, n);
    w.running = ARENA_ARRAY(&c->arena, uint32_t, n);
    w.said = ARENA_ARRAY(&c->arena, struct slice, n);
    w.bad_ones = ARENA_ARRAY(&c->arena, struct slice, n);
    enum err e = watch(&w);
    while (cli_is_back(c, e, NULL)) {
        w.is_again = true;
        e = watch(&w);
    }
    if (e == ERR_OK && w.timed_out) c->exit_code = EXIT_TIMED_OUT;
    if (e == ERR_OK && w.timed_out && w.tells)
        fprintf(stderr, "reeve %s: --timeout expired before everything had finished\n", c->verb->words);
    *ret_bad = w.any_bad;
    for (uint32_t i = 0; e == ERR_OK && w.tells && i < w.bad_count; i++) e = reason_failures(c, w.bad_ones[i]);
    return e;
}

enum err verb_wait(struct cli *c) {
    int64_t timeout_ms = 0;
    bool bad = false;
    enum err e = cli_flag_duration(c, "timeout", &timeout_ms);
    if (e != ERR_OK) return e;
    e = wait_for(c, cli_names(c, 0), cli_flag(c, "any") != NULL, timeout_ms, cli_flag(c, "quiet") != NULL, &bad);
    if (e == ERR_OK && bad && c->exit_code == 0) c->exit_code = EXIT_ENDED_BADLY;
    return e;
}
