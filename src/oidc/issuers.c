/* issuers.c: see issuers.h. */
#include "issuers.h"

#include <stdio.h>

#include "http_text.h"
#include "pattern.h"
#include "utf8.h"

#define ARENA_BYTES_MAX ((size_t)16 << 20)
#define MARGIN_S_STANDARD 60
#define MARGIN_S_MAX 600
#define SESSION_S_STANDARD (8 * 3600)
#define SESSION_S_MAX (30 * 24 * 3600)
#define TEXT_BYTES_MAX 512u

struct reader {
    struct issuers *to;
    struct why *why;
    issuers_role_fn role;
    char where[64]; /* "issuer corp, rule 2" */
};

typedef enum err (*key_fn)(struct reader *r, const struct json_node *value, void *to);
struct issuer_key {
    const char *name;
    key_fn read;
    bool must;
};

static const char *const alg_words[SIGNATURE_ALG_COUNT] = {
#define X(alg, word, kind, curve, hash_bytes) [alg] = word,
    SIGNATURE_TABLE(X)
#undef X
};

static enum err refuse(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static enum err refuse(struct reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)why_vset(r->why, ERR_INVALID, format, args);
    va_end(args);
    return why_wrap(r->why, ERR_INVALID, "%s", r->where);
}

struct slice issuers_keep(struct issuers *s, struct slice text) {
    uint8_t *own = arena_alloc(&s->arena, text.len + 1); /* terminated, for those who hand it to the system */
    if (text.len > 0) memcpy(own, text.ptr, text.len);
    return slice_of(own, text.len);
}

/* ---- values ---- */

static enum err text_read(struct reader *r, const struct json_node *n, struct slice *ret) {
    bool good = n->kind == JSON_TEXT && n->text.len > 0 && n->text.len <= TEXT_BYTES_MAX;
    if (!good || http_text_has_control(n->text) || memchr(n->text.ptr, 0, n->text.len) != NULL)
        return refuse(r, "%.*s: expected a text of 1 to %u bytes", SLICE_FMT(n->key), TEXT_BYTES_MAX);
    *ret = issuers_keep(r->to, n->text);
    return ERR_OK;
}

/* One text, or a list of them. */
static enum err texts_read(struct reader *r, const struct json_node *n, struct slice *ret, uint32_t most,
                           uint32_t *ret_count) {
    uint32_t count = 0;
    if (n->kind != JSON_ARRAY) {
        enum err e = text_read(r, n, &ret[0]);
        if (e == ERR_OK) *ret_count = 1;
        return e;
    }
    if (n->count == 0 || n->count > most) return refuse(r, "%.*s: expected 1 to %u texts", SLICE_FMT(n->key), most);
    for (const struct json_node *item = n->first; item != NULL; item = item->next) {
        if (item->kind != JSON_TEXT) return refuse(r, "%.*s: expected a list of texts", SLICE_FMT(n->key));
        enum err e = text_read(r, item, &ret[count++]);
        if (e != ERR_OK) return e;
    }
    *ret_count = count;
    return ERR_OK;
}

static enum err seconds_read(struct reader *r, const struct json_node *n, int64_t least, int64_t most,
                             int64_t *ret_ms) {
    int64_t seconds = 0;
    if (n->kind != JSON_NUMBER || json_number_i64(n->text, &seconds) != ERR_OK || seconds < least || seconds > most)
        return refuse(r, "%.*s: expected a number of seconds from %lld to %lld", SLICE_FMT(n->key), (long long)least,
                      (long long)most);
    *ret_ms = seconds * 1000;
    return ERR_OK;
}

/* ---- objects ---- */

static void keys_list(const struct issuer_key *keys, char *text, size_t size) {
    size_t len = 0;
    for (const struct issuer_key *k = keys; k->name != NULL && len + 1 < size; k++) {
        int n = snprintf(text + len, size - len, "%s%s", len > 0 ? ", " : "", k->name);
        len += n > 0 ? (size_t)n : 0;
    }
}

/* The key whose name differs least, if it is only a typing error: as many letters in the same places. */
static const char *key_near(const struct issuer_key *keys, struct slice name) {
    for (const struct issuer_key *k = keys; k->name != NULL; k++) {
        struct slice other = slice_str(k->name);
        size_t front = 0, back = 0, shorter = name.len < other.len ? name.len : other.len;
        size_t longer = name.len < other.len ? other.len : name.len;
        while (front < shorter && name.ptr[front] == other.ptr[front]) front++;
        while (back < shorter - front && name.ptr[name.len - 1 - back] == other.ptr[other.len - 1 - back]) back++;
        if (longer > 2 && longer - front - back <= 2) return k->name;
    }
    return NULL;
}

