/* graph.c: see graph.h. Iterative throughout: a user's graph must not decide how deep our stack goes. */
#include "graph.h"

#include "hash.h"
#include "panic.h"
#include "tlv.h"

struct builder {
    const struct graph_job *jobs;
    uint32_t count, first;
    graph_known_fn known;
    const void *ctx;
    struct arena *arena;
    struct why *why;
    uint32_t *table; /* open addressing: input job + 1 by name */
    uint32_t mask;
    uint32_t **parents; /* by input job: < count an input job, else a known ordinal + count */
    bool in_order;      /* every parent comes before its child in the input */
};

static uint32_t find(const struct builder *b, struct slice name) {
    uint32_t at = (uint32_t)hash64(name.ptr, name.len, 0) & b->mask;
    for (; b->table[at]; at = (at + 1) & b->mask)
        if (slice_eq(b->jobs[b->table[at] - 1].name, name)) return b->table[at] - 1;
    return NO_NODE;
}

static enum err index_names(struct builder *b) {
    uint32_t slots = 16;
    while (slots < b->count * 2u) slots *= 2;
    b->mask = slots - 1;
    b->table = ARENA_ARRAY(b->arena, uint32_t, slots);
    for (uint32_t i = 0; i < b->count; i++) {
        struct slice name = b->jobs[i].name;
        bool taken = b->known(b->ctx, name) != NO_NODE;
        uint32_t at = (uint32_t)hash64(name.ptr, name.len, 0) & b->mask;
        for (; !taken && b->table[at]; at = (at + 1) & b->mask) taken = slice_eq(b->jobs[b->table[at] - 1].name, name);
        if (taken) return why_set(b->why, ERR_DUPLICATE_NAME, "two jobs are named %.*s", SLICE_FMT(name));
        b->table[at] = i + 1;
    }
    return ERR_OK;
}

static enum err resolve(struct builder *b) {
    b->parents = ARENA_ARRAY(b->arena, uint32_t *, b->count ? b->count : 1);
    b->in_order = true;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct graph_job *job = &b->jobs[i];
        b->parents[i] = ARENA_ARRAY(b->arena, uint32_t, job->parent_count ? job->parent_count : 1);
        for (uint32_t k = 0; k < job->parent_count; k++) {
            uint32_t node = find(b, job->parents[k]);
            if (node == NO_NODE) {
                uint32_t ordinal = b->known(b->ctx, job->parents[k]);
                if (ordinal == NO_NODE)
                    return why_set(b->why, ERR_UNKNOWN_NAME, "job %.*s comes after %.*s, which does not exist",
                                   SLICE_FMT(job->name), SLICE_FMT(job->parents[k]));
                node = b->count + ordinal;
            } else if (node >= i) {
                b->in_order = false;
            }
            b->parents[i][k] = node;
        }
    }
    return ERR_OK;
}

/* Writes "a -> b -> a" for a circle among the jobs that could not be ordered (`open` parents left). */
static enum err name_cycle(const struct builder *b, const uint32_t *open) {
    uint32_t *seen = ARENA_ARRAY(b->arena, uint32_t, b->count); /* step + 1 at which a job was met */
    uint32_t *path = ARENA_ARRAY(b->arena, uint32_t, b->count + 1);
    uint32_t at = 0, steps = 0;
    while (open[at] == 0) at++;
    while (seen[at] == 0) { /* backwards along parents that are themselves stuck */
        seen[at] = steps + 1;
        path[steps++] = at;
        uint32_t next = NO_NODE;
        for (uint32_t k = 0; k < b->jobs[at].parent_count && next == NO_NODE; k++) {
            uint32_t parent = b->parents[at][k];
            if (parent < b->count && open[parent]) next = parent;
        }
        ENSURE(next != NO_NODE);
        at = next;
    }
    struct buf text;
    buf_init(&text, sizeof b->why->text - 1);
    buf_printf(&text, "%.*s", SLICE_FMT(b->jobs[at].name));
    for (uint32_t step = steps; step-- > seen[at] - 1;)
        buf_printf(&text, " -> %.*s", SLICE_FMT(b->jobs[path[step]].name));
    enum err e = why_set(b->why, ERR_CYCLE, "dependency cycle: %.*s", (int)text.len, (const char *)text.at);
    buf_fini(&text);
    return e;
}

