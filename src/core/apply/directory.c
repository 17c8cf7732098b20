/* directory.c: see directory.h.
 *
 * A worked example. A token is made, used and revoked:
 *
 *      TOKEN(id 4f2, hash h)      an entry, found by its hash when somebody comes with the token, and by its id when
 *                                 a browser comes with a cookie that was made for it
 *      TOKEN_ENDED(4f2)           the entry is gone; EFFECT_TOKEN_ENDED leaves with that LSN, so connections that
 *                                 came with the token are closed when the answer to the revocation leaves
 *
 * What is over by its time (a session that would have expired, a login link) means nothing any more. It leaves with the
 * next record of its kind, by the time of the batch, so that no record has to be made for it. */
#include "directory.h"

#include "effects.h"
#include "mutant.h"
#include "panic.h"

void directory_init(struct directory *d) {
    pool_init(&d->tokens, sizeof(struct token), UINT32_MAX - 1u);
    vec_init(&d->secrets, sizeof(struct secret));
    vec_init(&d->ended, sizeof(struct ended_session));
    vec_init(&d->tickets, sizeof(struct ticket));
    index_init(&d->token_by_hash);
    index_init(&d->token_by_id);
}

void directory_fini(struct directory *d) {
    for (uint32_t i = 1; i <= d->tokens.high; i++) bytes_free(token_at(d, i)->record);
    for (uint32_t i = 0; i < d->secrets.count; i++) bytes_free(secret_at(d, i)->sealed);
    pool_fini(&d->tokens);
    vec_fini(&d->secrets);
    vec_fini(&d->ended);
    vec_fini(&d->tickets);
    index_fini(&d->token_by_hash);
    index_fini(&d->token_by_id);
}

size_t directory_bytes(const struct directory *d) {
    size_t bytes = pool_bytes(&d->tokens) + index_bytes(&d->token_by_hash) + index_bytes(&d->token_by_id);
    for (uint32_t i = 1; i <= d->tokens.high; i++) bytes += bytes_slice(token_at(d, i)->record).len;
    return bytes + (size_t)d->ended.slots * d->ended.elem_bytes + (size_t)d->tickets.slots * d->tickets.elem_bytes;
}

/* ---- tokens ---- */

static struct slice hash_key(const void *ctx, uint32_t value) {
    return token_at(ctx, value)->hash;
}

static struct slice id_key(const void *ctx, uint32_t value) {
    return token_at(ctx, value)->id;
}

uint32_t directory_token(const struct directory *d, struct slice id) {
    return index_get(&d->token_by_id, id, id_key, d);
}

uint32_t directory_token_by_hash(const struct directory *d, struct slice hash) {
    return index_get(&d->token_by_hash, hash, hash_key, d);
}

bool directory_is_admin(const struct token *t) {
    return (t->roles & ROLE_BIT_ADMIN) != 0 && t->tenant.len == 0 && t->expires_ms == 0;
}

static void release(struct directory *d, uint32_t index) {
    struct token *t = token_at(d, index);
    REQUIRE(t->record != NULL);
    if (directory_is_admin(t)) {
        REQUIRE(d->admins > 0);
        d->admins--;
    }
    REQUIRE(t->tenant.len == 0 || d->tenant_tokens > 0);
    d->tenant_tokens -= t->tenant.len > 0;
    index_del(&d->token_by_hash, t->hash, index);
    index_del(&d->token_by_id, t->id, index);
    bytes_free(t->record);
    pool_free(&d->tokens, index);
}

static void fill(struct directory *d, uint32_t index, struct slice record) {
    struct token *t = token_at(d, index);
    struct rec_token_info own;
    struct arena arena;
    arena_init(&arena, 256, 4096);
    *t = (struct token){.record = bytes_new(record)};
    enum err e = tlv_decode(&rec_token_info_desc, bytes_slice(t->record), TLV_STRICT, &arena, &own, NULL);
    arena_fini(&arena);
    ENSURE(e == ERR_OK);
    t->id = own.id;
    t->hash = own.hash;
    t->name = own.name;
    t->tenant = own.tenant;
    t->roles = own.roles;
    t->kind = own.kind;
    t->created_ms = own.created_ms;
    t->expires_ms = own.expires_ms;
    index_put(&d->token_by_hash, t->hash, index);
    index_put(&d->token_by_id, t->id, index);
    d->admins += directory_is_admin(t);
    d->tenant_tokens += t->tenant.len > 0;
}

void directory_set_token(struct state *s, const struct rec_token_info *r) {
    struct directory *d = &s->directory;
    REQUIRE(r->hash.len == DIRECTORY_HASH_BYTES);
    uint32_t known = directory_token(d, r->id);
    if (known) release(d, known);
    uint32_t index = pool_alloc(&d->tokens);
    ENSURE(index != 0);
    fill(d, index, r->raw);
}

