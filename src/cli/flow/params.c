/* params.c: see params.h. */
#include "params.h"

#include <stdio.h>
#include <stdlib.h>

#include "dotenv.h"
#include "json.h"
#include "limit.h"
#include "verbs.h"
#include "yaml_tree.h"

#define PARAMS_BYTES_MAX ((size_t)1 << 20) /* of a file of them, and of a value from a file */
#define VARIABLE_PREFIX "REEVE_PARAM_"

/* One that is there already is replaced. */
static enum err add(struct params *p, const struct spec_given *given) {
    uint32_t at = 0;
    while (at < p->count && !slice_eq(p->given[at].name, given->name)) at++;
    if (at == SPEC_PARAMS_MAX) return cli_refuse(p->cli, ERR_LIMIT, "more than %u parameters", SPEC_PARAMS_MAX);
    p->given[at] = *given;
    if (at == p->count) p->count++;
    return ERR_OK;
}

/* ---- files ---- */

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* `.env`, `prod.env`, `.env.prod` */
static bool is_dotenv(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    return ends_with(name, ".env") || strncmp(name, ".env.", 5) == 0;
}

static enum err dotenv_add(struct params *p, struct slice text) {
    struct dotenv_pair *pairs = ARENA_ARRAY(&p->cli->arena, struct dotenv_pair, SPEC_PARAMS_MAX);
    uint32_t count = 0;
    enum err e = dotenv_read(text, &p->cli->arena, SPEC_PARAMS_MAX, pairs, &count, p->cli->why);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++)
        e = add(p, &(struct spec_given){.name = pairs[i].name, .value = pairs[i].value});
    return e;
}

static enum err tree_add(struct params *p, bool is_json, struct slice text) {
    struct cli *c = p->cli;
    const struct json_node *root = NULL;
    struct spec_given *list = NULL;
    struct limits limits;
    uint32_t count = 0;
    limits_default(&limits);
    enum err e = is_json ? json_tree_read(text, &limits, &c->arena, &root, c->why)
                         : yaml_tree_read(text, &limits, &c->arena, &root, c->why);
    if (e == ERR_OK) e = spec_given_read(root, &c->arena, &list, &count, c->why);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) e = add(p, &list[i]);
    return e;
}

static enum err file_add(struct params *p, const char *path) {
    struct slice text = {0};
    if (*path == 0) return cli_refuse(p->cli, ERR_INVALID, "--param: expected the path of a file after `@`");
    enum err e = file_read(p->cli, path, PARAMS_BYTES_MAX, &text);
    if (e != ERR_OK || text.len == 0) return e;
    e = is_dotenv(path) ? dotenv_add(p, text) : tree_add(p, ends_with(path, ".json"), text);
    return e == ERR_OK ? e : why_wrap(p->cli->why, e, "%s", strcmp(path, "-") == 0 ? "stdin" : path);
}

/* ---- flags ---- */

/* VALUE, @FILE for what is in a file (but for the line break at its end), @@VALUE for what begins with an @. */
static enum err value_of(struct params *p, const char *value, struct slice *ret) {
    *ret = slice_str(value[0] == '@' && value[1] == '@' ? value + 1 : value);
    if (value[0] != '@' || value[1] == '@') return ERR_OK;
    enum err e = file_read(p->cli, value + 1, PARAMS_BYTES_MAX, ret);
    if (e == ERR_OK && ret->len > 0 && ret->ptr[ret->len - 1] == '\n') ret->len--;
    return e;
}

static enum err pair_add(struct params *p, const char *given) {
    const char *equals = strchr(given, '=');
    struct spec_given one = {0};
    if (equals == NULL || equals == given)
        return cli_refuse(p->cli, ERR_INVALID, "--param: expected NAME=VALUE, NAME=@FILE or @FILE, found `%s`", given);
    one.name = slice_of(given, (size_t)(equals - given));
    enum err e = value_of(p, equals + 1, &one.value);
    return e == ERR_OK ? add(p, &one) : e;
}

enum err params_read(struct cli *c, struct params *ret) {
    const char *value;
    enum err e = ERR_OK;
    ret->cli = c;
    ret->count = 0;
    for (uint32_t at = 0; e == ERR_OK && (value = cli_flag_next(c, "params", &at)) != NULL;) e = file_add(ret, value);
    for (uint32_t at = 0; e == ERR_OK && (value = cli_flag_next(c, "param", &at)) != NULL;)
        if (value[0] == '@') e = file_add(ret, value + 1);
    for (uint32_t at = 0; e == ERR_OK && (value = cli_flag_next(c, "param", &at)) != NULL;)
        if (value[0] != '@') e = pair_add(ret, value);
    return e;
}

/* ---- the environment ---- */

static const char *variable(struct slice name, bool is_param) {
    char text[sizeof VARIABLE_PREFIX + 256];
    size_t len = is_param ? sizeof VARIABLE_PREFIX - 1 : 0;
    if (len + name.len >= sizeof text || name.len == 0) return NULL;
    memcpy(text, VARIABLE_PREFIX, len);
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        if (is_param && c >= 'a' && c <= 'z') c ^= 0x20;
        text[len++] = is_param && c == '-' ? '_' : (char)c;
    }
    text[len] = 0;
    return getenv(text);
}

bool params_from_environment(struct params *p, struct slice name, struct slice env, struct slice *ret) {
    const char *value = variable(name, true);
    if (value == NULL && cli_flag(p->cli, "allow-env") != NULL) value = variable(env, false);
    if (value == NULL || p->count == SPEC_PARAMS_MAX) return false;
    *ret = slice_str(value);
    p->given[p->count++] = (struct spec_given){.name = name, .value = *ret};
    return true;
}

/* ---- to be kept ---- */

struct slice params_json(const struct params *p) {
    struct buf text;
    struct json j;
    if (p->count == 0) return (struct slice){0};
    buf_init(&text, WIRE_BODY_MAX);
    json_init(&j, &text);
    json_object(&j);
    for (uint32_t i = 0; i < p->count; i++) {
        json_key_slice(&j, p->given[i].name);
        if (p->given[i].is_json)
            json_raw(&j, p->given[i].value);
        else
            json_text(&j, p->given[i].value);
    }
    json_object_end(&j);
    struct slice ret = arena_slice(&p->cli->arena, buf_slice(&text));
    buf_fini(&text);
    return ret;
}
