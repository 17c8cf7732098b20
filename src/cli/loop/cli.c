/* cli.c: see cli.h. From arguments to a verb and its flags. */
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "named.h"
#include "out.h"
#include "server_choice.h"
#include "spec_value.h"
#include "verbs.h"

#define ARENA_BYTES_MAX ((size_t)4 << 30)
#define RECONNECT_MS 100 /* between two looks for a server that is gone */

enum err cli_refuse(struct cli *c, enum err e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)why_vset(c->why, e, format, args);
    va_end(args);
    return e;
}

/* ---- what was given ---- */

const char *cli_flag_next(const struct cli *c, const char *name, uint32_t *at) {
    while (*at < c->given_count) {
        uint32_t i = (*at)++;
        if (strcmp(c->given[i].flag->name, name) == 0) return c->given[i].value;
    }
    return NULL;
}

const char *cli_flag(const struct cli *c, const char *name) {
    const char *last = NULL, *value;
    for (uint32_t at = 0; (value = cli_flag_next(c, name, &at)) != NULL;) last = value;
    return last;
}

struct slice cli_flag_text(const struct cli *c, const char *name) {
    const char *value = cli_flag(c, name);
    return value != NULL ? slice_str(value) : (struct slice){0};
}

enum err cli_flag_number(const struct cli *c, const char *name, uint64_t most, uint64_t *ret) {
    const char *value = cli_flag(c, name);
    int64_t v = 0;
    if (value == NULL) return ERR_OK;
    if (!spec_number(slice_str(value), &v) || v < 0 || (uint64_t)v > most)
        return why_set(c->why, ERR_INVALID, "--%s: expected a number from 0 to %llu, found `%s`", name,
                       (unsigned long long)most, value);
    *ret = (uint64_t)v;
    return ERR_OK;
}

enum err cli_flag_duration(const struct cli *c, const char *name, int64_t *ret_ms) {
    const char *value = cli_flag(c, name);
    if (value == NULL || spec_duration(slice_str(value), ret_ms)) return ERR_OK;
    return why_set(c->why, ERR_INVALID, "--%s: expected a duration like 90s or 1h30m, found `%s`", name, value);
}

struct tlv_list cli_names(struct cli *c, int from) {
    uint32_t count = c->arg_count > from ? (uint32_t)(c->arg_count - from) : 0;
    struct wire_name *list = ARENA_ARRAY(&c->arena, struct wire_name, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i].name = slice_str(c->args[from + (int)i]);
    return (struct tlv_list){list, count};
}

struct tlv_list cli_flag_names(struct cli *c, const char *name) {
    struct wire_name *names = ARENA_ARRAY(&c->arena, struct wire_name, CLI_GIVEN_MAX);
    const char *value;
    uint32_t count = 0;
    for (uint32_t at = 0; (value = cli_flag_next(c, name, &at)) != NULL;) names[count++].name = slice_str(value);
    return (struct tlv_list){names, count};
}

enum err cli_flag_moment(const struct cli *c, const char *name, int64_t *ret_ms) {
    static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
                                          "%Y-%m-%d"};
    const char *value = cli_flag(c, name);
    int64_t ago = 0;
    if (value == NULL) return ERR_OK;
    if (spec_duration(slice_str(value), &ago)) {
        *ret_ms = c->world->clock->wall(c->world->clock).ms - ago;
        return ERR_OK;
    }
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct tm parts = {.tm_isdst = -1};
        const char *end = strptime(value, formats[i], &parts);
        if (end == NULL || *end != 0) continue;
        *ret_ms = (int64_t)mktime(&parts) * 1000;
        return ERR_OK;
    }
    return why_set(c->why, ERR_INVALID,
                   "--%s: expected a duration like 90s or 7d, or a time like 2026-01-31T18:00, found `%s`", name,
                   value);
}

