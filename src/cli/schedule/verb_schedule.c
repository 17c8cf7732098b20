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

static void flag_names(struct cli *c, const char *flag, struct tlv_list *to) {
    if (cli_flag(c, flag) == NULL) return;
    struct wire_name *name = ARENA_NEW(&c->arena, struct wire_name);
    name->name = cli_flag_text(c, flag);
    *to = (struct tlv_list){name, 1};
}

/* Flags about days take the place of what the file says about the same; a calendar file that of its days. */
static enum err calendar_over(struct cli *c, struct spec_schedule *to) {
    struct buf days;
    struct slice bytes;
    enum err e = ERR_OK;
    flag_names(c, "weekdays", &to->weekdays);
    flag_names(c, "not", &to->days);
    if (cli_flag(c, "on-excluded") != NULL) to->excluded = cli_flag_text(c, "on-excluded");
    if (cli_flag(c, "calendar") == NULL) return ERR_OK;
    buf_init(&days, WIRE_CALENDAR_MAX);
    e = file_read(c, cli_flag(c, "calendar"), WIRE_CALENDAR_MAX, &bytes);
    if (e == ERR_OK)
        e = spec_calendar_file(cli_flag_text(c, "calendar"), bytes, c->world->clock->wall(c->world->clock).ms, &days,
                               c->why);
    if (e == ERR_OK) to->file_days = arena_slice(&c->arena, buf_slice(&days));
    buf_fini(&days);
    return e;
}

static enum err key_over(struct cli *c, struct spec_schedule *to) {
    struct slice words = cli_flag_text(c, "on-change"), interval = cli_flag_text(c, "min-interval");
    if (words.len > 0) {
        uint32_t most = 1;
        for (size_t i = 0; i < words.len; i++) most += words.ptr[i] == ',';
        struct wire_name *list = ARENA_ARRAY(&c->arena, struct wire_name, most);
        to->on_when = (struct tlv_list){list, 0};
        for (size_t from = 0, i = 0; i <= words.len; i++) {
            if (i < words.len && words.ptr[i] != ',') continue;
            list[to->on_when.count++].name = slice_of(words.ptr + from, i - from);
            from = i + 1;
        }
    }
    if (cli_flag(c, "own-changes") != NULL) to->on_own = true;
    if (interval.len > 0 && !spec_duration(interval, &to->on_interval_ms))
        return cli_refuse(c, ERR_INVALID, "--min-interval: expected a duration like 30s or 5m, found `%.*s`",
                          SLICE_FMT(interval));
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
                       {"name", &to->name}, {"on-key", &to->on_key}};
    if (cli_flag(c, "cron") || cli_flag(c, "every") || cli_flag(c, "at") || cli_flag(c, "on-key"))
        to->cron = to->every = to->at = to->from = to->on_key = (struct slice){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (cli_flag(c, texts[i].flag) != NULL) *texts[i].to = cli_flag_text(c, texts[i].flag);
    if (cli_flag(c, "paused") != NULL) to->paused = true;
    enum err e = key_over(c, to);
    if (e == ERR_OK) e = calendar_over(c, to);
    if (e == ERR_OK) e = flag_moment(c, "start", &to->start_ms);
    return e == ERR_OK ? flag_moment(c, "end", &to->end_ms) : e;
}

static void say_slots(const struct tlv_list *slots, const char *before) {
    const struct wire_moment *list = slots->at;
    char text[OUT_TIME_BYTES]; /* an older server tells only the moment */
    for (uint32_t i = 0; i < slots->count; i++)
        if (list[i].text.len > 0)
            out_say(stdout, "%s%.*s", before, SLICE_FMT(list[i].text));
        else
            printf("%s%s\n", before, out_time(list[i].ms, text));
}

static void say_ahead(const struct wire_schedule_view *v, const char *before) {
    say_slots(&v->ahead, before);
    if (v->ahead.count == 0) printf("%sno further slot\n", before);
}

