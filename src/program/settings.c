/* settings.c: see settings.h. */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "json.h"
#include "panic.h"
#include "roff.h"

#define WORDS_MAX 8u

enum type { TYPE_TEXT, TYPE_NAME, TYPE_WORD, TYPE_NUMBER };

static const struct {
    const char *name, *standard, *text;
    enum type type;
    const char *words[WORDS_MAX + 1]; /* of a WORD, up to the first NULL */
    int64_t least, most;              /* of a NUMBER */
} table[SETTING_COUNT] = {
#define TYPED_TEXT .type = TYPE_TEXT
#define TYPED_NAME .type = TYPE_NAME
#define TYPED_WORD(...) .type = TYPE_WORD, .words = {__VA_ARGS__}
#define TYPED_FLAG TYPED_WORD("yes", "no")
#define TYPED_NUMBER(least_, most_) .type = TYPE_NUMBER, .least = (least_), .most = (most_)
#define X(name, type, standard, text) {#name, standard, text, TYPED_##type},
    SETTING_TABLE(X)
#undef X
};

static const char *const source_words[] = {"standard", "file", "environment", "flag"};

static bool number_parse(const char *text, int64_t *ret) {
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != 0) return false;
    *ret = v;
    return true;
}

static enum err set_limit(struct settings *s, uint32_t i, const char *value, enum setting_source from,
                          struct why *why) {
    const struct limit_info *info = &limit_table[i];
    int64_t number = 0;
    if (!number_parse(value, &number))
        return why_set(why, ERR_INVALID, "%s: expected a number, found `%s`", info->name, value);
    if (number < info->least || number > info->most)
        return why_set(why, ERR_INVALID, "%s: %lld is not between %lld and %lld %s", info->name, (long long)number,
                       (long long)info->least, (long long)info->most, info->unit);
    *limit_by_name(&s->limits, info->name) = number;
    s->limit_sources[i] = from;
    return ERR_OK;
}

/* ERR_NOT_FOUND: there is no such setting. A source that ranks lower than the present one changes nothing. */
static enum err set(struct settings *s, const char *name, const char *value, enum setting_source from,
                    struct why *why) {
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(name, table[i].name) != 0) continue;
        if (strlen(value) >= SETTING_TEXT_MAX) return why_set(why, ERR_LIMIT, "%s: the value is too long", name);
        if (from < s->own[i].source) return ERR_OK;
        snprintf(s->own[i].value, SETTING_TEXT_MAX, "%s", value);
        s->own[i].source = from;
        return ERR_OK;
    }
    for (uint32_t i = 0; i < limit_count; i++)
        if (strcmp(name, limit_table[i].name) == 0)
            return from < s->limit_sources[i] ? ERR_OK : set_limit(s, i, value, from, why);
    return why_set(why, ERR_NOT_FOUND, "there is no setting %s", name);
}

/* ---- flags and environment ---- */

/* --lease-ms as lease_ms. */
static bool flag_name(const char *flag, char name[64]) {
    if (strncmp(flag, "--", 2) != 0 || strlen(flag) - 2 >= 64 || flag[2] == 0) return false;
    size_t i = 0;
    for (const char *c = flag + 2; *c != 0; c++) name[i++] = *c == '-' ? '_' : *c;
    name[i] = 0;
    return true;
}

