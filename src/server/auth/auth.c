/* auth.c: see auth.h. */
#include "auth.h"

#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "cluster_key.h"
#include "hash.h"
#include "hex.h"
#include "hmac_token.h"
#include "mutant.h"
#include "panic.h"
#include "small_file.h"
#include "token_file.h"
#include "view_directory.h"

#define MS_PER_S 1000

const char *const role_words[ROLE_COUNT] = {
#define X(role, word, text) [role] = word,
    ROLE_TABLE(X)
#undef X
};

uint32_t role_by_word(struct slice word) {
    for (uint32_t i = 0; i < ROLE_COUNT; i++)
        if (slice_eq(word, slice_str(role_words[i]))) return ROLE_BIT(i);
    return 0;
}

uint8_t principal_kind_of(uint32_t roles) {
    return roles == ROLE_BIT(ROLE_WORKER) ? KIND_WORKER : KIND_PERSON;
}

/* ---- new tokens ---- */

static void random_hex(struct clock *c, uint32_t words, char *to) {
    for (uint32_t i = 0; i < words; i++) {
        snprintf(to, 17, "%016llx", (unsigned long long)c->random(c));
        to += 16;
    }
}

void auth_mint_plain(struct clock *clock, struct hasher *hasher, struct minted_token *ret) {
    char id[17];
    memcpy(ret->text, "rv_", 4);
    random_hex(clock, 4, ret->text + 3);
    random_hex(clock, 1, id);
    id[AUTH_ID_BYTES - 1] = 0;
    memcpy(ret->id, id, AUTH_ID_BYTES);
    hasher->whole(hasher, slice_str(ret->text), ret->hash);
}

/* What is recorded of a token, from its SHA-256. */
static void bind_hash(const struct auth *a, const uint8_t plain[DIGEST_BYTES], uint8_t ret[DIGEST_BYTES]) {
    hmac_sha256(a->hasher, a->token_key, slice_of(plain, DIGEST_BYTES), ret);
}

void auth_mint(struct auth *a, struct minted_token *ret) {
    uint8_t plain[DIGEST_BYTES];
    auth_mint_plain(a->clock, a->hasher, ret);
    memcpy(plain, ret->hash, sizeof plain);
    bind_hash(a, plain, ret->hash);
}

struct rec_token_info auth_token_info(const struct minted_token *t, const struct caller *c, wall_time now) {
    return (struct rec_token_info){.id = slice_str(t->id),
                                   .hash = slice_of(t->hash, sizeof t->hash),
                                   .name = slice_str(c->name),
                                   .tenant = slice_str(c->tenant),
                                   .roles = c->roles,
                                   .kind = c->kind != KIND_UNKNOWN ? c->kind : principal_kind_of(c->roles),
                                   .created_ms = now.ms,
                                   .expires_ms = c->expires_ms};
}

/* ---- secrets ---- */

static struct secret_place place_of(const struct auth *a, uint64_t log, uint64_t number, enum secret_kind kind) {
    return (struct secret_place){log, a->shard, number, kind};
}

/* The key under which tokens are hashed follows from the data key, so a record of it is not needed. */
static void derive(struct auth *a, const uint8_t data_key[SEAL_KEY_BYTES], uint64_t log) {
    char text[64];
    int len = snprintf(text, sizeof text, "reeve tokens %llx", (unsigned long long)log);
    hmac_sha256(a->hasher, data_key, slice_of(text, (size_t)len), a->token_key);
    a->recent.len = 0;
}

