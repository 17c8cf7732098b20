/* oidc_mapping_fuzz.c: a document of issuers, a line end, and the claims of a token. Whoever comes in has a name with
 * the issuer behind it, that is none of the server's own, and all tenants only where the document says so itself. */
#include "limit.h"
#include "mapping.h"
#include "panic.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t role(struct slice word) {
    return slice_eq(word, SLICE("admin")) ? 1 : slice_eq(word, SLICE("viewer")) ? 2 : 0;
}

static void check(const struct issuer *is, const struct mapping *m) {
    struct slice name = slice_str(m->name);
    ENSURE(m->rule >= 1 && m->rule <= is->rule_count);
    ENSURE(name.len > is->name.len + 1 && name.ptr[name.len - is->name.len - 1] == '@');
    ENSURE(utf8_is_valid(name) && strchr(m->name, ':') == NULL && strchr(m->name, ' ') == NULL);
    ENSURE((m->tenant[0] == 0) == (is->rules[m->rule - 1].tenant.len == 0));
    ENSURE(strchr(m->tenant, '*') == NULL);
    ENSURE(m->roles == is->rules[m->rule - 1].roles);
}

static void map(const struct issuers *s, const struct json_node *claims) {
    struct why why = {{0}};
    for (uint32_t i = 0; i < s->count; i++) {
        struct mapping m;
        enum err e = mapping_of(&s->all[i], claims, &m, &why);
        ENSURE(e == ERR_OK || (e == ERR_FORBIDDEN && why.text[0] != 0));
        if (e == ERR_OK) check(&s->all[i], &m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const struct json_node *tree = NULL, *claims = NULL;
    struct issuers *s = NULL;
    struct limits limits;
    struct arena arena;
    struct why why = {{0}};
    if (end == NULL) return 0;
    struct slice document = slice_of(data, (size_t)(end - data));
    struct slice rest = slice_of(end + 1, size - document.len - 1);
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)64 << 20);
    enum err e = json_tree_read(document, &limits, &arena, &tree, &why);
    if (e == ERR_OK) e = issuers_read(tree, role, &s, &why);
    ENSURE(e == ERR_OK || why.text[0] != 0);
    if (e == ERR_OK && json_tree_read(rest, &limits, &arena, &claims, &why) == ERR_OK && claims->kind == JSON_OBJECT)
        map(s, claims);
    issuers_free(s);
    arena_fini(&arena);
    return 0;
}
