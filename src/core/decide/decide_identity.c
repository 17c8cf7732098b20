/* decide_identity.c: who may do what is changed here: tokens, secrets, ended sessions, login links. Whether the caller
 * may ask for it is the table of requests' to say; what is asked has to make sense. */
#include "decide.h"

#include "directory.h"
#include "panic.h"

static bool is_begun(const struct decision *d) {
    return d->state->directory.log != 0;
}

/* ---- tokens ---- */

static enum err check_token(struct decision *d, const struct rec_token_info *t) {
    enum err e = decide_name(d, t->name, "a token's");
    if (e != ERR_OK) return e;
    if (t->tenant.len > 0) e = decide_name(d, t->tenant, "a tenant");
    if (e != ERR_OK) return e;
    if (t->roles == 0) return refuse(d, ERR_INVALID, "a token needs a role");
    if (t->kind == KIND_UNKNOWN || t->kind == KIND_JOB)
        return refuse(d, ERR_INVALID, "a token is of a person, a service, an agent or a worker");
    if (t->expires_ms < 0) return refuse(d, ERR_INVALID, "a token cannot expire before 1970");
    REQUIRE(t->hash.len == DIRECTORY_HASH_BYTES);
    return ERR_OK;
}

static enum err token_set(struct decision *d, const struct command *cmd) {
    const struct directory *dir = &d->state->directory;
    const struct rec_token_info *t = &cmd->as.identity.tokens[0];
    enum err e = check_token(d, t);
    if (e != ERR_OK) return e;
    uint32_t known = directory_token(dir, t->id), same = directory_token_by_hash(dir, t->hash);
    if (same != 0 && same != known) return refuse(d, ERR_CONFLICT, "there is a token with that text already");
    if (!known && dir->tokens.count >= (uint64_t)d->limits->tokens_max)
        return refuse(d, ERR_LIMIT, "there are already %u tokens (tokens_max): revoke some", dir->tokens.count);
    decide_record(d, REC_TOKEN, cmd)->body.as_REC_TOKEN.token = *t;
    return ERR_OK;
}

/* Whoever reads the key file can make an administrator, but nobody should have to. */
static enum err token_end(struct decision *d, const struct command *cmd) {
    const struct directory *dir = &d->state->directory;
    struct slice id = cmd->as.identity.id;
    uint32_t token = directory_token(dir, id);
    if (token == 0) return refuse(d, ERR_NOT_FOUND, "there is no token %.*s", SLICE_FMT(id));
    if (directory_is_admin(token_at(dir, token)) && dir->admins == 1)
        return refuse(d, ERR_STATE,
                      "token %.*s is the last one of an administrator of all tenants: make another one first "
                      "(reeve token new)",
                      SLICE_FMT(id));
    decide_record(d, REC_TOKEN_ENDED, cmd)->body.as_REC_TOKEN_ENDED.id = id;
    return ERR_OK;
}

/* ---- sessions ---- */

/* How many still mean something; `ret_own`: of this principal. */
static uint32_t count_ended(const struct decision *d, struct slice who, uint32_t *ret_own, int64_t *ret_last_ms) {
    const struct directory *dir = &d->state->directory;
    uint32_t count = 0;
    for (uint32_t i = 0; i < dir->ended.count; i++) {
        const struct ended_session *x = ended_session_at(dir, i);
        if (x->expires_ms <= d->in->wall.ms) continue;
        count++;
        if (!slice_eq(slice_str(x->who), who)) continue;
        (*ret_own)++;
        if (x->expires_ms > *ret_last_ms) *ret_last_ms = x->expires_ms;
    }
    return count;
}

static enum err session_end(struct decision *d, const struct command *cmd) {
    struct rec_session x = cmd->as.identity.sessions[0];
    uint32_t own = 0;
    REQUIRE(x.who.len > 0 && x.who.len < DIRECTORY_WHO_BYTES);
    if (x.expires_ms <= d->in->wall.ms) return ERR_OK; /* it is over already */
    int64_t last_ms = x.expires_ms;
    uint32_t count = count_ended(d, x.who, &own, &last_ms);
    if (count >= (uint64_t)d->limits->ended_sessions_max && own > 0) {
        x.number = 0; /* all of that principal end together */
        x.expires_ms = last_ms;
        count -= own;
    }
    if (count >= (uint64_t)d->limits->ended_sessions_max)
        return refuse(d, ERR_LIMIT, "there are %u ended sessions already (ended_sessions_max): revoke tokens instead",
                      count);
    decide_record(d, REC_SESSION_ENDED, cmd)->body.as_REC_SESSION_ENDED.session = x;
    return ERR_OK;
}

/* ---- login links ---- */

