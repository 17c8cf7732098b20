/* orion_in.c: a DAG as Orion's clients send it, as a flow of ours. See orion.h. */
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"
#include "json_tree.h"
#include "orion.h"

#define PRIORITY_MIDDLE 500 /* where Orion's 0 lies among our levels */
#define ORION_RETRIES_STANDARD 3
#define SLEEP_MS 2000

/* Orion puts what its crash interrupted back and counts nothing. With us a task may take its worker down with it:
 * after so many attempts one more loss costs a retry, as elsewhere. More crashes than that in the life of one task are
 * not by chance. */
#define FREE_LOSSES 20u

struct task {
    struct slice id, payload;
    int64_t priority, retries;            /* retries: as sent */
    const struct json_node *dependencies; /* an array; NULL = none */
    uint32_t index, left;                 /* left: dependencies that were not reached yet */
};

struct orion_in_dag {
    struct arena *arena;
    struct why *why;
    const struct orion_rules *rules;
    struct task *tasks;
    struct task **by_id; /* sorted */
    uint32_t count;
};

/* ---- reading ---- */

static enum err read_integer(struct orion_in_dag *d, const struct json_node *n, int64_t *ret) {
    if (n->kind == JSON_NULL) return ERR_OK;
    if (n->kind != JSON_NUMBER || json_number_i64(n->text, ret) != ERR_OK)
        return why_set(d->why, ERR_INVALID, "invalid JSON body: \"%.*s\" is not an integer", SLICE_FMT(n->key));
    return ERR_OK;
}

static enum err read_text(struct orion_in_dag *d, const struct json_node *n, struct slice *ret) {
    if (n->kind == JSON_NULL) return ERR_OK;
    if (n->kind != JSON_TEXT)
        return why_set(d->why, ERR_INVALID, "invalid JSON body: \"%.*s\" is not a string", SLICE_FMT(n->key));
    *ret = n->text;
    return ERR_OK;
}

static enum err read_dependencies(struct orion_in_dag *d, const struct json_node *n, struct task *t) {
    if (n->kind == JSON_NULL) return ERR_OK;
    if (n->kind != JSON_ARRAY)
        return why_set(d->why, ERR_INVALID, "invalid JSON body: \"dependencies\" is not an array");
    for (const struct json_node *x = n->first; x != NULL; x = x->next)
        if (x->kind != JSON_TEXT)
            return why_set(d->why, ERR_INVALID, "invalid JSON body: \"dependencies\" holds what is not a string");
    if (n->count > d->rules->dependencies_max)
        return why_set(d->why, ERR_INVALID, "too many dependencies: %u for one task, at most %u", n->count,
                       d->rules->dependencies_max);
    t->dependencies = n;
    return ERR_OK;
}

/* What the server sets, a client may send back as it got it; it means nothing. */
static bool is_ours(struct slice key) {
    return slice_eq(key, SLICE("status")) || slice_eq(key, SLICE("retry_count")) ||
           slice_eq(key, SLICE("start_time")) || slice_eq(key, SLICE("end_time")) || slice_eq(key, SLICE("dag_id"));
}

static enum err read_task(struct orion_in_dag *d, const struct json_node *object, struct task *t) {
    enum err e = ERR_OK;
    if (object->kind != JSON_OBJECT)
        return why_set(d->why, ERR_INVALID, "invalid JSON body: a task is an object, not %s",
                       json_kind_word(object->kind));
    for (const struct json_node *n = object->first; n != NULL && e == ERR_OK; n = n->next) {
        if (slice_eq(n->key, SLICE("id")))
            e = read_text(d, n, &t->id);
        else if (slice_eq(n->key, SLICE("payload")))
            e = read_text(d, n, &t->payload);
        else if (slice_eq(n->key, SLICE("priority")))
            e = read_integer(d, n, &t->priority);
        else if (slice_eq(n->key, SLICE("max_retries")))
            e = read_integer(d, n, &t->retries);
        else if (slice_eq(n->key, SLICE("dependencies")))
            e = read_dependencies(d, n, t);
        else if (!is_ours(n->key))
            e = why_set(d->why, ERR_INVALID, "invalid JSON body: unknown field \"%.*s\"", SLICE_FMT(n->key));
    }
    if (e == ERR_OK && t->id.len == 0) e = why_set(d->why, ERR_INVALID, "task ID must not be empty");
    if (e == ERR_OK && t->retries > d->rules->retries_max)
        e = why_set(d->why, ERR_INVALID, "task \"%.*s\": max_retries is at most %u", SLICE_FMT(t->id),
                    d->rules->retries_max);
    return e;
}

/* ---- the graph ---- */

