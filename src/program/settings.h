/* settings.h: what can be set of a server, from one table. A value comes from the first of: the flag (--lease-ms 5000),
 * the environment (REEVE_LEASE_MS), the YAML file (lease_ms: 5000), the standard. Every limit of limit.h is a setting.
 *
 * A setting is added by its line here and the code that it changes: flag, variable, key of the file, check of its
 * value, `reeve config` and the help come from the line. */
#ifndef REEVE_SETTINGS_H
#define REEVE_SETTINGS_H

#include <stdio.h>

#include "err.h"
#include "limit.h"

#define SETTING_TEXT_MAX 512u

#define SECONDS_MAX 31622400                  /* a year, as delay_ms_max */
#define SEGMENT_BYTES_MAX (UINT32_MAX - 4095) /* offsets in a segment have 32 bits */

/* Types: TEXT is anything; NAME is not empty; FLAG is yes or no; WORD is one of its words; NUMBER has a range. */
/* clang-format off */
/*    name                type                                    standard           what it is */
#define SETTING_TABLE(X) \
    X(data,               TEXT,                                   ".reeve",          "directory of everything that is kept") \
    X(config,             TEXT,                                   "",                "YAML file; standard: reeve.yaml in the data directory, if there") \
    X(listen,             TEXT,                                   "127.0.0.1:7070",  "address to listen on; port 0 = any") \
    X(socket,             TEXT,                                   "auto",            "Unix socket: a path, auto (reeve.sock in the data directory) or off") \
    X(http_hosts,         TEXT,                                   "",                "names that HTTP may call this server by, with commas; beside those of loopback and of `listen`") \
    X(metrics_open,       FLAG,                                   "no",              "yes: who asks for /metrics from this machine needs no token") \
    X(may_start_workers,  FLAG,                                   "no",              "yes: operators may have workers started on this machine") \
    X(tls_cert,           TEXT,                                   "",                "PEM file of the certificate; standard: tls/server.pem in the data directory, if there") \
    X(tls_key,            TEXT,                                   "",                "PEM file of its key; standard: the file of the certificate") \
    X(tls_client_ca,      TEXT,                                   "",                "PEM file of the authority of workers; standard: tls/ca.pem beside tls/server.pem") \
    X(tls_require,        WORD("nobody", "workers", "everyone"),  "nobody",          "who must show a certificate of it: nobody, workers or everyone") \
    X(listen_without_tls, FLAG,                                   "no",              "yes: listen beyond this machine though tokens and output can be read on the way") \
    X(public_url,         TEXT,                                   "",                "how others reach this server by HTTP, like https://jobs.example.org; standard: the address it listens on") \
    X(orion_listen,       TEXT,                                   "",                "address of a listener for Orion's interface, like 127.0.0.1:8080; none unless said") \
    X(orion_guests,       WORD("nobody", "loopback", "everyone"), "loopback",        "who may use it without a token, as principal orion: nobody, loopback (this machine) or everyone") \
    X(orion_tenant,       NAME,                                   "default",         "whose DAGs come by it; workers of that tenant run them") \
    X(orion_work_ms,      TEXT,                                   "50..199",         "how long a task of it works, in ms; 2000..4999 to watch it") \
    X(cors_origin,        TEXT,                                   "",                "origins of pages that may use it from elsewhere, with commas, like http://localhost:3000") \
    X(titan_listen,       TEXT,                                   "",                "address of a listener for Titan's protocol, like 127.0.0.1:9090; none unless said") \
    X(titan_http_listen,  TEXT,                                   "",                "address of a listener for the HTTP interface of Titan's dashboard, like 127.0.0.1:5000; none unless said") \
    X(titan_open,         FLAG,                                   "no",              "yes: those listeners may be reached from other machines, though whoever reaches them may run anything") \
    X(titan_tenant,       NAME,                                   "default",         "whose jobs come by them; workers of that tenant run them") \
    X(titan_dead_status,  WORD("DEAD", "FAILED"),                 "DEAD",            "what Titan's protocol calls a job that failed for good: DEAD, or FAILED as some of its clients want it") \
    X(titan_retry_backoff, FLAG,                                   "no",              "yes: its jobs wait between attempts as ours do; else they are tried again at once, as there") \
    X(titan_gates,        FLAG,                                   "yes",             "no: its gates for people (hitl_gate.py) run as the scripts they are, on a worker; else they are gates of ours") \
    X(titan_dag_seconds,  NUMBER(1, SECONDS_MAX),                 "86400",           "how long an attempt of a job of its DAGs may run") \
    X(titan_job_seconds,  NUMBER(1, SECONDS_MAX),                 "60",              "the same for a job that it sends alone") \
    X(resp_listen,        TEXT,                                   "",                "address of a listener for Redis clients without a token, like 127.0.0.1:6379; none unless said") \
    X(resp_tenant,        NAME,                                   "default",         "whose keys they see, as principal resp") \
    X(resp_open,          FLAG,                                   "no",              "yes: that listener may be reached from other machines, by anybody") \
    X(log_level,          WORD("debug", "info", "warn", "error"), "info",            "debug, info, warn or error") \
    X(log_format,         WORD("text", "json"),                   "text",            "text or json") \
    X(shard,              NUMBER(0, UINT32_MAX),                  "0",               "number of this server among those that share work") \
    X(journal,            WORD("file"),                           "file",            "engine of the journal: file (in the data directory)") \
    X(archive_days,       NUMBER(0, 36500),                       "30",              "how long trimmed journal segments are kept") \
    X(history_days,       NUMBER(0, 36500),                       "365",             "how long finished flows are kept in the history; 0 = for ever") \
    X(history_bytes,      NUMBER(0, INT64_MAX),                   "10737418240",     "about how much of the disk the history may take; 0 = no limit") \
    X(segment_bytes,      NUMBER(0, SEGMENT_BYTES_MAX),           "0",               "size of a journal segment, which holds any batch; 0 = the standard") \
    X(compact_bytes,      NUMBER(0, INT64_MAX),                   "268435456",       "bytes appended to the journal between two compactions; 0 = never") \
    X(connections_max,    NUMBER(1, 100000),                      "10000",           "connections at a time; one principal that is no worker may have half of them, and some are for the Unix socket alone")