static enum err read_flags(struct settings *s, int count, char **args, struct why *why) {
    for (int i = 0; i < count; i++) {
        char name[64], *value = NULL;
        if (strcmp(args[i], "--json") == 0 || strcmp(args[i], "--help") == 0 || strcmp(args[i], "--man") == 0) {
            *(args[i][2] == 'j' ? &s->json : args[i][2] == 'h' ? &s->help : &s->man) = true;
            continue;
        }
        if (!flag_name(args[i], name))
            return why_set(why, ERR_INVALID, "unexpected argument `%s`: flags begin with two dashes", args[i]);
        char *equals = strchr(name, '=');
        if (equals != NULL) {
            *equals = 0;
            value = strchr(args[i], '=') + 1;
        } else if (i + 1 < count) {
            value = args[++i];
        }
        if (value == NULL) return why_set(why, ERR_INVALID, "%s needs a value", args[i]);
        enum err e = set(s, name, value, FROM_FLAG, why);
        if (e == ERR_NOT_FOUND)
            return why_set(why, ERR_INVALID, "there is no flag %s; `reeve serve --help` lists the settings",
                           args[i - (equals == NULL)]);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

static enum err read_variable(struct settings *s, const char *name, struct why *why) {
    char variable[80] = "REEVE_";
    size_t at = strlen(variable);
    for (const char *c = name; *c != 0; c++) variable[at++] = (char)toupper((unsigned char)*c);
    variable[at] = 0;
    const char *value = getenv(variable);
    if (value == NULL || value[0] == 0) return ERR_OK;
    enum err e = set(s, name, value, FROM_ENVIRONMENT, why);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "%s", variable);
}

static enum err read_environment(struct settings *s, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < SETTING_COUNT; i++) e = read_variable(s, table[i].name, why);
    for (uint32_t i = 0; e == ERR_OK && i < limit_count; i++) e = read_variable(s, limit_table[i].name, why);
    return e;
}

/* ---- the file: one mapping of names to values ---- */

struct settings_reader {
    yaml_parser_t parser;
    yaml_event_t event;
    const char *path;
};

static enum err refuse(struct settings_reader *r, struct why *why, const char *text) {
    return why_set(why, ERR_INVALID, "%s:%zu:%zu: %s", r->path, r->event.start_mark.line + 1,
                   r->event.start_mark.column + 1, text);
}

static enum err next(struct settings_reader *r, struct why *why) {
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event)) return ERR_OK;
    return why_set(why, ERR_INVALID, "%s:%zu:%zu: %s", r->path, r->parser.problem_mark.line + 1,
                   r->parser.problem_mark.column + 1, r->parser.problem ? r->parser.problem : "not YAML");
}

static enum err read_pair(struct settings_reader *r, struct settings *s, struct why *why) {
    char name[64];
    if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.length >= sizeof name)
        return refuse(r, why, "expected the name of a setting");
    snprintf(name, sizeof name, "%s", (const char *)r->event.data.scalar.value);
    enum err e = next(r, why);
    if (e != ERR_OK) return e;
    if (r->event.type != YAML_SCALAR_EVENT) return refuse(r, why, "expected one value");
    struct why inner = {{0}};
    e = set(s, name, (const char *)r->event.data.scalar.value, FROM_FILE, &inner);
    return e == ERR_OK ? next(r, why) : refuse(r, why, inner.text);
}

static enum err read_events(struct settings_reader *r, struct settings *s, struct why *why) {
    enum err e = next(r, why);
    while (e == ERR_OK && (r->event.type == YAML_STREAM_START_EVENT || r->event.type == YAML_DOCUMENT_START_EVENT))
        e = next(r, why);
    if (e != ERR_OK || r->event.type == YAML_STREAM_END_EVENT) return e;
    if (r->event.type != YAML_MAPPING_START_EVENT) return refuse(r, why, "settings are lines of the form name: value");
    e = next(r, why);
    while (e == ERR_OK && r->event.type != YAML_MAPPING_END_EVENT) e = read_pair(r, s, why);
    return e;
}

static enum err read_file(struct settings *s, const char *path, bool must, struct why *why) {
    struct settings_reader r = {.path = path};
    FILE *f = fopen(path, "re");
    if (f == NULL && !must && errno == ENOENT) return ERR_OK;
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "%s: %s", path, strerrordesc_np(errno));
    ENSURE(yaml_parser_initialize(&r.parser));
    yaml_parser_set_input_file(&r.parser, f);
    enum err e = read_events(&r, s, why);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    fclose(f);
    snprintf(s->file, sizeof s->file, "%s", path);
    return e;
}

/* ---- the calls ---- */