/* The one of that name, with its next slots. */
static enum err look(struct cli *c, struct wire_schedule_ls *m, const struct wire_schedule_list **ret) {
    struct client_frame f;
    m->most = 1;
    enum err e = client_ask(&c->client, WIRE_SCHEDULE_LS, m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_schedule_list *got = f.message;
    if (got->schedules.count == 0) return cli_refuse(c, ERR_NOT_FOUND, "there is no schedule %.*s", SLICE_FMT(m->name));
    *ret = got;
    return ERR_OK;
}

enum err verb_schedule_add(struct cli *c) {
    struct spec_schedule schedule;
    struct wire_flow flow;
    struct wire_schedule_set m;
    struct client_frame f;
    const struct wire_schedule_list *got;
    enum err e = verb_flow_file_read(c, c->args[0], FLOW_SCHEDULED, &flow, &schedule);
    if (e == ERR_OK) e = flags_over(c, &schedule);
    if (e != ERR_OK) return e;
    if (schedule.cron.len + schedule.every.len + schedule.at.len + schedule.on_key.len == 0)
        return cli_refuse(c, ERR_INVALID, "%s has no `schedule`: add one, or pass --cron, --every, --at or --on-key",
                          c->args[0]);
    if (schedule.name.len == 0)
        return cli_refuse(c, ERR_INVALID, "the schedule needs a name: `name:` in the file, or --name");
    e = spec_schedule_message(&schedule, &c->arena, &m, c->why);
    if (e != ERR_OK) return e;
    m.flow = flow;
    e = client_ask(&c->client, WIRE_SCHEDULE_SET, &m, &f, c->why);
    struct wire_schedule_ls asked = {.name = m.name, .ahead = 3};
    if (e == ERR_OK) e = look(c, &asked, &got);
    if (e != ERR_OK) return e;
    if (c->json) {
        api_print_answer(c, "PUT /schedules/{name}", WIRE_ACCEPTED, f.message);
        return ERR_OK;
    }
    const struct wire_schedule_view *v = got->schedules.at;
    out_say(stdout, "%.*s: %.*s%s", SLICE_FMT(v->name), SLICE_FMT(v->expression), v->paused ? " (paused)" : "");
    if (v->code.len == 0 || !slice_eq(v->code, SLICE("key"))) say_ahead(v, "  ");
    return ERR_OK;
}

/* ---- look ---- */

static void show(struct cli *c, struct out_table *t, const struct wire_schedule_view *v) {
    char text[OUT_TIME_BYTES];
    out_slice(t, OUT_BOLD, v->name);
    out_slice(t, OUT_PLAIN, v->expression);
    if (v->next.len > 0)
        out_slice(t, v->paused ? OUT_YELLOW : OUT_PLAIN, v->next);
    else
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

static enum err look_ahead(struct cli *c, struct wire_schedule_ls *m, const struct wire_schedule_list **ret) {
    uint64_t count = 5;
    enum err e = cli_flag_number(c, "count", WIRE_AHEAD_MAX, &count);
    m->name = slice_str(c->args[0]);
    m->ahead = (uint32_t)count;
    return e == ERR_OK ? look(c, m, ret) : e;
}

enum err verb_schedule_next(struct cli *c) {
    struct wire_schedule_ls m = {0};
    const struct wire_schedule_list *got;
    enum err e = look_ahead(c, &m, &got);
    if (e != ERR_OK) return e;
    if (c->json)
        api_print_answer(c, "/schedules", WIRE_SCHEDULE_LIST, got);
    else
        say_ahead(got->schedules.at, "");
    return ERR_OK;
}

static void say_pair(const char *name, struct slice value) {
    if (value.len > 0) out_say(stdout, "%-10s %.*s", name, SLICE_FMT(value));
}

/* A line for each of its parts, and for each of its days. */
static void say_calendar(struct slice text) {
    const char *name = "calendar";
    for (size_t from = 0, i = 0; i <= text.len && text.len > 0; i++) {
        if (i < text.len && text.ptr[i] != ';' && text.ptr[i] != ',') continue;
        while (from < i && text.ptr[from] == ' ') from++;
        say_pair(name, slice_of(text.ptr + from, i - from));
        name = "";
        from = i + 1;
    }
}

/* What became of its last slots, the newest first. */
static void say_last(struct cli *c, const struct wire_schedule_view *v) {
    static const char *const heads[] = {"SLOT", "WHAT", "COUNT", "FLOW", "STATE"};
    const struct wire_slot *slots = v->slots.at;
    struct out_table t;
    if (v->slots.count == 0) return;
    printf("\nlast slots\n");
    out_table_init(&t, c, 5, heads);
    for (uint32_t i = 0; i < v->slots.count; i++) {
        out_slice(&t, OUT_PLAIN, slots[i].slot);
        bool is_told = slots[i].text.len > 0 && slots[i].flow.len == 0; /* it says more than the word */
        if (slots[i].text.len > 0 && !is_told)
            out_cell(&t, OUT_PLAIN, "%.*s %.*s", SLICE_FMT(slots[i].what), SLICE_FMT(slots[i].text));
        else
            out_slice(&t, slots[i].flow.len > 0 || is_told ? OUT_PLAIN : OUT_YELLOW,
                      is_told ? slots[i].text : slots[i].what);
        out_cell(&t, OUT_PLAIN, "%llu", (unsigned long long)slots[i].count);
        out_slice(&t, OUT_PLAIN, slots[i].flow);
        out_slice(&t, out_state_colour(slots[i].state), slots[i].state);
    }
    out_table_end(&t);
}

enum err verb_schedule_show(struct cli *c) {
    static const char *const catch_ups[] = {"all", "last", "none"}, *const overlaps[] = {"skip", "queue", "replace"};
    struct wire_schedule_ls m = {.details = true};
    const struct wire_schedule_list *got;
    enum err e = look_ahead(c, &m, &got);
    if (e != ERR_OK) return e;
    if (c->json) {
        api_print_answer(c, "/schedules/{name}", WIRE_SCHEDULE_LIST, got);
        return ERR_OK;
    }
    const struct wire_schedule_view *v = got->schedules.at;
    say_pair("schedule", v->name);
    say_pair("when", v->expression);
    say_pair("zone", v->zone.len > 0 ? v->zone : SLICE("UTC"));
    say_pair("by", v->principal);
    say_pair("state", v->code);
    say_pair("", v->text);
    if (v->catch_up < WIRE_CATCH_UP_COUNT) say_pair("catch up", slice_str(catch_ups[v->catch_up]));
    if (v->overlap < WIRE_OVERLAP_COUNT) say_pair("overlap", slice_str(overlaps[v->overlap]));
    say_calendar(v->calendar);
    printf("%-10s %llu fired, %llu missed, %llu left out, %u waiting\n", "slots", (unsigned long long)v->fired,
           (unsigned long long)v->missed, (unsigned long long)v->skipped, v->waiting);
    if (v->excluded > 0)
        printf("%-10s %llu on days that the calendar leaves out\n", "", (unsigned long long)v->excluded);
    say_last(c, v);
    if (slice_begins(v->expression, SLICE("key "))) return ERR_OK; /* no slot: a key starts it */
    printf("\nnext slots\n");
    say_ahead(v, "");
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

static enum err backfill_list(struct cli *c, const struct wire_schedule_change *of) {
    struct wire_schedule_ls m = {.name = slice_str(c->args[0]), .since = of->since, .until = of->until};
    const struct wire_schedule_list *got;
    enum err e = look(c, &m, &got);
    if (e != ERR_OK) return e;
    const struct wire_schedule_view *v = got->schedules.at;
    if (c->json)
        api_print_answer(c, "/schedules/{name}", WIRE_SCHEDULE_LIST, got);
    else
        say_slots(&v->between, "");
    if (!c->json && v->between.count == 0) printf("no slot in that range\n");
    return ERR_OK;
}

/* The server reads the times: it knows the zone. */
enum err verb_schedule_backfill(struct cli *c) {
    struct wire_schedule_change m = {
        .op = WIRE_SCHEDULE_BACKFILL, .since = cli_flag_text(c, "since"), .until = cli_flag_text(c, "until")};
    if (m.since.len == 0 || m.until.len == 0)
        return cli_refuse(c, ERR_INVALID,
                          "--%s is missing: a backfill needs --since and --until, dates like 2026-11-01 or times like "
                          "2026-11-01T02:30 in the zone of the schedule",
                          m.since.len == 0 ? "since" : "until");
    if (cli_flag(c, "dry-run") != NULL) return backfill_list(c, &m);
    return change(c, &m, "backfill started: the slots run one after the other");
}

enum err verb_schedule_run(struct cli *c) {
    struct client_frame f;
    struct wire_schedule_run m = {
        .name = slice_str(c->args[0]), .slot = cli_flag_text(c, "slot"), .key = cli_flag_text(c, "key")};
    enum err e = client_ask(&c->client, WIRE_SCHEDULE_RUN, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_submitted *got = f.message;
    struct flow_sent sent = {got->lsn, *(const struct wire_submitted_flow *)got->flows.at};
    return flow_sent_end(c, &sent);
}