/* Opens what the journal keeps of secrets. */
static enum err open_secrets(struct auth *a, const struct cluster_key *key, struct why *why) {
    struct rec_secret data, hmac;
    uint8_t data_key[SEAL_KEY_BYTES];
    uint64_t log = view_log(a->state);
    if (!view_secret(a->state, SECRET_DATA_KEY, &data) || !view_secret(a->state, SECRET_HMAC, &hmac))
        return why_set(why, ERR_CORRUPT, "the journal has no data key: restore the data directory from a backup");
    struct secret_place place = place_of(a, log, data.number, SECRET_DATA_KEY);
    if (!secret_open(a->hasher, key->bytes, &place, data.sealed, data_key))
        return why_set(why, ERR_FORBIDDEN,
                       CLUSTER_KEY_NAME
                       " is not the key of this journal: put the file that was beside the journal back "
                       "into the data directory (mode 0600)");
    place = place_of(a, log, hmac.number, SECRET_HMAC);
    if (!secret_open(a->hasher, data_key, &place, hmac.sealed, a->secret))
        return why_set(why, ERR_CORRUPT,
                       "a secret of the journal is damaged: restore the data directory from a backup");
    derive(a, data_key, log);
    return ERR_OK;
}

/* ---- the beginning ---- */

static struct slice seal_new(struct auth *a, const uint8_t key[SEAL_KEY_BYTES], const struct secret_place *place,
                             const uint8_t secret[SEAL_KEY_BYTES]) {
    uint8_t *sealed = arena_alloc(&a->arena, SECRET_SEALED_BYTES);
    secret_seal(a->hasher, a->clock, key, place, secret, sealed);
    return slice_of(sealed, SECRET_SEALED_BYTES);
}

static void begin_secrets(struct auth *a, const struct cluster_key *key) {
    struct rec_secret *list = ARENA_ARRAY(&a->arena, struct rec_secret, 2);
    uint8_t data_key[SEAL_KEY_BYTES];
    uint64_t log;
    do log = a->clock->random(a->clock);
    while (log == 0);
    secret_draw(a->clock, data_key, sizeof data_key);
    struct secret_place data = place_of(a, log, 1, SECRET_DATA_KEY), hmac = place_of(a, log, 2, SECRET_HMAC);
    list[0] = (struct rec_secret){data.number, SECRET_DATA_KEY, seal_new(a, key->bytes, &data, data_key)};
    list[1] = (struct rec_secret){hmac.number, SECRET_HMAC, seal_new(a, data_key, &hmac, a->secret)};
    a->begin = (struct cmd_identity){.op = IDENTITY_BEGIN, .log = log, .secrets = list, .secret_count = 2};
    derive(a, data_key, log);
}

static int by_hash(const void *a, const void *b) {
    return slice_cmp(((const struct rec_token_info *)a)->hash, ((const struct rec_token_info *)b)->hash);
}

static void begin_tokens(struct auth *a, struct rec_token_info *tokens, uint32_t count) {
    if (count > 0) qsort(tokens, count, sizeof *tokens, by_hash);
    a->begin.tokens = tokens;
    a->begin.token_count = count;
}

/* A token on its own in a file, for programs of the same user. */
static enum err give_file(struct auth *a, const char *file, const char *whose, uint32_t roles,
                          struct rec_token_info *ret, struct why *why) {
    struct caller *c = ARENA_NEW(&a->arena, struct caller);
    struct minted_token *t = ARENA_NEW(&a->arena, struct minted_token);
    char line[AUTH_TOKEN_BYTES + 1];
    c->roles = roles;
    snprintf(c->name, sizeof c->name, "%s", whose);
    auth_mint(a, t);
    *ret = auth_token_info(t, c, a->clock->wall(a->clock));
    int len = snprintf(line, sizeof line, "%s\n", t->text);
    return small_file_replace(a->disk, file, slice_of(line, (size_t)len), why);
}

/* The files come before the record: a first start that is interrupted is a first start again, with other tokens. */
static enum err begin_first(struct auth *a, struct why *why) {
    struct rec_token_info *tokens = ARENA_ARRAY(&a->arena, struct rec_token_info, 2);
    enum err e = give_file(a, "worker.token", "worker", ROLE_BIT(ROLE_WORKER), &tokens[0], why);
    if (e == ERR_OK) e = give_file(a, "admin.token", "admin", ROLE_BIT(ROLE_ADMIN), &tokens[1], why);
    if (e == ERR_OK) begin_tokens(a, tokens, 2);
    a->is_first = true;
    return e;
}

