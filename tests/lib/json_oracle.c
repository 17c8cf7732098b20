/* json_oracle.c: see json_oracle.h. jansson's functions have names that base/json.h uses too, so it is not linked but
 * loaded into a scope of its own. */
#include "json_oracle.h"

#include <dlfcn.h>

#define JSON_NULL JANSSON_NULL
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY JANSSON_ARRAY
#include <jansson.h>
#undef JSON_NULL
#undef JSON_OBJECT
#undef JSON_ARRAY

#include "json_tree.h"
#include "limit.h"
#include "panic.h"

/* clang-format off */
#define FUNCTIONS(X)                                                                                           \
    X(json_loadb) X(json_delete) X(json_object_getn) X(json_object_size) X(json_array_size) X(json_array_get) \
    X(json_string_value) X(json_string_length) X(json_integer_value) X(json_real_value)

static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
} jansson;

static void load(void) {
    if (jansson.json_loadb) return;
    void *library = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != NULL);
#define X(name) *(void **)&jansson.name = dlsym(library, #name); REQUIRE(jansson.name != NULL);
    FUNCTIONS(X)
#undef X
}
/* clang-format on */

static json_t *read_theirs(struct slice in, json_error_t *ret_error) {
    load();
    size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
    return jansson.json_loadb((const char *)in.ptr, in.len, flags, ret_error);
}

static void free_theirs(json_t *json) {
    if (json && json->refcount != SIZE_MAX) jansson.json_delete(json); /* true, false and null are not counted */
}

static void compare(const struct json_node *ours, const json_t *theirs);

static void compare_number(struct slice text, const json_t *theirs) {
    if (json_typeof(theirs) == JSON_INTEGER) {
        int64_t value;
        ENSURE(json_number_i64(text, &value) == ERR_OK);
        ENSURE(value == jansson.json_integer_value(theirs));
        return;
    }
    ENSURE(json_typeof(theirs) == JSON_REAL);
    ENSURE(json_number_i64(text, &(int64_t){0}) == ERR_INVALID);
    double value;
    enum err e = json_number_f64(text, &value);
    ENSURE(e == ERR_OK || text.len > 1000);
    if (e == ERR_OK) ENSURE(value == jansson.json_real_value(theirs));
}

static void compare_members(const struct json_node *ours, const json_t *theirs) {
    ENSURE(json_typeof(theirs) == JANSSON_OBJECT);
    ENSURE(jansson.json_object_size(theirs) == ours->count);
    for (const struct json_node *n = ours->first; n; n = n->next) {
        ENSURE(n->is_member);
        const json_t *member = jansson.json_object_getn(theirs, (const char *)n->key.ptr, n->key.len);
        ENSURE(member != NULL);
        compare(n, member);
    }
}

static void compare_items(const struct json_node *ours, const json_t *theirs) {
    ENSURE(json_typeof(theirs) == JANSSON_ARRAY);
    ENSURE(jansson.json_array_size(theirs) == ours->count);
    size_t i = 0;
    for (const struct json_node *n = ours->first; n; n = n->next) compare(n, jansson.json_array_get(theirs, i++));
    ENSURE(i == ours->count);
}

static void compare(const struct json_node *ours, const json_t *theirs) {
    switch ((enum json_kind)ours->kind) {
    case JSON_NULL: ENSURE(json_typeof(theirs) == JANSSON_NULL); return;
    case JSON_BOOL: ENSURE(json_typeof(theirs) == (ours->truth ? JSON_TRUE : JSON_FALSE)); return;
    case JSON_NUMBER: compare_number(ours->text, theirs); return;
    case JSON_TEXT:
        ENSURE(json_typeof(theirs) == JSON_STRING);
        ENSURE(slice_eq(ours->text, slice_of(jansson.json_string_value(theirs), jansson.json_string_length(theirs))));
        return;
    case JSON_OBJECT: compare_members(ours, theirs); return;
    case JSON_ARRAY: compare_items(ours, theirs); return;
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_OVER: break;
    }
    PANIC("no node is of that kind");
}

/* What jansson cannot hold says nothing about the text. */
static bool is_own_limit(const json_error_t *error) {
    enum json_error_code code = json_error_code(error);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key;
}

bool json_oracle_agree(struct slice in) {
    struct limits limits;
    limits_default(&limits);
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 28);
    struct why why = {""};
    const struct json_node *ours = NULL;
    enum err e = json_tree_read(in, &limits, &arena, &ours, &why);
    ENSURE((e == ERR_OK) == (why.text[0] == 0));

    json_error_t error;
    json_t *theirs = read_theirs(in, &error);
    if (e == ERR_OK && theirs) compare(ours, theirs);
    if (e == ERR_OK && !theirs) ENSURE(is_own_limit(&error));
    bool has_zero = memchr(in.ptr ? in.ptr : (const uint8_t *)"", 0, in.len) != NULL;
    if (has_zero) ENSURE(e != ERR_OK); /* jansson takes a zero after the value for the end of the text */
    if (e == ERR_INVALID && !has_zero) ENSURE(theirs == NULL);
    free_theirs(theirs);
    arena_fini(&arena);
    return e == ERR_OK;
}

bool json_oracle_accepts(struct slice in) {
    json_error_t error;
    json_t *theirs = read_theirs(in, &error);
    bool accepted = theirs != NULL;
    free_theirs(theirs);
    return accepted;
}