void directory_end_token(struct state *s, struct slice id) {
    uint32_t index = directory_token(&s->directory, id);
    REQUIRE(index != 0);
    emit_token_ended(s, id);
    if (!MUTANT(revocation_forgotten) || s->effects != NULL) release(&s->directory, index);
}

/* ---- sessions and tickets ---- */

static void copy_who(char ret[DIRECTORY_WHO_BYTES], struct slice who) {
    REQUIRE(who.len < DIRECTORY_WHO_BYTES);
    memset(ret, 0, DIRECTORY_WHO_BYTES);
    memcpy(ret, who.ptr, who.len);
}

static bool is_covered(const struct ended_session *x, const struct rec_session *by) {
    return by->number == 0 && x->expires_ms <= by->expires_ms && slice_eq(slice_str(x->who), by->who);
}

void directory_end_session(struct state *s, const struct rec_session *r) {
    struct directory *d = &s->directory;
    uint32_t left = 0;
    for (uint32_t i = 0; i < d->ended.count; i++) {
        const struct ended_session *x = ended_session_at(d, i);
        if (x->expires_ms <= s->now.ms || is_covered(x, r)) continue;
        *ended_session_at(d, left++) = *x;
    }
    d->ended.count = left;
    struct ended_session *x = vec_push(&d->ended);
    copy_who(x->who, r->who);
    x->number = r->number;
    x->expires_ms = r->expires_ms;
}

uint32_t directory_ticket(const struct directory *d, struct slice hash) {
    for (uint32_t i = 0; i < d->tickets.count; i++)
        if (slice_eq(slice_of(ticket_at(d, i)->hash, DIRECTORY_HASH_BYTES), hash)) return i + 1;
    return 0;
}

void directory_add_ticket(struct state *s, const struct rec_ticket *r) {
    struct directory *d = &s->directory;
    REQUIRE(r->hash.len == DIRECTORY_HASH_BYTES);
    uint32_t left = 0;
    for (uint32_t i = 0; i < d->tickets.count; i++) {
        const struct ticket *t = ticket_at(d, i);
        bool makes_room = slice_eq(slice_of(t->hash, DIRECTORY_HASH_BYTES), r->instead);
        if (t->expires_ms > s->now.ms && !makes_room) *ticket_at(d, left++) = *t;
    }
    d->tickets.count = left;
    struct ticket *t = vec_push(&d->tickets);
    memcpy(t->hash, r->hash.ptr, DIRECTORY_HASH_BYTES);
    copy_who(t->who, r->who);
    t->expires_ms = r->expires_ms;
}

void directory_spend_ticket(struct state *s, struct slice hash) {
    struct directory *d = &s->directory;
    uint32_t place = directory_ticket(d, hash);
    REQUIRE(place != 0);
    if (MUTANT(ticket_twice)) return;
    for (uint32_t i = place; i < d->tickets.count; i++) *ticket_at(d, i - 1) = *ticket_at(d, i);
    d->tickets.count--;
}

/* ---- secrets, and the beginning ---- */

void directory_set_secrets(struct state *s, const struct tlv_list *secrets) {
    struct directory *d = &s->directory;
    const struct rec_secret *list = secrets->at;
    for (uint32_t i = 0; i < d->secrets.count; i++) bytes_free(secret_at(d, i)->sealed);
    d->secrets.count = 0;
    for (uint32_t i = 0; i < secrets->count; i++) {
        struct secret *x = vec_push(&d->secrets);
        *x = (struct secret){list[i].number, list[i].kind, bytes_new(list[i].sealed)};
    }
}

void directory_begin(struct state *s, const struct rec_directory *r) {
    REQUIRE(s->directory.log == 0); /* once in the life of a journal */
    REQUIRE(r->log != 0);
    s->directory.log = r->log;
    directory_set_secrets(s, &r->secrets);
    const struct rec_token_info *tokens = r->tokens.at;
    for (uint32_t i = 0; i < r->tokens.count; i++) directory_set_token(s, &tokens[i]);
    const struct rec_session *ended = r->ended.at;
    for (uint32_t i = 0; i < r->ended.count; i++) directory_end_session(s, &ended[i]);
}

/* ---- what bytes from a file may say ---- */

#define FITS(fact, what) \
    if (!(fact)) return why_set(why, ERR_CORRUPT, "a record about identity does not fit the state: %s", what)

static enum err check_token(const struct directory *d, const struct rec_token_info *t, struct why *why) {
    FITS(t->id.len > 0 && t->name.len > 0, "a token without an id or a name");
    FITS(t->hash.len == DIRECTORY_HASH_BYTES, "a token without a hash");
    FITS(t->expires_ms >= 0 && t->created_ms >= 0, "a time before all times");
    uint32_t same = directory_token_by_hash(d, t->hash);
    FITS(same == 0 || slice_eq(token_at(d, same)->id, t->id), "two tokens with one hash");
    return ERR_OK;
}

