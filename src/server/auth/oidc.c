/* oidc.c: see oidc.h. */
#include "oidc.h"

#include <stdio.h>
#include <stdlib.h>

#include "panic.h"
#include "server_impl.h"

#define TOKEN_ARENA_BYTES ((size_t)1 << 20)
#define DISCOVERY_BYTES_MAX 262144u
#define PLACE_DIGITS 5u

extern const uint8_t oidc_slot;

struct oidc *oidc_of(const struct server *s) {
    return shard_part(server_shard(s), oidc_slot);
}

static int64_t mono_now(const struct server *s) {
    return s->world.clock->mono(s->world.clock).ms;
}

static wall_time wall_now(const struct server *s) {
    return s->world.clock->wall(s->world.clock);
}

/* ---- life ---- */

static void init(struct shard *h, void *own) {
    struct oidc *o = own;
    vec_init(&o->known, sizeof(struct oidc_known));
    vec_init(&o->sessions, sizeof(struct oidc_session));
    arena_init(&o->arena, 16384, TOKEN_ARENA_BYTES);
    h->server->auth.oidc = o;
}

static void let_go(struct server *s, struct oidc *o) {
    for (uint32_t i = 0; o->issuers != NULL && i < o->issuers->count; i++) {
        if (o->fetches[i].v != 0) s->world.fetcher->ops->stop(s->world.fetcher, o->fetches[i]);
        o->fetches[i].v = 0;
        keyring_fini(&o->rings[i]);
    }
    issuers_free(o->issuers);
    o->issuers = NULL;
}

static void fini(struct shard *h, void *own) {
    struct oidc *o = own;
    let_go(h->server, o);
    vec_fini(&o->known);
    vec_fini(&o->sessions);
    arena_fini(&o->arena);
    h->server->auth.oidc = NULL;
}

void oidc_issuers(struct server *s, struct issuers *issuers) {
    struct oidc *o = oidc_of(s);
    let_go(s, o);
    o->issuers = issuers;
    o->known.count = 0;
    if (issuers != NULL) o->rings = ARENA_ARRAY(&issuers->arena, struct keyring, issuers->count);
    for (uint32_t i = 0; issuers != NULL && i < issuers->count; i++) keyring_init(&o->rings[i], &issuers->all[i]);
    for (uint32_t i = 0; i < o->sessions.count; i++) {
        struct oidc_session *x = vec_at(&o->sessions, i);
        if (issuers == NULL || issuers_by_name(issuers, slice_str(x->issuer)) == NULL) *x = (struct oidc_session){0};
    }
    part_wake(server_shard(s), oidc_slot);
}

/* ---- fetching ---- */

static struct slice host_of(struct slice url) {
    const uint8_t *at = url.len > 0 ? memmem(url.ptr, url.len, "://", 3) : NULL;
    if (at == NULL) return (struct slice){0};
    struct slice rest = slice_of(at + 3, url.len - (size_t)(at + 3 - url.ptr));
    size_t len = 0;
    while (len < rest.len && strchr("/?#", rest.ptr[len]) == NULL) len++;
    return slice_of(rest.ptr, len);
}

fetch_id oidc_fetch(struct server *s, const struct issuer *is, struct fetch_spec *spec, const struct fetch_handler *h) {
    if (s->world.fetcher == NULL) return (fetch_id){0};
    spec->ca = is->ca;
    spec->timeout_ms = OIDC_FETCH_MS;
    spec->is_public = !slice_eq(host_of(spec->url), host_of(is->url));
    return s->world.fetcher->ops->start(s->world.fetcher, spec, h);
}

static enum err judge(const struct fetched *f, const char *url, struct why *why) {
    if (f->status == 0) return why_set(why, ERR_UNKNOWN, "%s: %.*s", url, SLICE_FMT(f->problem));
    if (f->status >= 300 && f->status < 400)
        return why_set(why, ERR_UNKNOWN, "%s leads elsewhere (status %u), which is not followed", url, f->status);
    if (f->status != 200) return why_set(why, ERR_UNKNOWN, "%s answers with status %u", url, f->status);
    return ERR_OK;
}