enum err cli_pairs(struct cli *c, const char *flag, struct tlv_list *ret) {
    struct wire_pair *list = ARENA_ARRAY(&c->arena, struct wire_pair, CLI_GIVEN_MAX);
    const char *value;
    uint32_t count = 0;
    for (uint32_t at = 0; (value = cli_flag_next(c, flag, &at)) != NULL;) {
        const char *equals = strchr(value, '=');
        if (equals == NULL || equals == value)
            return cli_refuse(c, ERR_INVALID, "--%s: expected NAME=VALUE, found `%s`", flag, value);
        list[count++] = (struct wire_pair){slice_of(value, (size_t)(equals - value)), slice_str(equals + 1)};
    }
    *ret = (struct tlv_list){list, count};
    return ERR_OK;
}

/* ---- parsing ---- */

/* How many of the arguments the words of a verb take; 0 = it is another verb. */
static int words_match(const char *words, int argc, char **argv) {
    int count = 0;
    for (const char *at = words; *at != 0; count++) {
        const char *end = strchrnul(at, ' ');
        size_t len = (size_t)(end - at);
        if (count >= argc || strlen(argv[count]) != len || strncmp(argv[count], at, len) != 0) return 0;
        at = *end != 0 ? end + 1 : end;
    }
    return count;
}

const struct cli_verb *cli_verb_find(int argc, char **argv, int *ret_words) {
    const struct cli_verb *best = NULL;
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        int words = words_match(cli_verbs[i].words, argc, argv);
        if (words == 0 || (best != NULL && words <= *ret_words)) continue;
        best = &cli_verbs[i];
        *ret_words = words;
    }
    return best;
}

static const struct cli_flag *flag_in(const struct cli_flag *flags, const char *name, size_t len, char letter) {
    for (const struct cli_flag *f = flags; f != NULL && f->name != NULL; f++) {
        if (letter != 0 && f->letter == letter) return f;
        if (letter == 0 && strlen(f->name) == len && strncmp(f->name, name, len) == 0) return f;
    }
    return NULL;
}

static enum err flag_unknown(struct cli *c, const char *given, const char *name, size_t len) {
    const struct cli_flag *lists[] = {c->verb->flags, cli_common_flags};
    for (size_t i = 0; i < 2 && len > 1; i++)
        for (const struct cli_flag *f = lists[i]; f != NULL && f->name != NULL; f++)
            if (spec_is_near(slice_of(name, len), slice_str(f->name)))
                return cli_refuse(c, ERR_INVALID, "there is no flag %s; did you mean --%s?", given, f->name);
    return cli_refuse(c, ERR_INVALID, "there is no flag %s; `reeve help %s` lists them", given, c->verb->words);
}

/* --name, --name=value, --name value, -x, -x value. Returns through *i how far it read. */
static enum err flag_parse(struct cli *c, int argc, char **argv, int *i) {
    const char *given = argv[*i], *value = NULL;
    bool is_long = given[1] == '-';
    const char *name = given + (is_long ? 2 : 1), *equals = is_long ? strchr(name, '=') : NULL;
    size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct cli_flag *f = NULL;
    if (is_long || len == 1) f = flag_in(c->verb->flags, name, len, is_long ? 0 : name[0]);
    if (f == NULL && (is_long || len == 1)) f = flag_in(cli_common_flags, name, len, is_long ? 0 : name[0]);
    if (f == NULL) return flag_unknown(c, given, name, len);
    if (f->value == NULL && equals != NULL) return cli_refuse(c, ERR_INVALID, "--%s takes no value", f->name);
    if (f->value != NULL) {
        value = equals != NULL ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (value == NULL) return cli_refuse(c, ERR_INVALID, "--%s needs a value: --%s %s", f->name, f->name, f->value);
    }
    if (c->given_count == CLI_GIVEN_MAX) return cli_refuse(c, ERR_LIMIT, "too many flags");
    c->given[c->given_count].flag = f;
    c->given[c->given_count++].value = value != NULL ? value : "";
    return ERR_OK;
}

/* Flags and arguments may be mixed; after `--` everything is an argument. The first argument of `run` ends the flags
 * too: what follows is the command's. */
