/* auth.c: see auth.h. */
#include "auth.h"

#include <stdio.h>

#include "arena.h"
#include "panic.h"
#include "session_revocation.h"
#include "small_file.h"
#include "tlv.h"

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

/* ---- the file ---- */

struct file_token {
    struct slice id, hash, name, tenant;
    uint32_t roles;
    int64_t created_ms, expires_ms;
};

struct file_tokens {
    struct tlv_list tokens;
    struct slice secret;
};

static const struct tlv_field token_fields[] = {
    TLV_FIELD(1, TLV_TEXT, file_token, id, .max = AUTH_ID_BYTES - 1),
    TLV_FIELD(2, TLV_HASH, file_token, hash),
    TLV_FIELD(3, TLV_TEXT, file_token, name, .max = AUTH_NAME_MAX - 1),
    TLV_FIELD(4, TLV_TEXT, file_token, tenant, .max = AUTH_NAME_MAX - 1),
    TLV_FIELD(5, TLV_U32, file_token, roles),
    TLV_FIELD(6, TLV_I64, file_token, created_ms),
    TLV_FIELD(7, TLV_I64, file_token, expires_ms),
};
static const struct tlv_desc token_desc = TLV_DESC("token", file_token, token_fields);
static const struct tlv_field tokens_fields[] = {
    TLV_FIELD(1, TLV_LIST, file_tokens, tokens, .max = AUTH_TOKENS_MAX, .sub = &token_desc),
    TLV_FIELD(2, TLV_HASH, file_tokens, secret),
};
static const struct tlv_desc tokens_desc = TLV_DESC("tokens", file_tokens, tokens_fields);

static const struct small_file file = {
    "tokens", "REEVETK1", &tokens_desc,
    "the token file is damaged: remove it, and new tokens are made at the next start"};

static enum err save(struct auth *a, struct why *why) {
    struct arena arena;
    arena_init(&arena, 4096, SMALL_FILE_BYTES_MAX);
    uint32_t count = a->tokens.count;
    struct file_token *list = ARENA_ARRAY(&arena, struct file_token, count ? count : 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct token *t = vec_at(&a->tokens, i);
        list[i] = (struct file_token){.id = slice_str(t->id),
                                      .hash = slice_of(t->hash, sizeof t->hash),
                                      .name = slice_str(t->caller.name),
                                      .tenant = slice_str(t->caller.tenant),
                                      .roles = t->caller.roles,
                                      .created_ms = t->created_ms,
                                      .expires_ms = t->caller.expires_ms};
    }
    struct file_tokens all = {{list, count}, slice_of(a->secret, sizeof a->secret)};
    enum err e = small_file_save(&file, a->disk, &all, why);
    arena_fini(&arena);
    return e;
}

static void copy_text(char *to, size_t bytes, struct slice from) {
    REQUIRE(from.len < bytes);
    if (from.len > 0) memcpy(to, from.ptr, from.len);
    to[from.len] = 0;
}

static enum err load(struct auth *a, struct why *why) {
    struct arena arena;
    struct file_tokens all = {0};
    arena_init(&arena, 4096, SMALL_FILE_BYTES_MAX * 4);
    enum err e = small_file_load(&file, a->disk, &arena, &all, why);
    const struct file_token *list = all.tokens.at;
    for (uint32_t i = 0; e == ERR_OK && i < all.tokens.count; i++) {
        struct token *t = vec_push(&a->tokens);
        copy_text(t->id, sizeof t->id, list[i].id);
        if (list[i].hash.len == DIGEST_BYTES) memcpy(t->hash, list[i].hash.ptr, DIGEST_BYTES);
        copy_text(t->caller.name, sizeof t->caller.name, list[i].name);
        copy_text(t->caller.tenant, sizeof t->caller.tenant, list[i].tenant);
        t->caller.roles = list[i].hash.len == DIGEST_BYTES ? list[i].roles : 0;
        t->caller.expires_ms = list[i].expires_ms;
        t->created_ms = list[i].created_ms;
    }
    if (e == ERR_OK && all.secret.len == sizeof a->secret) memcpy(a->secret, all.secret.ptr, sizeof a->secret);
    arena_fini(&arena);
    return e;
}

static void random_hex(struct clock *c, uint32_t words, char *to) {
    for (uint32_t i = 0; i < words; i++) {
        snprintf(to, 17, "%016llx", (unsigned long long)c->random(c));
        to += 16;
    }
}

/* A new token, in memory only. */
static const struct token *mint(struct auth *a, const struct caller *c, wall_time now,
                                char ret_text[AUTH_TOKEN_BYTES]) {
    char id[17];
    memcpy(ret_text, "rv_", 4);
    random_hex(a->clock, 4, ret_text + 3);
    random_hex(a->clock, 1, id);
    id[AUTH_ID_BYTES - 1] = 0;
    struct token *t = vec_push(&a->tokens);
    t->caller = *c;
    t->created_ms = now.ms;
    memcpy(t->id, id, AUTH_ID_BYTES);
    a->hasher->whole(a->hasher, slice_str(ret_text), t->hash);
    return t;
}

/* A token on its own in a file, for programs of the same user. */
static enum err give_file(struct auth *a, const char *name, const char *whose, uint32_t roles, struct why *why) {
    struct caller c = {.roles = roles};
    char text[AUTH_TOKEN_BYTES + 1];
    snprintf(c.name, sizeof c.name, "%s", whose);
    (void)mint(a, &c, a->clock->wall(a->clock), text);
    size_t len = strlen(text);
    text[len] = '\n';
    return small_file_replace(a->disk, name, slice_of(text, len + 1), why);
}