static void begin_with_file(struct auth *a, const struct token_file *f) {
    for (uint32_t i = 0; i < f->token_count; i++) {
        struct rec_token_info *t = &f->tokens[i];
        uint8_t *hash = arena_alloc(&a->arena, DIGEST_BYTES);
        bind_hash(a, t->hash.ptr, hash);
        t->hash = slice_of(hash, DIGEST_BYTES);
        t->kind = principal_kind_of(t->roles);
    }
    begin_tokens(a, f->tokens, f->token_count);
    a->begin.sessions = f->ended;
    a->begin.session_count = f->ended_count;
}

/* A journal with records and no tokens (somebody removed the file) gets none: the Unix socket is still there. */
static enum err prepare(struct auth *a, const struct cluster_key *key, struct why *why) {
    struct token_file file = {0};
    enum err e = token_file_load(a->disk, &a->arena, &file, why);
    bool has_file = e == ERR_OK;
    if (e != ERR_OK && e != ERR_NOT_FOUND) return e;
    if (file.secret.len == sizeof a->secret)
        memcpy(a->secret, file.secret.ptr, sizeof a->secret);
    else
        secret_draw(a->clock, a->secret, sizeof a->secret);
    begin_secrets(a, key);
    a->is_beginning = true;
    if (has_file) begin_with_file(a, &file);
    return !has_file && view_is_new(a->state) ? begin_first(a, why) : ERR_OK;
}

static enum err learn(struct auth *a, struct why *why) {
    struct cluster_key key;
    bool has_begun = view_log(a->state) != 0;
    enum err e = cluster_key_load(a->disk, &key, why);
    if (e == ERR_NOT_FOUND && has_begun)
        return why_set(why, ERR_FORBIDDEN,
                       CLUSTER_KEY_NAME " is missing, and the secrets of this journal are encrypted with it: put the "
                                        "file back into the data directory (mode 0600), from where the data came from "
                                        "or from a backup");
    if (e == ERR_NOT_FOUND) e = cluster_key_make(a->disk, a->clock, &key, why);
    if (e != ERR_OK) return e;
    return has_begun ? open_secrets(a, &key, why) : prepare(a, &key, why);
}

enum err auth_open(struct auth *a, struct disk *disk, struct clock *clock, struct hasher *hasher, uint32_t shard,
                   const struct state *state, struct why *why) {
    *a = (struct auth){.disk = disk, .clock = clock, .hasher = hasher, .shard = shard, .state = state};
    arena_init(&a->arena, 4096, SMALL_FILE_BYTES_MAX * 4);
    map_init(&a->used);
    enum err e = learn(a, why);
    if (e != ERR_OK) auth_close(a);
    return e;
}

/* What was to begin and did not become durable begins again with the same tokens: their files are written. */
enum err auth_reopen(struct auth *a, const struct state *state, struct why *why) {
    struct cluster_key key;
    a->state = state;
    if (view_log(state) == 0) {
        ENSURE(a->is_beginning);
        return ERR_OK;
    }
    enum err e = cluster_key_load(a->disk, &key, why);
    return e == ERR_OK ? open_secrets(a, &key, why) : e;
}

void auth_unbind(struct auth *a) {
    a->state = NULL;
}

void auth_close(struct auth *a) {
    if (a->disk == NULL) return;
    arena_fini(&a->arena);
    map_fini(&a->used);
    *a = (struct auth){0};
}

bool auth_beginning(const struct auth *a, struct command *ret) {
    if (!a->is_beginning || view_log(a->state) != 0) return false;
    *ret = (struct command){.kind = CMD_IDENTITY};
    ret->as.identity = a->begin;
    return true;
}

