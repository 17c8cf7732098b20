/* verb_context.c: `reeve context`: servers by name. A token comes from a file or from standard input, never from the
 * command line, where others see it; and no verb prints one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "api_print.h"
#include "context.h"
#include "out.h"
#include "server_address.h"
#include "server_choice.h"
#include "verbs.h"
#include "yaml_print.h"

#define PIN_DIGITS 64u
#define PRINT_BYTES_MAX ((size_t)64 << 20)

/* ---- printing ---- */

/* All but the token. */
struct context_view {
    struct slice name, server, tls_ca, tls_pin, tls_cert;
    bool has_token, used;
};

static const struct tlv_field view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, context_view, name),     TLV_FIELD(2, TLV_TEXT, context_view, server),
    TLV_FIELD(3, TLV_TEXT, context_view, tls_ca),   TLV_FIELD(4, TLV_TEXT, context_view, tls_pin),
    TLV_FIELD(5, TLV_TEXT, context_view, tls_cert), TLV_FIELD(6, TLV_BOOL, context_view, has_token),
    TLV_FIELD(7, TLV_BOOL, context_view, used),
};
static const struct tlv_desc view_desc = TLV_DESC("context", context_view, view_fields);

static struct context_view view_of(const struct context *v, struct slice used) {
    return (struct context_view){.name = v->name,
                                 .server = v->server,
                                 .tls_ca = v->tls_ca,
                                 .tls_pin = v->tls_pin,
                                 .tls_cert = v->tls_cert,
                                 .has_token = v->token.len > 0,
                                 .used = used.len > 0 && slice_eq(v->name, used)};
}

/* What became of one: a line for people, its object for programs. */
static void tell(struct cli *c, const struct context *v, struct slice used, const char *what) {
    struct context_view shown = view_of(v, used);
    if (c->json)
        api_print_line(c, &view_desc, &shown);
    else
        out_say(stdout, "%.*s%s%s", SLICE_FMT(v->name), v->name.len > 0 ? " " : "", what);
}

/* ---- add ---- */

static enum err check_name(struct cli *c, const char *name) {
    size_t len = strlen(name);
    bool good = len > 0 && len <= CONTEXT_NAME_MAX && name[0] != '-' && name[0] != '.';
    for (size_t i = 0; i < len; i++) {
        bool letter = (name[i] | 32) >= 'a' && (name[i] | 32) <= 'z', digit = name[i] >= '0' && name[i] <= '9';
        good &= letter || digit || strchr("-_.", name[i]) != NULL;
    }
    if (good) return ERR_OK;
    return cli_refuse(c, ERR_INVALID, "`%s` cannot name a context: use up to %u letters, digits, `-`, `_` and `.`",
                      name, CONTEXT_NAME_MAX);
}

