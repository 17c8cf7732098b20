/* simwire_take.c: answers of the server, as a client understands them. Part of simwire.h. */
#include "panic.h"
#include "simwire.h"
#include "view_store.h"
#include "wire.h"
#include "world.h"

static enum err code_of(struct slice word) {
    return word.len == 0 ? ERR_OK : err_find(word, ERR_UNKNOWN);
}

static void set_error(struct msg *m, enum err err, struct slice text) {
    m->reply.err = err;
    if (err != ERR_OK) (void)why_set(&m->reply.why, err, "%.*s", SLICE_FMT(text));
}

static bool state_of(struct slice word, enum job_state *ret) {
    for (int s = 0; s < (int)JOB_STATE_COUNT; s++) {
        if (!slice_eq(word, slice_str(job_state_word((enum job_state)s)))) continue;
        *ret = (enum job_state)s;
        return true;
    }
    return false;
}

/* "f13/name" as a reference; the ordinal is the server's, asked behind its back. False: it knows no such job now. */
static bool job_of(struct world *w, struct slice text, struct job_ref *ret) {
    const uint8_t *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    struct job_view job;
    uint32_t shard;
    if (slash == NULL || w->server.engine == NULL) return false;
    size_t len = (size_t)(slash - text.ptr);
    if (!flow_parse(slice_of(text.ptr, len), &shard, &ret->flow)) return false;
    struct slice name = slice_of(slash + 1, text.len - len - 1);
    if (!view_job_by_name(engine_state(w->server.engine), ret->flow, name, &job)) return false;
    ret->ordinal = job.ref.ordinal;
    return true;
}

/* ---- each kind of answer ---- */

static bool take_submitted(const struct wire_submitted *f, struct msg *m) {
    const struct wire_submitted_flow *flow = f->flows.at;
    uint32_t shard = 0;
    if (f->flows.count != 1) return false;
    m->lsn = f->lsn;
    m->reply.job_count = flow->job_count;
    m->reply.repeated = flow->repeated;
    set_error(m, code_of(flow->code), flow->message);
    return flow->code.len > 0 || flow_parse(flow->flow, &shard, &m->reply.flow);
}

static bool take_accepted(const struct wire_accepted *f, struct msg *m) {
    const struct wire_result *result = f->results.at;
    m->lsn = f->lsn;
    m->reply.repeated = f->repeated;
    if (f->results.count > 1) return false;
    if (f->results.count == 1) set_error(m, code_of(result->code), result->message);
    return true;
}

static bool take_got(const struct wire_got *f, const struct msg *asked, struct msg *m) {
    const struct wire_job_view *views = f->jobs.at;
    struct seen_job *jobs = ARENA_ARRAY(&m->arena, struct seen_job, m->job_count + f->jobs.count + 1);
    if (m->job_count > 0) memcpy(jobs, m->jobs, m->job_count * sizeof *jobs);
    for (uint32_t i = 0; i < f->jobs.count; i++) { /* in the order of ordinals */
        struct seen_job *job = &jobs[m->job_count];
        job->ref = (struct job_ref){asked->read_flow, m->job_count};
        if (!state_of(views[i].state, &job->state)) return false;
        m->job_count++;
    }
    m->lsn = f->lsn;
    m->found = true;
    m->jobs = jobs;
    return true;
}

static bool take_question(struct world *w, const struct wire_question_view *v, struct msg *m) {
    struct seen_question *q = &m->questions[m->question_count];
    *q = (struct seen_question){.id = {v->question}, .revision = v->revision, .hash = arena_slice(&m->arena, v->hash)};
    (void)job_of(w, v->job, &q->job);
    for (uint32_t g = 0; g < GATE_COUNT; g++) {
        if (!slice_eq(v->gate, slice_str(gate_words[g]))) continue;
        q->gate = (enum gate)g;
        m->question_count++;
        return true;
    }
    return false;
}

static bool take_listed(struct world *w, const struct wire_listed *f, struct msg *m) {
    const struct wire_job_view *jobs = f->jobs.at;
    const struct wire_question_view *questions = f->questions.at;
    m->lsn = f->lsn;
    m->jobs = ARENA_ARRAY(&m->arena, struct seen_job, f->jobs.count + 1);
    m->questions = ARENA_ARRAY(&m->arena, struct seen_question, f->questions.count + 1);
    for (uint32_t i = 0; i < f->jobs.count; i++) {
        struct seen_job *job = &m->jobs[m->job_count];
        if (!state_of(jobs[i].state, &job->state)) return false;
        if (job_of(w, jobs[i].job, &job->ref)) m->job_count++;
    }
    for (uint32_t i = 0; i < f->questions.count; i++)
        if (!take_question(w, &questions[i], m)) return false;
    return true;
}

