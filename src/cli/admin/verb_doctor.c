/* verb_doctor.c: `reeve doctor`: looks for what is wrong before it hurts: the machine (program/doctor_machine.c),
 * and the server as it answers. A server is not needed; of one elsewhere only that is told which it says itself. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "doctor.h"
#include "out.h"
#include "server_choice.h"
#include "verbs.h"

#define ANSWER_SECONDS 10     /* a server that is silent for so long hangs */
#define CLOCK_APART_S_MAX 60u /* as the server judges */
#define WORKERS_MAX 1000u

static volatile sig_atomic_t is_late;

static void be_late(int number) {
    (void)number;
    is_late = 1;
}

static struct slice text_of(struct doctor *d, const char *format, va_list args) {
    char text[1024];
    (void)vsnprintf(text, sizeof text, format, args);
    return arena_slice(&d->cli->arena, slice_str(text));
}

void doctor_add(struct doctor *d, enum doctor_state state, const char *check, const char *format, ...) {
    struct doctor_line *line = vec_push(&d->lines);
    va_list args;
    va_start(args, format);
    *line = (struct doctor_line){.state = state, .check = check, .text = text_of(d, format, args)};
    va_end(args);
}

void doctor_advise(struct doctor *d, const char *format, ...) {
    struct doctor_line *line = vec_at(&d->lines, d->lines.count - 1);
    va_list args;
    va_start(args, format);
    line->advice = text_of(d, format, args);
    va_end(args);
}

/* ---- the server ---- */

static void check_version(struct doctor *d) {
    const struct client *s = &d->cli->client;
    const char *own = d->cli->world->build;
    bool same = strcmp(s->server_build, own) == 0;
    doctor_add(d, same ? DOCTOR_OK : DOCTOR_NOTE, "version", "the server is version %s, this program is %s",
               s->server_build, own);
    if (!same) doctor_advise(d, "use the same version everywhere; docs/guides/upgrade.md has the order");
}

/* False: the server does not tell it. */
static bool number_of(const struct wire_stats *stats, const char *name, uint64_t *ret) {
    const struct wire_amount *list = stats->numbers.at;
    for (uint32_t i = 0; i < stats->numbers.count; i++) {
        if (!slice_eq(list[i].name, slice_str(name))) continue;
        *ret = list[i].amount;
        return true;
    }
    return false;
}

static void check_ready(struct doctor *d, const struct wire_stats *stats) {
    uint64_t accepts = 0;
    if (!number_of(stats, "accepting_work", &accepts)) return;
    doctor_add(d, accepts ? DOCTOR_OK : DOCTOR_PROBLEM, "ready", "the server %s",
               accepts ? "accepts new work" : "accepts no new work: its disk is full, or it is stopping");
    if (!accepts) doctor_advise(d, "free some space on its disk; GET /readyz says which of the two it is");
}

static void check_journal_clock(struct doctor *d, const struct wire_stats *stats) {
    uint64_t apart_s = 0, steps = 0;
    if (!number_of(stats, "clock_apart_seconds", &apart_s)) return;
    (void)number_of(stats, "clock_steps", &steps);
    bool well = apart_s <= CLOCK_APART_S_MAX;
    doctor_add(d, well ? DOCTOR_OK : DOCTOR_PROBLEM, "clock",
               "the clock of the server's machine is %llu s apart from the journal's", (unsigned long long)apart_s);
    if (!well) doctor_advise(d, "one of them is wrong: set the machine's clock, best by NTP; the journal follows it");
    if (steps == 0) return;
    doctor_add(d, DOCTOR_NOTE, "clock", "the journal's clock was corrected %llu time%s since the server started",
               (unsigned long long)steps, steps == 1 ? "" : "s");
    doctor_advise(d, "the machine's clock has jumped; times in that part of the journal are wrong");
}

static enum err check_numbers(struct doctor *d) {
    struct client_frame f;
    struct wire_empty m = {0};
    enum err e = client_ask(&d->cli->client, WIRE_STATS, &m, &f, d->cli->why);
    if (e != ERR_OK) return e;
    check_ready(d, f.message);
    check_journal_clock(d, f.message);
    return ERR_OK;
}

static enum err check_workers(struct doctor *d) {
    struct client_frame f;
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = WORKERS_MAX};
    uint32_t attached = 0, draining = 0, slots = 0, other = 0;
    enum err e = client_ask(&d->cli->client, WIRE_LIST, &m, &f, d->cli->why);
    if (e != ERR_OK) return e;
    const struct wire_listed *page = f.message;
    const struct wire_worker_view *list = page->workers.at;
    for (uint32_t i = 0; i < page->workers.count; i++) {
        if (!list[i].attached) continue;
        attached++;
        draining += list[i].draining;
        slots += list[i].draining ? 0 : list[i].slots;
        other += !slice_eq(list[i].build, slice_str(d->cli->client.server_build));
    }
    doctor_add(d, slots > 0 ? DOCTOR_OK : DOCTOR_NOTE, "workers",
               "%u worker%s attached, %u of them draining; %u slots for jobs", attached, attached == 1 ? "" : "s",
               draining, slots);
    if (slots == 0) doctor_advise(d, "jobs wait until one comes: start one with `reeve worker`");
    if (other == 0) return ERR_OK;
    doctor_add(d, DOCTOR_NOTE, "workers", "%u of them run another version than the server", other);
    doctor_advise(d, "`reeve workers` lists versions; restart those workers with the same program");
    return ERR_OK;
}

