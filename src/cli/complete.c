/* complete.c: see complete.h. */
#include "complete.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "words.h"

static void offer(struct complete *x, struct slice text, struct slice note, bool is_part) {
    if (text.len < x->begun.len || x->choices.count == COMPLETE_MAX) return;
    if (x->begun.len > 0 && memcmp(text.ptr, x->begun.ptr, x->begun.len) != 0) return;
    for (uint32_t i = 0; i < x->choices.count; i++)
        if (slice_eq(((struct complete_choice *)vec_at(&x->choices, i))->text, text)) return;
    struct complete_choice *choice = vec_push(&x->choices);
    *choice = (struct complete_choice){arena_slice(x->arena, text), arena_slice(x->arena, note), is_part};
}

/* ---- from the table ---- */

/* The word of each verb that follows those typed before. */
static void offer_verbs(struct complete *x, char **before, int count) {
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        const char *at = cli_verbs[i].words;
        int matched = 0;
        for (; matched < count; matched++) {
            size_t len = strcspn(at, " ");
            if (strlen(before[matched]) != len || strncmp(before[matched], at, len) != 0 || at[len] == 0) break;
            at += len + 1;
        }
        size_t len = strcspn(at, " ");
        if (matched == count) offer(x, slice_of(at, len), slice_str(at[len] == 0 ? cli_verbs[i].text : ""), false);
    }
}

static const struct cli_flag *flag_find(const struct cli_verb *verb, const char *word) {
    const struct cli_flag *lists[] = {verb->flags, cli_common_flags};
    for (size_t i = 0; i < 2; i++)
        for (const struct cli_flag *f = lists[i]; f != NULL && f->name != NULL; f++) {
            bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, f->name) == 0;
            if (is_long || (word[0] == '-' && f->letter != 0 && word[1] == f->letter && word[2] == 0)) return f;
        }
    return NULL;
}

static void offer_flags(struct complete *x, const struct cli_verb *verb) {
    const struct cli_flag *lists[] = {verb->flags, cli_common_flags};
    char name[64];
    for (size_t i = 0; i < 2; i++)
        for (const struct cli_flag *f = lists[i]; f != NULL && f->name != NULL; f++) {
            snprintf(name, sizeof name, "--%s", f->name);
            offer(x, slice_str(name), slice_str(f->text), false);
        }
}

/* ---- from the machine ---- */

static void offer_files(struct complete *x) {
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%.*s*", SLICE_FMT(x->begun));
    if (glob(pattern, GLOB_MARK, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct slice path = slice_str(found.gl_pathv[i]);
        offer(x, path, (struct slice){0}, path.len > 0 && path.ptr[path.len - 1] == '/');
    }
    globfree(&found);
}

/* ---- from the server ---- */

/* One answer, on the connection of the shell; NULL: none. */
static const void *ask(struct complete *x, enum wire_op op, const void *message, uint8_t answer) {
    struct cli *c = x->c;
    struct client_frame f;
    struct why ignored = {{0}}, *kept = c->why;
    c->why = &ignored;
    if (!client_is_alive(&c->client)) {
        client_close(&c->client);
        if (cli_connect(c) != ERR_OK) client_close(&c->client);
    }
    bool good = c->client.fd >= 0 && client_ask(&c->client, op, message, &f, c->why) == ERR_OK && f.op == answer;
    c->why = kept;
    return good ? f.message : NULL;
}

static void offer_flows(struct complete *x, bool then_jobs) {
    struct wire_list m = {.what = WIRE_LIST_FLOWS, .most = COMPLETE_MAX};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    for (uint32_t i = 0; page != NULL && i < page->flows.count; i++) {
        const struct wire_flow_view *v = (const struct wire_flow_view *)page->flows.at + i;
        char text[WIRE_TARGET_MAX + 2], note[128];
        snprintf(text, sizeof text, "%.*s%s", SLICE_FMT(v->flow), then_jobs ? "/" : "");
        snprintf(note, sizeof note, "%.*s, %.*s", SLICE_FMT(v->name), SLICE_FMT(v->state));
        offer(x, slice_str(text), slice_str(note), then_jobs);
    }
}

static void offer_jobs(struct complete *x, size_t flow_len) {
    struct wire_list m = {.what = WIRE_LIST_JOBS, .most = COMPLETE_MAX, .flow = slice_of(x->begun.ptr, flow_len)};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    for (uint32_t i = 0; page != NULL && i < page->jobs.count; i++) {
        const struct wire_job_view *v = (const struct wire_job_view *)page->jobs.at + i;
        offer(x, v->job, v->state, false);
    }
}

static void offer_workers(struct complete *x) {
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = COMPLETE_MAX};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    for (uint32_t i = 0; page != NULL && i < page->workers.count; i++) {
        const struct wire_worker_view *v = (const struct wire_worker_view *)page->workers.at + i;
        offer(x, v->worker, v->pool, false);
    }
}

