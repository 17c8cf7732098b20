/* jwt.c: see jwt.h. A refusal names the claim and what was expected of it, never the token. */
#include "jwt.h"

#include <inttypes.h>
#include <strings.h>

#include "base64url.h"
#include "limit.h"
#include "panic.h"

#define SECONDS_MAX INT64_C(253402300799) /* the end of the year 9999 */
#define PART_DEPTH_MAX 16
#define KID_BYTES_MAX 255u

static const char *const alg_words[SIGNATURE_ALG_COUNT] = {
#define X(alg, word, kind, curve, hash_bytes) [alg] = word,
    SIGNATURE_TABLE(X)
#undef X
};

static enum err bad(struct why *why, const char *text) {
    return why_set(why, ERR_UNAUTHENTICATED, "the token is no valid JWT: %s", text);
}

bool jwt_looks_like(struct slice text) {
    uint32_t dots = 0;
    if (!slice_begins(text, SLICE("eyJ"))) return false; /* asked of every token, and mostly the answer */
    for (size_t i = 0; i < text.len && dots < 3; i++) dots += text.ptr[i] == '.';
    return dots == 2;
}

/* ---- parts ---- */

/* Takes what is before the next dot off the front. */
static struct slice part_take(struct slice *left) {
    const uint8_t *dot = left->len > 0 ? memchr(left->ptr, '.', left->len) : NULL;
    struct slice part = slice_of(left->ptr, dot != NULL ? (size_t)(dot - left->ptr) : left->len);
    size_t used = part.len + (dot != NULL);
    *left = slice_of(left->ptr + used, left->len - used);
    return part;
}

static enum err object_read(struct slice part, const char *which, const struct limits *limits, struct arena *arena,
                            const struct json_node **ret, struct why *why) {
    struct limits own = *limits;
    struct slice json;
    struct why inner = {{0}};
    own.json_depth_max = PART_DEPTH_MAX; /* a JWT from a stranger is not as deep as a flow file may be */
    if (!base64url_read(part, arena, &json))
        return why_set(why, ERR_UNAUTHENTICATED, "the token is no valid JWT: its %s is not base64url", which);
    if (json_tree_read(json, &own, arena, ret, &inner) != ERR_OK || (*ret)->kind != JSON_OBJECT)
        return why_set(why, ERR_UNAUTHENTICATED, "the token is no valid JWT: its %s is no JSON object", which);
    return ERR_OK;
}

static const struct json_node *text_of(const struct json_node *object, const char *key) {
    const struct json_node *n = json_tree_get(object, slice_str(key));
    return n != NULL && n->kind == JSON_TEXT ? n : NULL;
}

/* Absent, or a text. */
static bool is_text_or_absent(const struct json_node *object, const char *key, struct slice *ret) {
    const struct json_node *n = json_tree_get(object, slice_str(key));
    *ret = n != NULL && n->kind == JSON_TEXT ? n->text : (struct slice){0};
    return n == NULL || n->kind == JSON_TEXT;
}

/* ---- the header ---- */

static enum err alg_read(const struct json_node *header, enum signature_alg *ret, struct why *why) {
    const struct json_node *alg = text_of(header, "alg");
    if (alg == NULL) return bad(why, "its header has no `alg`");
    for (uint32_t i = 0; i < SIGNATURE_ALG_COUNT; i++) {
        if (!slice_eq(alg->text, slice_str(alg_words[i]))) continue;
        *ret = (enum signature_alg)i;
        return ERR_OK;
    }
    return bad(why, "its algorithm is not accepted (RS, PS, ES and EdDSA are; HS and none never)");
}

/* Tokens of other kinds are signed by the same keys: those that say what they are must be for access or identity. */
static bool is_right_type(struct slice typ) {
    static const char *const words[] = {"JWT", "at+jwt", "application/at+jwt", "application/jwt"};
    if (typ.len == 0) return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (typ.len == strlen(words[i]) && strncasecmp((const char *)typ.ptr, words[i], typ.len) == 0) return true;
    return false;
}

static enum err header_read(const struct json_node *header, struct jwt *t, struct why *why) {
    struct slice typ, cty;
    enum err e = alg_read(header, &t->alg, why);
    if (e != ERR_OK) return e;
    if (!is_text_or_absent(header, "typ", &typ) || !is_right_type(typ))
        return bad(why, "its `typ` says that it is another kind of token");
    if (!is_text_or_absent(header, "cty", &cty) || cty.len > 0) return bad(why, "a token inside a token (`cty`)");
    if (json_tree_get(header, SLICE("crit")) != NULL) return bad(why, "its header has a `crit` that is not understood");
    if (json_tree_get(header, SLICE("zip")) != NULL || json_tree_get(header, SLICE("enc")) != NULL)
        return bad(why, "it is compressed or encrypted");
    if (!is_text_or_absent(header, "kid", &t->kid) || t->kid.len > KID_BYTES_MAX) return bad(why, "a bad `kid`");
    return ERR_OK;
}

/* ---- the claims ---- */

/* Seconds, perhaps with a fraction, which is cut. */
static bool seconds_read(const struct json_node *claims, const char *key, int64_t *ret_ms) {
    const struct json_node *n = json_tree_get(claims, slice_str(key));
    double seconds = 0;
    if (n == NULL) return true;
    if (n->kind != JSON_NUMBER || json_number_f64(n->text, &seconds) != ERR_OK) return false;
    if (!(seconds > 0) || seconds > (double)SECONDS_MAX) return false;
    *ret_ms = (int64_t)seconds * 1000;
    return true;
}

