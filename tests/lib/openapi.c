/* openapi.c: see openapi.h. */
#include "openapi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"
#include "uri.h"
#include "yaml_tree.h"

void openapi_open(struct openapi *o, const char *file) {
    struct why why;
    static char text[1 << 20];
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    limits_default(&o->limits);
    arena_init(&o->arena, 65536, (size_t)1 << 28);
    if (yaml_tree_read(slice_of(text, len), &o->limits, &o->arena, &o->root, &why) != ERR_OK) fail_msg("%s", why.text);
}

void openapi_close(struct openapi *o) {
    arena_fini(&o->arena);
}

static const struct json_node *get(const struct json_node *n, const char *key) {
    return n != NULL ? json_tree_get(n, slice_str(key)) : NULL;
}

static bool is(const struct json_node *n, const char *text) {
    return n != NULL && slice_eq(n->text, slice_str(text));
}

/* "#/components/schemas/name" */
static const struct json_node *resolve(struct openapi *o, const struct json_node *schema) {
    const struct json_node *ref = get(schema, "$ref");
    if (ref == NULL) return schema;
    struct slice left = slice_of(ref->text.ptr + 1, ref->text.len - 1), word;
    const struct json_node *n = o->root;
    while (n != NULL && uri_word_next(&left, &word)) n = json_tree_get(n, word);
    if (n == NULL) fail_msg("%.*s leads nowhere", SLICE_FMT(ref->text));
    return n;
}

static bool check(struct openapi *o, const struct json_node *schema, const struct json_node *value);

/* Each part of `allOf` may know the member. */
static const struct json_node *member_of(struct openapi *o, const struct json_node *schema, struct slice key) {
    schema = resolve(o, schema);
    const struct json_node *all = get(schema, "allOf"), *known = get(schema, "properties"), *found = NULL;
    for (const struct json_node *n = all != NULL ? all->first : NULL; n != NULL && found == NULL; n = n->next)
        found = member_of(o, n, key);
    if (found == NULL && known != NULL) found = json_tree_get(known, key);
    return found != NULL ? found : get(schema, "additionalProperties");
}

static bool differs(struct openapi *o, const struct json_node *value, const char *text) {
    snprintf(o->place, sizeof o->place, "`%.*s`: %s", SLICE_FMT(value->key), text);
    return false;
}

static bool check_object(struct openapi *o, const struct json_node *schema, const struct json_node *value) {
    const struct json_node *required = get(schema, "required");
    if (value->kind != JSON_OBJECT) return differs(o, value, "no object");
    for (const struct json_node *n = required != NULL ? required->first : NULL; n != NULL; n = n->next)
        if (json_tree_get(value, n->text) == NULL) return differs(o, n, "a member is missing");
    for (const struct json_node *n = value->first; n != NULL; n = n->next) {
        const struct json_node *known = member_of(o, schema, n->key);
        if (known == NULL) return differs(o, n, "a member that the document does not know");
        if (!check(o, known, n)) return false;
    }
    return true;
}

static bool check_scalar(struct openapi *o, const struct json_node *schema, const struct json_node *value) {
    const struct json_node *type = get(schema, "type"), *words = get(schema, "enum"), *least = get(schema, "minimum");
    if (is(type, "boolean")) return value->kind == JSON_BOOL || differs(o, value, "no boolean");
    if (is(type, "integer")) {
        bool good = value->kind == JSON_NUMBER && (least == NULL || value->text.ptr[0] != '-') &&
                    memchr(value->text.ptr, '.', value->text.len) == NULL;
        return good || differs(o, value, "no integer, or too small");
    }
    if (!is(type, "string")) return differs(o, value, "the document has a type that is not known here");
    if (value->kind != JSON_TEXT) return differs(o, value, "no string");
    if (get(schema, "pattern") != NULL && value->text.len != 64) return differs(o, value, "no hash");
    for (const struct json_node *n = words != NULL ? words->first : NULL; n != NULL; n = n->next)
        if (slice_eq(n->text, value->text)) return true;
    return words == NULL || differs(o, value, "none of its words");
}

static bool check(struct openapi *o, const struct json_node *schema, const struct json_node *value) {
    schema = resolve(o, schema);
    const struct json_node *type = get(schema, "type"), *one = get(schema, "oneOf"), *items = get(schema, "items");
    for (const struct json_node *n = one != NULL ? one->first : NULL; n != NULL; n = n->next)
        if (check(o, n, value)) return true;
    if (one != NULL) return differs(o, value, "none of its forms");
    if (is(type, "object") || get(schema, "allOf") != NULL) return check_object(o, schema, value);
    if (type == NULL) return true; /* anything */
    if (!is(type, "array")) return check_scalar(o, schema, value);
    if (value->kind != JSON_ARRAY) return differs(o, value, "no array");
    for (const struct json_node *n = value->first; n != NULL; n = n->next)
        if (!check(o, items, n)) return false;
    return true;
}

static bool path_fits(struct slice pattern, struct slice path) {
    struct slice a, b;
    for (;;) {
        bool more = uri_word_next(&pattern, &a);
        if (more != uri_word_next(&path, &b)) return false;
        if (!more) return true;
        if (a.ptr[0] != '{' && !slice_eq(a, b)) return false;
    }
}

bool openapi_allows(struct openapi *o, const char *verb, const char *path, int status, const char *body) {
    char word[16], code[16];
    struct why why;
    const struct json_node *found = NULL, *value;
    for (size_t i = 0; i <= strlen(verb); i++) word[i] = (char)tolower((unsigned char)verb[i]);
    snprintf(code, sizeof code, "%d", status);
    struct slice bare = slice_of(path, strcspn(path, "?"));
    for (const struct json_node *n = get(o->root, "paths")->first; n != NULL; n = n->next)
        if (path_fits(n->key, bare) && get(n, word) != NULL) found = get(n, word);
    if (found == NULL) fail_msg("%s %s is not in the document", verb, path);
    const struct json_node *answers = get(found, "responses"), *answer = get(answers, code);
    if (answer == NULL) answer = get(answers, "default");
    const struct json_node *content = get(resolve(o, answer), "content");
    const struct json_node *json = get(content, "application/json");
    if (json == NULL) return content != NULL; /* bytes */
    if (json_tree_read(slice_str(body), &o->limits, &o->arena, &value, &why) != ERR_OK) {
        snprintf(o->place, sizeof o->place, "%s", why.text);
        return false;
    }
    return check(o, get(json, "schema"), value);
}