static void came(void *ctx, fetch_id id, const struct fetched *f) {
    struct server *s = ctx;
    struct oidc *o = oidc_of(s);
    struct why why = {{0}};
    for (uint32_t i = 0; o->issuers != NULL && i < o->issuers->count; i++) {
        struct keyring *k = &o->rings[i];
        if (o->fetches[i].v != id.v) continue;
        o->fetches[i].v = 0;
        bool had_keys = k->has_keys, failed_before = k->problem.text[0] != 0;
        enum keyring_wants asked = k->asked;
        enum err e = judge(f, asked == KEYRING_KEYS ? k->places.keys : "the discovery document", &why);
        if (e == ERR_OK)
            e = keyring_came(k, mono_now(s), f->body, f->max_age_s, s->limits, &why);
        else
            keyring_failed(k, mono_now(s), &why);
        if (e != ERR_OK && !failed_before)
            server_log(s, SERVER_WARN, "oidc", "issuer %.*s: %s", SLICE_FMT(k->is->name), why.text);
        if (e == ERR_OK && asked == KEYRING_KEYS && (!had_keys || failed_before))
            server_log(s, SERVER_INFO, "oidc", "issuer %.*s: %u keys", SLICE_FMT(k->is->name), k->keys.count);
    }
    part_wake(server_shard(s), oidc_slot);
}

static void fetch(struct server *s, struct oidc *o, uint32_t i) {
    char url[ISSUER_URL_MAX + 64];
    struct why why = {{0}};
    struct fetch_handler h = {came, s};
    (void)keyring_begin(&o->rings[i], s->now_ms, url);
    struct fetch_spec spec = {.url = slice_str(url), .bytes_max = DISCOVERY_BYTES_MAX};
    o->fetches[i] = oidc_fetch(s, o->rings[i].is, &spec, &h);
    if (o->fetches[i].v != 0) return;
    (void)why_set(&why, ERR_BUSY, "there is no room for another request");
    keyring_failed(&o->rings[i], s->now_ms, &why);
}

static void flush(struct shard *h, void *own) {
    struct oidc *o = own;
    struct server *s = h->server;
    if (o->issuers == NULL || s->world.fetcher == NULL || s->draining) return;
    for (uint32_t i = 0; i < o->issuers->count; i++)
        if (keyring_due(&o->rings[i]) <= s->now_ms) fetch(s, o, i);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct oidc *o = own;
    int64_t next = TIME_NEVER;
    if (o->issuers == NULL || h->server->world.fetcher == NULL || h->server->draining) return TIME_NEVER;
    for (uint32_t i = 0; i < o->issuers->count; i++) {
        int64_t due = keyring_due(&o->rings[i]);
        if (due < next) next = due;
    }
    return next;
}

/* ---- tokens that were checked before ---- */

static uint32_t place_of(const struct oidc *o, const struct issuer *is) {
    return (uint32_t)(is - o->issuers->all);
}

static struct oidc_known *group_of(struct oidc *o, const uint8_t hash[DIGEST_BYTES]) {
    uint32_t n;
    memcpy(&n, hash, sizeof n);
    return vec_at(&o->known, n % OIDC_KNOWN_SETS * OIDC_KNOWN_EACH);
}

static bool is_known(const struct server *s, const struct oidc *o, const struct oidc_known *k,
                     const uint8_t hash[DIGEST_BYTES]) {
    if (k->caller.name[0] == 0 || memcmp(k->hash, hash, DIGEST_BYTES) != 0) return false;
    const struct keyring *ring = &o->rings[k->issuer];
    return k->until_ms > wall_now(s).ms && k->keys == ring->fetched_count && ring->believed_until_ms > mono_now(s);
}

static bool known_find(const struct server *s, struct oidc *o, const uint8_t hash[DIGEST_BYTES], struct caller *ret) {
    if (o->known.count == 0) return false;
    struct oidc_known *group = group_of(o, hash);
    for (uint32_t i = 0; i < OIDC_KNOWN_EACH; i++) {
        if (!is_known(s, o, &group[i], hash)) continue;
        group[i].used = ++o->use_count;
        *ret = group[i].caller;
        return true;
    }
    return false;
}

