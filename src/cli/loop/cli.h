/* cli.h: the command line. One table of verbs (verbs.c) gives parsing, help, shell completion and the manual page; each
 * verb is a function that asks the server and prints, for people or with --json for programs.
 *
 * Exit codes: 0 done; 1 what was waited for ended badly; 2 a wrong request; 4 not allowed; 5 not there; 6 not possible
 * now; 7 too much at once; 8 no server, or unknown what became of it; 9 the machine failed. `reeve run` exits as its
 * job did, or with 124 (timed out), 125 (it never ran, or was taken away), 128 + N (killed by signal N). */
#ifndef REEVE_CLI_H
#define REEVE_CLI_H

#include "client.h"
#include "clock.h"
#include "digest.h"
#include "login_token.h"

#define CLI_GIVEN_MAX 256u /* flags given at a time */

enum cli_exit { EXIT_ENDED_BADLY = 1, EXIT_TIMED_OUT = 124, EXIT_NEVER_RAN = 125, EXIT_SIGNAL = 128 };

/* Verbs whose work needs os/, done by main.c. They get the arguments after the verb. */
enum cli_outside {
    CLI_INSIDE, /* none of them */
    CLI_UP,
    CLI_DOWN,
    CLI_SERVE,
    CLI_WORKER,
    CLI_SCALER,
    CLI_CONFIG,
    CLI_CERT_INIT,
    CLI_CERT_WORKER,
    CLI_CERT_CLIENT,
    CLI_CERT_REVOKE,
    CLI_JOURNAL_VERIFY,
    CLI_JOURNAL_DUMP,
    CLI_JOURNAL_AT,
    CLI_JOURNAL_COMPACT,
    CLI_BENCH,
    CLI_CRASHTEST,
    CLI_OUTSIDE_COUNT
};

struct doctor;
struct journal;
struct sign_checker;

struct cli_journal { /* of a data directory, to be read */
    struct journal *reader;
    void *disk; /* that it lies on */
};

struct cli_world {
    const char *build;
    const char *commit; /* that it was built from; "" = not known */
    struct clock *clock;
    struct hasher *hasher;
    const struct login_world *login;                                                 /* NULL = no identity provider */
    const struct secure_ops *secure;                                                 /* NULL = without TLS */
    const struct sign_checker *checker; /* of checkpoints of a journal; NULL = there is none */
    enum err (*journal)(const char *data, struct cli_journal *ret, struct why *why); /* NULL = not in this program */
    void (*journal_close)(struct cli_journal *j);
    enum err (*audit_key)(const char *data, uint8_t ret[], struct why *why); /* the public one: 32 bytes */
    void (*doctor)(struct doctor *d);                                                /* what it finds on this machine */
    enum err (*outside[CLI_OUTSIDE_COUNT])(int count, char **args, struct why *why); /* NULL = not in this program */
};

struct cli;

enum cli_format { /* of -o; all behind CLI_FORMAT_WIDE are for programs */
                  CLI_FORMAT_TABLE,
                  CLI_FORMAT_WIDE, /* a table that is not cut to the terminal's width */
                  CLI_FORMAT_JSON,
                  CLI_FORMAT_JSONL,
                  CLI_FORMAT_YAML,
                  CLI_FORMAT_NAME,
};

struct cli_flag {
    const char *name;  /* "follow" */
    char letter;       /* 'f', or 0 */
    const char *value; /* what follows it, for people; NULL = nothing */
    const char *text;
};

struct cli_verb {
    const char *words; /* "kv get" */
    const char *args;  /* for people: "FLOW|JOB..." */
    const char *text;  /* one line */
    const char *more;  /* a paragraph for help and manual; may be NULL */
    enum err (*run)(struct cli *c);
    const struct cli_flag *flags;  /* up to one without a name; may be NULL */
    uint8_t args_least, args_most; /* 255 = any number */
    uint8_t outside;               /* enum cli_outside: it reads its own flags */
    bool offline;                  /* needs no server */
};

extern const struct cli_verb cli_verbs[];
extern const uint32_t cli_verb_count;
extern const struct cli_flag cli_common_flags[];
#define CLI_PLACE_FLAGS 6 /* the first of these: they name the server */

struct cli {
    const struct cli_world *world;
    struct cli *host; /* the shell that it was typed in, whose connection it uses; NULL = none */
    const struct cli_verb *verb;
    char **args;
    int arg_count;
    struct {
        const struct cli_flag *flag;
        const char *value;
    } given[CLI_GIVEN_MAX];
    uint32_t given_count;
    enum cli_format format;
    bool json; /* the format is for programs */
    bool is_terminal, colour;
    struct client_place place; /* of the server, once it is chosen (server_choice.h) */
    bool is_agent;             /* what it asks is an agent's wish (`reeve mcp`) */
    bool is_placed;
    struct client client; /* connected, unless the verb is offline */
    struct arena arena;
    struct why *why;
    int exit_code; /* when all went well */
};

/* Finds the server and says hello; done already for verbs that need one. */
CHECKED enum err cli_connect(struct cli *c);
/* Whether waiting may go on after this error: the connection broke, as by a killed server, and one answers again within
 * CLIENT_PATIENCE_MS. Requests under way are forgotten, so ask again. False: `why` says what there is to say; also once
 * *stop is set (NULL: never). */
bool cli_is_back(struct cli *c, enum err e, const volatile sig_atomic_t *stop);
/* Runs the verb that the words begin with; its exit code. */
int cli_run(const struct cli_world *world, struct cli *host, int argc, char **argv);
/* The verb, and how many of the words name it; NULL = there is none. */
const struct cli_verb *cli_verb_find(int argc, char **argv, int *ret_words);
/* The exit code of the program. */
int cli_main(const struct cli_world *world, int argc, char **argv);

/* The value of a flag, the last if it came twice; "" for one without a value; NULL: it was not given. */
const char *cli_flag(const struct cli *c, const char *name);
/* The values of a flag that may come several times: *at begins with 0. NULL: no more. */
const char *cli_flag_next(const struct cli *c, const char *name, uint32_t *at);
CHECKED enum err cli_flag_number(const struct cli *c, const char *name, uint64_t most, uint64_t *ret);
CHECKED enum err cli_flag_duration(const struct cli *c, const char *name, int64_t *ret_ms);
/* A moment: so long ago, or a local date with or without a time. Untouched when the flag was not given. */
CHECKED enum err cli_flag_moment(const struct cli *c, const char *name, int64_t *ret_ms);
struct tlv_list cli_flag_names(struct cli *c, const char *name); /* a flag that may come several times, as wire_names */
struct slice cli_flag_text(const struct cli *c, const char *name);                 /* empty: it was not given */
struct tlv_list cli_names(struct cli *c, int from);                                /* arguments as wire_names */
CHECKED enum err cli_pairs(struct cli *c, const char *flag, struct tlv_list *ret); /* NAME=VALUE, each as wire_pair */
enum err cli_refuse(struct cli *c, enum err e, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* help.c */
void cli_help(const struct cli_verb *verb, const char *build); /* NULL = all verbs */
enum err verb_help(struct cli *c);
enum err verb_completion(struct cli *c);
#define CLI_COMPLETE_WORD "__complete" /* LINE: what shells run for what may follow it; no verb of the table */
int cli_complete(const struct cli_world *world, const char *line);

#endif
