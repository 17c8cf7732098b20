/* top.c: `reeve top`: the loop between the terminal and the server, and one frame for programs. See top.h. */
#include "top.h"

#include <stdio.h>

#include "api_print.h"
#include "tty.h"
#include "verbs.h"

#define TICK_MS 1000
#define ASK_MS 200   /* a view is asked for at most so often, whatever happens */
#define AGAIN_MS 500 /* a server that is away is tried so often */
#define ESCAPE_MS 40 /* an ESC that nothing follows for so long is the key */

int64_t top_now_ms(const struct top *t) {
    return t->c->world->clock->mono(t->c->world->clock).ms;
}

int64_t top_wall_ms(const struct top *t) {
    return t->c->world->clock->wall(t->c->world->clock).ms;
}

static void top_init(struct top *t, struct cli *c) {
    *t = (struct top){.c = c, .is_stale = true};
    vec_init(&t->numbers, sizeof(struct top_number));
    arena_init(&t->numbers_arena, 8192, (size_t)1 << 20);
    edit_init(&t->filter);
    screen_init(&t->screen, false, c->colour);
    for (uint32_t i = 0; i < TOP_PANE_COUNT; i++) top_view_init(&t->panes[i], (enum top_kind)i, "");
}

static void top_fini(struct top *t) {
    while (t->depth > 0) top_view_fini(&t->deep[--t->depth]);
    for (uint32_t i = 0; i < TOP_PANE_COUNT; i++) top_view_fini(&t->panes[i]);
    screen_fini(&t->screen);
    edit_fini(&t->filter);
    arena_fini(&t->numbers_arena);
    vec_fini(&t->numbers);
}

/* ---- the server ---- */

static enum err subscribe(struct top *t) {
    struct wire_follow m = {0};
    return client_send(&t->c->client, WIRE_FOLLOW, &m, &t->events_request, t->c->why);
}

static void forget_requests(struct top_view *v) {
    for (size_t i = 0; i < TOP_PART_COUNT; i++) v->parts[i].request = 0;
    v->is_dirty = true;
    if (v->kind == TOP_LOG) {
        v->is_answered = false;
        top_part_clear(&v->parts[TOP_PART_LOG]); /* it is read again */
    }
}

static void server_gone(struct top *t) {
    client_close(&t->c->client);
    if (t->away_since_ms == 0) t->away_since_ms = top_now_ms(t);
    t->tried_ms = top_now_ms(t);
    t->stats_request = t->events_request = t->action_request = 0;
    for (uint32_t i = 0; i < TOP_PANE_COUNT; i++) forget_requests(&t->panes[i]);
    for (uint32_t i = 0; i < t->depth; i++) forget_requests(&t->deep[i]);
    t->is_stale = true;
}

/* One that does not know us any more is an error; one that is not there is tried again. */
static enum err come_back(struct top *t) {
    if (t->away_since_ms == 0 || top_now_ms(t) - t->tried_ms < AGAIN_MS) return ERR_OK;
    t->tried_ms = top_now_ms(t);
    t->is_stale = true;
    enum err e = cli_connect(t->c);
    if (e == ERR_UNKNOWN || e == ERR_BUSY) return ERR_OK;
    if (e != ERR_OK) return e;
    t->away_since_ms = 0;
    return subscribe(t);
}

static enum err ask_what_is_due(struct top *t) {
    int64_t now = top_now_ms(t);
    struct top_view *v = top_view(t), *workers = &t->panes[TOP_WORKERS];
    enum err e = ERR_OK;
    bool tick = now - t->ticked_ms >= TICK_MS || t->ticked_ms == 0;
    if (tick && t->stats_request == 0) e = top_ask_stats(t);
    if (tick) v->is_dirty = workers->is_dirty = true;
    if (e == ERR_OK && workers->is_dirty && workers->parts[TOP_PART_MAIN].request == 0 && (tick || v == workers))
        e = top_ask_view(t, workers);
    if (e == ERR_OK && v->is_dirty && v->parts[TOP_PART_MAIN].request == 0 &&
        (now - v->asked_ms >= ASK_MS || v->asked_ms == 0))
        e = top_ask_view(t, v);
    return e;
}