static void known_add(struct oidc *o, const uint8_t hash[DIGEST_BYTES], const struct caller *c, uint32_t issuer,
                      int64_t until_ms) {
    if (o->known.count == 0) vec_reserve(&o->known, OIDC_KNOWN_SETS * OIDC_KNOWN_EACH);
    while (o->known.count < OIDC_KNOWN_SETS * OIDC_KNOWN_EACH) (void)vec_push(&o->known);
    struct oidc_known *group = group_of(o, hash), *oldest = group;
    for (uint32_t i = 1; i < OIDC_KNOWN_EACH; i++)
        if (group[i].used < oldest->used) oldest = &group[i];
    *oldest = (struct oidc_known){.caller = *c,
                                  .until_ms = until_ms,
                                  .issuer = issuer,
                                  .keys = o->rings[issuer].fetched_count,
                                  .used = ++o->use_count};
    memcpy(oldest->hash, hash, DIGEST_BYTES);
}

/* ---- checking one ---- */

static struct bearer_world world_of(struct server *s) {
    struct oidc *o = oidc_of(s);
    arena_reset(&o->arena);
    return (struct bearer_world){.issuers = o->issuers,
                                 .rings = o->rings,
                                 .verifier = s->world.verifier,
                                 .limits = s->limits,
                                 .arena = &o->arena,
                                 .now = wall_now(s),
                                 .mono_ms = mono_now(s)};
}

static struct caller caller_of(const struct bearer *b) {
    struct caller c = {.roles = b->as.roles,
                       .kind = b->as.kind == ISSUER_SERVICE ? KIND_SERVICE : KIND_PERSON,
                       .expires_ms = b->expires_ms};
    _Static_assert(MAPPING_NAME_MAX == AUTH_NAME_MAX, "a name is a name");
    memcpy(c.name, b->as.name, sizeof c.name);
    memcpy(c.tenant, b->as.tenant, sizeof c.tenant);
    return c;
}

enum err oidc_caller(struct server *s, struct slice token, struct caller *ret, struct why *why) {
    struct oidc *o = oidc_of(s);
    uint8_t hash[DIGEST_BYTES];
    struct bearer b;
    if (o->issuers == NULL || s->world.verifier == NULL)
        return why_set(why, ERR_UNAUTHENTICATED,
                       "this server accepts no tokens of identity providers (setting oidc): send one of its own");
    if (token.len > JWT_BYTES_MAX)
        return why_set(why, ERR_UNAUTHENTICATED, "the token is longer than %u bytes", JWT_BYTES_MAX);
    s->world.hasher->whole(s->world.hasher, token, hash);
    if (known_find(s, o, hash, ret)) return ERR_OK;
    struct bearer_world w = world_of(s);
    enum err e = bearer_check(&w, token, &b, why);
    if (e == ERR_BUSY) part_wake(server_shard(s), oidc_slot); /* a key is to be fetched */
    if (e != ERR_OK) return e;
    *ret = caller_of(&b);
    known_add(o, hash, ret, place_of(o, b.issuer), b.expires_ms);
    return ERR_OK;
}

/* ---- logins ---- */

enum err oidc_places(struct server *s, const struct issuer *is, const struct keyring_places **ret, struct why *why) {
    const struct oidc *o = oidc_of(s);
    const struct keyring *k = &o->rings[place_of(o, is)];
    if (!k->has_places)
        return why_set(why, ERR_BUSY, "%.*s cannot be reached%s%s", SLICE_FMT(is->title),
                       k->problem.text[0] != 0 ? ": " : " yet", k->problem.text);
    *ret = &k->places;
    return ERR_OK;
}