enum err settings_read(struct settings *s, int count, char **args, struct why *why) {
    memset(s, 0, sizeof *s);
    limits_default(&s->limits);
    REQUIRE(limit_count <= sizeof s->limit_sources / sizeof s->limit_sources[0]);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        s->own[i] = (struct setting){.name = table[i].name, .text = table[i].text};
        snprintf(s->own[i].value, SETTING_TEXT_MAX, "%s", table[i].standard);
    }
    enum err e = read_flags(s, count, args, why);
    if (e == ERR_OK) e = read_environment(s, why);
    if (e != ERR_OK) return e;
    char path[SETTING_TEXT_MAX + 16];
    const char *given = setting_text(s, SETTING_config);
    snprintf(path, sizeof path, "%s/reeve.yaml", setting_text(s, SETTING_data));
    return read_file(s, given[0] != 0 ? given : path, given[0] != 0, why);
}

const char *setting_text(const struct settings *s, enum setting_id id) {
    return s->own[id].value;
}

/* The position of the value among the words, or the number of words. */
static uint32_t word_find(const struct settings *s, uint32_t id) {
    uint32_t i = 0;
    while (table[id].words[i] != NULL && strcmp(table[id].words[i], s->own[id].value) != 0) i++;
    return i;
}

static enum err check_word(const struct settings *s, uint32_t id, struct why *why) {
    const char *const *words = table[id].words, *value = s->own[id].value;
    char list[128] = "";
    if (words[word_find(s, id)] != NULL) return ERR_OK;
    if (words[2] == NULL)
        return why_set(why, ERR_INVALID, "%s: expected %s or %s, found `%s`", table[id].name, words[0], words[1],
                       value);
    for (uint32_t i = 0; words[i] != NULL; i++) {
        size_t len = strlen(list);
        snprintf(list + len, sizeof list - len, "%s%s", i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ", words[i]);
    }
    return why_set(why, ERR_INVALID, "%s: expected %s, found `%s`", table[id].name, list, value);
}

static enum err check_number(const struct settings *s, uint32_t id, struct why *why) {
    int64_t v = 0, least = table[id].least, most = table[id].most;
    if (!number_parse(s->own[id].value, &v))
        return why_set(why, ERR_INVALID, "%s: expected a number, found `%s`", table[id].name, s->own[id].value);
    if (v >= least && v <= most) return ERR_OK;
    return why_set(why, ERR_INVALID, "%s: %lld is not between %lld and %lld", table[id].name, (long long)v,
                   (long long)least, (long long)most);
}

static enum err check(const struct settings *s, uint32_t id, struct why *why) {
    switch (table[id].type) {
    case TYPE_TEXT: return ERR_OK;
    case TYPE_NAME:
        if (s->own[id].value[0] != 0) return ERR_OK;
        return why_set(why, ERR_INVALID, "%s: a name is missing", table[id].name);
    case TYPE_WORD: return check_word(s, id, why);
    case TYPE_NUMBER: return check_number(s, id, why);
    }
    PANIC("a setting of no type");
}

enum err settings_check(const struct settings *s, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < SETTING_COUNT; i++) e = check(s, i, why);
    return e;
}

bool setting_is(const struct settings *s, enum setting_id id) {
    return setting_word(s, id) == 0; /* yes, no */
}

uint32_t setting_word(const struct settings *s, enum setting_id id) {
    uint32_t i = word_find(s, id);
    REQUIRE(table[id].type == TYPE_WORD && table[id].words[i] != NULL);
    return i;
}

int64_t setting_number(const struct settings *s, enum setting_id id) {
    int64_t v = 0;
    REQUIRE(table[id].type == TYPE_NUMBER && number_parse(s->own[id].value, &v));
    return v;
}

static int64_t limit_value(const struct settings *s, uint32_t i) {
    struct limits copy = s->limits;
    return *limit_by_name(&copy, limit_table[i].name);
}

