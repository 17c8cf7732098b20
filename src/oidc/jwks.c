/* jwks.c: see jwks.h. */
#include "jwks.h"

#include "base64url.h"
#include "json_tree.h"
#include "panic.h"

#define KID_BYTES_MAX 255u

static const struct {
    const char *word;
    enum signature_kind kind;
    enum signature_curve curve;
} algs[SIGNATURE_ALG_COUNT] = {
#define X(alg, word, kind, curve, hash_bytes) [alg] = {word, kind, curve},
    SIGNATURE_TABLE(X)
#undef X
};

static const struct {
    const char *word;
    enum signature_kind kind;
    enum signature_curve curve;
    uint32_t bytes; /* of a coordinate */
} curves[] = {
    {"P-256", SIGNATURE_EC, SIGNATURE_P256, 32},
    {"P-384", SIGNATURE_EC, SIGNATURE_P384, 48},
    {"Ed25519", SIGNATURE_OKP, SIGNATURE_ED25519, 32},
};

static struct slice text_of(const struct json_node *object, const char *key) {
    const struct json_node *n = json_tree_get(object, slice_str(key));
    return n != NULL && n->kind == JSON_TEXT ? n->text : (struct slice){0};
}

static bool number_of(const struct json_node *object, const char *key, struct arena *arena, struct slice *ret) {
    struct slice text = text_of(object, key);
    if (text.len == 0 || !base64url_read(text, arena, ret)) return false;
    return ret->len > 0;
}

/* ---- kinds ---- */

static uint32_t bits_of(struct slice n) {
    uint32_t bits = (uint32_t)n.len * 8;
    for (uint8_t top = n.ptr[0]; bits > 0 && !(top & 0x80); top = (uint8_t)(top << 1)) bits--;
    return bits;
}

static bool rsa_read(const struct json_node *o, struct arena *arena, struct public_key *ret) {
    struct public_key k = {.kind = SIGNATURE_RSA};
    if (!number_of(o, "n", arena, &k.n) || !number_of(o, "e", arena, &k.e)) return false;
    if (k.n.ptr[0] == 0 || k.e.ptr[0] == 0 || k.e.len > 8) return false;
    bool is_odd = k.n.ptr[k.n.len - 1] & k.e.ptr[k.e.len - 1] & 1;
    bool is_one = k.e.len == 1 && k.e.ptr[0] == 1;
    if (!is_odd || is_one || k.n.len > SIGNATURE_RSA_BITS_MAX / 8 || bits_of(k.n) < SIGNATURE_RSA_BITS_MIN)
        return false;
    *ret = k;
    return true;
}

static bool curve_read(const struct json_node *o, enum signature_kind kind, struct arena *arena,
                       struct public_key *ret) {
    struct slice crv = text_of(o, "crv");
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        struct public_key k = {.kind = kind, .curve = curves[i].curve};
        if (curves[i].kind != kind || !slice_eq(crv, slice_str(curves[i].word))) continue;
        if (!number_of(o, "x", arena, &k.x) || k.x.len != curves[i].bytes) return false;
        if (kind == SIGNATURE_EC && (!number_of(o, "y", arena, &k.y) || k.y.len != curves[i].bytes)) return false;
        *ret = k;
        return true;
    }
    return false;
}

/* ---- what a key is for ---- */

static bool is_for_signatures(const struct json_node *o) {
    const struct json_node *use = json_tree_get(o, SLICE("use")), *ops = json_tree_get(o, SLICE("key_ops"));
    if (use != NULL && (use->kind != JSON_TEXT || !slice_eq(use->text, SLICE("sig")))) return false;
    if (ops == NULL) return true;
    if (ops->kind != JSON_ARRAY) return false;
    for (const struct json_node *n = ops->first; n != NULL; n = n->next)
        if (n->kind == JSON_TEXT && slice_eq(n->text, SLICE("verify"))) return true;
    return false;
}