static enum err object_read(struct reader *r, const struct json_node *n, const char *what,
                            const struct issuer_key *keys, void *to) {
    char list[160] = "";
    if (n->kind != JSON_OBJECT) return refuse(r, "expected %s as keys with values", what);
    for (const struct json_node *m = n->first; m != NULL; m = m->next) {
        const struct issuer_key *k = keys;
        while (k->name != NULL && !slice_eq(m->key, slice_str(k->name))) k++;
        if (k->name != NULL) {
            enum err e = k->read(r, m, to);
            if (e != ERR_OK) return e;
            continue;
        }
        const char *near = key_near(keys, m->key);
        if (near != NULL)
            return refuse(r, "there is no key `%.*s`; did you mean `%s`?", SLICE_FMT(utf8_cut(m->key, 40)), near);
        keys_list(keys, list, sizeof list);
        return refuse(r, "there is no key `%.*s`; there are %s", SLICE_FMT(utf8_cut(m->key, 40)), list);
    }
    for (const struct issuer_key *k = keys; k->name != NULL; k++)
        if (k->must && json_tree_get(n, slice_str(k->name)) == NULL) return refuse(r, "%s is missing", k->name);
    return ERR_OK;
}

/* ---- rules ---- */

/* {CLAIM} and text around it; no brace else. */
static bool is_template(struct slice t) {
    bool inside = false;
    size_t from = 0;
    for (size_t i = 0; i < t.len; i++) {
        if (t.ptr[i] == '{') {
            if (inside) return false;
            inside = true;
            from = i + 1;
        } else if (t.ptr[i] == '}') {
            if (!inside || i == from) return false;
            inside = false;
        }
    }
    return !inside;
}

static enum err template_read(struct reader *r, const struct json_node *n, struct slice *ret) {
    struct slice text = {0};
    enum err e = text_read(r, n, &text);
    if (e == ERR_OK && !is_template(text))
        e = refuse(r, "%.*s: expected text with {CLAIM} in it, found `%.*s`", SLICE_FMT(n->key), SLICE_FMT(text));
    if (e == ERR_OK) *ret = text;
    return e;
}

static enum err account_read(struct reader *r, const struct json_node *n, void *to) {
    return template_read(r, n, &((struct issuer_rule *)to)->account);
}

static enum err tenant_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer_rule *rule = to;
    enum err e = template_read(r, n, &rule->tenant);
    if (e == ERR_OK && slice_eq(rule->tenant, SLICE("*"))) rule->tenant = (struct slice){0};
    return e;
}

static enum err kind_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer_rule *rule = to;
    bool is_person = n->kind == JSON_TEXT && slice_eq(n->text, SLICE("person"));
    bool is_service = n->kind == JSON_TEXT && slice_eq(n->text, SLICE("service"));
    rule->kind = is_service ? ISSUER_SERVICE : ISSUER_PERSON;
    return is_person || is_service ? ERR_OK : refuse(r, "kind: expected person or service");
}

static enum err roles_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer_rule *rule = to;
    struct slice words[16];
    uint32_t count = 0;
    enum err e = texts_read(r, n, words, 16, &count);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        uint32_t bit = r->role(words[i]);
        if (bit == 0) e = refuse(r, "roles: there is no role `%.*s`", SLICE_FMT(utf8_cut(words[i], 40)));
        rule->roles |= bit;
    }
    return e;
}

static enum err pattern_check(struct reader *r, const struct issuer_when *w) {
    for (uint32_t i = 0; i < w->pattern_count; i++)
        if (w->patterns[i].len > PATTERN_BYTES_MAX)
            return refuse(r, "when: a pattern of %.*s is too long", SLICE_FMT(utf8_cut(w->claim, 40)));
    return ERR_OK;
}