static enum err args_parse(struct cli *c, int argc, char **argv) {
    bool only_args = false, is_command = strcmp(c->verb->words, "run") == 0;
    c->args = argv;
    for (int i = 0; i < argc; i++) {
        bool is_flag = !only_args && argv[i][0] == '-' && argv[i][1] != 0;
        if (is_flag && strcmp(argv[i], "--") == 0) {
            only_args = true;
        } else if (is_flag) {
            enum err e = flag_parse(c, argc, argv, &i);
            if (e != ERR_OK) return e;
        } else {
            argv[c->arg_count++] = argv[i];
            only_args = only_args || is_command;
        }
    }
    if (c->arg_count < c->verb->args_least)
        return cli_refuse(c, ERR_INVALID, "expected %s; see `reeve help %s`", c->verb->args, c->verb->words);
    if (c->verb->args_most != 255 && c->arg_count > c->verb->args_most)
        return cli_refuse(c, ERR_INVALID, "unexpected argument `%s`; see `reeve help %s`", c->args[c->verb->args_most],
                          c->verb->words);
    return ERR_OK;
}

/* ---- running ---- */

enum err cli_connect(struct cli *c) {
    const struct client_place *where;
    enum err e = server_choice(c, &where, c->why);
    if (e != ERR_OK) return e;
    struct client_place place = *where;
    place.agent = c->is_agent;
    e = client_open(&c->client, &place, c->why);
    if (e == ERR_UNKNOWN && where->server == NULL) server_choice_explain(c, c->why);
    return e;
}

bool cli_is_back(struct cli *c, enum err e, const volatile sig_atomic_t *stop) {
    if (e == ERR_OK || !c->client.is_lost) return false;
    if (!c->json) fprintf(stderr, "reeve %s: connection lost; waiting for the server\n", c->verb->words);
    int64_t until_ms = c->world->clock->mono(c->world->clock).ms + CLIENT_PATIENCE_MS;
    client_close(&c->client);
    do {
        (void)poll(NULL, 0, RECONNECT_MS);
        if (stop != NULL && *stop) return false;
        e = cli_connect(c);
    } while (e == ERR_UNKNOWN && c->world->clock->mono(c->world->clock).ms < until_ms);
    return e == ERR_OK;
}

/* ---- the connection of a shell, lent to its verbs ---- */

static enum err borrow(struct cli *c) {
    struct client *kept = &c->host->client;
    enum err e = ERR_OK;
    if (!client_is_alive(kept)) {
        client_close(kept);
        e = cli_connect(c);
    } else {
        c->client = *kept;
        kept->fd = -1;
    }
    return e;
}

/* What still answers an earlier verb is of no use to the next one. */
static void give_back(struct cli *c) {
    if (c->client.fd >= 0 && c->client.open_requests > 0) client_close(&c->client);
    if (c->client.fd >= 0) client_forget(&c->client);
    c->host->client = c->client;
}

static enum err read_format(struct cli *c) {
    static const char *const words[] = {"table", "wide", "json", "jsonl", "yaml", "name"};
    bool is_own = flag_in(c->verb->flags, "format", 6, 0) != NULL; /* it means something else */
    const char *given = is_own ? NULL : cli_flag(c, "format");
    uint32_t i = 0;
    c->format = c->host != NULL ? c->host->format : CLI_FORMAT_TABLE;
    if (cli_flag(c, "json") != NULL) c->format = CLI_FORMAT_JSON;
    while (given != NULL && i < sizeof words / sizeof *words && strcmp(words[i], given) != 0) i++;
    if (given != NULL && i == sizeof words / sizeof *words)
        return cli_refuse(c, ERR_INVALID, "--format: expected table, wide, json, jsonl, yaml or name, found `%s`",
                          given);
    if (given != NULL) c->format = (enum cli_format)i;
    c->json = c->format > CLI_FORMAT_WIDE;
    return ERR_OK;
}

