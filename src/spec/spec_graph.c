/* spec_graph.c: the jobs of a flow file together: names, needs, phases, an order in which parents come first, option
 * sets that are sent once, compensations and cache keys. */
#include <stdio.h>

#include "hash.h"
#include "panic.h"
#include "spec_impl.h"
#include "spec_value.h"

#define JOBS_MAX WIRE_COUNT_MAX

struct edges { /* of one job */
    uint32_t *parents;
    uint32_t count;
    struct tlv_list foreign; /* of wire_name: FLOW/JOB */
};

struct spec_graph {
    struct spec *s;
    struct edges *edges; /* of jobs, then of barriers */
    uint32_t node_count; /* jobs and barriers */
    uint32_t barrier_count;
    struct slice *barrier_names;
    struct vec options; /* wire_options, each once */
    struct map by_hash; /* of encoded options: position + 1 */
    struct buf bytes;
};

static struct slice name_of(const void *ctx, uint32_t value) {
    const struct spec *s = ctx;
    return s->jobs[value - 1].name;
}

/* ---- needs ---- */

static const struct spec_job *job_near(struct spec *s, struct slice name) {
    for (uint32_t i = 0; i < s->job_count; i++)
        if (spec_is_near(name, s->jobs[i].name)) return &s->jobs[i];
    return NULL;
}

uint32_t spec_job_find(struct spec *s, struct slice name) {
    return index_get(&s->names, name, name_of, s);
}

enum err spec_job_unknown(struct spec *s, uint32_t at, struct slice name) {
    const struct spec_job *near = job_near(s, name);
    if (near != NULL)
        return spec_refuse(s, at, ERR_UNKNOWN_NAME, "there is no job `%.*s`; did you mean `%.*s`?", SLICE_FMT(name),
                           SLICE_FMT(near->name));
    return spec_refuse(s, at, ERR_UNKNOWN_NAME, "there is no job `%.*s` in this flow", SLICE_FMT(name));
}

static const char *stage_word(uint8_t stage) {
    return stage == FLOW_STAGE_MAIN ? "jobs" : flow_stage_words[stage];
}

static enum err read_needs(struct spec *s, const struct spec_job *job, uint32_t own, struct edges *ret) {
    struct tlv_list names = {0};
    if (job->needs == NULL) return ERR_OK;
    enum err e = spec_names(s, job->needs, &names);
    if (e != ERR_OK) return e;
    const struct wire_name *list = names.at;
    struct wire_name *foreign = spec_alloc(s, sizeof *foreign * names.count);
    /* One more: the barrier of its phase. */
    ret->parents = spec_alloc(s, sizeof *ret->parents * ((size_t)names.count + 1));
    if (foreign == NULL || ret->parents == NULL) return spec_full(s);
    const struct json_node *item = job->needs->kind == JSON_ARRAY ? job->needs->first : job->needs;
    for (uint32_t i = 0; i < names.count; i++, item = item->next) {
        uint32_t position = spec_job_find(s, list[i].name);
        bool elsewhere = list[i].name.len > 0 && memchr(list[i].name.ptr, '/', list[i].name.len) != NULL;
        if (position == 0 && (elsewhere || s->in->grows)) {
            foreign[ret->foreign.count++] = list[i];
            continue;
        }
        if (position == 0) return spec_job_unknown(s, item->at, list[i].name);
        if (position - 1 == own) return spec_refuse(s, item->at, ERR_CYCLE, "a job cannot need itself");
        if (s->jobs[position - 1].o.stage != job->o.stage)
            return spec_refuse(s, item->at, ERR_INVALID,
                               "`%.*s` is of `%s`: leave it out of `needs`, they run one after the other by themselves",
                               SLICE_FMT(list[i].name), stage_word(s->jobs[position - 1].o.stage));
        for (uint32_t k = 0; k < ret->count; k++)
            if (ret->parents[k] == position - 1)
                return spec_refuse(s, item->at, ERR_DUPLICATE_NAME, "`%.*s` is needed twice", SLICE_FMT(list[i].name));
        ret->parents[ret->count++] = position - 1;
    }
    ret->foreign.at = foreign;
    return ERR_OK;
}

/* ---- inputs: files that a job it needs keeps ---- */

/* A pattern may fit anything: that is seen when the job has run. */
static bool may_keep(const struct spec_job *job, struct slice name) {
    const struct wire_artifact *kept = job->r.artifacts.at;
    for (uint32_t i = 0; i < job->r.artifacts.count; i++)
        if (slice_eq(kept[i].name, name) || spec_is_pattern(kept[i].path)) return true;
    return false;
}

