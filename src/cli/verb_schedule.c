/* verb_schedule.c: flows that are made again and again. */
#include <stdio.h>

#include "api_print.h"
#include "out.h"
#include "spec.h"
#include "spec_value.h"
#include "verbs.h"

/* ---- add ---- */

static enum err flag_moment(struct cli *c, const char *flag, int64_t *ret) {
    int64_t ms;
    struct slice text = cli_flag_text(c, flag);
    if (text.len == 0 || spec_time(text, ret)) return ERR_OK;
    if (!spec_duration(text, &ms))
        return cli_refuse(c, ERR_INVALID,
                          "--%s: expected a time like 2026-03-01T08:00:00Z, or a duration from now like 2h", flag);
    *ret = c->world->clock->wall(c->world->clock).ms + ms;
    return ERR_OK;
}

/* A flag that says when replaces what the file says about that; the rest goes over it one by one. */
static enum err flags_over(struct cli *c, struct spec_schedule *to) {
    struct {
        const char *flag;
        struct slice *to;
    } const texts[] = {{"cron", &to->cron}, {"every", &to->every},       {"at", &to->at},
                       {"from", &to->from}, {"zone", &to->zone},         {"gap", &to->gap},
                       {"fold", &to->fold}, {"catch-up", &to->catch_up}, {"overlap", &to->overlap},
                       {"name", &to->name}};
    if (cli_flag(c, "cron") || cli_flag(c, "every") || cli_flag(c, "at"))
        to->cron = to->every = to->at = to->from = (struct slice){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (cli_flag(c, texts[i].flag) != NULL) *texts[i].to = cli_flag_text(c, texts[i].flag);
    if (cli_flag(c, "paused") != NULL) to->paused = true;
    enum err e = flag_moment(c, "start", &to->start_ms);
    return e == ERR_OK ? flag_moment(c, "end", &to->end_ms) : e;
}

static void say_slots(struct cli *c, const struct wire_schedule_view *v, const char *before) {
    const struct wire_moment *ahead = v->ahead.at;
    char text[OUT_TIME_BYTES];
    for (uint32_t i = 0; i < v->ahead.count; i++) printf("%s%s\n", before, out_time(ahead[i].ms, text));
    if (v->ahead.count == 0) printf("%sno further slot\n", before);
    (void)c;
}

/* The one of that name, with its next slots. */
static enum err look(struct cli *c, struct slice name, uint32_t ahead, const struct wire_schedule_list **ret) {
    struct client_frame f;
    struct wire_schedule_ls m = {.name = name, .ahead = ahead, .most = 1};
    enum err e = client_ask(&c->client, WIRE_SCHEDULE_LS, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_schedule_list *got = f.message;
    if (got->schedules.count == 0) return cli_refuse(c, ERR_NOT_FOUND, "there is no schedule %.*s", SLICE_FMT(name));
    *ret = got;
    return ERR_OK;
}

enum err verb_schedule_add(struct cli *c) {
    struct spec_schedule schedule;
    struct wire_flow flow;
    struct wire_schedule_set m;
    struct client_frame f;
    const struct wire_schedule_list *got;
    enum err e = verb_flow_file_read(c, c->args[0], FLOW_FILES_SEND, &flow, &schedule);
    if (e == ERR_OK) e = flags_over(c, &schedule);
    if (e != ERR_OK) return e;
    if (schedule.cron.len + schedule.every.len + schedule.at.len == 0)
        return cli_refuse(c, ERR_INVALID, "%s has no `schedule`: add one, or pass --cron, --every or --at", c->args[0]);
    if (schedule.name.len == 0)
        return cli_refuse(c, ERR_INVALID, "the schedule needs a name: `name:` in the file, or --name");
    e = spec_schedule_message(&schedule, &c->arena, &m, c->why);
    if (e != ERR_OK) return e;
    m.flow = flow;
    e = client_ask(&c->client, WIRE_SCHEDULE_SET, &m, &f, c->why);
    if (e == ERR_OK) e = look(c, m.name, 3, &got);
    if (e != ERR_OK) return e;
    if (c->json) {
        api_print_answer(c, "PUT /schedules/{name}", WIRE_ACCEPTED, f.message);
        return ERR_OK;
    }
    const struct wire_schedule_view *v = got->schedules.at;
    out_say(stdout, "%.*s: %.*s%s", SLICE_FMT(v->name), SLICE_FMT(v->expression), v->paused ? " (paused)" : "");
    say_slots(c, v, "  ");
    return ERR_OK;
}

/* ---- look ---- */

static void show(struct cli *c, struct out_table *t, const struct wire_schedule_view *v) {
    char text[OUT_TIME_BYTES];
    out_slice(t, OUT_BOLD, v->name);
    out_slice(t, OUT_PLAIN, v->expression);
    out_cell(t, v->paused ? OUT_YELLOW : OUT_PLAIN, "%s", v->next_ms != 0 ? out_time(v->next_ms, text) : "-");
    out_slice(t, v->paused ? OUT_YELLOW : OUT_GREY, v->code);
    out_cell(t, OUT_PLAIN, "%llu", (unsigned long long)v->fired);
    out_cell(t, v->missed + v->skipped ? OUT_YELLOW : OUT_PLAIN, "%llu", (unsigned long long)(v->missed + v->skipped));
    out_slice(t, v->running ? OUT_BLUE : OUT_PLAIN, v->flow);
    (void)c;
}

enum err verb_schedule_ls(struct cli *c) {
    static const char *const heads[] = {"SCHEDULE", "WHEN", "NEXT", "STATE", "FIRED", "LEFT OUT", "LAST FLOW"};
    struct out_table t;
    struct api_print answer;
    struct wire_schedule_ls m = {0};
    enum err e;
    out_table_init(&t, c, 7, heads);
    api_print_begin(&answer, c, "/schedules");
    do {
        struct client_frame f;
        e = client_ask(&c->client, WIRE_SCHEDULE_LS, &m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_schedule_list *page = f.message;
        const struct wire_schedule_view *list = page->schedules.at;
        for (uint32_t i = 0; i < page->schedules.count && !c->json; i++) show(c, &t, &list[i]);
        if (c->json) api_print_page(&answer, f.op, page);
        m.cursor = page->cursor;
    } while (m.cursor.len > 0);
    api_print_end(&answer);
    if (e == ERR_OK && !c->json)
        out_table_end(&t);
    else
        vec_fini(&t.cells);
    return e;
}

enum err verb_schedule_next(struct cli *c) {
    const struct wire_schedule_list *got;
    uint64_t count = 5;
    enum err e = cli_flag_number(c, "count", WIRE_AHEAD_MAX, &count);
    if (e == ERR_OK) e = look(c, slice_str(c->args[0]), (uint32_t)count, &got);
    if (e != ERR_OK) return e;
    if (c->json)
        api_print_answer(c, "/schedules", WIRE_SCHEDULE_LIST, got);
    else
        say_slots(c, got->schedules.at, "");
    return ERR_OK;
}

/* ---- change ---- */

static enum err change(struct cli *c, struct wire_schedule_change *m, const char *said) {
    struct client_frame f;
    m->name = slice_str(c->args[0]);
    enum err e = client_ask(&c->client, WIRE_SCHEDULE_CHANGE, m, &f, c->why);
    if (e != ERR_OK) return e;
    if (c->json)
        api_print_answer(c, "DELETE /schedules/{name}", WIRE_ACCEPTED, f.message);
    else
        printf("%s %s\n", c->args[0], said);
    return ERR_OK;
}

enum err verb_schedule_change(struct cli *c) {
    static const struct {
        const char *words, *said;
        enum wire_schedule_op op;
    } ops[] = {{"schedule rm", "removed", WIRE_SCHEDULE_REMOVE},
               {"schedule pause", "paused", WIRE_SCHEDULE_PAUSE},
               {"schedule resume", "resumed", WIRE_SCHEDULE_RESUME}};
    size_t i = 0;
    while (strcmp(ops[i].words, c->verb->words) != 0) i++;
    struct wire_schedule_change m = {.op = (uint8_t)ops[i].op};
    return change(c, &m, ops[i].said);
}

static enum err backfill_bound(struct cli *c, const char *flag, int64_t *ret) {
    const char *text = cli_flag(c, flag);
    if (text == NULL)
        return cli_refuse(c, ERR_INVALID,
                          "--%s is missing: a backfill needs --since and --until, times like 2026-03-01T08:00:00Z",
                          flag);
    if (spec_time(slice_str(text), ret) || cli_flag_moment(c, flag, ret) == ERR_OK) return ERR_OK;
    return cli_refuse(c, ERR_INVALID, "--%s: expected a time like 2026-03-01T08:00:00Z or 2026-03-01, found `%s`", flag,
                      text);
}

enum err verb_schedule_backfill(struct cli *c) {
    struct wire_schedule_change m = {.op = WIRE_SCHEDULE_BACKFILL};
    enum err e = backfill_bound(c, "since", &m.since_ms);
    if (e == ERR_OK) e = backfill_bound(c, "until", &m.until_ms);
    return e == ERR_OK ? change(c, &m, "backfill started: the slots run one after the other") : e;
}
