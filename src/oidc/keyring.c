/* keyring.c: see keyring.h. */
#include "keyring.h"

#include <stdio.h>

#include "json_tree.h"
#include "limit.h"
#include "panic.h"
#include "utf8.h"
#include "wtime.h"

#define ARENA_BYTES_MAX ((size_t)4 << 20)
#define DISCOVERY_PATH ".well-known/openid-configuration"

void keyring_init(struct keyring *k, const struct issuer *is) {
    *k = (struct keyring){.is = is, .wait_ms = KEYRING_WAIT_MS, .unknown_ms = -KEYRING_UNKNOWN_MS};
    arena_init(&k->arena, 4096, ARENA_BYTES_MAX);
}

void keyring_fini(struct keyring *k) {
    arena_fini(&k->arena);
}

/* ---- when ---- */

int64_t keyring_due(const struct keyring *k) {
    if (k->asked != KEYRING_NOTHING) return TIME_NEVER;
    int64_t wanted = !k->has_keys || k->wants_now ? 0 : k->fresh_until_ms;
    return wanted > k->next_ms ? wanted : k->next_ms;
}

enum keyring_wants keyring_begin(struct keyring *k, int64_t now_ms, char ret_url[ISSUER_URL_MAX + 64]) {
    REQUIRE(k->asked == KEYRING_NOTHING && keyring_due(k) <= now_ms);
    bool asks_where = !k->has_places || k->places_until_ms <= now_ms;
    struct slice url = k->is->url;
    k->asked = asks_where ? KEYRING_DISCOVERY : KEYRING_KEYS;
    if (asks_where)
        snprintf(ret_url, ISSUER_URL_MAX + 64, "%.*s%s" DISCOVERY_PATH, SLICE_FMT(url),
                 url.ptr[url.len - 1] == '/' ? "" : "/");
    else
        snprintf(ret_url, ISSUER_URL_MAX + 64, "%s", k->places.keys);
    return k->asked;
}

void keyring_failed(struct keyring *k, int64_t now_ms, const struct why *why) {
    REQUIRE(k->asked != KEYRING_NOTHING);
    k->asked = KEYRING_NOTHING;
    k->wants_now = false;
    k->failed_count++;
    k->problem = *why;
    utf8_clean(k->problem.text); /* perhaps a stranger's words */
    k->next_ms = now_ms + k->wait_ms;
    k->wait_ms = k->wait_ms * 2 < KEYRING_WAIT_MS_MAX ? k->wait_ms * 2 : KEYRING_WAIT_MS_MAX;
    if (k->has_places) k->places_until_ms = now_ms; /* perhaps the keys have moved */
}

/* ---- what came ---- */

static enum err place_read(const struct json_node *doc, const char *key, bool must, char ret[ISSUER_URL_MAX + 1],
                           struct why *why) {
    const struct json_node *n = json_tree_get(doc, slice_str(key));
    ret[0] = 0;
    if (n == NULL && !must) return ERR_OK;
    if (n == NULL || n->kind != JSON_TEXT || !issuer_url_is_safe(n->text))
        return why_set(why, ERR_INVALID, "its `%s` is no https URL", key);
    memcpy(ret, n->text.ptr, n->text.len);
    ret[n->text.len] = 0;
    return ERR_OK;
}

/* The document of another issuer, which knows other people by the same names. */
static enum err places_read(struct keyring *k, const struct json_node *doc, struct keyring_places *ret,
                            struct why *why) {
    const struct json_node *iss = json_tree_get(doc, SLICE("issuer"));
    const struct json_node *says = json_tree_get(doc, SLICE("authorization_response_iss_parameter_supported"));
    if (iss == NULL || iss->kind != JSON_TEXT || !slice_eq(iss->text, k->is->url))
        return why_set(why, ERR_INVALID, "it says that it is issuer `%.*s`; the setting says `%.*s`",
                       SLICE_FMT(utf8_cut(iss != NULL && iss->kind == JSON_TEXT ? iss->text : SLICE("?"), 60)),
                       SLICE_FMT(utf8_cut(k->is->url, 60)));
    ret->says_iss = says != NULL && says->kind == JSON_BOOL && says->truth;
    enum err e = place_read(doc, "jwks_uri", true, ret->keys, why);
    if (e == ERR_OK) e = place_read(doc, "authorization_endpoint", false, ret->authorization, why);
    if (e == ERR_OK) e = place_read(doc, "token_endpoint", false, ret->token, why);
    if (e == ERR_OK) e = place_read(doc, "device_authorization_endpoint", false, ret->device, why);
    return e == ERR_OK ? place_read(doc, "end_session_endpoint", false, ret->end_session, why) : e;
}