static int by_text(struct slice a, struct slice b) {
    size_t len = a.len < b.len ? a.len : b.len;
    int c = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

static int by_id(const void *a, const void *b) {
    return by_text((*(struct task *const *)a)->id, (*(struct task *const *)b)->id);
}

static struct task *find(const struct orion_in_dag *d, struct slice id) {
    uint32_t low = 0, high = d->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = by_text(d->by_id[middle]->id, id);
        if (c == 0) return d->by_id[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static enum err check_edges(struct orion_in_dag *d, struct task *t) {
    for (const struct json_node *x = t->dependencies ? t->dependencies->first : NULL; x != NULL; x = x->next) {
        for (const struct json_node *y = t->dependencies->first; y != x; y = y->next)
            if (slice_eq(x->text, y->text))
                return why_set(d->why, ERR_INVALID, "task \"%.*s\" has duplicate dependency \"%.*s\"", SLICE_FMT(t->id),
                               SLICE_FMT(x->text));
        if (find(d, x->text) == NULL)
            return why_set(d->why, ERR_INVALID, "task \"%.*s\" depends on unknown task \"%.*s\"", SLICE_FMT(t->id),
                           SLICE_FMT(x->text));
    }
    t->left = t->dependencies != NULL ? t->dependencies->count : 0;
    return ERR_OK;
}

/* Kahn's rule: what is reached takes its edges away, and what has none left is reached. */
static uint32_t reach(struct orion_in_dag *d, uint32_t edge_count) {
    struct edge { /* of a parent's list */
        uint32_t child, next;
    } *edges = ARENA_ARRAY(d->arena, struct edge, edge_count + 1);
    uint32_t *first = ARENA_ARRAY(d->arena, uint32_t, d->count);
    uint32_t *queue = ARENA_ARRAY(d->arena, uint32_t, d->count);
    uint32_t used = 0, queued = 0, done = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct json_node *list = d->tasks[i].dependencies;
        for (const struct json_node *x = list ? list->first : NULL; x != NULL; x = x->next) {
            uint32_t parent = find(d, x->text)->index;
            edges[++used] = (struct edge){i, first[parent]}; /* 0 ends a list */
            first[parent] = used;
        }
        if (d->tasks[i].left == 0) queue[queued++] = i;
    }
    for (; done < queued; done++)
        for (uint32_t e = first[queue[done]]; e != 0; e = edges[e].next)
            if (--d->tasks[edges[e].child].left == 0) queue[queued++] = edges[e].child;
    return done;
}

static enum err check_graph(struct orion_in_dag *d) {
    d->by_id = ARENA_ARRAY(d->arena, struct task *, d->count);
    for (uint32_t i = 0; i < d->count; i++) d->by_id[i] = &d->tasks[i];
    qsort(d->by_id, d->count, sizeof d->by_id[0], by_id);
    for (uint32_t i = 1; i < d->count; i++)
        if (slice_eq(d->by_id[i]->id, d->by_id[i - 1]->id))
            return why_set(d->why, ERR_INVALID, "duplicate task ID \"%.*s\"", SLICE_FMT(d->by_id[i]->id));
    uint32_t edge_count = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        enum err e = check_edges(d, &d->tasks[i]);
        if (e != ERR_OK) return e;
        edge_count += d->tasks[i].left;
    }
    uint32_t reached = reach(d, edge_count);
    if (reached == 0) return why_set(d->why, ERR_CYCLE, "DAG has no root task: every task depends on another");
    if (reached < d->count)
        return why_set(d->why, ERR_CYCLE, "DAG contains a cycle (only %u of %u tasks reachable)", reached, d->count);
    return ERR_OK;
}

/* ---- as a flow ---- */

int64_t orion_priority(int64_t sent, uint32_t priority_max) {
    int64_t most = (int64_t)priority_max, level;
    if (sent > PRIORITY_MIDDLE)
        level = 0;
    else
        level = sent < PRIORITY_MIDDLE - most ? most : PRIORITY_MIDDLE - sent;
    return level - 1; /* said above or below normal, which is 1 */
}

/* Deterministic: the same request again must be the same flow. */
static int64_t duration_of(const struct orion_in_dag *d, const struct task *t, struct slice key) {
    uint64_t h = hash64(t->id.ptr, t->id.len, hash64(key.ptr, key.len, 0));
    uint64_t room = (uint64_t)(d->rules->work_ms_most - d->rules->work_ms_least) + 1;
    if (slice_eq(t->payload, SLICE("sleep"))) return SLEEP_MS;
    return d->rules->work_ms_least + (int64_t)(hash_mix(h) % room);
}

static uint32_t options_of(const struct orion_in_dag *d, const struct task *t, struct wire_options *list,
                           uint32_t *count) {
    int64_t retries = t->retries == 0 ? ORION_RETRIES_STANDARD : t->retries < 0 ? 0 : t->retries;
    struct wire_options o = {
        .kind = slice_eq(t->payload, SLICE("fail")) ? JOB_FAIL : JOB_SLEEP,
        .priority = orion_priority(t->priority, d->rules->priority_max),
        .attempts_max = (uint32_t)retries + 1,
        .free_losses = d->rules->retries_max < FREE_LOSSES ? d->rules->retries_max : FREE_LOSSES,
    };
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].kind == o.kind && list[i].priority == o.priority && list[i].attempts_max == o.attempts_max)
            return i;
    list[*count] = o;
    return (*count)++;
}