/* Keys that are not there are left out. What a set holds is not told with it: the server's host has put down what there
 * was when it was read (simstore_look). */
static bool take_items(const struct wire_kv_items *f, const struct msg *asked, struct msg *m) {
    const struct wire_kv_item *items = f->items.at;
    char text[24];
    m->lsn = f->lsn;
    m->key_count = asked->key_count;
    uint32_t at = 0;
    for (uint32_t i = 0; i < asked->key_count; i++) {
        struct seen_item *seen = &m->items[i];
        struct slice members = seen->value;
        m->keys[i] = arena_slice(&m->arena, asked->keys[i]);
        *seen = (struct seen_item){0};
        if (at >= f->items.count || !slice_eq(items[at].key, asked->keys[i])) continue;
        const struct wire_kv_item *item = &items[at++];
        seen->found = true;
        seen->version = item->version;
        seen->expires_ms = item->expires_ms;
        if (slice_eq(item->kind, slice_str(item_kind_words[ITEM_TEXT]))) {
            seen->value = arena_slice(&m->arena, item->value);
        } else if (slice_eq(item->kind, slice_str(item_kind_words[ITEM_NUMBER]))) {
            int len = snprintf(text, sizeof text, "%lld", (long long)item->number);
            seen->value = arena_slice(&m->arena, slice_of(text, (size_t)len));
        } else {
            seen->value = members;
        }
    }
    return at == f->items.count;
}

bool simwire_take(struct world *w, const struct frame *f, const struct msg *asked, struct msg *m) {
    const struct wire_info *info = wire_info(f->opcode);
    struct why why;
    if (info == NULL) return false;
    void *message = arena_alloc(&m->arena, info->desc->size);
    if (wire_take(f, &m->arena, message, &why) != ERR_OK) return false;
    switch (f->opcode) {
    case WIRE_SUBMITTED: return take_submitted(message, m);
    case WIRE_ACCEPTED: return take_accepted(message, m);
    case WIRE_GOT: return take_got(message, asked, m);
    case WIRE_LISTED: return take_listed(w, message, m);
    case WIRE_KV_ITEMS: return take_items(message, asked, m);
    case WIRE_NUMBERS: m->lsn = ((const struct wire_stats *)message)->lsn; return true;
    case WIRE_KV_CHANGED: {
        const struct wire_kv_changed *c = message;
        m->lsn = c->lsn;
        m->reply.number = c->number;
        m->reply.version = c->version;
        return true;
    }
    case WIRE_KV_EVENT: m->lsn = ((const struct wire_kv_event *)message)->lsn; return true;
    case WIRE_ERROR: {
        const struct wire_error *e = message;
        m->lsn = e->lsn;
        m->reply.version = e->version;
        set_error(m, code_of(e->code), e->message);
        return true;
    }
    case WIRE_BUSY: set_error(m, ERR_BUSY, ((const struct wire_busy *)message)->reason); return true;
    default: return false;
    }
}

/* Every message that shows the state has it in its first field. */
uint64_t simwire_lsn(const struct frame *f) {
    struct arena arena;
    struct why why;
    uint64_t lsn = 0;
    bool shows = f->opcode == WIRE_SUBMITTED || f->opcode == WIRE_ACCEPTED || f->opcode == WIRE_GOT ||
                 f->opcode == WIRE_LISTED || f->opcode == WIRE_REASON || f->opcode == WIRE_NUMBERS ||
                 f->opcode == WIRE_KV_CHANGED || f->opcode == WIRE_KV_ITEMS || f->opcode == WIRE_KV_EVENT ||
                 f->opcode == WIRE_ERROR || f->opcode == WIRE_ATTACHED || f->opcode == WIRE_DONE_ACK ||
                 f->opcode == WIRE_WELCOME;
    if (!shows) return 0;
    arena_init(&arena, 4096, (size_t)1 << 28);
    uint64_t *message = arena_alloc(&arena, wire_info(f->opcode)->desc->size);
    if (wire_take(f, &arena, message, &why) == ERR_OK) lsn = message[0];
    arena_fini(&arena);
    return lsn;
}