enum err oidc_login(struct server *s, const struct issuer *is, struct slice id_token, struct slice nonce,
                    struct caller *ret, struct why *why) {
    struct bearer b;
    struct bearer_world w = world_of(s);
    enum err e = bearer_check_login(&w, is, id_token, nonce, &b, why);
    if (e == ERR_BUSY) part_wake(server_shard(s), oidc_slot);
    if (e != ERR_OK) return e;
    *ret = caller_of(&b);
    ret->expires_ms = wall_now(s).ms + is->session_ms; /* the ID token is for now; the session is ours */
    return ERR_OK;
}

bool oidc_is_session(const char *who) {
    return strncmp(who, OIDC_WHO_PREFIX, sizeof OIDC_WHO_PREFIX - 1) == 0;
}

/* Its place is in the text: "oidc:PPPPPNNNNNNNNNNNN", a place and a number that nobody had before. */
static struct oidc_session *session_find(const struct oidc *o, const char *who) {
    char digits[PLACE_DIGITS + 1] = "";
    if (strlen(who) < sizeof OIDC_WHO_PREFIX - 1 + PLACE_DIGITS) return NULL;
    memcpy(digits, who + sizeof OIDC_WHO_PREFIX - 1, PLACE_DIGITS);
    unsigned long place = strtoul(digits, NULL, 16);
    if (place >= o->sessions.count) return NULL;
    struct oidc_session *x = vec_at(&o->sessions, (uint32_t)place);
    return x->who[0] != 0 && strcmp(x->who, who) == 0 ? x : NULL;
}

/* A free place, or in place of the own oldest, or of the one that would end first. */
static struct oidc_session *session_place(struct oidc *o, const struct caller *c, int64_t now_ms) {
    struct oidc_session *own = NULL, *empty = NULL, *first = NULL;
    uint32_t own_count = 0;
    for (uint32_t i = 0; i < o->sessions.count; i++) {
        struct oidc_session *x = vec_at(&o->sessions, i);
        if (x->who[0] == 0 || x->until_ms <= now_ms) {
            empty = x;
            continue;
        }
        if (first == NULL || x->until_ms < first->until_ms) first = x;
        if (strcmp(x->caller.name, c->name) != 0) continue;
        own_count++;
        if (own == NULL || x->until_ms < own->until_ms) own = x;
    }
    if (own_count >= OIDC_SESSIONS_EACH) return own;
    if (empty != NULL) return empty;
    return o->sessions.count < OIDC_SESSIONS_MAX ? vec_push(&o->sessions) : first;
}

void oidc_session_open(struct server *s, const struct issuer *is, const struct caller *c,
                       char ret_who[OIDC_WHO_BYTES]) {
    struct oidc *o = oidc_of(s);
    struct oidc_session *x = session_place(o, c, wall_now(s).ms);
    *x = (struct oidc_session){.caller = *c, .until_ms = c->expires_ms};
    uint32_t place = (uint32_t)(x - (const struct oidc_session *)vec_at(&o->sessions, 0));
    snprintf(x->who, sizeof x->who, OIDC_WHO_PREFIX "%05x%012llx", place,
             (unsigned long long)s->world.clock->random(s->world.clock) & 0xffffffffffff);
    snprintf(x->issuer, sizeof x->issuer, "%.*s", SLICE_FMT(is->name));
    memcpy(ret_who, x->who, OIDC_WHO_BYTES);
}

void oidc_session_end(struct oidc *o, const char *who) {
    struct oidc_session *x = o != NULL ? session_find(o, who) : NULL;
    if (x != NULL) *x = (struct oidc_session){0};
}

enum err oidc_session_caller(const struct oidc *o, const char *who, wall_time now, struct caller *ret,
                             struct why *why) {
    const struct oidc_session *x = o != NULL ? session_find(o, who) : NULL;
    if (x == NULL || x->until_ms <= now.ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the session has ended: log in again");
    *ret = x->caller;
    return ERR_OK;
}

const struct server_part oidc_part = {.name = "oidc",
                                      .scope = PART_OF_SERVER,
                                      .bytes = sizeof(struct oidc),
                                      .init = init,
                                      .fini = fini,
                                      .flush = flush,
                                      .next_due = next_due};
