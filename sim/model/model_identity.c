/* model_identity.c: see model_identity.h. */
#include "model_identity.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"

struct model_secret { /* a token, or a login link */
    struct model_text id, hash;
    bool is_link;
    bool is_admin; /* of all tenants, for ever */
    bool is_over;
    int64_t expires_ms;
};

struct model_identity {
    bool begun;
    struct model_secret *all; /* everything there ever was */
    uint32_t count;
};

static bool same(struct model_text a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static struct model_secret *find(struct model_identity *x, bool is_link, struct trace_bytes id,
                                 struct trace_bytes hash) {
    for (uint32_t i = 0; i < x->count; i++) {
        struct model_secret *s = &x->all[i];
        if (s->is_over || s->is_link != is_link) continue;
        if ((id.len > 0 && same(s->id, id)) || (hash.len > 0 && same(s->hash, hash))) return s;
    }
    return NULL;
}

static struct model_secret *add(struct model_identity *x, struct trace_bytes id, struct trace_bytes hash) {
    x->all = realloc(x->all, (x->count + 1) * sizeof *x->all);
    REQUIRE(x->all != NULL);
    struct model_secret *s = &x->all[x->count++];
    *s = (struct model_secret){.id = model_text_copy(id), .hash = model_text_copy(hash)};
    return s;
}

static bool token(struct model_identity *x, const struct trace_identity *r, char *text) {
    struct model_secret *known = find(x, false, r->id, (struct trace_bytes){0});
    struct model_secret *twin = find(x, false, (struct trace_bytes){0}, r->hash);
    if (r->id.len == 0 || r->hash.len == 0) return model_object(text, "a token without an id or a hash");
    if (twin != NULL && twin != known) return model_object(text, "two tokens that one text opens");
    if (known != NULL) known->is_over = true; /* another text from now on */
    struct model_secret *s = add(x, r->id, r->hash);
    s->is_admin = r->is_admin;
    return true;
}

static bool token_ended(struct model_identity *x, const struct trace_identity *r, char *text) {
    struct model_secret *s = find(x, false, r->id, (struct trace_bytes){0});
    uint32_t admins = 0;
    if (s == NULL) return model_object(text, "the end of a token that is not there");
    for (uint32_t i = 0; i < x->count; i++) admins += x->all[i].is_admin && !x->all[i].is_over;
    if (s->is_admin && admins == 1) return model_object(text, "the last administrator is locked out");
    s->is_over = true;
    return true;
}

static bool link_spent(struct model *m, struct model_identity *x, const struct trace_identity *r, char *text) {
    struct model_secret *s = find(x, true, (struct trace_bytes){0}, r->hash);
    if (s == NULL) return model_object(text, "a login link was used that is not there, or was used before");
    if (s->expires_ms <= m->time_ms) return model_object(text, "a login link was used after its time");
    s->is_over = true;
    return true;
}

static bool link_made(struct model_identity *x, const struct trace_identity *r, char *text) {
    struct model_secret *gone = find(x, true, (struct trace_bytes){0}, r->instead);
    if (r->instead.len > 0 && gone == NULL) return model_object(text, "a login link makes room that was not there");
    if (gone != NULL) gone->is_over = true;
    struct model_secret *s = add(x, (struct trace_bytes){0}, r->hash);
    s->is_link = true;
    s->expires_ms = r->expires_ms;
    return true;
}

static bool begins(struct model_identity *x, const struct trace_identity *r, char *text) {
    if (x->begun) return model_object(text, "identity begins twice");
    x->begun = true;
    for (uint32_t i = 0; i < r->first_count; i++)
        if (!token(x, &r->first[i], text)) return false;
    return true;
}

bool model_identity_record(struct model *m, const struct trace_identity *r, char *text) {
    if (m->identity == NULL) m->identity = calloc(1, sizeof *m->identity);
    struct model_identity *x = m->identity;
    REQUIRE(x != NULL);
    if (r->what != TID_BEGINS && !x->begun) return model_object(text, "identity has not begun");
    switch (r->what) {
    case TID_BEGINS: return begins(x, r, text);
    case TID_TOKEN: return token(x, r, text);
    case TID_TOKEN_ENDED: return token_ended(x, r, text);
    case TID_LINK: return link_made(x, r, text);
    case TID_LINK_SPENT: return link_spent(m, x, r, text);
    case TID_SESSION_ENDED:
    case TID_SECRETS: return true;
    case TID_COUNT: break;
    }
    PANIC("no such record of identity");
}

bool model_identity_may_approve(enum trace_principal kind) {
    return kind == TP_PERSON || kind == TP_UNKNOWN; /* unknown: no session did */
}

void model_identity_free(struct model *m) {
    struct model_identity *x = m->identity;
    for (uint32_t i = 0; x != NULL && i < x->count; i++) {
        free(x->all[i].id.at);
        free(x->all[i].hash.at);
    }
    if (x != NULL) free(x->all);
    free(x);
}