/* All frames that are there. */
static enum err hear_all(struct top *t) {
    for (;;) {
        struct client_frame f;
        enum err e = client_next(&t->c->client, 0, &f, t->c->why);
        if (e != ERR_OK || f.op == 0) return e;
        e = top_hear(t, &f);
        client_forget(&t->c->client);
        if (e != ERR_OK) return e;
    }
}

enum err top_act(struct top *t) {
    const struct top_action *a = &t->action;
    struct wire_name name = {slice_str(a->target)};
    struct wire_targets targets = {.targets = {&name, 1}, .reason = SLICE("from reeve top")};
    struct wire_pause pause = {.name = name.name, .scope = WIRE_SCOPE_FLOW};
    struct wire_drain drain = {.worker = name.name, .undo = a->undo};
    struct wire_verdict verdict = {.question = a->question,
                                   .revision = a->revision,
                                   .hash = slice_of(a->hash, a->hash_len),
                                   .verdict = a->verdict,
                                   .reason = SLICE("from reeve top")};
    struct wire_service_set service = {.name = name.name, .desired = a->desired};
    const void *message = &targets;
    if (a->op == WIRE_PAUSE || a->op == WIRE_RESUME) message = &pause;
    if (a->op == WIRE_DRAIN) message = &drain;
    if (a->op == WIRE_SERVICE_SET) message = &service;
    if (a->op == WIRE_VERDICT) message = &verdict;
    if (t->away_since_ms != 0) return ERR_OK;
    return client_send(&t->c->client, a->op, message, &t->action_request, t->c->why);
}

/* ---- the terminal ---- */

static void show(struct top *t) {
    struct buf out;
    if (!t->is_stale) return;
    buf_init(&out, SCREEN_BYTES_MAX);
    top_draw(t);
    screen_flush(&t->screen, &out);
    tty_write(buf_slice(&out));
    buf_fini(&out);
}

static enum err take_keys(struct top *t, bool came) {
    uint8_t bytes[128];
    struct key_press key;
    enum err e = ERR_OK;
    if (came) {
        size_t n = tty_read(bytes, sizeof bytes);
        t->wants_out |= n == 0; /* the terminal is gone */
        keys_feed(&t->keys, slice_of(bytes, n));
    }
    while (e == ERR_OK && keys_take(&t->keys, !came, &key)) e = top_key(t, &key);
    return e;
}

static void fit(struct top *t) {
    uint32_t rows = 0, cols = 0;
    tty_size(&rows, &cols);
    screen_resize(&t->screen, rows, cols);
    t->is_stale = true;
}

static int patience(const struct top *t) {
    int64_t now = top_now_ms(t), due = t->ticked_ms + TICK_MS - now;
    const struct top_view *v = t->depth > 0 ? &t->deep[t->depth - 1] : &t->panes[t->pane];
    if (t->away_since_ms != 0)
        due = t->tried_ms + AGAIN_MS - now;
    else if (v->is_dirty && v->asked_ms + ASK_MS - now < due)
        due = v->asked_ms + ASK_MS - now;
    if (t->keys.len > 0 && due > ESCAPE_MS) due = ESCAPE_MS;
    return due > 0 ? (int)due : 0;
}