/* The other is a main job, and over when the job begins. */
static bool is_behind(const struct spec *s, const struct spec_job *job, uint32_t other) {
    return job->o.stage != FLOW_STAGE_MAIN && s->jobs[other].o.stage == FLOW_STAGE_MAIN;
}

static enum err check_inputs(struct spec *s, const struct spec_job *job, const struct edges *edges) {
    const struct wire_take *takes = job->r.inputs.at;
    for (uint32_t i = 0; i < job->r.inputs.count; i++) {
        uint32_t position = spec_job_find(s, takes[i].job);
        bool needed = false;
        if (position == 0 && spec_is_there(s, &edges->foreign, takes[i].job)) continue;
        if (position == 0) return spec_job_unknown(s, job->inputs->at, takes[i].job);
        for (uint32_t k = 0; k < edges->count; k++) needed = needed || edges->parents[k] == position - 1;
        if (is_behind(s, job, position - 1))
            return spec_refuse(s, job->inputs->at, ERR_UNSUPPORTED,
                               "a job of `%s` cannot take files of `jobs`: use an output, `${jobs.%.*s.outputs}`",
                               stage_word(job->o.stage), SLICE_FMT(takes[i].job));
        if (!needed)
            return spec_refuse(s, job->inputs->at, ERR_INVALID, "it uses a file of `%.*s`: add `%.*s` to `needs`",
                               SLICE_FMT(takes[i].job), SLICE_FMT(takes[i].job));
        if (!may_keep(&s->jobs[position - 1], takes[i].name))
            return spec_refuse(s, job->inputs->at, ERR_UNKNOWN_NAME, "`%.*s` has no artifact `%.*s`",
                               SLICE_FMT(takes[i].job), SLICE_FMT(takes[i].name));
    }
    return ERR_OK;
}

/* ---- phases: one barrier between two of them ---- */

/* The place of a job's phase among the phases; UINT32_MAX = it has none. */
static enum err phase_of(struct spec *s, const struct spec_job *job, uint32_t *ret) {
    struct spec_scalar v;
    int64_t n = 0;
    *ret = UINT32_MAX;
    if (job->phase == NULL) return ERR_OK;
    enum err e = spec_scalar(s, job->phase, "a phase", &v);
    if (e != ERR_OK) return e;
    const struct wire_name *names = s->flow.phases.at;
    for (uint32_t i = 0; i < s->flow.phases.count; i++)
        if (slice_eq(names[i].name, v.text)) {
            *ret = i;
            return ERR_OK;
        }
    if (s->flow.phases.count == 0 && spec_number(v.text, &n) && n >= 0 && n < 1000000) {
        *ret = (uint32_t)n;
        return ERR_OK;
    }
    for (uint32_t i = 0; i < s->flow.phases.count; i++)
        if (spec_is_near(v.text, names[i].name))
            return spec_refuse(s, job->phase->at, ERR_UNKNOWN_NAME, "there is no phase `%.*s`; did you mean `%.*s`?",
                               SLICE_FMT(v.text), SLICE_FMT(names[i].name));
    return spec_refuse(s, job->phase->at, ERR_UNKNOWN_NAME,
                       s->flow.phases.count == 0 ? "expected the number of a phase, or names of `phases` in the flow"
                                                 : "the flow's `phases` have no `%.*s`",
                       SLICE_FMT(v.text));
}

static void sort_u32(uint32_t *at, uint32_t count) { /* few and mostly in order */
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && at[k - 1] > at[k]; k--) {
            uint32_t other = at[k];
            at[k] = at[k - 1];
            at[k - 1] = other;
        }
}

static enum err barrier_name(struct spec_graph *g, uint32_t phase, struct slice *ret) {
    struct spec *s = g->s;
    struct buf text;
    const struct wire_name *names = s->flow.phases.at;
    buf_init(&text, WIRE_NAME_MAX);
    if (s->flow.phases.count > 0)
        buf_printf(&text, "before-%.*s", SLICE_FMT(names[phase].name));
    else
        buf_printf(&text, "before-phase-%u", phase);
    uint8_t *copy = text.full ? NULL : spec_alloc(s, text.len);
    if (copy != NULL) memcpy(copy, text.at, text.len);
    *ret = slice_of(copy, text.len);
    buf_fini(&text);
    if (copy == NULL) return spec_full(s);
    if (spec_job_find(s, *ret) == 0) return ERR_OK;
    return spec_refuse(s, s->jobs[0].at, ERR_DUPLICATE_NAME, "`%.*s` is the name of a phase's barrier: rename the job",
                       SLICE_FMT(*ret));
}

