/* titan_book.c: see titan_book.h. */
#include "titan_book.h"

#include <stdio.h>

#include "server_impl.h"
#include "titan_flow.h"
#include "titan_session.h"
#include "view_history.h"

extern const uint8_t titan_book_slot;

struct titan_book *titan_book_of(const struct server *s) {
    return shard_part(server_shard(s), titan_book_slot);
}

static void init(struct shard *h, void *own) {
    struct titan_book *b = own;
    (void)h;
    vec_init(&b->entries, sizeof(struct titan_entry));
    index_init(&b->newest);
    b->prune_at = TITAN_BOOK_PRUNE;
}

static struct titan_entry *entry_at(const struct titan_book *b, uint32_t value) {
    return vec_at(&b->entries, value - 1);
}

static struct slice id_of(const void *ctx, uint32_t value) {
    return bytes_slice(entry_at(ctx, value)->id);
}

static void fini(struct shard *h, void *own) {
    struct titan_book *b = own;
    (void)h;
    for (uint32_t i = 1; i <= b->entries.count; i++) bytes_free(entry_at(b, i)->id);
    vec_fini(&b->entries);
    index_fini(&b->newest);
}

/* ---- taking in ---- */

static void enter(struct titan_book *b, struct slice id, uint32_t value) {
    uint32_t before = index_get(&b->newest, id, id_of, b);
    if (before != 0) index_del(&b->newest, id, before);
    index_put(&b->newest, id, value);
}

static void look_at_job(void *ctx, const struct job_view *job) {
    struct server *s = ctx;
    struct titan_book *b = titan_book_of(s);
    struct slice id = titan_id_of(s, job);
    if (id.len == 0) return;
    *(struct titan_entry *)vec_push(&b->entries) = (struct titan_entry){job->ref, bytes_new(id)};
    enter(b, id, b->entries.count);
}

struct slice titan_id_of(struct server *s, const struct job_view *job) {
    struct wire_run run;
    struct why ignored;
    if (tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &ignored) != ERR_OK)
        return (struct slice){0};
    const struct wire_pair *pairs = run.labels.at;
    for (uint32_t i = 0; i < run.labels.count; i++)
        if (slice_eq(pairs[i].key, SLICE(TITAN_ID_LABEL))) return pairs[i].value;
    return (struct slice){0};
}

bool titan_is_flow(struct server *s, flow_id flow) {
    const struct label *labels = NULL;
    uint32_t count = view_labels(server_state(s), flow, &s->frame_arena, &labels);
    for (uint32_t i = 0; i < count; i++)
        if (slice_eq(labels[i].key, SLICE("dialect")) && slice_eq(labels[i].value, SLICE(TITAN_DIALECT))) return true;
    return false;
}

static void look_at(void *ctx, flow_id id) {
    struct server *s = ctx;
    struct flow_view flow;
    if (id.v <= titan_book_of(s)->seen || !view_flow(server_state(s), id, &flow)) return;
    titan_book_of(s)->seen = id.v;
    if (flow.of_service) return; /* has the labels of the flow that deployed it; that one has the job that is meant */
    if (slice_eq(flow.tenant, slice_str(titan_of(s)->options->tenant)) && titan_is_flow(s, id))
        view_each_job(server_state(s), id, look_at_job, s);
}

/* Costs as much as was taken in since the last time. */
static void prune(struct server *s) {
    struct titan_book *b = titan_book_of(s);
    struct job_view v;
    uint32_t kept = 0;
    index_fini(&b->newest);
    index_init(&b->newest);
    for (uint32_t i = 1; i <= b->entries.count; i++) {
        struct titan_entry e = *entry_at(b, i);
        if (!view_job(server_state(s), e.job, &v)) {
            bytes_free(e.id);
            continue;
        }
        *entry_at(b, ++kept) = e;
        enter(b, bytes_slice(e.id), kept);
    }
    b->entries.count = kept;
    b->prune_at = 2 * kept > TITAN_BOOK_PRUNE ? 2 * kept : TITAN_BOOK_PRUNE;
}

void titan_book_update(struct server *s) {
    struct titan_book *b = titan_book_of(s);
    uint64_t last = view_flow_last(server_state(s));
    if (b->seen == last) return;
    if (b->seen == 0)
        view_each_flow(server_state(s), look_at, s);
    else
        for (uint64_t i = b->seen + 1; i <= last; i++) look_at(s, (flow_id){i});
    b->seen = last;
    if (b->entries.count >= b->prune_at) prune(s);
}

/* ---- finding ---- */

static bool find(struct server *s, struct slice id, struct titan_entry *ret) {
    struct titan_book *b = titan_book_of(s);
    struct job_view v;
    uint32_t value = index_get(&b->newest, id, id_of, b);
    if (value == 0 || !view_job(server_state(s), entry_at(b, value)->job, &v)) return false;
    *ret = *entry_at(b, value);
    return true;
}

bool titan_book_find(struct server *s, struct slice id, struct titan_entry *ret) {
    char longer[WIRE_TITAN_ID_MAX + sizeof TITAN_DAG_PREFIX];
    if (titan_of(s)->options == NULL) return false;
    titan_book_update(s);
    if (find(s, id, ret)) return true;
    if (id.len > WIRE_TITAN_ID_MAX) return false;
    int len = snprintf(longer, sizeof longer, TITAN_DAG_PREFIX "%.*s", SLICE_FMT(id));
    return find(s, slice_of(longer, (size_t)len), ret);
}

const struct server_part titan_book_part = {
    .name = "titan_book", .scope = PART_OF_SHARD, .bytes = sizeof(struct titan_book), .init = init, .fini = fini};