static enum err claims_read(struct jwt *t, struct why *why) {
    const struct json_node *iss = text_of(t->claims, "iss"), *sub = text_of(t->claims, "sub");
    if (iss == NULL || iss->text.len == 0) return bad(why, "it has no issuer (`iss`)");
    if (sub == NULL || sub->text.len == 0 || sub->text.len > JWT_SUBJECT_BYTES_MAX)
        return bad(why, "it has no subject (`sub`) of 1 to 255 bytes");
    if (json_tree_get(t->claims, SLICE("exp")) == NULL) return bad(why, "it has no end (`exp`)");
    if (!seconds_read(t->claims, "exp", &t->expires_ms)) return bad(why, "its `exp` is no time in seconds");
    if (!seconds_read(t->claims, "nbf", &t->not_before_ms)) return bad(why, "its `nbf` is no time in seconds");
    if (!seconds_read(t->claims, "iat", &t->issued_ms)) return bad(why, "its `iat` is no time in seconds");
    /* Whoever bears such a token must also hold a key; to bear it is not enough (RFC 7800). */
    if (json_tree_get(t->claims, SLICE("cnf")) != NULL)
        return bad(why, "it is bound to a key of its owner (`cnf`), which is not supported");
    t->issuer = iss->text;
    t->subject = sub->text;
    return ERR_OK;
}

enum err jwt_read(struct slice text, const struct limits *limits, struct arena *arena, struct jwt *ret,
                  struct why *why) {
    struct jwt t = {0};
    const struct json_node *header = NULL;
    if (text.len > JWT_BYTES_MAX) return bad(why, "it is longer than 8192 bytes");
    if (!jwt_looks_like(text)) return bad(why, "it does not have three parts");
    struct slice own = arena_slice(arena, text), left = own;
    struct slice head = part_take(&left), body = part_take(&left);
    t.signed_text = slice_of(own.ptr, head.len + 1 + body.len);
    if (!base64url_read(left, arena, &t.signature)) return bad(why, "its signature is not base64url");
    enum err e = object_read(head, "header", limits, arena, &header, why);
    if (e == ERR_OK) e = header_read(header, &t, why);
    if (e == ERR_OK) e = object_read(body, "body", limits, arena, &t.claims, why);
    if (e == ERR_OK) e = claims_read(&t, why);
    if (e == ERR_OK) *ret = t;
    return e;
}

enum err jwt_verify(const struct jwt *t, struct verifier *v, const struct public_key *key, struct why *why) {
    REQUIRE(t->signed_text.len > 0);
    return v->verify(v, t->alg, key, t->signed_text, t->signature, why);
}

/* ---- what is wanted of it ---- */

static bool is_among(struct slice text, const struct jwt_wanted *w) {
    for (uint32_t i = 0; i < w->audience_count; i++)
        if (slice_eq(text, w->audiences[i])) return true;
    return false;
}

/* One text, or a list of them. *ret_several: it is for others, too. */
static bool is_for_us(const struct jwt *t, const struct jwt_wanted *w, bool *ret_several) {
    const struct json_node *aud = json_tree_get(t->claims, SLICE("aud"));
    bool found = false;
    *ret_several = false;
    if (aud == NULL) return false;
    if (aud->kind == JSON_TEXT) return is_among(aud->text, w);
    if (aud->kind != JSON_ARRAY || aud->count > JWT_AUDIENCES_MAX) return false;
    for (const struct json_node *n = aud->first; n != NULL; n = n->next) {
        if (n->kind != JSON_TEXT) return false;
        found |= is_among(n->text, w);
    }
    *ret_several = aud->count > 1;
    return found;
}

/* OpenID Connect Core, 3.1.3.7. */
static enum err client_check(const struct jwt *t, const struct jwt_wanted *w, bool several, struct why *why) {
    const struct json_node *azp = json_tree_get(t->claims, SLICE("azp")), *nonce = text_of(t->claims, "nonce");
    if (w->client.len > 0 && (azp != NULL ? azp->kind != JSON_TEXT || !slice_eq(azp->text, w->client) : several))
        return why_set(why, ERR_UNAUTHENTICATED, "the token was made for another client (`azp`)");
    if (w->nonce.len > 0 && (nonce == NULL || !slice_eq(nonce->text, w->nonce)))
        return why_set(why, ERR_UNAUTHENTICATED, "the token belongs to another login (`nonce`)");
    return ERR_OK;
}

static enum err times_check(const struct jwt *t, const struct jwt_wanted *w, struct why *why) {
    int64_t now = w->now.ms;
    if (t->expires_ms + w->margin_ms <= now)
        return why_set(why, ERR_UNAUTHENTICATED,
                       "the token expired %" PRId64 " s ago by this server's clock: ask for a new one",
                       (now - t->expires_ms) / 1000);
    if (t->not_before_ms - w->margin_ms > now || t->issued_ms - w->margin_ms > now) {
        int64_t begins = t->not_before_ms > t->issued_ms ? t->not_before_ms : t->issued_ms;
        return why_set(why, ERR_UNAUTHENTICATED,
                       "the token is valid only in %" PRId64 " s by this server's clock: set the clocks of the issuer "
                       "and of this machine by NTP, or raise clock_margin",
                       (begins - now) / 1000);
    }
    return ERR_OK;
}

enum err jwt_check(const struct jwt *t, const struct jwt_wanted *w, struct why *why) {
    bool several = false;
    REQUIRE(w->audience_count > 0 && w->margin_ms >= 0);
    if (!is_for_us(t, w, &several))
        return why_set(why, ERR_UNAUTHENTICATED, "the token is for another audience (`aud`): expected `%.*s`",
                       SLICE_FMT(w->audiences[0]));
    enum err e = client_check(t, w, several, why);
    return e == ERR_OK ? times_check(t, w, why) : e;
}
