/* state_word.c: see state_word.h. */
#include "state_word.h"

#include <string.h>

static const struct dialect_words {
    const char *state, *titan, *orion, *cordum, *corun;
} dialects[] = {
    {"waiting", "PENDING", "pending", "PENDING", "queued"},
    {"held", "PENDING", "pending", "APPROVAL_REQUIRED", "queued"},
    {"ready", "PENDING", "ready", "SCHEDULED", "queued"},
    {"dispatched", "RUNNING", "running", "DISPATCHED", "running"},
    {"running", "RUNNING", "running", "RUNNING", "running"},
    {"checking", "RUNNING", "running", "RUNNING", "running"},
    {"succeeded", "COMPLETED", "completed", "SUCCEEDED", "completed"},
    {"failed", "DEAD", "failed", "FAILED", "failed"},
    {"timed_out", "DEAD", "failed", "TIMEOUT", "failed"},
    {"denied", "DEAD", "failed", "DENIED", "failed"},
    {"quarantined", "DEAD", "failed", "OUTPUT_QUARANTINED", "failed"},
    {"cancelled", "CANCELLED", "failed", "CANCELLED", "cancelled"},
    {"skipped", "CANCELLED", "failed", "CANCELLED", "cancelled"},
};

bool state_word_is_known(const char *whose) {
    static const char *const known[] = {"titan", "orion", "cordum", "corun"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(whose, known[i]) == 0) return true;
    return false;
}

struct slice state_word(const char *whose, struct slice state, struct slice cause) {
    if (whose == NULL) return state;
    bool titan = strcmp(whose, "titan") == 0, orion = strcmp(whose, "orion") == 0;
    /* A job that was dragged down is cancelled for Titan, not dead. */
    if (titan && slice_eq(state, SLICE("failed")) && slice_eq(cause, SLICE("upstream"))) return SLICE("CANCELLED");
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        const struct dialect_words *d = &dialects[i];
        if (!slice_eq(state, slice_str(d->state))) continue;
        return slice_str(titan ? d->titan : orion ? d->orion : strcmp(whose, "cordum") == 0 ? d->cordum : d->corun);
    }
    return state;
}