/* Barrier k stands between used phase k and k + 1; it needs all jobs of the one and is needed by all of the other. */
static enum err phases_join(struct spec_graph *g, const uint32_t *phases, const uint32_t *used, uint32_t used_count) {
    struct spec *s = g->s;
    for (uint32_t k = 0; k + 1 < used_count; k++) {
        struct edges *barrier = &g->edges[s->job_count + k];
        enum err e = barrier_name(g, used[k + 1], &g->barrier_names[k]);
        if (e != ERR_OK) return e;
        uint32_t count = 1;
        for (uint32_t i = 0; i < s->job_count; i++) count += phases[i] == used[k];
        barrier->parents = spec_alloc(s, sizeof(uint32_t) * count);
        if (barrier->parents == NULL) return spec_full(s);
        for (uint32_t i = 0; i < s->job_count; i++) {
            if (phases[i] == used[k]) barrier->parents[barrier->count++] = i;
            if (phases[i] != used[k + 1]) continue;
            struct edges *job = &g->edges[i];
            if (job->parents == NULL) job->parents = spec_alloc(s, sizeof(uint32_t));
            if (job->parents == NULL) return spec_full(s);
            job->parents[job->count++] = s->job_count + k;
        }
    }
    g->barrier_count = used_count > 0 ? used_count - 1 : 0;
    g->node_count = s->job_count + g->barrier_count;
    return ERR_OK;
}

#define PHASES_MAX 256u

/* At most so many phases are used, and there are fewer barriers. */
static uint32_t phases_most(const struct spec *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->job_count && count < PHASES_MAX; i++) count += s->jobs[i].phase != NULL;
    return count;
}

static enum err read_phases(struct spec_graph *g, uint32_t *phases) {
    struct spec *s = g->s;
    uint32_t used[PHASES_MAX], used_count = 0;
    g->node_count = s->job_count;
    if (phases_most(s) == 0) return ERR_OK;
    for (uint32_t i = 0; i < s->job_count; i++) {
        enum err e = phase_of(s, &s->jobs[i], &phases[i]);
        if (e != ERR_OK) return e;
        uint32_t k = 0;
        while (k < used_count && used[k] != phases[i]) k++;
        if (phases[i] == UINT32_MAX || k < used_count) continue;
        if (used_count == PHASES_MAX)
            return spec_refuse(s, s->jobs[i].phase->at, ERR_LIMIT, "more than %u phases", PHASES_MAX);
        used[used_count++] = phases[i];
    }
    sort_u32(used, used_count);
    g->barrier_names = spec_alloc(s, sizeof(struct slice) * used_count);
    if (g->barrier_names == NULL) return spec_full(s);
    return phases_join(g, phases, used, used_count);
}

/* ---- order ---- */

#define CYCLE_SHOWN_MAX 8u

static struct slice node_name(const struct spec_graph *g, uint32_t node) {
    return node < g->s->job_count ? g->s->jobs[node].name : g->barrier_names[node - g->s->job_count];
}

/* A node that was never free of parents has one that was not either: following them ends in a circle. */
static uint32_t open_parent(const struct spec_graph *g, const uint32_t *open, uint32_t node) {
    uint32_t k = 0;
    while (open[g->edges[node].parents[k]] == 0) k++;
    return g->edges[node].parents[k];
}

/* "a → b → a": each job is needed by the one after it. Long circles are cut. */
static void cycle_text(struct spec_graph *g, const uint32_t *open, uint32_t from, char *ret, size_t size) {
    uint32_t members[CYCLE_SHOWN_MAX], count = 0, at = from;
    do {
        members[count++] = at;
        at = open_parent(g, open, at);
    } while (at != from && count < CYCLE_SHOWN_MAX);
    size_t len = (size_t)snprintf(ret, size, "%.*s", SLICE_FMT(node_name(g, from)));
    if (at != from) len += (size_t)snprintf(ret + len, size - len, " → …");
    while (count > 0 && len < size) {
        struct slice name = node_name(g, members[--count]);
        len += (size_t)snprintf(ret + len, size - len, " → %.*s", SLICE_FMT(name));
    }
}

static enum err refuse_cycle(struct spec_graph *g, const uint32_t *open) {
    char text[160];
    uint32_t at = 0;
    while (open[at] == 0) at++;
    for (uint32_t step = 0; step < g->node_count; step++) at = open_parent(g, open, at);
    if (at >= g->s->job_count) at = open_parent(g, open, at); /* a barrier has no place in the file; its parents do */
    cycle_text(g, open, at, text, sizeof text);
    return spec_refuse(g->s, g->s->jobs[at].at, ERR_CYCLE, "dependency cycle: %s; remove one of these `needs`", text);
}

