/* audit_filter.c: see audit_filter.h. */
#include "audit_filter.h"

#include "audit_verb.h"
#include "target.h"

/* Flows that have left memory are in the journal still, so any number that was given to one will do. */
static bool flow_find(struct server *s, struct slice text, uint64_t *ret) {
    uint64_t first = 0, last = 0;
    bool good = target_numbers(s, text, &first, &last) && first == last && first <= view_flow_last(server_state(s));
    if (good) *ret = first;
    return good;
}

static bool is_kind(struct slice text) {
    for (uint32_t i = 0; i < REC_KIND_END; i++)
        if (record_desc((enum record_kind)i) != NULL && slice_eq(text, slice_str(record_word((enum record_kind)i))))
            return true;
    return false;
}

static bool is_verb(struct slice text) {
    for (uint32_t i = 0; i < REC_KIND_END; i++)
        if (record_desc((enum record_kind)i) != NULL &&
            slice_eq(text, slice_str(audit_verb_of((enum record_kind)i)->verb)))
            return true;
    return false;
}

/* The shape of an id: a mistake in one is told, and not taken for a name that nothing has. */
static bool is_like_flow(struct slice text) {
    if (text.len < 3 || text.ptr[0] != 'f' || text.ptr[1] < '0' || text.ptr[1] > '9') return false;
    for (size_t i = 2; i < text.len; i++)
        if (!(text.ptr[i] >= '0' && text.ptr[i] <= '9') && !(text.ptr[i] >= 'a' && text.ptr[i] <= 'z')) return false;
    return true;
}

/* A flow, a job of one (all records of its flow are looked at, then those of the job), or a name. */
static enum err object_set(struct server *s, struct slice text, struct audit_filter *f, struct why *why) {
    size_t slash = 0;
    while (slash < text.len && text.ptr[slash] != '/') slash++;
    struct job_view job;
    if (!flow_find(s, slice_of(text.ptr, slash), &f->flow)) {
        if (is_like_flow(slice_of(text.ptr, slash)))
            return why_set(why, ERR_NOT_FOUND, "no flow %.*s", (int)slash, (const char *)text.ptr);
        f->object = text;
        return ERR_OK;
    }
    if (slash == text.len) return ERR_OK;
    struct slice name = slice_of(text.ptr + slash + 1, text.len - slash - 1);
    uint64_t number = 0;
    if (name.len > 1 && name.ptr[0] == '#' && slice_decimal(slice_of(name.ptr + 1, name.len - 1), &number) &&
        number < UINT32_MAX)
        f->job = (uint32_t)number + 1;
    else if (view_job_by_name(server_state(s), (flow_id){f->flow}, name, &job))
        f->job = job.ref.ordinal + 1;
    else
        return why_set(why, ERR_NOT_FOUND, "no job %.*s in memory: name it by its number, like f11/#3",
                       SLICE_FMT(text));
    return ERR_OK;
}

enum err audit_filter_of(struct server *s, const struct wire_audit *m, struct audit_filter *ret, struct why *why) {
    *ret = (struct audit_filter){.principal = m->principal,
                                 .tenant = m->tenant,
                                 .kind = m->kind,
                                 .verb = m->verb,
                                 .people = m->people,
                                 .since_ms = m->since_ms,
                                 .until_ms = m->until_ms};
    if (m->kind.len > 0 && !is_kind(m->kind))
        return why_set(why, ERR_INVALID, "there is no record kind `%.*s`", SLICE_FMT(m->kind));
    if (m->verb.len > 0 && !is_verb(m->verb))
        return why_set(why, ERR_INVALID, "there is no verb `%.*s`: see docs/guides/audit.md", SLICE_FMT(m->verb));
    enum err e = m->object.len > 0 ? object_set(s, m->object, ret, why) : ERR_OK;
    if (e != ERR_OK) return e;
    if (m->flow.len > 0 && !flow_find(s, m->flow, &ret->flow))
        return why_set(why, ERR_NOT_FOUND, "no flow %.*s", SLICE_FMT(m->flow));
    return ERR_OK;
}

void audit_filter_keep(struct audit_filter *f, struct arena *arena) {
    f->principal = arena_slice(arena, f->principal);
    f->tenant = arena_slice(arena, f->tenant);
    f->kind = arena_slice(arena, f->kind);
    f->verb = arena_slice(arena, f->verb);
    f->object = arena_slice(arena, f->object);
}