static enum err discovery_came(struct keyring *k, int64_t now_ms, struct slice body, const struct limits *limits,
                               struct why *why) {
    const struct json_node *doc = NULL;
    struct keyring_places places = {.says_iss = false};
    struct arena arena;
    arena_init(&arena, 16384, ARENA_BYTES_MAX);
    enum err e = json_tree_read(body, limits, &arena, &doc, why);
    if (e == ERR_OK) e = places_read(k, doc, &places, why);
    arena_fini(&arena);
    if (e != ERR_OK) return why_wrap(why, ERR_INVALID, "the discovery document of issuer %.*s", SLICE_FMT(k->is->name));
    k->places = places;
    k->has_places = true;
    k->places_until_ms = now_ms + KEYRING_DISCOVERY_MS;
    k->next_ms = now_ms;
    return ERR_OK;
}

static int64_t fresh_ms(int64_t max_age_s) {
    if (max_age_s < 0) return KEYRING_FRESH_MS_STANDARD;
    if (max_age_s >= KEYRING_FRESH_MS_MAX / 1000) return KEYRING_FRESH_MS_MAX;
    return max_age_s * 1000 > KEYRING_FRESH_MS_MIN ? max_age_s * 1000 : KEYRING_FRESH_MS_MIN;
}

static enum err keys_came(struct keyring *k, int64_t now_ms, struct slice body, int64_t max_age_s,
                          const struct limits *limits, struct why *why) {
    struct arena arena;
    struct jwks set;
    arena_init(&arena, 16384, ARENA_BYTES_MAX);
    enum err e = jwks_read(body, limits, &arena, &set, why);
    if (e != ERR_OK) {
        arena_fini(&arena);
        return why_wrap(why, ERR_INVALID, "issuer %.*s", SLICE_FMT(k->is->name));
    }
    arena_fini(&k->arena);
    k->arena = arena;
    k->keys = set;
    k->has_keys = true;
    k->wants_now = false;
    k->fresh_until_ms = now_ms + fresh_ms(max_age_s);
    k->believed_until_ms = k->fresh_until_ms + KEYRING_STALE_MS;
    k->next_ms = now_ms + KEYRING_WAIT_MS;
    k->wait_ms = KEYRING_WAIT_MS;
    k->problem.text[0] = 0;
    return ERR_OK;
}

enum err keyring_came(struct keyring *k, int64_t now_ms, struct slice body, int64_t max_age_s,
                      const struct limits *limits, struct why *why) {
    enum keyring_wants asked = k->asked;
    REQUIRE(asked != KEYRING_NOTHING);
    k->fetched_count++;
    enum err e = asked == KEYRING_DISCOVERY ? discovery_came(k, now_ms, body, limits, why)
                                            : keys_came(k, now_ms, body, max_age_s, limits, why);
    if (e != ERR_OK)
        keyring_failed(k, now_ms, why);
    else
        k->asked = KEYRING_NOTHING;
    return e;
}

/* ---- finding ---- */

static enum err not_yet(const struct keyring *k, struct why *why) {
    bool failed = k->problem.text[0] != 0;
    return why_set(why, ERR_BUSY, "the keys of issuer %.*s are not known %s: %s", SLICE_FMT(k->is->name),
                   failed ? "now" : "yet", failed ? k->problem.text : "they are being fetched, try again");
}

enum err keyring_find(struct keyring *k, int64_t now_ms, struct slice kid, enum signature_alg alg,
                      const struct public_key **ret, struct why *why) {
    if (!k->has_keys || k->believed_until_ms <= now_ms) return not_yet(k, why);
    enum err e = jwks_find(&k->keys, kid, alg, ret, why);
    if (e != ERR_NOT_FOUND) return e;
    bool may_ask = now_ms - k->unknown_ms >= KEYRING_UNKNOWN_MS;
    if (may_ask) {
        k->unknown_ms = now_ms;
        k->wants_now = true;
    }
    if (k->wants_now)
        return why_set(why, ERR_BUSY,
                       "the token is signed by a key that issuer %.*s may have added: its keys are being "
                       "fetched, try again",
                       SLICE_FMT(k->is->name));
    return why_set(why, ERR_UNAUTHENTICATED, "the token is signed by a key that issuer %.*s does not have",
                   SLICE_FMT(k->is->name));
}
