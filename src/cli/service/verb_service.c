/* verb_service.c: looking at services, and telling them what to do. */
#include <stdio.h>
#include <stdlib.h>

#include "api_print.h"
#include "out.h"
#include "rules.h"
#include "spec_value.h"
#include "vec.h"
#include "verbs.h"

#define LOOK_MS 200 /* between looks at one that is starting */

typedef bool (*each_fn)(void *ctx, const struct wire_service_view *v); /* false: that is enough */

/* `pages` gets each page as it came; NULL = nobody wants them. */
static enum err each_service(struct cli *c, each_fn each, void *ctx, struct api_print *pages) {
    struct wire_page m = {0};
    for (bool more = true; more;) {
        struct client_frame f;
        enum err e = client_ask(&c->client, WIRE_SERVICE_LS, &m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_service_list *page = f.message;
        const struct wire_service_view *list = page->services.at;
        more = page->cursor.len > 0;
        for (uint32_t i = 0; i < page->services.count; i++)
            if (!each(ctx, &list[i])) return ERR_OK;
        if (pages != NULL) api_print_page(pages, f.op, page);
        m.cursor = page->cursor;
    }
    return ERR_OK;
}

/* ---- by name: one, or the replicas of one ---- */

struct looking {
    struct slice name;
    struct wire_service_view found;
    uint32_t count; /* that begin so */
    struct arena *arena;
    struct vec *replicas; /* of wire_service_view: all of the set `name`; NULL = nobody asks */
    bool is_exact;
};

static bool look_at(void *ctx, const struct wire_service_view *v) {
    struct looking *l = ctx;
    if (l->replicas != NULL && slice_eq(v->replica_of, l->name)) {
        struct wire_service_view *copy = vec_push(l->replicas);
        *copy = *v;
        copy->name = arena_slice(l->arena, v->name);
        copy->job = arena_slice(l->arena, v->job);
        copy->state = arena_slice(l->arena, v->state);
        copy->worker = arena_slice(l->arena, v->worker);
        copy->replica_of = arena_slice(l->arena, v->replica_of);
        copy->update = arena_slice(l->arena, v->update);
        copy->code = arena_slice(l->arena, v->code);
        copy->text = arena_slice(l->arena, v->text);
    }
    bool begins = slice_begins(v->name, l->name);
    if (l->is_exact) return true;
    if (begins) l->found = *v, l->count++;
    if (!begins || v->name.len != l->name.len) return true;
    l->count = 1;
    l->is_exact = true;
    return l->replicas != NULL; /* an exact name beats a beginning */
}

enum err service_look(struct cli *c, struct slice name, struct wire_service_view *ret) {
    struct looking l = {.name = name};
    client_forget(&c->client);
    enum err e = each_service(c, look_at, &l, NULL);
    if (e != ERR_OK) return e;
    if (l.count == 0) return cli_refuse(c, ERR_NOT_FOUND, "there is no service %.*s", SLICE_FMT(name));
    if (l.count > 1)
        return cli_refuse(c, ERR_INVALID, "%u services begin with %.*s: type more of the name", l.count,
                          SLICE_FMT(name));
    *ret = l.found;
    return ERR_OK;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = ((const struct wire_service_view *)a)->replica, y = ((const struct wire_service_view *)b)->replica;
    return x < y ? -1 : x > y;
}

enum err service_replicas(struct cli *c, struct slice name, struct wire_service_view **ret, uint32_t *ret_count) {
    struct vec all;
    vec_init(&all, sizeof(struct wire_service_view));
    struct looking l = {.name = name, .arena = &c->arena, .replicas = &all};
    client_forget(&c->client);
    enum err e = each_service(c, look_at, &l, NULL);
    *ret_count = e == ERR_OK && !l.is_exact ? all.count : 0;
    *ret = ARENA_ARRAY(&c->arena, struct wire_service_view, *ret_count + 1);
    if (*ret_count > 0) {
        memcpy(*ret, all.at, sizeof **ret * *ret_count);
        qsort(*ret, *ret_count, sizeof **ret, by_number);
    }
    vec_fini(&all);
    return e;
}

/* ---- showing ---- */

static struct slice state_of(const struct wire_service_view *v) {
    if (!slice_eq(v->state, SLICE("running"))) return v->state;
    if (v->healthy) return SLICE("healthy");
    if (v->deploying) return v->previous_healthy ? SLICE("updating") : SLICE("deploying");
    return v->due_ms != 0 ? SLICE("waiting") : SLICE("unhealthy");
}

static enum out_colour colour_of(const struct wire_service_view *v) {
    if (v->healthy || v->previous_healthy) return OUT_GREEN;
    return slice_eq(v->state, SLICE("running")) ? OUT_YELLOW : OUT_GREY;
}

void service_line(struct cli *c, const struct wire_service_view *v) {
    if (c->json) {
        api_print_line(c, &wire_service_view_desc, v);
        return;
    }
    printf("%s", out_paint(c, OUT_BOLD));
    out_clean(stdout, v->name);
    printf("%s  %s%.*s%s, version %u", out_plain(c), out_paint(c, colour_of(v)), SLICE_FMT(state_of(v)), out_plain(c),
           v->version);
    if (v->worker.len > 0) printf(", on "), out_clean(stdout, v->worker);
    if (v->port != 0) printf(", port %u", v->port);
    printf("\n");
}

struct service_listing {
    struct cli *c;
    struct out_table t;
};

static bool list_one(void *ctx, const struct wire_service_view *v) {
    struct service_listing *l = ctx;
    char since[OUT_TIME_BYTES];
    if (l->c->json) return true;
    out_slice(&l->t, OUT_BOLD, v->name);
    out_slice(&l->t, colour_of(v), state_of(v));
    out_cell(&l->t, OUT_PLAIN, "%s", out_age(l->c->world->clock->wall(l->c->world->clock).ms, v->since_ms, since));
    uint32_t port = v->overlaps && v->previous_healthy ? v->previous_port : v->port; /* where it answers */
    if (port != 0)
        out_cell(&l->t, OUT_PLAIN, "%u", port);
    else
        out_cell(&l->t, OUT_PLAIN, "-");
    out_slice(&l->t, OUT_PLAIN, v->worker);
    out_cell(&l->t, OUT_PLAIN, "%u", v->restarts);
    out_cell(&l->t, OUT_PLAIN, "%u", v->version);
    out_slice(&l->t, OUT_PLAIN, v->healthy ? (struct slice){0} : v->text);
    return true;
}

static void line(const struct cli *c, const char *name, struct slice value) {
    if (value.len == 0) return;
    printf("  %s%-12s%s ", out_paint(c, OUT_GREY), name, out_plain(c));
    out_clean(stdout, value);
    printf("\n");
}

static enum out_colour version_colour(struct slice state) {
    if (slice_eq(state, SLICE("current"))) return OUT_GREEN;
    if (slice_eq(state, SLICE("failed"))) return OUT_RED;
    return slice_eq(state, SLICE("deploying")) ? OUT_YELLOW : OUT_GREY;
}

/* How long it was the one that runs. */
static const char *version_took(const struct cli *c, const struct wire_service_version *one,
                                char text[OUT_TIME_BYTES]) {
    int64_t end = one->ended_ms != 0 ? one->ended_ms : c->world->clock->wall(c->world->clock).ms;
    return one->healthy_ms != 0 ? out_age(end, one->healthy_ms, text) : "-";
}

static void show_versions(struct cli *c, const struct wire_service_view *v) {
    static const char *const heads[] = {"VERSION", "STATE", "DEPLOYED", "HEALTHY FOR", "RESTARTS", "BY", "FLOW"};
    const struct wire_service_version *list = v->versions.at;
    char text[OUT_TIME_BYTES];
    struct out_table t;
    if (v->versions.count == 0) return;
    printf("\n");
    out_table_init(&t, c, 7, heads);
    for (uint32_t i = 0; i < v->versions.count; i++) {
        out_cell(&t, OUT_BOLD, "%u", list[i].version);
        out_slice(&t, version_colour(list[i].state), list[i].state);
        out_cell(&t, OUT_PLAIN, "%s", out_time(list[i].begun_ms, text));
        out_cell(&t, OUT_PLAIN, "%s", version_took(c, &list[i], text));
        out_cell(&t, OUT_PLAIN, "%u", list[i].restarts);
        out_slice(&t, OUT_PLAIN, list[i].by);
        out_slice(&t, OUT_PLAIN, list[i].flow);
    }
    out_table_end(&t);
}

static const char *const heads[] = {"SERVICE", "STATE", "SINCE", "PORT", "WORKER", "RESTARTS", "VERSION", "WHY"};

static enum err list_replicas(struct cli *c, struct wire_service_view *list, uint32_t count) {
    struct service_listing l = {.c = c};
    if (c->json) {
        const struct wire_service_list page = {.services = {list, count}};
        struct api_print answer;
        api_print_begin(&answer, c, "/services");
        api_print_page(&answer, WIRE_SERVICE_LIST, &page);
        api_print_end(&answer);
        return ERR_OK;
    }
    out_table_init(&l.t, c, 8, heads);
    for (uint32_t i = 0; i < count; i++) (void)list_one(&l, &list[i]);
    out_table_end(&l.t);
    return ERR_OK;
}

static enum err show_one(struct cli *c) {
    struct wire_service_view v, *replicas;
    struct client_frame f;
    char number[64], when[OUT_TIME_BYTES];
    uint32_t count = 0;
    enum err e = service_replicas(c, slice_str(c->args[0]), &replicas, &count);
    if (e == ERR_OK && count > 0) return list_replicas(c, replicas, count);
    if (e == ERR_OK) e = service_look(c, slice_str(c->args[0]), &v);
    if (e != ERR_OK) return e;
    struct wire_service_get m = {arena_slice(&c->arena, v.name)};
    e = client_ask(&c->client, WIRE_SERVICE_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    if (c->json) {
        api_print_answer(c, "/services/{name}", f.op, f.message);
        return ERR_OK;
    }
    const struct wire_service_list *got = f.message;
    v = *(const struct wire_service_view *)got->services.at;
    service_line(c, &v);
    line(c, "job", v.job);
    line(c, "since", slice_str(out_time(v.since_ms, when)));
    snprintf(number, sizeof number, "%u", v.restarts);
    line(c, "restarts", slice_str(number));
    snprintf(number, sizeof number, "%u", v.previous_version);
    if (v.previous_version != 0) line(c, "before it", slice_str(number));
    if (v.overlaps)
        line(c, "runs on",
             v.previous_healthy ? SLICE("the version before it, which is healthy, until this one is")
                                : SLICE("the version before it, until this one is healthy"));
    if (!v.healthy) line(c, "why", v.text);
    if (v.due_ms != 0) line(c, "starts", slice_str(out_time(v.due_ms, when)));
    show_versions(c, &v);
    return ERR_OK;
}

enum err verb_services(struct cli *c) {
    struct service_listing l = {.c = c};
    struct api_print answer;
    if (c->arg_count == 1) return show_one(c);
    out_table_init(&l.t, c, 8, heads);
    api_print_begin(&answer, c, "/services");
    enum err e = each_service(c, list_one, &l, c->json ? &answer : NULL);
    api_print_end(&answer);
    if (e == ERR_OK && !c->json)
        out_table_end(&l.t);
    else
        vec_fini(&l.t.cells);
    return e;
}

/* ---- telling ---- */

/* Its process is gone, or was not there: the job that runs it is over. */
static enum err wait_stopped(struct cli *c, struct slice job) {
    struct wire_name name = {job};
    struct wire_wait m = {.targets = {&name, 1}};
    struct client_frame f;
    enum err e = job.len > 0 ? client_ask(&c->client, WIRE_WAIT, &m, &f, c->why) : ERR_OK;
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* forgotten already */
}

static enum err wait_healthy(struct cli *c, struct slice name, uint32_t attempt) {
    for (;;) {
        struct wire_service_view v;
        struct client_frame f;
        enum err e = service_look(c, name, &v);
        if (e != ERR_OK) return e;
        if (v.attempt > attempt && v.healthy) {
            if (!c->json) service_line(c, &v);
            return ERR_OK;
        }
        if (!slice_eq(v.state, SLICE("running")))
            return cli_refuse(c, ERR_STATE, "service %.*s was stopped in the meantime", SLICE_FMT(name));
        if (v.attempt > attempt + 1 || (v.attempt > attempt && v.due_ms != 0))
            return cli_refuse(c, ERR_STATE, "service %.*s ended again: %.*s", SLICE_FMT(name), SLICE_FMT(v.text));
        e = client_next(&c->client, LOOK_MS, &f, c->why);
        if (e != ERR_OK) return e;
    }
}

struct service_telling { /* what a verb says to a service */
    const char *verb, *done; /* done: of one that does not run afterwards */
    enum wire_desired desired;
};

/* Says it and, unless the caller is in a hurry, waits until it is so. */
static enum err tell_one(struct cli *c, const struct service_telling *what, const struct wire_service_view *v) {
    struct client_frame f;
    struct slice name = arena_slice(&c->arena, v->name), job = arena_slice(&c->arena, v->job);
    uint32_t attempt = v->attempt;
    bool is_so = what->desired == WIRE_DESIRED_RUNNING && slice_eq(v->state, SLICE("running"));
    struct wire_service_set m = {.name = name, .desired = (uint8_t)what->desired};
    enum err e = client_ask(&c->client, WIRE_SERVICE_SET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    if (c->json) api_print_answer(c, "PUT /services/{name}", f.op, f.message);
    if (is_so && !c->json) service_line(c, v);
    if (cli_flag(c, "detach") != NULL || is_so) return ERR_OK;
    if (what->done == NULL) return wait_healthy(c, name, attempt);
    e = wait_stopped(c, job);
    if (e == ERR_OK && !c->json) out_say(stdout, "%.*s %s", SLICE_FMT(name), what->done);
    return e;
}

/* One after the other where the service would be away otherwise, else all at once. */
static enum err tell_replicas(struct cli *c, const struct service_telling *what, struct wire_service_view *list,
                              uint32_t count) {
    struct client_frame f;
    struct wire_service_set m = {.name = slice_str(c->args[0]), .desired = (uint8_t)what->desired};
    enum err e = ERR_OK;
    if (what->desired == WIRE_DESIRED_RESTART && cli_flag(c, "detach") == NULL) {
        for (uint32_t i = 0; e == ERR_OK && i < count; i++) e = tell_one(c, what, &list[i]);
        return e;
    }
    e = client_ask(&c->client, WIRE_SERVICE_SET, &m, &f, c->why);
    if (e == ERR_OK && c->json) api_print_answer(c, "PUT /services/{name}", f.op, f.message);
    if (e != ERR_OK || cli_flag(c, "detach") != NULL) return e;
    bool runs = what->done == NULL;
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        if (runs && slice_eq(list[i].state, SLICE("running"))) continue;
        e = runs ? wait_healthy(c, list[i].name, list[i].attempt) : wait_stopped(c, list[i].job);
    }
    if (e == ERR_OK && !runs && !c->json) out_say(stdout, "%s %s", c->args[0], what->done);
    return e;
}

enum err verb_service_set(struct cli *c) {
    static const struct service_telling words[] = {{"stop", "stopped", WIRE_DESIRED_STOPPED},
                                                   {"start", NULL, WIRE_DESIRED_RUNNING},
                                                   {"restart", NULL, WIRE_DESIRED_RESTART},
                                                   {"undeploy", "removed", WIRE_DESIRED_REMOVED}};
    size_t i = 0;
    while (strcmp(words[i].verb, c->verb->words) != 0) i++;
    struct wire_service_view v, *replicas;
    uint32_t count = 0;
    enum err e = service_replicas(c, slice_str(c->args[0]), &replicas, &count);
    if (e == ERR_OK && count > 0) return tell_replicas(c, &words[i], replicas, count);
    if (e == ERR_OK) e = service_look(c, slice_str(c->args[0]), &v);
    return e == ERR_OK ? tell_one(c, &words[i], &v) : e;
}

/* ---- scaling ---- */

enum err verb_scale(struct cli *c) {
    const char *text = c->args[0], *sign = strrchr(text, '=');
    struct wire_service_view *before, *now;
    uint32_t before_count = 0, count = 0;
    struct client_frame f;
    int64_t n = 0;
    if (sign == NULL || sign == text || !spec_number(slice_str(sign + 1), &n) || n < 1 || n > REPLICAS_MAX)
        return cli_refuse(c, ERR_INVALID, "expected NAME=N with N between 1 and %u, found `%s`", REPLICAS_MAX, text);
    struct wire_service_set m = {.name = slice_of(text, (size_t)(sign - text)), .replicas = (uint32_t)n};
    enum err e = service_replicas(c, m.name, &before, &before_count);
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_SERVICE_SET, &m, &f, c->why);
    if (e == ERR_OK && c->json) api_print_answer(c, "PUT /services/{name}", f.op, f.message);
    if (e != ERR_OK || cli_flag(c, "detach") != NULL) return e;
    for (uint32_t i = 0; e == ERR_OK && i < before_count; i++)
        if (before[i].replica > m.replicas) e = wait_stopped(c, before[i].job);
    if (e == ERR_OK) e = service_replicas(c, m.name, &now, &count);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        bool is_new = true;
        for (uint32_t k = 0; k < before_count; k++) is_new = is_new && before[k].replica != now[i].replica;
        if (is_new) e = wait_healthy(c, now[i].name, 0);
    }
    return e;
}