static void offer_services(struct complete *x) {
    struct wire_page m = {.most = COMPLETE_MAX};
    const struct wire_service_list *page = ask(x, WIRE_SERVICE_LS, &m, WIRE_SERVICE_LIST);
    for (uint32_t i = 0; page != NULL && i < page->services.count; i++) {
        const struct wire_service_view *v = (const struct wire_service_view *)page->services.at + i;
        offer(x, v->name, v->state, false);
    }
}

static void offer_schedules(struct complete *x) {
    struct wire_schedule_ls m = {.most = COMPLETE_MAX};
    const struct wire_schedule_list *page = ask(x, WIRE_SCHEDULE_LS, &m, WIRE_SCHEDULE_LIST);
    for (uint32_t i = 0; page != NULL && i < page->schedules.count; i++) {
        const struct wire_schedule_view *v = (const struct wire_schedule_view *)page->schedules.at + i;
        offer(x, v->name, v->expression, false);
    }
}

static bool is_of_services(const struct cli_verb *verb) {
    static const char *const words[] = {"services", "stop", "start", "restart", "undeploy"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(verb->words, words[i]) == 0) return true;
    return false;
}

/* What the table calls the arguments or the value of a flag says what they are. */
static void offer_named(struct complete *x, const struct cli_verb *verb, const char *what) {
    bool flow = strstr(what, "FLOW") != NULL, job = strstr(what, "JOB") != NULL;
    const uint8_t *slash = x->begun.len > 0 ? memchr(x->begun.ptr, '/', x->begun.len) : NULL;
    bool is_name = strstr(what, "NAME") != NULL;
    bool is_schedule = is_name && strncmp(verb->words, "schedule", 8) == 0,
         is_service = is_name && is_of_services(verb);
    if (job && slash != NULL)
        offer_jobs(x, (size_t)(slash - x->begun.ptr));
    else if (flow || job)
        offer_flows(x, !flow);
    if (strstr(what, "WORKER") != NULL) offer_workers(x);
    if (strstr(what, "SERVICE") != NULL || is_service) offer_services(x);
    if (strstr(what, "FILE") != NULL || strstr(what, "DIR") != NULL) offer_files(x);
    if (is_schedule) offer_schedules(x);
    if (strcmp(verb->words, "help") == 0) offer_verbs(x, NULL, 0);
}

/* ---- the line ---- */

void complete_line(struct complete *x, struct cli *c, struct arena *arena, struct slice line) {
    struct words w;
    *x = (struct complete){.c = c, .arena = arena, .from = line.len};
    vec_init(&x->choices, sizeof(struct complete_choice));
    words_split(&w, arena, line);
    int before = w.count - w.is_open; /* whole words */
    char **words = w.word;
    if (before > 0 && strcmp(words[0], "reeve") == 0) words++, before--;
    if (w.is_open) {
        x->begun = slice_str(w.word[w.count - 1]);
        x->from = w.last_at;
    }
    int verb_words = 0;
    const struct cli_verb *verb = cli_verb_find(before, words, &verb_words);
    offer_verbs(x, words, before);
    if (before == 0) offer(x, SLICE("exit"), SLICE("end the shell"), false);
    if (verb == NULL) return;
    const struct cli_flag *flag = before > verb_words ? flag_find(verb, words[before - 1]) : NULL;
    if (flag != NULL && flag->value != NULL)
        offer_named(x, verb, flag->value);
    else if (x->begun.len > 0 && x->begun.ptr[0] == '-')
        offer_flags(x, verb);
    else
        offer_named(x, verb, verb->args);
}

void complete_fini(struct complete *x) {
    vec_fini(&x->choices);
}

struct slice complete_common(const struct complete *x) {
    struct slice common = {0};
    for (uint32_t i = 0; i < x->choices.count; i++) {
        struct slice text = ((const struct complete_choice *)vec_at(&x->choices, i))->text;
        if (i == 0) common = text;
        size_t len = 0;
        while (len < common.len && len < text.len && common.ptr[len] == text.ptr[len]) len++;
        common.len = len;
    }
    return common;
}