/* Kahn: first come, first out, so a file that is in order stays as it is. order[i] is a node, place[node] its i. */
static enum err sort_nodes(struct spec_graph *g, uint32_t *order, uint32_t *place) {
    struct spec *s = g->s;
    uint32_t n = g->node_count, edge_count = 0, tail = 0;
    for (uint32_t i = 0; i < n; i++) edge_count += g->edges[i].count;
    uint32_t *open = spec_alloc(s, sizeof *open * n), *first = spec_alloc(s, sizeof *first * (n + 1));
    uint32_t *children = spec_alloc(s, sizeof *children * edge_count), *filled = spec_alloc(s, sizeof *filled * n);
    if (open == NULL || first == NULL || children == NULL || filled == NULL) return spec_full(s);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < g->edges[i].count; k++) first[g->edges[i].parents[k] + 1]++;
    for (uint32_t i = 0; i < n; i++) first[i + 1] += first[i];
    for (uint32_t i = 0; i < n; i++) {
        open[i] = g->edges[i].count;
        for (uint32_t k = 0; k < g->edges[i].count; k++) {
            uint32_t parent = g->edges[i].parents[k];
            children[first[parent] + filled[parent]++] = i;
        }
        if (open[i] == 0) order[tail++] = i;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = order[head];
        place[node] = head;
        for (uint32_t k = first[node]; k < first[node + 1]; k++)
            if (--open[children[k]] == 0) order[tail++] = children[k];
    }
    return tail == n ? ERR_OK : refuse_cycle(g, open);
}

/* ---- to the wire ---- */

static uint32_t options_place(struct spec_graph *g, const struct wire_options *o) {
    if (g->node_count == 1) { /* nothing to share it with but its own compensation */
        *(struct wire_options *)vec_push(&g->options) = *o;
        return g->options.count - 1;
    }
    buf_clear(&g->bytes);
    tlv_encode(&wire_options_desc, o, &g->bytes);
    uint64_t key = hash64(g->bytes.at, g->bytes.len, 0);
    uint32_t place = map_get(&g->by_hash, key);
    if (place != 0) return place - 1;
    *(struct wire_options *)vec_push(&g->options) = *o;
    map_put(&g->by_hash, key, g->options.count);
    return g->options.count - 1;
}

static enum err encode_run(struct spec_graph *g, const struct spec_job *job, struct slice *ret) {
    if (tlv_is_blank(&wire_run_desc, &job->r)) return ERR_OK; /* nothing to run */
    buf_clear(&g->bytes);
    tlv_encode(&wire_run_desc, &job->r, &g->bytes);
    if (g->bytes.full || g->bytes.len > WIRE_BODY_MAX)
        return spec_refuse(g->s, job->at, ERR_LIMIT, "the job is larger than %u bytes", WIRE_BODY_MAX);
    uint8_t *copy = spec_alloc(g->s, g->bytes.len);
    if (copy == NULL) return spec_full(g->s);
    if (g->bytes.len > 0) memcpy(copy, g->bytes.at, g->bytes.len);
    *ret = slice_of(copy, g->bytes.len);
    return ERR_OK;
}

static enum err put_undo(struct spec_graph *g, const struct spec_job *job, struct wire_job *w) {
    struct spec *s = g->s;
    if (job->compensate == NULL) return ERR_OK;
    struct spec_job *undo = spec_alloc(s, sizeof *undo);
    if (undo == NULL) return spec_full(s);
    *undo = (struct spec_job){.at = job->compensate->at};
    undo->o.demand = job->o.demand; /* where the job ran, unless it says otherwise */
    undo->r.env = job->r.env;
    enum err e = spec_job_read(s, job->compensate, IN_UNDO, undo);
    undo->is_sandbox_inherited = undo->sandbox == NULL;
    if (undo->sandbox == NULL) undo->sandbox = job->sandbox;
    if (e == ERR_OK) e = spec_job_finish(s, undo, true);
    if (e == ERR_OK) e = encode_run(g, undo, &w->undo_body);
    if (e == ERR_OK) w->undo_options = options_place(g, &undo->o) + 1;
    return e;
}