static void print_json(const struct settings *s, FILE *to) {
    struct buf out;
    struct json j;
    buf_init(&out, 1u << 20);
    json_init(&j, &out);
    json_object(&j);
    for (uint32_t i = 0; i < SETTING_COUNT + limit_count; i++) {
        bool own = i < SETTING_COUNT;
        json_key(&j, own ? s->own[i].name : limit_table[i - SETTING_COUNT].name);
        json_object(&j);
        json_key(&j, "value");
        if (own)
            json_str(&j, s->own[i].value);
        else
            json_i64(&j, limit_value(s, i - SETTING_COUNT));
        json_key(&j, "source");
        json_str(&j, source_words[own ? s->own[i].source : s->limit_sources[i - SETTING_COUNT]]);
        json_object_end(&j);
    }
    json_object_end(&j);
    fprintf(to, "%.*s\n", (int)out.len, (const char *)out.at);
    buf_fini(&out);
}

void settings_print(const struct settings *s, FILE *to) {
    if (s->json) {
        print_json(s, to);
        return;
    }
    for (uint32_t i = 0; i < SETTING_COUNT; i++)
        fprintf(to, "%-28s %-24s %s\n", s->own[i].name, s->own[i].value, source_words[s->own[i].source]);
    for (uint32_t i = 0; i < limit_count; i++)
        fprintf(to, "%-28s %-24lld %s\n", limit_table[i].name, (long long)limit_value(s, i),
                source_words[s->limit_sources[i]]);
}

/* lease_ms as --lease-ms: as documents write it. Both are understood. */
static void flag_of(const char *name, char ret[64]) {
    size_t len = 2;
    memcpy(ret, "--", 2);
    for (; *name != 0 && len < 63; name++) ret[len++] = *name == '_' ? '-' : *name;
    ret[len] = 0;
}

void settings_help(FILE *to) {
    char flag[64];
    fprintf(to, "usage: reeve serve [--NAME VALUE]...\n\n"
                "Settings, each also as REEVE_NAME and, with underscores, as a line of the YAML file "
                "(--man prints the manual page):\n\n");
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        flag_of(table[i].name, flag);
        fprintf(to, "  %-28s %s (%s)\n", flag, table[i].text, table[i].standard);
    }
    for (uint32_t i = 0; i < limit_count; i++) {
        flag_of(limit_table[i].name, flag);
        fprintf(to, "  %-28s %s (%lld %s)\n", flag, limit_table[i].reason, (long long)limit_table[i].standard,
                limit_table[i].unit);
    }
}

void settings_man(FILE *to, const char *build) {
    char flag[64], text[512];
    roff_head(to, "reeve-serve", 8, build, "the server: its settings");
    fprintf(to, ".SH SYNOPSIS\n\\fBreeve serve\\fR [\\fB\\-\\-NAME\\fR \\fIVALUE\\fR]...\n.SH DESCRIPTION\n");
    roff_text(to,
              "Runs the server. Each setting is a flag (--lease-ms 5000), a variable (REEVE_LEASE_MS=5000) or a line "
              "of the YAML file (lease_ms: 5000); the first of them that is there has the last word.");
    fprintf(to, "\n.PP\n");
    roff_text(to, "TERM or INT ends it: what is acknowledged is kept. HUP reads the certificates and the identity "
              "providers again.");
    fprintf(to, "\n.SH SETTINGS\n");
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        flag_of(table[i].name, flag);
        snprintf(text, sizeof text, "%s (%s)", table[i].text, table[i].standard[0] != 0 ? table[i].standard : "none");
        roff_item(to, flag, "VALUE", text);
    }
    fprintf(to, ".SH LIMITS\n");
    for (uint32_t i = 0; i < limit_count; i++) {
        flag_of(limit_table[i].name, flag);
        snprintf(text, sizeof text, "%s (%lld %s)", limit_table[i].reason, (long long)limit_table[i].standard,
                 limit_table[i].unit);
        roff_item(to, flag, "N", text);
    }
    fprintf(to, ".SH FILES\n");
    roff_item(to, "DIR/reeve.yaml", NULL, "settings, one `name: value` per line");
    roff_item(to, "DIR/tls/server.pem, DIR/tls/ca.pem", NULL, "certificate and authority, made by `reeve cert init`");
    roff_item(to, "DIR/address", NULL, "the address that it listens on");
    fprintf(to, ".SH SEE ALSO\n.BR reeve (1),\n.BR reeve\\-worker (8)\n");
}