static enum err when_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer_rule *rule = to;
    if (n->kind != JSON_OBJECT || n->count == 0 || n->count > ISSUER_WHENS_MAX)
        return refuse(r, "when: expected 1 to %u claims with their patterns", ISSUER_WHENS_MAX);
    rule->whens = ARENA_ARRAY(&r->to->arena, struct issuer_when, n->count);
    for (const struct json_node *m = n->first; m != NULL; m = m->next) {
        struct issuer_when *w = &rule->whens[rule->when_count++];
        struct json_node copy = *m;
        w->claim = issuers_keep(r->to, m->key);
        if (copy.kind == JSON_BOOL) { /* email_verified: true */
            copy.kind = JSON_TEXT;
            copy.text = m->truth ? SLICE("true") : SLICE("false");
        }
        enum err e = texts_read(r, &copy, w->patterns, ISSUER_PATTERNS_MAX, &w->pattern_count);
        if (e == ERR_OK) e = pattern_check(r, w);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

static const struct issuer_key rule_keys[] = {{"when", when_read, true},     {"account", account_read, false},
                                              {"kind", kind_read, false},    {"roles", roles_read, true},
                                              {"tenant", tenant_read, true}, {0}};

static enum err rules_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer *is = to;
    char where[sizeof r->where];
    uint32_t count = 0;
    if (n->kind != JSON_ARRAY || n->count == 0 || n->count > ISSUER_RULES_MAX)
        return refuse(r, "map: expected a list of 1 to %u rules", ISSUER_RULES_MAX);
    memcpy(where, r->where, sizeof where);
    struct issuer_rule *rules = ARENA_ARRAY(&r->to->arena, struct issuer_rule, n->count);
    for (const struct json_node *item = n->first; item != NULL; item = item->next) {
        struct issuer_rule *rule = &rules[count++];
        snprintf(r->where, sizeof r->where, "%.*s, rule %u of map", 40, where, count);
        rule->account = SLICE("{sub}");
        enum err e = object_read(r, item, "a rule", rule_keys, rule);
        if (e != ERR_OK) return e;
    }
    memcpy(r->where, where, sizeof where);
    is->rules = rules;
    is->rule_count = count;
    return ERR_OK;
}

/* ---- issuers ---- */

static bool is_local_http(struct slice url) {
    static const char *const fronts[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
        size_t len = strlen(fronts[i]);
        if (!slice_begins(url, slice_str(fronts[i]))) continue;
        if (url.len == len || url.ptr[len] == ':' || url.ptr[len] == '/') return true;
    }
    return false;
}

/* No user, no fragment: neither has a place in an address that others are sent to. */
bool issuer_url_is_safe(struct slice url) {
    if (url.len == 0 || url.len > ISSUER_URL_MAX) return false;
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] >= 0x7f || strchr("@#\\\"<>", url.ptr[i]) != NULL) return false;
    return (slice_begins(url, SLICE("https://")) && url.len > 8 && url.ptr[8] != '/') || is_local_http(url);
}

static enum err name_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer *is = to;
    enum err e = text_read(r, n, &is->name);
    bool good = e == ERR_OK && is->name.len <= ISSUER_NAME_MAX;
    for (size_t i = 0; good && i < is->name.len; i++) {
        uint8_t c = is->name.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (i > 0 && (c == '-' || c == '.'));
    }
    if (!good) return refuse(r, "name: expected up to %u small letters, digits, `-` and `.`", ISSUER_NAME_MAX);
    snprintf(r->where, sizeof r->where, "issuer %.*s", SLICE_FMT(is->name));
    return issuers_by_name(r->to, is->name) == NULL ? ERR_OK : refuse(r, "the name is used twice");
}

static enum err url_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer *is = to;
    enum err e = text_read(r, n, &is->url);
    if (e == ERR_OK && !issuer_url_is_safe(is->url))
        e = refuse(r, "issuer: expected a URL that begins with https:// (or http:// on this machine), found `%.*s`",
                   SLICE_FMT(utf8_cut(is->url, 80)));
    if (e == ERR_OK && memchr(is->url.ptr, '?', is->url.len) != NULL) e = refuse(r, "issuer: a URL without `?`");
    if (e == ERR_OK && issuers_by_url(r->to, is->url) != NULL) e = refuse(r, "issuer: the URL is used twice");
    return e;
}

static enum err audience_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer *is = to;
    return texts_read(r, n, is->audiences, ISSUER_AUDIENCES_MAX, &is->audience_count);
}

static enum err algorithms_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer *is = to;
    struct slice words[SIGNATURE_ALG_COUNT];
    uint32_t count = 0;
    enum err e = texts_read(r, n, words, SIGNATURE_ALG_COUNT, &count);
    is->algs = 0;
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        uint32_t alg = 0;
        while (alg < SIGNATURE_ALG_COUNT && !slice_eq(words[i], slice_str(alg_words[alg]))) alg++;
        if (alg == SIGNATURE_ALG_COUNT)
            return refuse(r,
                          "algorithms: `%.*s` is not among RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 "
                          "and EdDSA",
                          SLICE_FMT(utf8_cut(words[i], 20)));
        is->algs |= SIGNATURE_BIT(alg);
    }
    return e;
}

/* clang-format off */
#define TEXT_KEY(member) \
    static enum err member##_key(struct reader *r, const struct json_node *n, void *to) { \
        return text_read(r, n, &((struct issuer *)to)->member); \
    }
/* clang-format on */
TEXT_KEY(title)
TEXT_KEY(client_id)
TEXT_KEY(cli_client_id)
TEXT_KEY(secret_file)
TEXT_KEY(ca_file)