/* Of words that could not be read: in which form their refusal is told. */
static bool asks_for_json(const struct cli *c, int argc, char **argv) {
    bool found = cli_flag(c, "json") != NULL || (c->host != NULL && c->host->json);
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) found |= strcmp(argv[i], "--json") == 0;
    return found;
}

static void look_at_terminal(struct cli *c) {
    const char *when = cli_flag(c, "color"), *none = getenv("NO_COLOR");
    if (when == NULL && c->host != NULL) when = cli_flag(c->host, "color");
    c->is_terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    c->colour = isatty(STDOUT_FILENO) && (none == NULL || none[0] == 0);
    if (when != NULL) c->colour = strcmp(when, "always") == 0;
}

/* A file that is not there is told before a server that is not. */
static enum err check_file(struct cli *c) {
    const char *file = strstr(c->verb->args, "FILE");
    bool is_first = file == c->verb->args;
    if (file == NULL || c->arg_count == 0) return ERR_OK;
    const char *path = c->args[is_first ? 0 : c->arg_count - 1];
    if (strcmp(path, "-") == 0 || access(path, F_OK) == 0) return ERR_OK;
    return cli_refuse(c, ERR_NOT_FOUND, "%s: %s", path, strerrordesc_np(errno));
}

static enum err verb_run(struct cli *c, int argc, char **argv) {
    enum err e = args_parse(c, argc, argv);
    if (cli_flag(c, "help") != NULL) {
        cli_help(c->verb, c->world->build);
        return ERR_OK;
    }
    if (e == ERR_OK)
        e = read_format(c);
    else
        c->json = asks_for_json(c, argc, argv);
    if (e != ERR_OK) return e;
    look_at_terminal(c);
    e = check_file(c);
    if (e != ERR_OK) return e;
    bool only_reads = c->verb->run == verb_submit && cli_flag(c, "dry-run") != NULL; /* a file */
    bool needs_server = !c->verb->offline && !only_reads;
    bool borrows = needs_server && c->host != NULL && !server_choice_is_own(c);
    if (needs_server) e = borrows ? borrow(c) : cli_connect(c);
    if (e == ERR_OK && c->is_terminal && c->client.fd >= 0 && strcmp(c->client.server_build, c->world->build) != 0)
        fprintf(stderr, "reeve: the server runs %s, this is %s\n", c->client.server_build, c->world->build);
    if (e == ERR_OK && c->client.fd >= 0) e = named_arguments(c);
    if (e == ERR_OK) e = c->verb->run(c);
    if (borrows)
        give_back(c);
    else
        client_close(&c->client);
    return e;
}

/* What to do about an error that the server tells in the same words to everybody. */
static const struct {
    const char *begins, *hint;
} hints[] = {
    {"there is no flow ", "`reeve ls` lists flows"},
    {"there is no schedule ", "`reeve schedule ls` lists schedules"},
    {"there is no service ", "`reeve services` lists services"},
    {"there is no worker ", "`reeve workers` lists workers"},
};

/* A message about a job that is not there names its flow: "flow f1a has no job x". */
static const char *hint_job(const char *text, char *ret, size_t size) {
    size_t len = strncmp(text, "flow ", 5) == 0 ? strcspn(text + 5, " ") : 0;
    if (len == 0 || strncmp(text + 5 + len, " has no job ", 12) != 0) return NULL;
    snprintf(ret, size, "`reeve ls %.*s` lists its jobs", (int)len, text + 5);
    return ret;
}

static const char *hint_for(const char *text) {
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        size_t len = strlen(hints[i].begins);
        /* Only when the name ends the sentence: what says more says what to do, too. */
        if (strncmp(text, hints[i].begins, len) == 0 && strchr(text + len, ' ') == NULL) return hints[i].hint;
    }
    return NULL;
}