static enum err body_of(const struct orion_in_dag *d, const struct task *t, struct slice key, struct slice *ret) {
    char *priority = arena_alloc(d->arena, 24);
    struct buf out;
    if (t->payload.len > WIRE_VALUE_MAX)
        return why_set(d->why, ERR_INVALID, "the payload of task \"%.*s\" has %zu bytes; at most %u are taken",
                       SLICE_FMT(t->id), t->payload.len, WIRE_VALUE_MAX);
    snprintf(priority, 24, "%lld", (long long)t->priority);
    struct wire_pair labels[] = {{SLICE(ORION_PAYLOAD_LABEL), t->payload},
                                 {SLICE(ORION_PRIORITY_LABEL), slice_str(priority)}};
    struct wire_run run = {.sleep_ms = duration_of(d, t, key), .labels = {labels, 2}};
    enum err e = tlv_check(&wire_run_desc, &run, d->why);
    if (e != ERR_OK) return why_wrap(d->why, ERR_INVALID, "task \"%.*s\"", SLICE_FMT(t->id));
    buf_init(&out, WIRE_BODY_MAX);
    tlv_encode(&wire_run_desc, &run, &out);
    *ret = arena_slice(d->arena, buf_slice(&out));
    buf_fini(&out);
    return ERR_OK;
}

static enum err flow_of(struct orion_in_dag *d, struct slice key, struct wire_flow *ret) {
    struct wire_job *jobs = ARENA_ARRAY(d->arena, struct wire_job, d->count);
    struct wire_options *options = ARENA_ARRAY(d->arena, struct wire_options, d->count);
    struct wire_pair *label = ARENA_NEW(d->arena, struct wire_pair);
    uint32_t option_count = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct task *t = &d->tasks[i];
        uint32_t n = 0, *parents = ARENA_ARRAY(d->arena, uint32_t, (t->dependencies ? t->dependencies->count : 0) + 1);
        for (const struct json_node *x = t->dependencies ? t->dependencies->first : NULL; x != NULL; x = x->next)
            parents[n++] = find(d, x->text)->index;
        jobs[i] = (struct wire_job){
            .name = t->id, .options = options_of(d, t, options, &option_count), .parents = {parents, n}};
        enum err e = body_of(d, t, key, &jobs[i].body);
        if (e != ERR_OK) return e;
    }
    *label = (struct wire_pair){SLICE("dialect"), SLICE("orion")};
    *ret = (struct wire_flow){.name = SLICE("dag"),
                              .key = key,
                              .labels = {label, 1},
                              .part = {.options = {options, option_count}, .jobs = {jobs, d->count}}};
    return tlv_check(&wire_flow_desc, ret, d->why) == ERR_OK ? ERR_OK : ERR_INVALID; /* names that are too long */
}

enum err orion_flow(struct slice body, struct slice key, const struct orion_rules *rules, const struct limits *limits,
                    struct arena *arena, struct wire_flow *ret, struct why *why) {
    const struct json_node *root = NULL;
    struct orion_in_dag d = {.arena = arena, .why = why, .rules = rules};
    enum err e = json_tree_read(body, limits, arena, &root, why);
    if (e != ERR_OK) return why_wrap(why, ERR_INVALID, "invalid JSON body");
    if (root->kind != JSON_ARRAY && root->kind != JSON_NULL)
        return why_set(why, ERR_INVALID, "invalid JSON body: an array of tasks is expected, not %s",
                       json_kind_word(root->kind));
    if (root->count == 0) return why_set(why, ERR_INVALID, "empty task list");
    if (root->count > rules->tasks_max)
        return why_set(why, ERR_INVALID, "too many tasks in request: %u, at most %u", root->count, rules->tasks_max);
    d.tasks = ARENA_ARRAY(arena, struct task, root->count);
    for (const struct json_node *n = root->first; n != NULL && e == ERR_OK; n = n->next) {
        d.tasks[d.count].index = d.count;
        e = read_task(&d, n, &d.tasks[d.count]);
        d.count++;
    }
    if (e == ERR_OK) e = check_graph(&d);
    return e == ERR_OK ? flow_of(&d, key, ret) : e;
}
