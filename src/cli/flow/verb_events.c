/* verb_events.c: what happened, and what happens, one line each: from a position on, of everything or of one flow or
 * job. */
#include "event_format.h"
#include "out.h"
#include "verbs.h"

static void show_json(const struct wire_event *e) {
    struct out_object o;
    buf_init(&o.buf, (size_t)1 << 20);
    json_init(&o.json, &o.buf);
    event_format_put(&o.json, e);
    printf("%.*s\n", (int)o.buf.len, (const char *)o.buf.at);
    buf_fini(&o.buf);
}

static void show(struct cli *c, const struct wire_event *e) {
    char when[OUT_TIME_BYTES], at[POSITION_TEXT_BYTES];
    if (c->json) {
        show_json(e);
        return;
    }
    struct slice position = position_text((struct position){e->lsn, e->ordinal}, at);
    printf("%s  %s%10.*s%s  %-7.*s ", out_time(e->time_ms, when), out_paint(c, OUT_GREY), SLICE_FMT(position),
           out_plain(c), SLICE_FMT(e->kind));
    out_clean(stdout, e->target);
    printf(" %s%.*s%s", out_paint(c, out_state_colour(e->to)), SLICE_FMT(e->to), out_plain(c));
    if (e->cause.len > 0) printf(" (%.*s)", SLICE_FMT(e->cause));
    if (e->attempt > 0) printf(" attempt %u", e->attempt);
    if (e->worker.len > 0 && !slice_eq(e->worker, e->target)) {
        printf(" on ");
        out_clean(stdout, e->worker);
    }
    if (e->due_ms > 0) printf(", again at %s", out_time(e->due_ms, when));
    printf("\n");
}

static void show_all(struct cli *c, const struct wire_events *m) {
    const struct wire_event *events = m->events.at;
    if (m->gap && c->json) printf("{\"type\":\"gap\"}\n");
    if (m->gap && !c->json) fprintf(stderr, "reeve events: earlier events are no longer in the archive\n");
    for (uint32_t i = 0; i < m->events.count; i++) show(c, &events[i]);
}

enum err verb_events(struct cli *c) {
    struct client_frame f;
    const char *since = cli_flag(c, "since"), *flow = cli_flag(c, "flow"), *type = cli_flag(c, "type");
    bool follows = cli_flag(c, "follow") != NULL;
    struct wire_name types = {slice_str(type != NULL ? type : "")};
    struct wire_follow m = {.once = !follows, .type = {&types, type != NULL}};
    bool is_job = flow != NULL && strchr(flow, '/') != NULL;
    if (flow != NULL) *(is_job ? &m.job : &m.flow) = slice_str(flow);
    m.since = slice_str(since != NULL ? since : follows ? "" : "0.0");
    enum err e = client_ask(&c->client, WIRE_FOLLOW, &m, &f, c->why);
    while (e == ERR_OK) {
        if (f.op != WIRE_EVENTS) return cli_refuse(c, ERR_UNSUPPORTED, "unexpected answer from the server");
        show_all(c, f.message);
        fflush(stdout);
        if (!(f.flags & FRAME_MORE)) return ERR_OK;
        client_forget(&c->client);
        e = client_answer(&c->client, f.request, &f, c->why);
    }
    return e;
}
