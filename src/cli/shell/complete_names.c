/* complete_names.c: see complete.h. Names of things, from the server or from the contexts of the user. */
#include <stdio.h>

#include "complete.h"
#include "context.h"
#include "hex.h"
#include "named.h"
#include "out.h"

#define NEWEST 200u /* flows that are offered; of older ones those whose names fit */

static bool is_connected(struct complete *x) {
    struct cli *c = x->c;
    struct why ignored = {{0}}, *kept = c->why;
    if (client_is_alive(&c->client)) return true;
    client_close(&c->client);
    c->why = &ignored;
    if (cli_connect(c) != ERR_OK) client_close(&c->client);
    c->why = kept;
    return c->client.fd >= 0;
}

/* One answer; NULL: none. */
static const void *ask(struct complete *x, enum wire_op op, const void *message, uint8_t answer) {
    struct client_frame f;
    struct why ignored;
    bool good = is_connected(x) && client_ask(&x->c->client, op, message, &f, &ignored) == ERR_OK && f.op == answer;
    return good ? f.message : NULL;
}

/* ---- flows and jobs ---- */

/* By their ids or by their names, each with what the other is. */
static void offer_page(struct complete *x, const struct wire_listed *page, bool by_name, const char *end) {
    const struct wire_flow_view *list = page != NULL ? page->flows.at : NULL;
    for (uint32_t i = 0; page != NULL && i < page->flows.count; i++) {
        struct slice own = by_name ? list[i].name : list[i].flow, other = by_name ? list[i].flow : list[i].name;
        char text[WIRE_TARGET_MAX + 2], note[128];
        snprintf(text, sizeof text, "%.*s%s", SLICE_FMT(own), end);
        snprintf(note, sizeof note, "%.*s, %.*s", SLICE_FMT(other), SLICE_FMT(list[i].state));
        complete_offer(x, slice_str(text), slice_str(note), end[0] != 0);
    }
}

/* `end` is what follows a flow: "/" where a job is expected. */
static void offer_flows(struct complete *x, const char *end) {
    struct wire_list m = {.what = WIRE_LIST_FLOWS, .most = NEWEST};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    char last[sizeof NAMED_LAST + 1];
    offer_page(x, page, false, end);
    offer_page(x, page, true, end);
    snprintf(last, sizeof last, NAMED_LAST "%s", end);
    if (x->begun.len > 0) complete_offer(x, slice_str(last), SLICE("the newest that you submitted"), end[0] != 0);
    if (x->begun.len == 0 || x->choices.count > 0 || page == NULL || page->cursor.len == 0) return;
    m.name = x->begun; /* of an older one */
    offer_page(x, ask(x, WIRE_LIST, &m, WIRE_LISTED), true, end);
}

/* The flow stays as it was typed. */
static void offer_jobs(struct complete *x, size_t flow_len) {
    struct slice typed = slice_of(x->begun.ptr, flow_len);
    if (!is_connected(x)) return;
    struct wire_list m = {.what = WIRE_LIST_JOBS, .most = COMPLETE_MAX, .flow = named_flow_quietly(x->c, typed)};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    for (uint32_t i = 0; page != NULL && i < page->jobs.count; i++) {
        const struct wire_job_view *v = (const struct wire_job_view *)page->jobs.at + i;
        const uint8_t *slash = memchr(v->job.ptr, '/', v->job.len);
        char text[2 * WIRE_TARGET_MAX + 2];
        if (slash == NULL) continue;
        snprintf(text, sizeof text, "%.*s%.*s", SLICE_FMT(typed), (int)(v->job.len - (size_t)(slash - v->job.ptr)),
                 (const char *)slash);
        complete_offer(x, slice_str(text), v->state, false);
    }
}