static void say_error(const struct cli *c, enum err e) {
    const char *text = c->why->text[0] != 0 ? c->why->text : err_meaning(e), *hint = hint_for(text);
    char of_job[128];
    if (hint == NULL) hint = hint_job(text, of_job, sizeof of_job);
    if (!c->json) {
        out_say(stderr, "reeve %s: %s%s%s", c->verb->words, text, hint != NULL ? "; " : "", hint != NULL ? hint : "");
        return;
    }
    struct buf out;
    struct json j;
    buf_init(&out, 4096);
    json_init(&j, &out);
    (void)api_error(&j, e, 0, slice_str(text), NULL, 0);
    fprintf(stderr, "%.*s\n", (int)out.len, (const char *)out.at);
    buf_fini(&out);
}

/* `schedule` alone: what may follow it. */
static bool names_group(const char *word) {
    size_t len = strlen(word);
    const char *before = "";
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        if (strncmp(cli_verbs[i].words, word, len) != 0 || cli_verbs[i].words[len] != ' ') continue;
        if (*before == 0) fprintf(stderr, "reeve: `%s` is the beginning of several verbs: ", word);
        fprintf(stderr, "%s%s", before, cli_verbs[i].words + len + 1);
        before = ", ";
    }
    if (*before != 0) fprintf(stderr, "; see `reeve help %s`\n", word);
    return *before != 0;
}

static int unknown_verb(int argc, char **argv) {
    if (argc > 0 && names_group(argv[0])) return err_exit_code(ERR_INVALID);
    for (uint32_t i = 0; argc > 0 && i < cli_verb_count; i++)
        if (spec_is_near(slice_str(argv[0]), slice_str(cli_verbs[i].words))) {
            fprintf(stderr, "reeve: there is no verb `%s`; did you mean `%s`?\n", argv[0], cli_verbs[i].words);
            return err_exit_code(ERR_INVALID);
        }
    if (argc > 0) fprintf(stderr, "reeve: there is no verb `%s`; `reeve help --all` lists them\n", argv[0]);
    return err_exit_code(ERR_INVALID);
}

/* Verbs outside that have settings list them; of certificates and the journal the table says all there is. */
static bool wants_table_help(const struct cli_verb *verb, int count, char **args) {
    bool wants = false;
    for (int i = 0; i < count; i++) wants |= strcmp(args[i], "--help") == 0 || strcmp(args[i], "-h") == 0;
    return wants && verb->outside >= CLI_CERT_INIT && verb->outside <= CLI_JOURNAL_COMPACT;
}

int cli_run(const struct cli_world *world, struct cli *host, int argc, char **argv) {
    struct cli c;
    struct why why = {{0}};
    int words = 0;
    const struct cli_verb *verb = cli_verb_find(argc, argv, &words);
    if (verb == NULL) return unknown_verb(argc, argv);
    c = (struct cli){.world = world, .host = host, .verb = verb, .why = &why, .client = {.fd = -1}};
    arena_init(&c.arena, 65536, ARENA_BYTES_MAX);
    enum err e = ERR_UNSUPPORTED;
    int left = argc - words;
    char **rest = argv + words;
    if (verb->outside == CLI_INSIDE)
        e = verb_run(&c, left, rest);
    else if (wants_table_help(verb, left, rest))
        cli_help(verb, world->build), e = ERR_OK;
    else if (world->outside[verb->outside] != NULL)
        e = world->outside[verb->outside](left, rest, &why);
    else
        why_set(&why, e, "not supported by this build");
    if (fflush(stdout) != 0 && e == ERR_OK) e = why_set(&why, ERR_IO, "output: %s", strerrordesc_np(errno));
    if (e != ERR_OK) say_error(&c, e);
    arena_fini(&c.arena);
    return e != ERR_OK ? err_exit_code(e) : c.exit_code;
}

int cli_main(const struct cli_world *world, int argc, char **argv) {
    if (argc <= 1 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help(NULL, world->build);
        return argc <= 1 ? err_exit_code(ERR_INVALID) : 0;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("reeve %s%s%s%s\n", world->build, world->commit[0] != 0 ? " (commit " : "", world->commit,
               world->commit[0] != 0 ? ")" : "");
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], CLI_COMPLETE_WORD) == 0) return cli_complete(world, argv[2]);
    return cli_run(world, NULL, argc - 1, argv + 1);
}