static enum err scopes_read(struct reader *r, const struct json_node *n, void *to) {
    struct issuer *is = to;
    struct slice words[16];
    uint32_t count = 0;
    enum err e = texts_read(r, n, words, 16, &count);
    if (e != ERR_OK) return e;
    struct buf all;
    buf_init(&all, 16 * (TEXT_BYTES_MAX + 1));
    bool has_openid = false;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) buf_put_u8(&all, ' ');
        buf_put_slice(&all, words[i]);
        has_openid |= slice_eq(words[i], SLICE("openid"));
    }
    is->scopes = issuers_keep(r->to, buf_slice(&all));
    buf_fini(&all);
    return has_openid ? ERR_OK : refuse(r, "scopes: `openid` is missing");
}

static enum err margin_read(struct reader *r, const struct json_node *n, void *to) {
    return seconds_read(r, n, 0, MARGIN_S_MAX, &((struct issuer *)to)->margin_ms);
}

static enum err session_read(struct reader *r, const struct json_node *n, void *to) {
    return seconds_read(r, n, 60, SESSION_S_MAX, &((struct issuer *)to)->session_ms);
}

/* The name first: it is in what is said of the others. */
static const struct issuer_key issuer_keys[] = {{"name", name_read, true},
                                                {"issuer", url_read, true},
                                                {"audience", audience_read, false},
                                                {"algorithms", algorithms_read, false},
                                                {"title", title_key, false},
                                                {"client_id", client_id_key, false},
                                                {"cli_client_id", cli_client_id_key, false},
                                                {"client_secret_file", secret_file_key, false},
                                                {"ca_file", ca_file_key, false},
                                                {"scopes", scopes_read, false},
                                                {"clock_margin", margin_read, false},
                                                {"session", session_read, false},
                                                {"map", rules_read, true},
                                                {0}};

static enum err issuer_read(struct reader *r, const struct json_node *n) {
    struct issuer *is = &r->to->all[r->to->count];
    *is = (struct issuer){.algs = (1u << SIGNATURE_ALG_COUNT) - 1,
                          .margin_ms = MARGIN_S_STANDARD * 1000,
                          .session_ms = SESSION_S_STANDARD * 1000,
                          .scopes = SLICE("openid profile email")};
    snprintf(r->where, sizeof r->where, "issuer number %u", r->to->count + 1);
    enum err e = object_read(r, n, "an issuer", issuer_keys, is);
    if (e != ERR_OK) return e;
    if (is->audience_count == 0 && is->client_id.len == 0)
        return refuse(r, "it needs an audience (for bearer tokens) or a client_id (for logins)");
    if (is->secret_file.len > 0 && is->client_id.len == 0) return refuse(r, "client_secret_file needs a client_id");
    if (is->title.len == 0) is->title = is->name;
    r->to->count++;
    return ERR_OK;
}

static enum err issuers_key(struct reader *r, const struct json_node *n, void *to) {
    (void)to;
    if (n->kind != JSON_ARRAY || n->count == 0 || n->count > ISSUERS_MAX)
        return refuse(r, "issuers: expected a list of 1 to %u", ISSUERS_MAX);
    enum err e = ERR_OK;
    for (const struct json_node *item = n->first; e == ERR_OK && item != NULL; item = item->next)
        e = issuer_read(r, item);
    return e;
}

enum err issuers_read(const struct json_node *tree, issuers_role_fn role, struct issuers **ret, struct why *why) {
    static const struct issuer_key keys[] = {{"issuers", issuers_key, true}, {0}};
    struct arena birth; /* holds this object, too */
    arena_init(&birth, 16384, ARENA_BYTES_MAX);
    struct issuers *s = ARENA_NEW(&birth, struct issuers);
    s->arena = birth;
    struct reader r = {.to = s, .why = why, .role = role, .where = "the document"};
    enum err e = object_read(&r, tree, "issuers", keys, s);
    if (e == ERR_OK)
        *ret = s;
    else
        issuers_free(s);
    return e;
}

void issuers_free(struct issuers *s) {
    if (s == NULL) return;
    struct arena birth = s->arena;
    arena_fini(&birth);
}

const struct issuer *issuers_by_url(const struct issuers *s, struct slice url) {
    for (uint32_t i = 0; i < s->count; i++)
        if (slice_eq(s->all[i].url, url)) return &s->all[i];
    return NULL;
}

const struct issuer *issuers_by_name(const struct issuers *s, struct slice name) {
    for (uint32_t i = 0; i < s->count; i++)
        if (slice_eq(s->all[i].name, name)) return &s->all[i];
    return NULL;
}