static void offer_targets(struct complete *x, struct slice place) {
    const uint8_t *slash = x->begun.len > 0 ? memchr(x->begun.ptr, '/', x->begun.len) : NULL;
    if (slash != NULL && named_has(place, "JOB"))
        offer_jobs(x, (size_t)(slash - x->begun.ptr));
    else if (slash == NULL)
        offer_flows(x, named_has(place, "FLOW") ? "" : "/");
}

static void offer_gates(struct complete *x) {
    struct wire_list m = {.what = WIRE_LIST_QUESTIONS, .most = COMPLETE_MAX};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    const struct wire_question_view *list = page != NULL ? page->questions.at : NULL;
    for (uint32_t i = 0; page != NULL && i < page->questions.count; i++)
        if (slice_eq(list[i].gate, SLICE("approval"))) complete_offer(x, list[i].job, list[i].role, false);
}

static void offer_dead(struct complete *x) {
    struct wire_list m = {.what = WIRE_LIST_DEAD, .most = COMPLETE_MAX, .newest = true};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    const struct wire_job_view *list = page != NULL ? page->jobs.at : NULL;
    for (uint32_t i = 0; page != NULL && i < page->jobs.count; i++)
        complete_offer(x, list[i].job, list[i].cause, false);
}

/* ---- other things ---- */

static void offer_workers(struct complete *x) {
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = COMPLETE_MAX};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    for (uint32_t i = 0; page != NULL && i < page->workers.count; i++) {
        const struct wire_worker_view *v = (const struct wire_worker_view *)page->workers.at + i;
        complete_offer(x, v->worker, v->pool, false);
    }
}

static void offer_services(struct complete *x) {
    struct wire_page m = {.most = COMPLETE_MAX};
    const struct wire_service_list *page = ask(x, WIRE_SERVICE_LS, &m, WIRE_SERVICE_LIST);
    for (uint32_t i = 0; page != NULL && i < page->services.count; i++) {
        const struct wire_service_view *v = (const struct wire_service_view *)page->services.at + i;
        complete_offer(x, v->name, v->state, false);
    }
}

static void offer_schedules(struct complete *x) {
    struct wire_schedule_ls m = {.most = COMPLETE_MAX};
    const struct wire_schedule_list *page = ask(x, WIRE_SCHEDULE_LS, &m, WIRE_SCHEDULE_LIST);
    for (uint32_t i = 0; page != NULL && i < page->schedules.count; i++) {
        const struct wire_schedule_view *v = (const struct wire_schedule_view *)page->schedules.at + i;
        complete_offer(x, v->name, v->expression, false);
    }
}

static void offer_keys(struct complete *x) {
    struct wire_kv_get m = {.prefix = x->begun, .most = COMPLETE_MAX};
    const struct wire_kv_items *page = ask(x, WIRE_KV_GET, &m, WIRE_KV_ITEMS);
    const struct wire_kv_item *list = page != NULL ? page->items.at : NULL;
    for (uint32_t i = 0; page != NULL && i < page->items.count; i++)
        complete_offer(x, list[i].key, (struct slice){0}, false);
}

static void offer_blobs(struct complete *x) {
    struct wire_blob_ls m = {.most = COMPLETE_MAX};
    const struct wire_blob_list *page = ask(x, WIRE_BLOB_LS, &m, WIRE_BLOB_LIST);
    const struct wire_blob_view *list = page != NULL ? page->blobs.at : NULL;
    char digits[2 * DIGEST_BYTES + 1], size[OUT_TIME_BYTES];
    for (uint32_t i = 0; page != NULL && i < page->blobs.count; i++) {
        hex_write(list[i].hash, digits);
        complete_offer(x, slice_str(digits), slice_str(out_bytes(list[i].bytes, size)), false);
    }
}

static void offer_pools(struct complete *x) {
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = COMPLETE_MAX};
    const struct wire_listed *page = ask(x, WIRE_LIST, &m, WIRE_LISTED);
    const struct wire_worker_view *list = page != NULL ? page->workers.at : NULL;
    for (uint32_t i = 0; page != NULL && i < page->workers.count; i++)
        complete_offer(x, list[i].pool, (struct slice){0}, false);
}