/* A terminal does not show what is typed. */
static void read_hidden(char *text, size_t size) {
    struct termios shown, hidden;
    bool hides = tcgetattr(STDIN_FILENO, &shown) == 0;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    if (hides) fprintf(stderr, "token: ");
    if (hides) (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    if (fgets(text, (int)size, stdin) == NULL) text[0] = 0;
    if (hides) (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    if (hides) fprintf(stderr, "\n");
}

/* What was given is not repeated: it may be the token itself. */
static enum err read_token(struct cli *c, struct slice *ret) {
    const char *from = cli_flag(c, "token");
    char *text = arena_alloc(&c->arena, CONTEXT_TOKEN_MAX + 2);
    if (from == NULL) return ERR_OK;
    if (strcmp(from, "-") == 0) {
        read_hidden(text, CONTEXT_TOKEN_MAX + 2);
    } else {
        FILE *f = fopen(from, "re");
        if (f == NULL)
            return cli_refuse(c, ERR_NOT_FOUND,
                              "--token: cannot read that file: %s; expected a file with the token, or - for standard "
                              "input (others see the arguments of a command)",
                              strerrordesc_np(errno));
        if (fgets(text, CONTEXT_TOKEN_MAX + 2, f) == NULL) text[0] = 0;
        fclose(f);
    }
    text[strcspn(text, "\r\n")] = 0;
    size_t len = strlen(text);
    bool good = len > 0 && len <= CONTEXT_TOKEN_MAX;
    for (size_t i = 0; i < len; i++) good &= text[i] > ' ' && text[i] < 127;
    *ret = slice_of(text, len);
    return good ? ERR_OK : cli_refuse(c, ERR_INVALID, "--token: the first line is not a token");
}

/* A file is found from any folder later. */
static enum err read_path(struct cli *c, const char *flag, struct slice *ret) {
    const char *given = cli_flag(c, flag);
    char *path = arena_alloc(&c->arena, PATH_MAX);
    if (given == NULL) return ERR_OK;
    if (realpath(given, path) == NULL)
        return cli_refuse(c, ERR_NOT_FOUND, "--%s: %s: %s", flag, given, strerrordesc_np(errno));
    *ret = slice_str(path);
    return ERR_OK;
}

static enum err read_pin(struct cli *c, struct slice *ret) {
    *ret = cli_flag_text(c, "tls-pin");
    size_t digits = 0;
    for (size_t i = 0; i < ret->len; i++) {
        bool is_digit = strchr("0123456789abcdefABCDEF", ret->ptr[i]) != NULL;
        if (!is_digit && ret->ptr[i] != ':') digits = PIN_DIGITS + 1;
        digits += is_digit;
    }
    if (ret->ptr == NULL || digits == PIN_DIGITS) return ERR_OK;
    return cli_refuse(c, ERR_INVALID, "--tls-pin: expected a SHA-256 (%u hexadecimal digits), found `%.*s`", PIN_DIGITS,
                      SLICE_FMT(*ret));
}

struct context_edit {
    struct cli *c;
    struct slice name;
    struct context context; /* to be added; else the one of that name */
    struct slice used;      /* afterwards */
    bool was_there, was_used;
};

static enum err add(void *ctx, struct contexts *all, struct why *why) {
    struct context_edit *x = ctx;
    struct context *old = context_find(all, x->name);
    x->was_there = old != NULL;
    x->used = all->used;
    if (old != NULL) {
        *old = x->context;
        return ERR_OK;
    }
    if (all->contexts.count == CONTEXTS_MAX)
        return why_set(why, ERR_LIMIT, "there are %u contexts already", CONTEXTS_MAX);
    struct context *list = ARENA_ARRAY(&x->c->arena, struct context, all->contexts.count + 1);
    if (all->contexts.count > 0) memcpy(list, all->contexts.at, all->contexts.count * sizeof *list);
    list[all->contexts.count] = x->context;
    all->contexts = (struct tlv_list){list, all->contexts.count + 1};
    return ERR_OK;
}

enum err verb_context_add(struct cli *c) {
    const char *server = cli_flag(c, "server");
    char *address = arena_alloc(&c->arena, SERVER_ADDRESS_BYTES_MAX);
    struct context_edit x = {.c = c, .name = slice_str(c->args[0])};
    enum err e = check_name(c, c->args[0]);
    if (e == ERR_OK && server == NULL)
        e = cli_refuse(c, ERR_INVALID, "--server is missing: a context is a server, like --server tls://HOST");
    if (e == ERR_OK) e = server_address_read(server, address, c->why);
    if (e != ERR_OK) return e;
    x.context = (struct context){.name = x.name, .server = slice_str(address)};
    e = read_path(c, "tls-ca", &x.context.tls_ca);
    if (e == ERR_OK) e = read_path(c, "tls-cert", &x.context.tls_cert);
    if (e == ERR_OK) e = read_pin(c, &x.context.tls_pin);
    if (e == ERR_OK) e = read_token(c, &x.context.token);
    if (e == ERR_OK) e = contexts_change(&c->arena, add, &x, c->why);
    if (e != ERR_OK) return e;
    tell(c, &x.context, x.used, x.was_there ? "replaced" : "added");
    if (c->is_terminal && !x.was_there && !c->json)
        fprintf(stderr, "`reeve context use %s` puts it to use\n", c->args[0]);
    return ERR_OK;
}

/* ---- use, rm ---- */

static enum err use(void *ctx, struct contexts *all, struct why *why) {
    struct context_edit *x = ctx;
    struct context *found;
    enum err e = x->name.len > 0 ? context_need(all, x->name, &found, why) : ERR_OK;
    if (e != ERR_OK) return e;
    if (x->name.len > 0) x->context = *found;
    all->used = x->used = x->name;
    return ERR_OK;
}

enum err verb_context_use(struct cli *c) {
    bool none = cli_flag(c, "none") != NULL;
    if (none + c->arg_count != 1) return cli_refuse(c, ERR_INVALID, "expected one of NAME and --none");
    struct context_edit x = {.c = c, .name = none ? (struct slice){0} : slice_str(c->args[0])};
    enum err e = contexts_change(&c->arena, use, &x, c->why);
    if (e != ERR_OK) return e;
    tell(c, &x.context, x.used, none ? "no context is in use" : "in use");
    const char *nearer = none ? NULL : server_choice_nearer(c);
    if (nearer != NULL) out_say(stderr, "reeve context use: in this folder %s comes first", nearer);
    return ERR_OK;
}

static enum err rm(void *ctx, struct contexts *all, struct why *why) {
    struct context_edit *x = ctx;
    struct context *old, *list = all->contexts.at;
    enum err e = context_need(all, x->name, &old, why);
    if (e != ERR_OK) return e;
    x->context = *old;
    size_t at = (size_t)(old - list);
    memmove(old, old + 1, (--all->contexts.count - at) * sizeof *list);
    x->was_used = slice_eq(all->used, x->name);
    if (x->was_used) all->used = (struct slice){0};
    x->used = all->used;
    return ERR_OK;
}

enum err verb_context_rm(struct cli *c) {
    struct context_edit x = {.c = c, .name = slice_str(c->args[0])};
    enum err e = contexts_change(&c->arena, rm, &x, c->why);
    if (e == ERR_OK) tell(c, &x.context, x.used, x.was_used ? "removed; no context is in use now" : "removed");
    return e;
}

/* ---- ls ---- */

static void print_lines(struct cli *c, const struct contexts *all) {
    for (uint32_t i = 0; i < all->contexts.count; i++) {
        struct context_view v = view_of((const struct context *)all->contexts.at + i, all->used);
        if (c->format == CLI_FORMAT_NAME)
            out_say(stdout, "%.*s", SLICE_FMT(v.name));
        else
            api_print_line(c, &view_desc, &v);
    }
}

static void print_object(struct cli *c, const struct contexts *all) {
    struct buf out;
    struct json j;
    buf_init(&out, PRINT_BYTES_MAX);
    json_init(&j, &out);
    json_object(&j);
    json_key(&j, "contexts");
    json_array(&j);
    for (uint32_t i = 0; i < all->contexts.count; i++) {
        struct context_view v = view_of((const struct context *)all->contexts.at + i, all->used);
        api_print_put(&j, &view_desc, &v);
    }
    json_array_end(&j);
    json_object_end(&j);
    if (c->format == CLI_FORMAT_YAML)
        (void)yaml_print(buf_slice(&out), &c->arena); /* it is neither large nor deep */
    else
        printf("%.*s\n", SLICE_FMT(buf_slice(&out)));
    buf_fini(&out);
}

static void print_table(struct cli *c, const struct contexts *all) {
    static const char *const heads[] = {"NAME", "SERVER", "USED", "TOKEN", "CERTIFICATE"};
    struct out_table t;
    out_table_init(&t, c, 5, heads);
    for (uint32_t i = 0; i < all->contexts.count; i++) {
        struct context_view v = view_of((const struct context *)all->contexts.at + i, all->used);
        out_slice(&t, OUT_BOLD, v.name);
        out_slice(&t, OUT_PLAIN, v.server);
        out_slice(&t, OUT_GREEN, v.used ? SLICE("yes") : SLICE("-"));
        out_slice(&t, OUT_PLAIN, v.has_token ? SLICE("yes") : SLICE("-"));
        out_slice(&t, OUT_PLAIN, v.tls_pin.len > 0 ? v.tls_pin : v.tls_ca);
    }
    out_table_end(&t);
}

enum err verb_context_ls(struct cli *c) {
    struct contexts all;
    enum err e = contexts_read(&c->arena, &all, c->why);
    if (e != ERR_OK) return e;
    if (c->format == CLI_FORMAT_NAME || c->format == CLI_FORMAT_JSONL)
        print_lines(c, &all);
    else if (c->json)
        print_object(c, &all);
    else
        print_table(c, &all);
    return ERR_OK;
}