/* Which one makes room: the principal's own oldest when its share is used up, else the oldest when there is no room. */
static struct slice room_for(const struct decision *d, struct slice who) {
    const struct directory *dir = &d->state->directory;
    const struct ticket *own = NULL, *oldest = NULL;
    uint64_t own_count = 0, count = 0;
    for (uint32_t i = 0; i < dir->tickets.count; i++) {
        const struct ticket *t = ticket_at(dir, i);
        if (t->expires_ms <= d->in->wall.ms) continue;
        count++;
        if (oldest == NULL) oldest = t;
        if (!slice_eq(slice_str(t->who), who)) continue;
        own_count++;
        if (own == NULL) own = t;
    }
    if (own_count >= (uint64_t)d->limits->login_links_each) return slice_of(own->hash, DIRECTORY_HASH_BYTES);
    bool is_full = count >= (uint64_t)d->limits->login_links_max;
    return is_full ? slice_of(oldest->hash, DIRECTORY_HASH_BYTES) : (struct slice){0};
}

static enum err ticket_add(struct decision *d, const struct command *cmd) {
    const struct cmd_identity *c = &cmd->as.identity;
    REQUIRE(c->hash.len == DIRECTORY_HASH_BYTES);
    REQUIRE(c->who.len > 0 && c->who.len < DIRECTORY_WHO_BYTES);
    if (directory_ticket(&d->state->directory, c->hash)) return refuse(d, ERR_CONFLICT, "there is such a link already");
    struct rec_ticket *rec = &decide_record(d, REC_TICKET, cmd)->body.as_REC_TICKET;
    rec->hash = c->hash;
    rec->who = c->who;
    rec->expires_ms = c->expires_ms;
    rec->instead = room_for(d, c->who);
    return ERR_OK;
}

static enum err ticket_use(struct decision *d, const struct command *cmd) {
    const struct directory *dir = &d->state->directory;
    uint32_t place = directory_ticket(dir, cmd->as.identity.hash);
    if (place == 0 || ticket_at(dir, place - 1)->expires_ms <= d->in->wall.ms)
        return refuse(d, ERR_UNAUTHENTICATED,
                      "this link was already used or has expired: make another with `reeve console`");
    decide_record(d, REC_TICKET_SPENT, cmd)->body.as_REC_TICKET_SPENT.hash = cmd->as.identity.hash;
    return ERR_OK;
}

/* ---- secrets, and the beginning ---- */

static struct tlv_list secrets_of(struct decision *d, const struct cmd_identity *c) {
    struct rec_secret *list = ARENA_ARRAY(d->arena, struct rec_secret, c->secret_count + 1);
    for (uint32_t i = 0; i < c->secret_count; i++) list[i] = c->secrets[i];
    return (struct tlv_list){list, c->secret_count};
}

static enum err begin(struct decision *d, const struct command *cmd) {
    const struct cmd_identity *c = &cmd->as.identity;
    REQUIRE(c->log != 0 && c->secret_count > 0);
    if (is_begun(d)) return refuse(d, ERR_STATE, "identity has begun in this journal already");
    if (c->token_count > (uint64_t)d->limits->tokens_max)
        return refuse(d, ERR_LIMIT, "there are %u tokens to take over (tokens_max)", c->token_count);
    struct rec_token_info *tokens = ARENA_ARRAY(d->arena, struct rec_token_info, c->token_count + 1);
    struct rec_session *ended = ARENA_ARRAY(d->arena, struct rec_session, c->session_count + 1);
    for (uint32_t i = 0; i < c->token_count; i++) {
        tokens[i] = c->tokens[i];
        REQUIRE(i == 0 || slice_cmp(tokens[i - 1].hash, tokens[i].hash) < 0);
    }
    for (uint32_t i = 0; i < c->session_count; i++) ended[i] = c->sessions[i];
    struct rec_directory *rec = &decide_record(d, REC_DIRECTORY, cmd)->body.as_REC_DIRECTORY;
    rec->log = c->log;
    rec->secrets = secrets_of(d, c);
    rec->tokens = (struct tlv_list){tokens, c->token_count};
    rec->ended = (struct tlv_list){ended, c->session_count};
    return ERR_OK;
}

static enum err secrets(struct decision *d, const struct command *cmd) {
    const struct cmd_identity *c = &cmd->as.identity;
    REQUIRE(c->secret_count > 0);
    decide_record(d, REC_SECRETS, cmd)->body.as_REC_SECRETS.secrets = secrets_of(d, c);
    return ERR_OK;
}

enum err decide_identity(struct decision *d, const struct command *cmd) {
    enum identity_op op = cmd->as.identity.op;
    if (op != IDENTITY_BEGIN && !is_begun(d)) return refuse(d, ERR_STATE, "identity has not begun in this journal");
    switch (op) {
    case IDENTITY_BEGIN: return begin(d, cmd);
    case IDENTITY_TOKEN_SET: return token_set(d, cmd);
    case IDENTITY_TOKEN_END: return token_end(d, cmd);
    case IDENTITY_SESSION_END: return session_end(d, cmd);
    case IDENTITY_TICKET_ADD: return ticket_add(d, cmd);
    case IDENTITY_TICKET_USE: return ticket_use(d, cmd);
    case IDENTITY_SECRETS: return secrets(d, cmd);
    case IDENTITY_OP_COUNT: break;
    }
    return refuse(d, ERR_INVALID, "there is no such change of identity");
}
