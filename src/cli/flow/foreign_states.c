/* foreign_states.c: see foreign_states.h. */
#include "foreign_states.h"

/* Several of our states may be one of theirs. */
void foreign_states_flow(const char *whose, struct arena *arena, struct wire_flow_view *v) {
    const struct wire_amount *own = v->states.at;
    if (whose == NULL) return;
    struct wire_amount *theirs = ARENA_ARRAY(arena, struct wire_amount, v->states.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->states.count; i++) {
        struct slice word = state_word(whose, own[i].name, (struct slice){0});
        uint32_t at = 0;
        while (at < count && !slice_eq(theirs[at].name, word)) at++;
        if (at == count) theirs[count++].name = word;
        theirs[at].amount += own[i].amount;
    }
    v->states = (struct tlv_list){theirs, count};
    v->state = state_word(whose, v->state, (struct slice){0});
}

void foreign_states_job(const char *whose, struct wire_job_view *v) {
    v->state = state_word(whose, v->state, v->cause);
}
