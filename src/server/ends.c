/* ends.c: see ends.h. */
#include "ends.h"

#include "bytes.h"
#include "hash.h"

void ends_init(struct ends *e) {
    *e = (struct ends){0};
    vec_init(&e->notes, sizeof(struct end_note));
    map_init(&e->by_job);
}

void ends_fini(struct ends *e) {
    for (uint32_t i = 0; i < e->notes.count; i++) bytes_free(((struct end_note *)vec_at(&e->notes, i))->reason);
    vec_fini(&e->notes);
    map_fini(&e->by_job);
}

/* Two jobs may share a key: the later one is then remembered, and who looks compares. */
static uint64_t key_of(struct job_ref job) {
    return hash_mix(job.flow.v) ^ job.ordinal;
}

static uint32_t place_take(struct ends *e) {
    if (e->notes.count < ENDS_MAX) {
        (void)vec_push(&e->notes);
        return e->notes.count - 1;
    }
    uint32_t at = e->next;
    struct end_note *old = vec_at(&e->notes, at);
    e->next = (at + 1) % ENDS_MAX;
    if (map_get(&e->by_job, key_of(old->job)) == at + 1) map_del(&e->by_job, key_of(old->job));
    bytes_free(old->reason);
    return at;
}

void ends_note(struct ends *e, const struct wire_end *end) {
    if (end->outcome == WIRE_OUTCOME_OK) return;
    struct job_ref job = {{end->attempt.flow}, end->attempt.ordinal};
    const struct end_note *known = ends_find(e, job, end->attempt.attempt);
    if (known != NULL) return; /* told once more */
    uint32_t at = place_take(e);
    struct slice reason = end->reason;
    if (reason.len > ENDS_REASON_MAX) reason.len = ENDS_REASON_MAX;
    *(struct end_note *)vec_at(&e->notes, at) = (struct end_note){.job = job,
                                                                  .attempt = end->attempt.attempt,
                                                                  .exit_code = end->exit_code,
                                                                  .signal = end->signal,
                                                                  .reason = bytes_new(reason)};
    map_put(&e->by_job, key_of(job), at + 1);
}

const struct end_note *ends_find(const struct ends *e, struct job_ref job, uint32_t attempt) {
    uint32_t place = map_get(&e->by_job, key_of(job));
    if (place == 0) return NULL;
    const struct end_note *n = vec_at(&e->notes, place - 1);
    bool same = n->job.flow.v == job.flow.v && n->job.ordinal == job.ordinal && n->attempt == attempt;
    return same ? n : NULL;
}