/* Those of its kind and curve; the one that it names, if it names one. */
static uint32_t algs_of(const struct json_node *o, const struct public_key *k) {
    const struct json_node *named = json_tree_get(o, SLICE("alg"));
    uint32_t bits = 0;
    for (uint32_t i = 0; i < SIGNATURE_ALG_COUNT; i++) {
        if (algs[i].kind != k->kind || algs[i].curve != k->curve) continue;
        if (named == NULL || (named->kind == JSON_TEXT && slice_eq(named->text, slice_str(algs[i].word))))
            bits |= SIGNATURE_BIT(i);
    }
    return bits;
}

/* A symmetric key has no kind here: it would make everybody who can read the set able to sign. One with its private
 * half in it is nobody's secret any more. */
static bool key_read(const struct json_node *o, struct arena *arena, struct jwks_key *ret) {
    struct slice kty = text_of(o, "kty");
    struct jwks_key k = {.kid = text_of(o, "kid")};
    const struct json_node *kid = json_tree_get(o, SLICE("kid"));
    if (o->kind != JSON_OBJECT || k.kid.len > KID_BYTES_MAX || (kid != NULL && kid->kind != JSON_TEXT)) return false;
    if (json_tree_get(o, SLICE("d")) != NULL || !is_for_signatures(o)) return false;
    bool good = slice_eq(kty, SLICE("RSA"))   ? rsa_read(o, arena, &k.key)
                : slice_eq(kty, SLICE("EC"))  ? curve_read(o, SIGNATURE_EC, arena, &k.key)
                : slice_eq(kty, SLICE("OKP")) ? curve_read(o, SIGNATURE_OKP, arena, &k.key)
                                              : false;
    if (good) k.algs = algs_of(o, &k.key);
    if (!good || k.algs == 0) return false;
    *ret = k;
    return true;
}

enum err jwks_read(struct slice json, const struct limits *limits, struct arena *arena, struct jwks *ret,
                   struct why *why) {
    const struct json_node *root = NULL;
    struct jwks *set = ARENA_NEW(arena, struct jwks);
    if (json.len > JWKS_BYTES_MAX)
        return why_set(why, ERR_LIMIT, "the key set is longer than %u bytes", JWKS_BYTES_MAX);
    struct slice own = arena_slice(arena, json);
    enum err e = json_tree_read(own, limits, arena, &root, why);
    if (e != ERR_OK) return why_wrap(why, ERR_INVALID, "the key set is not JSON");
    const struct json_node *keys = json_tree_get(root, SLICE("keys"));
    if (keys == NULL || keys->kind != JSON_ARRAY) return why_set(why, ERR_INVALID, "the key set has no list `keys`");
    for (const struct json_node *o = keys->first; o != NULL; o = o->next) {
        if (set->count == JWKS_KEYS_MAX)
            return why_set(why, ERR_LIMIT, "the key set has more than %u keys", JWKS_KEYS_MAX);
        bool good = key_read(o, arena, &set->keys[set->count]);
        set->count += good;
        set->passed_over += !good;
    }
    if (set->count == 0)
        return why_set(why, ERR_INVALID, "the key set has no key that can check a signature (%u were passed over)",
                       set->passed_over);
    *ret = *set;
    return ERR_OK;
}

enum err jwks_find(const struct jwks *set, struct slice kid, enum signature_alg alg, const struct public_key **ret,
                   struct why *why) {
    const struct public_key *found = NULL;
    REQUIRE(alg < SIGNATURE_ALG_COUNT);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct jwks_key *k = &set->keys[i];
        if (!(k->algs & SIGNATURE_BIT(alg)) || (kid.len > 0 && !slice_eq(k->kid, kid))) continue;
        if (found != NULL)
            return why_set(why, ERR_UNAUTHENTICATED,
                           "the token does not say which key of its issuer signed it (`kid`), and several would do");
        found = &k->key;
    }
    if (found == NULL) return why_set(why, ERR_NOT_FOUND, "the issuer has no such key");
    *ret = found;
    return ERR_OK;
}
