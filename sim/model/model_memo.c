/* model_memo.c: what is kept, oldest first, in an array. */
#include "model_memo.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_job.h"
#include "panic.h"

struct model_memo {
    struct model_text tenant;
    struct model_key key;
    uint64_t flow; /* the job that ran */
    uint32_t ordinal;
    int64_t expires_ms;
};

static bool is_of(const struct model_memo *memo, struct trace_bytes tenant) {
    return memo->tenant.len == tenant.len && (tenant.len == 0 || memcmp(memo->tenant.at, tenant.at, tenant.len) == 0);
}

static struct trace_bytes tenant_of(const struct model_flow *f) {
    return (struct trace_bytes){f->tenant.at, f->tenant.len};
}

/* Position of what is kept, m->memo_count when nothing is. */
static uint32_t find(const struct model *m, struct trace_bytes tenant, const struct model_key *key) {
    uint32_t i = 0;
    for (; i < m->memo_count; i++) {
        if (key->is && is_of(&m->memos[i], tenant) && memcmp(m->memos[i].key.at, key->at, sizeof key->at) == 0) break;
    }
    return i;
}

static void take_out(struct model *m, uint32_t at) {
    if (at == m->memo_count) return;
    free(m->memos[at].tenant.at);
    for (uint32_t i = at + 1; i < m->memo_count; i++) m->memos[i - 1] = m->memos[i];
    m->memo_count--;
}

static uint32_t count_of(const struct model *m, struct trace_bytes tenant) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->memo_count; i++) count += is_of(&m->memos[i], tenant);
    return count;
}

const struct model_memo *model_memo_for(const struct model *m, const struct model_flow *f, const struct model_job *j) {
    uint32_t at = find(m, tenant_of(f), &j->key);
    return at < m->memo_count && m->memos[at].expires_ms > m->time_ms ? &m->memos[at] : NULL;
}

void model_memo_from(const struct model_memo *memo, uint64_t *ret_flow, uint32_t *ret_ordinal) {
    *ret_flow = memo->flow;
    *ret_ordinal = memo->ordinal;
}

bool model_memo_kept(struct model *m, const struct model_flow *f, const struct model_job *j, const struct trace_memo *r,
                     char *text) {
    if (j->state != TS_SUCCEEDED)
        return model_object(text, "its result is kept while it is %s", model_state_word(j->state));
    if (!j->key.is) return model_object(text, "its result is kept and it has no key");
    if (j->from_flow != 0) return model_object(text, "its result is kept and is not its own");
    int64_t ms = j->spec.cache_ms ? j->spec.cache_ms : r->standard_ms;
    if (r->expires_ms != m->time_ms + ms)
        return model_object(text, "its result is kept until %lld, must be until %lld", (long long)r->expires_ms,
                            (long long)(m->time_ms + ms));
    uint32_t replaced = find(m, tenant_of(f), &j->key);
    if (count_of(m, tenant_of(f)) - (replaced < m->memo_count) >= r->most)
        return model_object(text, "more results are kept than may be");
    take_out(m, replaced);
    m->memos = realloc(m->memos, (m->memo_count + 1) * sizeof *m->memos);
    REQUIRE(m->memos != NULL);
    m->memos[m->memo_count++] = (struct model_memo){
        model_text_copy(tenant_of(f)), j->key, f->id, (uint32_t)(j - f->jobs), r->expires_ms,
    };
    return true;
}

bool model_memo_dropped(struct model *m, const struct trace_memo *r, char *text) {
    struct model_key key = model_key_of(r->key);
    uint32_t at = find(m, r->tenant, &key), oldest = 0;
    if (at == m->memo_count) return model_object(text, "a result was dropped that is not kept");
    while (!is_of(&m->memos[oldest], r->tenant)) oldest++;
    bool makes_room = at == oldest && count_of(m, r->tenant) >= r->most;
    if (m->time_ms < m->memos[at].expires_ms && !makes_room)
        return model_object(text, "a result was dropped for no reason");
    take_out(m, at);
    return true;
}

void model_memo_taint(struct model *m, const struct model_flow *f, const struct model_job *j) {
    uint32_t at = find(m, tenant_of(f), &j->key);
    if (at == m->memo_count) return;
    uint64_t flow = j->from_flow ? j->from_flow : f->id;
    uint32_t ordinal = j->from_flow ? j->from_ordinal : (uint32_t)(j - f->jobs);
    if (m->memos[at].flow == flow && m->memos[at].ordinal == ordinal) take_out(m, at);
}

void model_memos_free(struct model *m) {
    while (m->memo_count > 0) take_out(m, 0);
    free(m->memos);
}

bool model_compare_memos(const struct model *m, const struct trace_memo *now, uint32_t count,
                         char text[MODEL_TEXT_BYTES]) {
    if (count != m->memo_count) return model_object(text, "%u results are kept, must be %u", count, m->memo_count);
    for (uint32_t i = 0; i < count; i++) {
        struct model_key key = model_key_of(now[i].key);
        uint32_t at = find(m, now[i].tenant, &key);
        if (at == m->memo_count) return model_object(text, "a result is kept that should not be");
        const struct model_memo *must = &m->memos[at];
        if (now[i].from_flow != must->flow || now[i].from_ordinal != must->ordinal)
            return model_object(text, "the result of job %llu/%u is kept, must be that of %llu/%u",
                                (unsigned long long)now[i].from_flow, now[i].from_ordinal,
                                (unsigned long long)must->flow, must->ordinal);
        if (now[i].expires_ms != must->expires_ms)
            return model_object(text, "a result is kept until %lld, must be until %lld", (long long)now[i].expires_ms,
                                (long long)must->expires_ms);
    }
    return true;
}
