/* titanword.c: see titanword.h. */
#include "titanword.h"

struct slice titanword(struct slice state, struct slice cause) {
    static const struct {
        const char *ours, *theirs;
    } words[] = {
        {"waiting", "PENDING"},   {"held", "PENDING"},     {"ready", "PENDING"},       {"dispatched", "RUNNING"},
        {"running", "RUNNING"},   {"checking", "RUNNING"}, {"succeeded", "COMPLETED"}, {"failed", "DEAD"},
        {"timed_out", "DEAD"},    {"denied", "DEAD"},      {"quarantined", "DEAD"},    {"cancelled", "CANCELLED"},
        {"skipped", "CANCELLED"},
    };
    /* A job that was dragged down is cancelled for Titan, not dead. */
    if (slice_eq(state, SLICE("failed")) && slice_eq(cause, SLICE("upstream"))) return SLICE("CANCELLED");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (slice_eq(state, slice_str(words[i].ours))) return slice_str(words[i].theirs);
    return state;
}
