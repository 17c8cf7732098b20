/* decide_policy.c: the policy has changed. What it allowed before counts no longer, and what it is being asked is asked
 * anew; see question.h. */
#include "decide.h"
#include "panic.h"
#include "question.h"

enum err decide_policy(struct decision *d, const struct command *cmd) {
    const struct state *s = d->state;
    uint64_t version = cmd->as.policy.version;
    if (cmd->tenant.len) return refuse(d, ERR_FORBIDDEN, "the policy is that of all tenants");
    if (version < s->policy)
        return refuse(d, ERR_STALE, "version %llu of the policy is known already", (unsigned long long)s->policy);
    if (version == s->policy) return ERR_OK; /* told before; telling it again changes nothing */
    decide_record(d, REC_POLICY, cmd)->body.as_REC_POLICY.version = version;
    return ERR_OK;
}

/* All at once could be a million. Nothing is recorded: what a crash leaves unasked, resume asks. */
bool decide_ask_policy(struct decision *d, struct live *live, uint32_t most) {
    const struct state *s = d->state;
    REQUIRE(live->ask_next != 0);
    for (; most > 0; most--) {
        if (live->ask_next > s->questions.high) {
            live->ask_next = 0;
            break;
        }
        const struct question *q = question_at(s, live->ask_next++);
        if (q->id && question_is_of_policy(q->gate) && q->again.ms <= d->in->wall.ms) decide_ask(d, q);
    }
    return live->ask_next != 0;
}
