/* verb_service.c: looking at services, and telling them what to do. */
#include <stdio.h>

#include "api_print.h"
#include "out.h"
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

/* ---- one by its name ---- */

struct looking {
    struct slice name;
    struct wire_service_view found;
    uint32_t count; /* that begin so */
};

static bool look_at(void *ctx, const struct wire_service_view *v) {
    struct looking *l = ctx;
    bool begins = slice_begins(v->name, l->name);
    if (begins) l->found = *v, l->count++;
    if (!begins || v->name.len != l->name.len) return true;
    l->count = 1;
    return false; /* an exact name beats a beginning */
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

/* ---- showing ---- */

static struct slice state_of(const struct wire_service_view *v) {
    if (!slice_eq(v->state, SLICE("running"))) return v->state;
    if (v->healthy) return SLICE("healthy");
    if (v->deploying) return SLICE("deploying");
    return v->due_ms != 0 ? SLICE("waiting") : SLICE("unhealthy");
}

static enum out_colour colour_of(const struct wire_service_view *v) {
    if (v->healthy) return OUT_GREEN;
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
    if (v->port != 0)
        out_cell(&l->t, OUT_PLAIN, "%u", v->port);
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

static enum err show_one(struct cli *c) {
    struct wire_service_view v;
    struct client_frame f;
    char number[64], when[OUT_TIME_BYTES];
    enum err e = service_look(c, slice_str(c->args[0]), &v);
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
    if (!v.healthy) line(c, "why", v.text);
    if (v.due_ms != 0) line(c, "starts", slice_str(out_time(v.due_ms, when)));
    show_versions(c, &v);
    return ERR_OK;
}

enum err verb_services(struct cli *c) {
    static const char *const heads[] = {"SERVICE", "STATE", "SINCE", "PORT", "WORKER", "RESTARTS", "VERSION", "WHY"};
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

enum err verb_service_set(struct cli *c) {
    static const struct {
        const char *verb, *done; /* done: of one that does not run afterwards */
        enum wire_desired desired;
    } words[] = {{"stop", "stopped", WIRE_DESIRED_STOPPED},
                 {"start", NULL, WIRE_DESIRED_RUNNING},
                 {"restart", NULL, WIRE_DESIRED_RESTART},
                 {"undeploy", "removed", WIRE_DESIRED_REMOVED}};
    size_t i = 0;
    while (strcmp(words[i].verb, c->verb->words) != 0) i++;
    struct wire_service_view v;
    struct client_frame f;
    enum err e = service_look(c, slice_str(c->args[0]), &v);
    if (e != ERR_OK) return e;
    struct slice name = arena_slice(&c->arena, v.name), job = arena_slice(&c->arena, v.job);
    bool is_so = words[i].desired == WIRE_DESIRED_RUNNING && slice_eq(v.state, SLICE("running"));
    struct wire_service_set m = {.name = name, .desired = (uint8_t)words[i].desired};
    e = client_ask(&c->client, WIRE_SERVICE_SET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    if (c->json) api_print_answer(c, "PUT /services/{name}", f.op, f.message);
    if (is_so && !c->json) service_line(c, &v);
    if (cli_flag(c, "detach") != NULL || is_so) return ERR_OK;
    if (words[i].done == NULL) return wait_healthy(c, name, v.attempt);
    e = wait_stopped(c, job);
    if (e == ERR_OK && !c->json) out_say(stdout, "%.*s %s", SLICE_FMT(name), words[i].done);
    return e;
}
