/* mapping.c: see mapping.h.
 *
 *     claims  {"sub": "7", "preferred_username": "ada", "realm_access": {"roles": ["dev", "ops"]}}
 *     rule    when: {realm_access.roles: ops}, account: "{preferred_username}", roles: [operator], tenant: acme
 *     gives   ada@corp, operator in tenant acme
 *
 * What a claim says is somebody else's text. It becomes a part of a name and nothing more: no template can make the
 * star that stands for all tenants, and no account has the form of a name that this server gives itself (uid:0,
 * job:x). */
#include "mapping.h"

#include <stdio.h>

#include "buf.h"
#include "pattern.h"
#include "utf8.h"

#define STEPS_MAX 200000u /* of all patterns of one login together */
#define CLAIM_BYTES_MAX 1024u
#define CLAIM_ITEMS_MAX 2048u
#define PATH_DOTS_MAX 6u

static const struct json_node *claim_at(const struct json_node *object, struct slice name, uint32_t dots) {
    const struct json_node *found = json_tree_get(object, name);
    if (found != NULL || dots == PATH_DOTS_MAX) return found;
    for (size_t i = 0; found == NULL && i < name.len; i++) {
        if (name.ptr[i] != '.') continue;
        const struct json_node *outer = json_tree_get(object, slice_of(name.ptr, i));
        if (outer == NULL || outer->kind != JSON_OBJECT) continue;
        found = claim_at(outer, slice_of(name.ptr + i + 1, name.len - i - 1), dots + 1);
    }
    return found;
}

const struct json_node *mapping_claim(const struct json_node *claims, struct slice name) {
    return claim_at(claims, name, 0);
}

/* Texts, numbers as written, true and false; nothing else has a text. */
static bool text_of(const struct json_node *n, struct slice *ret) {
    if (n->kind == JSON_TEXT || n->kind == JSON_NUMBER)
        *ret = n->text;
    else if (n->kind == JSON_BOOL)
        *ret = n->truth ? SLICE("true") : SLICE("false");
    else
        return false;
    return ret->len <= CLAIM_BYTES_MAX;
}

static bool one_fits(const struct issuer_when *w, const struct json_node *n, uint64_t *steps) {
    struct slice text;
    if (!text_of(n, &text)) return false;
    for (uint32_t i = 0; i < w->pattern_count && *steps < STEPS_MAX; i++)
        if (pattern_matches(w->patterns[i], text, steps)) return true;
    return false;
}

static bool when_fits(const struct issuer_when *w, const struct json_node *claims, uint64_t *steps) {
    const struct json_node *n = mapping_claim(claims, w->claim);
    uint32_t count = 0;
    if (n == NULL) return false;
    if (n->kind != JSON_ARRAY) return one_fits(w, n, steps);
    for (const struct json_node *item = n->first; item != NULL && count++ < CLAIM_ITEMS_MAX; item = item->next)
        if (one_fits(w, item, steps)) return true;
    return false;
}

static bool rule_fits(const struct issuer_rule *rule, const struct json_node *claims, uint64_t *steps) {
    for (uint32_t i = 0; i < rule->when_count; i++)
        if (!when_fits(&rule->whens[i], claims, steps)) return false;
    return true;
}

/* ---- templates ---- */

/* An address that its owner has not proved may be anybody's. */
static enum err email_check(struct slice claim, const struct json_node *claims, struct why *why) {
    const struct json_node *verified = json_tree_get(claims, SLICE("email_verified"));
    if (!slice_eq(claim, SLICE("email")) || verified == NULL || (verified->kind == JSON_BOOL && verified->truth))
        return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "the address in the claim `email` is not verified (`email_verified`)");
}

static enum err claim_put(struct slice claim, const struct json_node *claims, struct buf *out, struct why *why) {
    const struct json_node *n = mapping_claim(claims, claim);
    struct slice text = {0};
    enum err e = email_check(claim, claims, why);
    if (e == ERR_OK && (n == NULL || !text_of(n, &text) || text.len == 0))
        e = why_set(why, ERR_FORBIDDEN, "the token has no text in the claim `%.*s`", SLICE_FMT(utf8_cut(claim, 60)));
    if (e == ERR_OK) buf_put_slice(out, text);
    return e;
}