static void offer_contexts(struct complete *x) {
    struct contexts all;
    struct why ignored;
    if (contexts_read(x->arena, &all, &ignored) != ERR_OK) return;
    const struct context *list = all.contexts.at;
    for (uint32_t i = 0; i < all.contexts.count; i++) complete_offer(x, list[i].name, list[i].server, false);
}

static void offer_words(struct complete *x, const char *const *words) {
    for (; *words != NULL; words++) complete_offer(x, slice_str(*words), (struct slice){0}, false);
}

static void offer_states(struct complete *x) {
    static const char *const of_flows[] = {"running", "succeeded", "failed", "cancelled", NULL};
    offer_words(x, of_flows);
    for (uint32_t i = 0; i < OUT_STATES_MAX; i++) complete_offer(x, out_state_at(i), (struct slice){0}, false);
}

static void offer_help(struct complete *x) {
    for (uint32_t i = 0; i < cli_verb_count; i++)
        complete_offer(x, slice_of(cli_verbs[i].words, strcspn(cli_verbs[i].words, " ")), slice_str(cli_verbs[i].text),
                       false);
}

static bool is_of_services(const struct cli_verb *verb) {
    static const char *const words[] = {"services", "rollback", "stop", "start", "restart", "undeploy"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(verb->words, words[i]) == 0) return true;
    return false;
}

/* ---- what stands where ---- */

/* Words that stand for one kind of thing wherever the table has them. */
static const struct {
    const char *word;
    void (*offer)(struct complete *x);
} kinds[] = {
    {"WORKER", offer_workers}, {"SERVICE", offer_services}, {"KEY", offer_keys},  {"HASH", offer_blobs},
    {"STATE", offer_states},   {"POOL", offer_pools},       {"VERB", offer_help},
};

static void offer_names_of(struct complete *x, const struct cli_verb *verb, const struct cli_flag *flag) {
    if (flag != NULL && strcmp(flag->name, "context") == 0)
        offer_contexts(x);
    else if (flag != NULL)
        return;
    else if (strncmp(verb->words, "context", 7) == 0)
        offer_contexts(x);
    else if (strncmp(verb->words, "schedule", 8) == 0)
        offer_schedules(x);
    else if (is_of_services(verb))
        offer_services(x);
}

void complete_names(struct complete *x, const struct cli_verb *verb, const struct cli_flag *flag, struct slice place) {
    static const char *const formats[] = {"wide", "json", "jsonl", "yaml", "name", NULL},
                             *const when[] = {"always", "never", NULL}, *const shells[] = {"bash", "zsh", "fish", NULL},
                             *const whose[] = {"titan", "orion", "cordum", "corun", NULL};
    bool decides = strcmp(verb->words, "approve") == 0 || strcmp(verb->words, "reject") == 0;
    bool revives = strcmp(verb->words, "retry") == 0 || strcmp(verb->words, "discard") == 0;
    bool is_target = named_has(place, "FLOW") || named_has(place, "JOB");
    if (is_target && flag == NULL && decides)
        offer_gates(x);
    else if (is_target && flag == NULL && revives)
        offer_dead(x);
    else if (is_target)
        offer_targets(x, place);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (named_has(place, kinds[i].word) && !decides) kinds[i].offer(x);
    if (named_has(place, "NAME")) offer_names_of(x, verb, flag);
    if (named_has(place, "FORMAT")) offer_words(x, formats);
    if (named_has(place, "WHEN") && flag != NULL && strcmp(flag->name, "color") == 0) offer_words(x, when);
    if (named_has(place, "WHOSE")) offer_words(x, whose);
    if (named_has(place, "bash")) offer_words(x, shells);
    x->wants_files |=
        named_has(place, "FILE") || named_has(place, "DIR") || named_has(place, "COMMAND") || named_has(place, "ARG");
}