/* `must`: it was named, so it has to be there. */
static void check_server(struct doctor *d, bool must) {
    struct cli *c = d->cli;
    struct sigaction act = {.sa_handler = be_late};
    is_late = 0;
    sigaction(SIGALRM, &act, NULL);
    client_interrupt_by(&is_late);
    alarm(ANSWER_SECONDS);
    enum err e = cli_connect(c);
    bool answers = e == ERR_OK, is_silent = is_late != 0;
    if (answers) {
        doctor_add(d, DOCTOR_OK, "server", "a server answers at %s", c->client.address);
        check_version(d);
        e = check_numbers(d);
        if (e == ERR_OK) e = check_workers(d);
        is_silent = is_late != 0;
    }
    alarm(0);
    client_interrupt_by(NULL);
    if (e == ERR_OK) return;
    if (is_silent) {
        doctor_add(d, DOCTOR_PROBLEM, "server", "the server does not answer within %d s", ANSWER_SECONDS);
        doctor_advise(d, "its log tells what it does; kill -9 and start it again: nothing acknowledged is lost");
    } else if (e == ERR_UNKNOWN && !must) {
        doctor_add(d, DOCTOR_NOTE, "server", "no server is running on %s", d->data);
        doctor_advise(d, "`reeve up` starts one, with a worker");
    } else {
        doctor_add(d, DOCTOR_PROBLEM, "server", "%s", c->why->text);
    }
    c->why->text[0] = 0;
}

/* ---- telling ---- */

static const char *const state_words[DOCTOR_STATE_COUNT] = {"ok", "note", "problem"};

static void print_json(struct doctor *d, uint32_t problems) {
    struct out_object o;
    out_object_begin(&o);
    json_key(&o.json, "problems");
    json_u64(&o.json, problems);
    json_key(&o.json, "checks");
    json_array(&o.json);
    for (uint32_t i = 0; i < d->lines.count; i++) {
        const struct doctor_line *line = vec_at(&d->lines, i);
        json_object(&o.json);
        json_key(&o.json, "check");
        json_str(&o.json, line->check);
        json_key(&o.json, "state");
        json_str(&o.json, state_words[line->state]);
        json_key(&o.json, "text");
        json_text(&o.json, line->text);
        if (line->advice.len > 0) json_key(&o.json, "advice"), json_text(&o.json, line->advice);
        json_object_end(&o.json);
    }
    json_array_end(&o.json);
    out_object_end(&o);
}

static void print_lines(struct doctor *d, uint32_t problems) {
    static const enum out_colour colours[DOCTOR_STATE_COUNT] = {OUT_GREEN, OUT_YELLOW, OUT_RED};
    for (uint32_t i = 0; i < d->lines.count; i++) {
        const struct doctor_line *line = vec_at(&d->lines, i);
        printf("%s%-8s%s %-10s ", out_paint(d->cli, colours[line->state]), state_words[line->state], out_plain(d->cli),
               line->check);
        out_clean(stdout, line->text);
        if (line->advice.len > 0) printf("\n%20s-> ", ""), out_clean(stdout, line->advice);
        printf("\n");
    }
    if (problems == 0)
        printf("\nno problems\n");
    else
        printf("\n%u problem%s\n", problems, problems == 1 ? "" : "s");
}

enum err verb_doctor(struct cli *c) {
    const struct client_place *where;
    enum err e = server_choice(c, &where, c->why);
    if (e != ERR_OK) return e;
    struct doctor d = {.cli = c, .data = server_choice_data(c)};
    bool is_elsewhere = where->server != NULL;
    uint32_t problems = 0;
    vec_init(&d.lines, sizeof(struct doctor_line));
    if (!is_elsewhere && c->world->doctor != NULL) c->world->doctor(&d);
    check_server(&d, is_elsewhere);
    for (uint32_t i = 0; i < d.lines.count; i++)
        problems += ((const struct doctor_line *)vec_at(&d.lines, i))->state == DOCTOR_PROBLEM;
    if (c->json)
        print_json(&d, problems);
    else
        print_lines(&d, problems);
    if (problems > 0) c->exit_code = EXIT_ENDED_BADLY;
    vec_fini(&d.lines);
    return ERR_OK;
}