/* Letters that cannot be taken for an end, for another kind of principal, or be unseen. */
static bool is_name(struct slice text) {
    for (size_t i = 0; i < text.len;) {
        size_t len = utf8_shown(slice_of(text.ptr + i, text.len - i));
        if (len == 0 || (len == 1 && strchr(" :*\\\"'<>", text.ptr[i]) != NULL)) return false;
        i += len;
    }
    return text.len > 0;
}

static enum err fill(struct slice template, const char *what, const struct json_node *claims, size_t most,
                     struct buf *out, struct why *why) {
    struct slice left = template;
    enum err e = ERR_OK;
    while (e == ERR_OK && left.len > 0) {
        const uint8_t *open = memchr(left.ptr, '{', left.len);
        size_t before = open != NULL ? (size_t)(open - left.ptr) : left.len;
        buf_put(out, left.ptr, before);
        left = slice_of(left.ptr + before, left.len - before);
        if (left.len == 0) break;
        const uint8_t *close = memchr(left.ptr, '}', left.len); /* there is one: issuers.c has looked */
        size_t len = close != NULL ? (size_t)(close - left.ptr) : left.len - 1;
        e = claim_put(slice_of(left.ptr + 1, len - 1), claims, out, why);
        left = slice_of(left.ptr + len + 1, left.len - len - 1);
    }
    if (e == ERR_OK && (out->full || out->len > most || !is_name(buf_slice(out))))
        e = why_set(why, ERR_FORBIDDEN,
                    "the claims make no %s of 1 to %zu letters without blanks, colons, stars and quotes", what, most);
    return e;
}

static enum err rule_apply(const struct issuer *is, const struct issuer_rule *rule, const struct json_node *claims,
                           struct mapping *ret, struct why *why) {
    struct buf name, tenant;
    struct mapping m = {.kind = rule->kind, .roles = rule->roles};
    buf_init(&name, 4096);
    buf_init(&tenant, 4096);
    enum err e = fill(rule->account, "account", claims, ISSUER_ACCOUNT_MAX, &name, why);
    if (e == ERR_OK && rule->tenant.len > 0) e = fill(rule->tenant, "tenant", claims, 128, &tenant, why);
    if (e == ERR_OK) {
        snprintf(m.name, sizeof m.name, "%.*s@%.*s", SLICE_FMT(buf_slice(&name)), SLICE_FMT(is->name));
        snprintf(m.tenant, sizeof m.tenant, "%.*s", SLICE_FMT(buf_slice(&tenant)));
        *ret = m;
    }
    buf_fini(&name);
    buf_fini(&tenant);
    return e;
}

/* ---- nobody ---- */

/* Names of claims only: what they say may be private, and the text goes to a log. */
static enum err nobody(const struct issuer *is, const struct json_node *claims, struct why *why) {
    char text[140] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < is->rule_count; i++)
        for (uint32_t k = 0; k < is->rules[i].when_count; k++) {
            struct slice claim = utf8_cut(is->rules[i].whens[k].claim, 40);
            char one[80];
            bool is_there = mapping_claim(claims, is->rules[i].whens[k].claim) != NULL;
            snprintf(one, sizeof one, "`%.*s` (%s)", SLICE_FMT(claim), is_there ? "does not fit" : "missing");
            if (strstr(text, one) != NULL || len + strlen(one) + 3 > sizeof text) continue;
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? ", " : "", one);
        }
    return why_set(why, ERR_FORBIDDEN, "no rule of issuer %.*s fits this account; looked for %s", SLICE_FMT(is->name),
                   text);
}

enum err mapping_of(const struct issuer *is, const struct json_node *claims, struct mapping *ret, struct why *why) {
    uint64_t steps = 0;
    for (uint32_t i = 0; i < is->rule_count && steps < STEPS_MAX; i++) {
        if (!rule_fits(&is->rules[i], claims, &steps)) continue;
        enum err e = rule_apply(is, &is->rules[i], claims, ret, why);
        if (e == ERR_OK) ret->rule = i + 1;
        return e;
    }
    return nobody(is, claims, why);
}