/* Kahn's algorithm, first come first served over the input. */
static enum err sort(struct builder *b, uint32_t *order) {
    uint32_t *open = ARENA_ARRAY(b->arena, uint32_t, b->count ? b->count : 1);
    uint32_t *child_start = ARENA_ARRAY(b->arena, uint32_t, b->count + 1);
    size_t edges = 0;
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->jobs[i].parent_count; k++)
            if (b->parents[i][k] < b->count) {
                open[i]++;
                child_start[b->parents[i][k]]++;
                edges++;
            }
    uint32_t *children = ARENA_ARRAY(b->arena, uint32_t, edges ? edges : 1);
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= b->count; i++) {
        uint32_t own = child_start[i];
        child_start[i] = sum;
        sum += own;
    }
    ENSURE(sum == edges);
    uint32_t *fill = ARENA_ARRAY(b->arena, uint32_t, b->count ? b->count : 1);
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->jobs[i].parent_count; k++) {
            uint32_t parent = b->parents[i][k];
            if (parent < b->count) children[child_start[parent] + fill[parent]++] = i;
        }
    uint32_t done = 0, next = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (open[i] == 0) order[done++] = i;
    for (; next < done; next++)
        for (uint32_t c = child_start[order[next]]; c < child_start[order[next] + 1]; c++)
            if (--open[children[c]] == 0) order[done++] = children[c];
    return done == b->count ? ERR_OK : name_cycle(b, open);
}

/* Heap sort: in place, no recursion, and no worst case for a fan-in of thousands. */
static void sort_numbers(uint32_t *at, uint32_t count) {
    bool sorted = true;
    for (uint32_t i = 1; i < count && sorted; i++) sorted = at[i - 1] <= at[i];
    if (sorted) return;
    for (uint32_t end = count, start = count / 2; end > 1;) {
        uint32_t value;
        if (start > 0) {
            value = at[--start];
        } else {
            value = at[--end];
            at[end] = at[0];
        }
        uint32_t hole = start;
        for (uint32_t child; (child = hole * 2 + 1) < end; hole = child) {
            if (child + 1 < end && at[child + 1] > at[child]) child++;
            if (at[child] <= value) break;
            at[hole] = at[child];
        }
        at[hole] = value;
    }
}

static enum err number_parents(struct builder *b, const uint32_t *order, struct tlv_u32s *parents) {
    uint32_t *ordinal = ARENA_ARRAY(b->arena, uint32_t, b->count ? b->count : 1);
    for (uint32_t k = 0; k < b->count; k++) ordinal[order[k]] = b->first + k;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t *own = b->parents[i], count = b->jobs[i].parent_count;
        for (uint32_t k = 0; k < count; k++) own[k] = own[k] < b->count ? ordinal[own[k]] : own[k] - b->count;
        sort_numbers(own, count);
        for (uint32_t k = 1; k < count; k++)
            if (own[k] == own[k - 1])
                return why_set(b->why, ERR_DUPLICATE_NAME, "job %.*s names a parent twice", SLICE_FMT(b->jobs[i].name));
        ENSURE(count == 0 || own[count - 1] < ordinal[i]); /* the order is topological */
        parents[i] = (struct tlv_u32s){own, count};
    }
    return ERR_OK;
}

/* Most flows are one job. */
static enum err order_single(struct builder *b, struct graph *ret) {
    if (b->known(b->ctx, b->jobs[0].name) != NO_NODE)
        return why_set(b->why, ERR_DUPLICATE_NAME, "two jobs are named %.*s", SLICE_FMT(b->jobs[0].name));
    *ret = (struct graph){ARENA_NEW(b->arena, uint32_t), ARENA_NEW(b->arena, struct tlv_u32s)};
    return ERR_OK;
}

enum err graph_order(const struct graph_job *jobs, uint32_t count, uint32_t first, graph_known_fn known,
                     const void *ctx, struct arena *arena, struct graph *ret, struct why *why) {
    REQUIRE(count < NO_NODE / 4);
    REQUIRE(first < NO_NODE / 4);
    struct builder b = {
        .jobs = jobs, .count = count, .first = first, .known = known, .ctx = ctx, .arena = arena, .why = why};
    if (count == 1 && jobs[0].parent_count == 0) return order_single(&b, ret);
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, count ? count : 1);
    struct tlv_u32s *parents = ARENA_ARRAY(arena, struct tlv_u32s, count ? count : 1);
    enum err e = index_names(&b);
    if (e == ERR_OK) e = resolve(&b);
    if (e != ERR_OK) return e;
    if (b.in_order)
        for (uint32_t i = 0; i < count; i++) order[i] = i;
    else
        e = sort(&b, order);
    if (e == ERR_OK) e = number_parents(&b, order, parents);
    if (e == ERR_OK) *ret = (struct graph){order, parents};
    return e;
}
