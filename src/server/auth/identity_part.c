/* identity_part.c: what identity wants of the loop: it begins in the first batch of a journal, files of an earlier
 * version are put away when that is durable, and whoever came with a token has to go when it was revoked. */
#include "call.h"
#include "dialect.h"
#include "mutant.h"
#include "server_impl.h"
#include "session.h"
#include "shard.h"
#include "view_directory.h"

struct identity {
    uint64_t begun_lsn; /* the record that begins identity, until it is durable; 0 = there is none */
    struct vec ended;   /* token ids, AUTH_ID_BYTES each: since the effects of this round began to leave */
};

static void init(struct shard *h, void *own) {
    struct identity *x = own;
    (void)h;
    vec_init(&x->ended, AUTH_ID_BYTES);
}

static void fini(struct shard *h, void *own) {
    struct identity *x = own;
    (void)h;
    vec_fini(&x->ended);
}

static void resumed(struct shard *h, void *own) {
    struct identity *x = own;
    struct server *s = h->server;
    struct command cmd;
    struct reply reply;
    if (!auth_beginning(&s->auth, &cmd)) {
        x->begun_lsn = s->auth.is_beginning ? engine_lsn(h->engine) : 0; /* it was durable after all */
        return;
    }
    server_ask(s, (conn_id){0}, &cmd, &reply);
    if (reply.err != ERR_OK) {
        server_fail(s, reply.err, &reply.why);
        return;
    }
    x->begun_lsn = engine_lsn(h->engine);
    if (s->auth.is_first)
        server_log(s, SERVER_INFO, "tokens", "first start: admin.token and worker.token are in the data directory");
    else if (cmd.as.identity.token_count > 0)
        server_log(s, SERVER_INFO, "tokens", "%u tokens of an earlier version are taken over into the journal",
                   cmd.as.identity.token_count);
    else
        server_log(s, SERVER_WARN, "tokens",
                   "this journal has no tokens: make one over the Unix socket (reeve token new) as the server's user");
}

static void flush(struct shard *h, void *own) {
    struct identity *x = own;
    struct server *s = h->server;
    struct why why = {{0}};
    if (x->begun_lsn == 0 || engine_durable_lsn(h->engine) < x->begun_lsn) return;
    x->begun_lsn = 0;
    if (auth_begun(&s->auth, &why) != ERR_OK)
        server_log(s, SERVER_WARN, "tokens",
                   "the token file of the earlier version could not be renamed (%s); it is not read again", why.text);
}

/* ---- revocation ---- */

static void effect(struct shard *h, void *own, const struct effect *e) {
    struct identity *x = own;
    memcpy(vec_push(&x->ended), e->as.token_id, AUTH_ID_BYTES);
    auth_forget_use(&h->server->auth, slice_str(e->as.token_id));
}

/* By some dialects a connection is whose request it has now: between two of them it is nobody's. */
static bool is_idle(const struct session *n) {
    return n->dialect != NULL && n->dialect->is_idle != NULL && n->dialect->is_idle(n);
}

/* In the same round as the answer to the revocation: streams, subscriptions and uploads end with their connection. */
static void released(struct shard *h, void *own) {
    struct identity *x = own;
    struct server *s = h->server;
    for (uint32_t i = 1; i <= s->sessions.high && x->ended.count > 0; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v == 0 || n->who.id[0] == 0 || is_idle(n)) continue;
        for (uint32_t k = 0; k < x->ended.count; k++) {
            if (memcmp(vec_at(&x->ended, k), n->who.id, AUTH_ID_BYTES) != 0) continue;
            session_refuse(s, n, 0, ERR_UNAUTHENTICATED, "the token was revoked");
            break;
        }
    }
    x->ended.count = 0;
}

const struct server_part identity_part = {.name = "identity",
                                          .scope = PART_OF_SHARD,
                                          .bytes = sizeof(struct identity),
                                          .effects = EFFECT_BIT(EFFECT_TOKEN_ENDED),
                                          .wakes = PART_WAKES_WITH_STATE,
                                          .init = init,
                                          .fini = fini,
                                          .resumed = resumed,
                                          .flush = flush,
                                          .effect = effect,
                                          .released = released};