static void secret_make(struct auth *a) {
    for (size_t i = 0; i < sizeof a->secret; i += sizeof(uint64_t)) {
        uint64_t word = a->clock->random(a->clock);
        memcpy(a->secret + i, &word, sizeof word);
    }
}

static bool has_secret(const struct auth *a) {
    uint8_t any = 0;
    for (size_t i = 0; i < sizeof a->secret; i++) any |= a->secret[i];
    return any != 0;
}

enum err auth_open(struct auth *a, struct disk *disk, struct clock *clock, struct hasher *hasher, bool *ret_first,
                   struct why *why) {
    *a = (struct auth){.disk = disk, .clock = clock, .hasher = hasher};
    vec_init(&a->tokens, sizeof(struct token));
    vec_init(&a->ended, sizeof(struct cookie));
    enum err e = load(a, why);
    *ret_first = e == ERR_NOT_FOUND;
    if (e == ERR_OK && !has_secret(a)) { /* a file of an earlier version */
        secret_make(a);
        e = save(a, why);
    }
    if (e == ERR_NOT_FOUND) {
        secret_make(a);
        e = give_file(a, "worker.token", "worker", ROLE_BIT(ROLE_WORKER), why);
        if (e == ERR_OK) e = give_file(a, "admin.token", "admin", ROLE_BIT(ROLE_ADMIN), why);
        /* Last: a first start that is interrupted before is a first start again, and nobody is locked out. */
        if (e == ERR_OK) e = save(a, why);
    }
    if (e == ERR_OK) e = session_revocation_load(a, why);
    if (e != ERR_OK) auth_close(a);
    return e;
}

void auth_close(struct auth *a) {
    vec_fini(&a->tokens);
    vec_fini(&a->ended);
}

/* ---- tokens ---- */

static enum err use(struct token *t, wall_time now, struct caller *ret, struct why *why) {
    if (t->caller.expires_ms != 0 && t->caller.expires_ms <= now.ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the token has expired: ask for a new one");
    t->used_ms = now.ms;
    *ret = t->caller;
    memcpy(ret->id, t->id, sizeof ret->id);
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

static void hash_of(struct auth *a, struct slice text, uint8_t ret[DIGEST_BYTES]) {
    bool fits = text.len > 0 && text.len <= AUTH_RECENT_BYTES;
    if (fits && is_recent(a, text)) {
        memcpy(ret, a->recent.hash, DIGEST_BYTES);
        return;
    }
    a->hasher->whole(a->hasher, text, ret);
    if (!fits) return;
    memcpy(a->recent.text, text.ptr, text.len);
    memcpy(a->recent.hash, ret, DIGEST_BYTES);
    a->recent.len = text.len;
}

enum err auth_check(struct auth *a, struct slice text, wall_time now, struct caller *ret, struct why *why) {
    uint8_t hash[DIGEST_BYTES];
    hash_of(a, text, hash);
    for (uint32_t i = 0; i < a->tokens.count; i++) {
        struct token *t = vec_at(&a->tokens, i);
        if (t->caller.roles == 0 || memcmp(t->hash, hash, sizeof hash) != 0) continue;
        return use(t, now, ret, why);
    }
    return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
}

enum err auth_by_id(struct auth *a, struct slice id, wall_time now, struct caller *ret, struct why *why) {
    for (uint32_t i = 0; i < a->tokens.count; i++) {
        struct token *t = vec_at(&a->tokens, i);
        if (t->caller.roles != 0 && slice_eq(id, slice_str(t->id))) return use(t, now, ret, why);
    }
    return why_set(why, ERR_UNAUTHENTICATED, "the token was revoked");
}

enum err auth_add(struct auth *a, const struct caller *c, wall_time now, char ret_id[AUTH_ID_BYTES],
                  char ret_text[AUTH_TOKEN_BYTES], struct why *why) {
    if (a->tokens.count >= AUTH_TOKENS_MAX)
        return why_set(why, ERR_LIMIT, "there are already %u tokens: revoke some", a->tokens.count);
    if (c->roles == 0) return why_set(why, ERR_INVALID, "a token needs a role");
    char text[AUTH_TOKEN_BYTES];
    const struct token *t = mint(a, c, now, text);
    enum err e = save(a, why);
    if (e != ERR_OK) {
        a->tokens.count--;
        return e;
    }
    memcpy(ret_id, t->id, AUTH_ID_BYTES);
    memcpy(ret_text, text, sizeof text);
    return ERR_OK;
}

enum err auth_revoke(struct auth *a, struct slice id, struct why *why) {
    for (uint32_t i = 0; i < a->tokens.count; i++) {
        struct token *t = vec_at(&a->tokens, i);
        if (!slice_eq(id, slice_str(t->id))) continue;
        struct token gone = *t, *last = vec_at(&a->tokens, a->tokens.count - 1);
        *t = *last;
        a->tokens.count--;
        enum err e = save(a, why);
        if (e != ERR_OK) *(struct token *)vec_push(&a->tokens) = gone;
        return e;
    }
    return why_set(why, ERR_NOT_FOUND, "there is no token %.*s", SLICE_FMT(id));
}