static enum err loop(struct top *t) {
    enum err e = subscribe(t);
    fit(t);
    while (!t->wants_out) {
        bool heard = false;
        if (e == ERR_OK && t->away_since_ms == 0) e = ask_what_is_due(t);
        if (e == ERR_OK) show(t);
        bool came = e == ERR_OK && tty_wait(t->away_since_ms == 0 ? t->c->client.fd : -1, patience(t), &heard);
        if (tty_changed()) fit(t);
        if (e == ERR_OK) e = take_keys(t, came);
        if (e == ERR_OK && t->away_since_ms == 0) e = hear_all(t);
        if (e == ERR_UNKNOWN) {
            server_gone(t);
            e = ERR_OK;
        }
        if (e == ERR_OK) e = come_back(t);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

/* ---- one frame for programs ---- */

static void json_numbers(struct json *j, const struct top *t) {
    struct top_sample rates;
    top_rates(t, &rates);
    json_key(j, "stats");
    json_object(j);
    for (uint32_t i = 0; i < t->numbers.count; i++) {
        const struct top_number *n = vec_at(&t->numbers, i);
        char name[128];
        snprintf(name, sizeof name, "%.*s", SLICE_FMT(n->name));
        json_key(j, name);
        json_u64(j, n->amount);
    }
    json_object_end(j);
    const struct {
        const char *name;
        uint64_t amount;
    } list[] = {{"started_per_1000s", rates.started},
                {"succeeded_per_1000s", rates.succeeded},
                {"failed_per_1000s", rates.failed},
                {"syncs_per_1000s", rates.syncs}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        json_key(j, list[i].name);
        json_u64(j, list[i].amount);
    }
}

static void json_list(struct json *j, const char *name, const struct tlv_desc *desc, struct tlv_list list) {
    json_key(j, name);
    json_array(j);
    for (uint32_t i = 0; i < list.count; i++) {
        api_print_put(j, desc, (const uint8_t *)list.at + i * desc->size);
    }
    json_array_end(j);
}

static enum err json_frame(struct top *t) {
    static const uint8_t whats[] = {WIRE_LIST_FLOWS, WIRE_LIST_WORKERS, WIRE_LIST_QUESTIONS, WIRE_LIST_DEAD};
    struct cli *c = t->c;
    const struct wire_listed *pages[4] = {0};
    struct wire_page page = {.most = TOP_ROWS_MAX};
    struct client_frame f;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < 4; i++) {
        struct wire_list m = {.what = whats[i], .most = TOP_ROWS_MAX};
        e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
        pages[i] = f.message;
    }
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_SERVICE_LS, &page, &f, c->why);
    if (e != ERR_OK) return e;
    struct out_object o;
    out_object_begin(&o);
    json_numbers(&o.json, t);
    json_list(&o.json, "flows", &wire_flow_view_desc, pages[0]->flows);
    json_list(&o.json, "workers", &wire_worker_view_desc, pages[1]->workers);
    json_list(&o.json, "questions", &wire_question_view_desc, pages[2]->questions);
    json_list(&o.json, "services", &wire_service_view_desc, ((const struct wire_service_list *)f.message)->services);
    json_list(&o.json, "dead", &wire_job_view_desc, pages[3]->jobs);
    out_object_end(&o);
    return ERR_OK;
}

/* Throughput is the difference of two looks: a second apart, and the lists beside the second. */
static enum err two_looks(struct top *t, bool rows) {
    enum err e = top_ask_stats(t);
    if (e == ERR_OK && rows) e = top_ask_view(t, &t->panes[TOP_FLOWS]);
    if (e == ERR_OK && rows) e = top_ask_view(t, &t->panes[TOP_WORKERS]);
    while (e == ERR_OK && (t->sample_count < 2 || (rows && !t->panes[TOP_FLOWS].is_answered))) {
        struct client_frame f;
        int64_t left = t->ticked_ms + TICK_MS - top_now_ms(t);
        e = client_next(&t->c->client, left > 0 ? (int)left : 0, &f, t->c->why);
        if (e == ERR_OK && f.op != 0) e = top_hear(t, &f);
        if (e == ERR_OK && t->stats_request == 0 && t->sample_count == 1 && top_now_ms(t) - t->ticked_ms >= TICK_MS)
            e = top_ask_stats(t);
    }
    return e;
}

static enum err once(struct top *t) {
    uint32_t rows = 0, cols = 0;
    struct buf out;
    tty_size(&rows, &cols);
    screen_resize(&t->screen, rows, cols);
    enum err e = two_looks(t, !t->c->json);
    if (e != ERR_OK || t->c->json) return e == ERR_OK ? json_frame(t) : e;
    buf_init(&out, SCREEN_BYTES_MAX);
    t->is_printing = true;
    top_draw(t);
    screen_text(&t->screen, &out);
    fwrite(out.at, 1, out.len, stdout);
    buf_fini(&out);
    return ERR_OK;
}

enum err verb_top(struct cli *c) {
    static struct top t; /* too large for a stack */
    bool is_once = c->json || cli_flag(c, "once") != NULL;
    enum err e = ERR_OK;
    top_init(&t, c);
    if (is_once)
        e = once(&t);
    else if (!tty_open(TTY_FULL))
        e = cli_refuse(c, ERR_INVALID, "standard output is not a terminal: use --once for one frame, or --json");
    else
        e = loop(&t);
    tty_close();
    top_fini(&t);
    return e;
}