enum err auth_begun(struct auth *a, struct why *why) {
    a->is_beginning = false;
    a->begin = (struct cmd_identity){0};
    arena_reset(&a->arena);
    return token_file_retire(a->disk, why);
}

/* ---- who ---- */

static uint64_t use_key(struct slice id) {
    return hash64(id.ptr, id.len, 1);
}

int64_t auth_used_ms(const struct auth *a, struct slice id) {
    return (int64_t)map_get(&a->used, use_key(id)) * MS_PER_S;
}

void auth_forget_use(struct auth *a, struct slice id) {
    (void)map_del(&a->used, use_key(id));
}

static void copy_text(char *to, size_t bytes, struct slice from) {
    REQUIRE(from.len < bytes);
    if (from.len > 0) memcpy(to, from.ptr, from.len);
    to[from.len] = 0;
}

static enum err use(struct auth *a, const struct token_view *t, wall_time now, struct caller *ret, struct why *why) {
    if (t->expires_ms != 0 && t->expires_ms <= now.ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the token has expired: ask for a new one");
    map_put(&a->used, use_key(t->id), (uint32_t)(now.ms / MS_PER_S));
    *ret = (struct caller){.roles = t->roles, .expires_ms = t->expires_ms, .kind = (uint8_t)t->kind};
    copy_text(ret->id, sizeof ret->id, t->id);
    copy_text(ret->name, sizeof ret->name, t->name);
    if (!MUTANT(tenant_role_everywhere)) copy_text(ret->tenant, sizeof ret->tenant, t->tenant);
    return ERR_OK;
}

/* Takes as long whatever the text has in common with the one before: that is somebody's token. */
static bool is_recent(const struct auth *a, struct slice text) {
    uint64_t other = 0, x, y;
    size_t i = 0;
    if (text.len != a->recent.len) return false;
    for (; i + 8 <= text.len; i += 8) {
        memcpy(&x, text.ptr + i, sizeof x);
        memcpy(&y, a->recent.text + i, sizeof y);
        other |= x ^ y;
    }
    for (; i < text.len; i++) other |= text.ptr[i] ^ a->recent.text[i];
    return other == 0;
}

void auth_hash(const struct auth *a, struct slice text, uint8_t ret[DIGEST_BYTES]) {
    uint8_t plain[DIGEST_BYTES];
    a->hasher->whole(a->hasher, text, plain);
    bind_hash(a, plain, ret);
}

static void hash_of(struct auth *a, struct slice text, uint8_t ret[DIGEST_BYTES]) {
    bool fits = text.len > 0 && text.len <= AUTH_RECENT_BYTES;
    if (fits && is_recent(a, text)) {
        memcpy(ret, a->recent.hash, DIGEST_BYTES);
        return;
    }
    auth_hash(a, text, ret);
    if (!fits) return;
    memcpy(a->recent.text, text.ptr, text.len);
    memcpy(a->recent.hash, ret, DIGEST_BYTES);
    a->recent.len = text.len;
}

enum err auth_check(struct auth *a, struct slice text, wall_time now, struct caller *ret, struct why *why) {
    uint8_t hash[DIGEST_BYTES];
    struct token_view t;
    if (a->state == NULL) return why_set(why, ERR_BUSY, "the server is reading its journal: try again");
    hash_of(a, text, hash);
    if (view_token_by_hash(a->state, slice_of(hash, sizeof hash), &t)) return use(a, &t, now, ret, why);
    return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
}

enum err auth_by_id(struct auth *a, struct slice id, wall_time now, struct caller *ret, struct why *why) {
    struct token_view t;
    if (a->state == NULL) return why_set(why, ERR_BUSY, "the server is reading its journal: try again");
    if (view_token(a->state, id, &t)) return use(a, &t, now, ret, why);
    return why_set(why, ERR_UNAUTHENTICATED, "the token was revoked");
}