/* clang-format on */

enum setting_id {
#define X(name, type, standard, text) SETTING_##name,
    SETTING_TABLE(X)
#undef X
        SETTING_COUNT
};

enum setting_source { FROM_STANDARD, FROM_FILE, FROM_ENVIRONMENT, FROM_FLAG };

struct setting {
    const char *name, *text;
    char value[SETTING_TEXT_MAX];
    enum setting_source source;
};

struct settings {
    struct setting own[SETTING_COUNT];
    struct limits limits;
    enum setting_source limit_sources[256];
    char file[SETTING_TEXT_MAX]; /* that was read; empty = none */
    bool json, help;             /* --json, --help */
};

/* `args` are flags with their values, without program and verb. */
CHECKED enum err settings_read(struct settings *s, int count, char **args, struct why *why);
/* That each value is of its type; `reeve config` shows also those that are not. */
CHECKED enum err settings_check(const struct settings *s, struct why *why);

/* Values, of settings that were checked. */
const char *setting_text(const struct settings *s, enum setting_id id); /* of any type */
bool setting_is(const struct settings *s, enum setting_id id);          /* FLAG: it is yes */
uint32_t setting_word(const struct settings *s, enum setting_id id);    /* WORD: its position, from 0 */
int64_t setting_number(const struct settings *s, enum setting_id id);   /* NUMBER */

void settings_print(const struct settings *s, FILE *to); /* each value and where it came from */
void settings_help(FILE *to);

#endif