/* A hash of what the job is and of what the file says its result depends on besides. */
static enum err put_cache(struct spec_graph *g, struct spec_job *job, struct wire_job *w) {
    struct spec *s = g->s;
    struct spec_cache x = {0};
    if (job->cache == NULL) return ERR_OK;
    enum err e = ERR_OK;
    if (job->cache->kind == JSON_OBJECT)
        e = spec_object_read(s, &spec_cache_keys, job->cache, 0, &x);
    else if (job->cache->kind == JSON_BOOL && !job->cache->truth)
        return ERR_OK;
    else if (job->cache->kind != JSON_BOOL)
        e = spec_text(s, job->cache, "true, a text or an object", &x.key);
    if (e != ERR_OK) return e;
    if (s->in->world.hash == NULL)
        return spec_refuse(s, job->cache->at, ERR_UNSUPPORTED, "`cache` cannot be used here");
    buf_clear(&g->bytes);
    buf_put_u8(&g->bytes, job->o.kind);
    buf_put_str(&g->bytes, w->body);
    buf_put_slice(&g->bytes, x.key);
    uint8_t *hash = spec_alloc(s, SPEC_HASH_BYTES);
    if (hash == NULL) return spec_full(s);
    s->in->world.hash(s->in->world.ctx, buf_slice(&g->bytes), hash);
    w->cache_key = slice_of(hash, SPEC_HASH_BYTES);
    job->o.cache_ms = x.ms;
    return ERR_OK;
}

static enum err put_job(struct spec_graph *g, uint32_t node, const uint32_t *place, struct wire_job *w) {
    struct spec *s = g->s;
    struct edges *edges = &g->edges[node];
    static const struct wire_options barrier = {.kind = JOB_BARRIER};
    for (uint32_t k = 0; k < edges->count; k++) edges->parents[k] = place[edges->parents[k]];
    w->name = node_name(g, node);
    w->parents = (struct tlv_u32s){edges->parents, edges->count};
    w->parent_names = edges->foreign;
    if (node >= s->job_count) {
        w->options = options_place(g, &barrier);
        return ERR_OK;
    }
    struct spec_job *job = &s->jobs[node];
    enum err e = encode_run(g, job, &w->body);
    if (e == ERR_OK) e = put_cache(g, job, w);
    if (e == ERR_OK) e = put_undo(g, job, w);
    if (e == ERR_OK) w->options = options_place(g, &job->o);
    w->service = job->service;
    return e;
}

static enum err put_jobs(struct spec_graph *g, struct wire_jobs *ret) {
    struct spec *s = g->s;
    uint32_t n = g->node_count;
    uint32_t *order = spec_alloc(s, sizeof *order * n), *place = spec_alloc(s, sizeof *place * n);
    struct wire_job *list = spec_alloc(s, sizeof *list * n);
    if (order == NULL || place == NULL || list == NULL) return spec_full(s);
    enum err e = sort_nodes(g, order, place);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) e = put_job(g, order[i], place, &list[i]);
    if (e != ERR_OK) return e;
    struct wire_options *options = spec_alloc(s, sizeof *options * g->options.count);
    if (options == NULL) return spec_full(s);
    if (g->options.count > 0) memcpy(options, g->options.at, sizeof *options * g->options.count);
    *ret = (struct wire_jobs){.options = {options, g->options.count}, .jobs = {list, n}};
    return ERR_OK;
}

enum err spec_graph(struct spec *s, struct wire_jobs *ret) {
    struct spec_graph g = {.s = s};
    uint32_t *phases = spec_alloc(s, sizeof *phases * s->job_count);
    g.edges = spec_alloc(s, sizeof *g.edges * ((size_t)s->job_count + phases_most(s)));
    if (phases == NULL || g.edges == NULL) return spec_full(s);
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->job_count; i++) e = read_needs(s, &s->jobs[i], i, &g.edges[i]);
    for (uint32_t i = 0; e == ERR_OK && i < s->job_count; i++)
        e = spec_uses_check(s, &s->jobs[i], g.edges[i].parents, g.edges[i].count, &g.edges[i].foreign);
    for (uint32_t i = 0; e == ERR_OK && i < s->job_count; i++) e = check_inputs(s, &s->jobs[i], &g.edges[i]);
    if (e == ERR_OK) e = read_phases(&g, phases);
    if (e != ERR_OK) return e;
    vec_init(&g.options, sizeof(struct wire_options));
    map_init(&g.by_hash);
    buf_init(&g.bytes, WIRE_BODY_MAX * 2);
    e = put_jobs(&g, ret);
    vec_fini(&g.options);
    map_fini(&g.by_hash);
    buf_fini(&g.bytes);
    return e;
}