static enum err check_session(const struct rec_session *x, struct why *why) {
    FITS(x->who.len > 0 && x->expires_ms >= 0, "a session of nobody");
    return ERR_OK;
}

static enum err check_secrets(const struct tlv_list *secrets, struct why *why) {
    const struct rec_secret *list = secrets->at;
    for (uint32_t i = 0; i < secrets->count; i++) {
        FITS(list[i].number > 0 && list[i].sealed.len > 0, "a secret without a number or bytes");
        for (uint32_t k = 0; k < i; k++) FITS(list[k].number != list[i].number, "two secrets with one number");
    }
    return ERR_OK;
}

static enum err check_begin(const struct state *s, const struct rec_directory *r, struct why *why) {
    const struct rec_token_info *tokens = r->tokens.at;
    const struct rec_session *ended = r->ended.at;
    FITS(s->directory.log == 0, "identity begins twice");
    FITS(r->log != 0, "a journal without a number");
    enum err e = check_secrets(&r->secrets, why);
    for (uint32_t i = 0; i < r->tokens.count && e == ERR_OK; i++) {
        e = check_token(&s->directory, &tokens[i], why);
        if (e == ERR_OK && i > 0)
            FITS(memcmp(tokens[i - 1].hash.ptr, tokens[i].hash.ptr, DIRECTORY_HASH_BYTES) < 0, "tokens in no order");
    }
    for (uint32_t i = 0; i < r->ended.count && e == ERR_OK; i++) e = check_session(&ended[i], why);
    return e;
}

enum err directory_check(const struct state *s, const struct record *r, struct why *why) {
    const struct directory *d = &s->directory;
    const union record_body *b = &r->body;
    if (r->kind == REC_DIRECTORY) return check_begin(s, &b->as_REC_DIRECTORY, why);
    FITS(d->log != 0, "identity has not begun");
    if (r->kind == REC_TOKEN) return check_token(d, &b->as_REC_TOKEN.token, why);
    if (r->kind == REC_TOKEN_ENDED) FITS(directory_token(d, b->as_REC_TOKEN_ENDED.id), "a token that is not there");
    if (r->kind == REC_SESSION_ENDED) return check_session(&b->as_REC_SESSION_ENDED.session, why);
    if (r->kind == REC_TICKET) {
        const struct rec_ticket *t = &b->as_REC_TICKET;
        FITS(t->hash.len == DIRECTORY_HASH_BYTES && t->who.len > 0 && t->expires_ms >= 0, "a login link of nobody");
        FITS(directory_ticket(d, t->hash) == 0, "a login link twice");
    }
    if (r->kind == REC_TICKET_SPENT)
        FITS(directory_ticket(d, b->as_REC_TICKET_SPENT.hash), "a login link that is not there");
    return r->kind == REC_SECRETS ? check_secrets(&b->as_REC_SECRETS.secrets, why) : ERR_OK;
}

/* ---- snapshots ---- */

enum err directory_load(struct state *s, const struct snap_directory *o, struct why *why) {
    FITS(s->directory.log == 0 && o->log != 0, "identity begins twice");
    enum err e = check_secrets(&o->secrets, why);
    if (e != ERR_OK) return e;
    s->directory.log = o->log;
    directory_set_secrets(s, &o->secrets);
    return ERR_OK;
}

enum err directory_load_token(struct state *s, const struct snap_token *o, struct arena *arena, struct why *why) {
    struct rec_token_info info;
    enum err e = tlv_decode(&rec_token_info_desc, o->record, TLV_STRICT, arena, &info, why);
    if (e == ERR_OK) e = check_token(&s->directory, &info, why);
    if (e != ERR_OK) return e;
    FITS(s->directory.log != 0 && directory_token(&s->directory, info.id) == 0, "a token twice");
    info.raw = o->record;
    directory_set_token(s, &info);
    return ERR_OK;
}

enum err directory_load_session(struct state *s, const struct snap_session *o, struct why *why) {
    struct rec_session x = {o->who, o->number, o->expires_ms};
    enum err e = check_session(&x, why);
    if (e != ERR_OK) return e;
    struct ended_session *made = vec_push(&s->directory.ended);
    copy_who(made->who, o->who);
    made->number = o->number;
    made->expires_ms = o->expires_ms;
    return ERR_OK;
}

enum err directory_load_ticket(struct state *s, const struct snap_ticket *o, struct why *why) {
    FITS(o->hash.len == DIRECTORY_HASH_BYTES && o->who.len > 0, "a login link of nobody");
    FITS(directory_ticket(&s->directory, o->hash) == 0, "a login link twice");
    struct ticket *t = vec_push(&s->directory.tickets);
    memcpy(t->hash, o->hash.ptr, DIRECTORY_HASH_BYTES);
    copy_who(t->who, o->who);
    t->expires_ms = o->expires_ms;
    return ERR_OK;
}
