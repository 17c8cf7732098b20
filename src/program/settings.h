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
    X(data,               TEXT,                                   ".reeve",          "data directory of the server") \
    X(config,             TEXT,                                   "",                "YAML file with settings (default: reeve.yaml in the data directory, if it exists)") \
    X(listen,             TEXT,                                   "127.0.0.1:7070",  "address to listen on; port 0 = a free port") \
    X(socket,             TEXT,                                   "auto",            "Unix socket: a path, auto (reeve.sock in the data directory) or off") \
    X(http_hosts,         TEXT,                                   "",                "further host names of this server in HTTP requests, separated by commas") \
    X(metrics_open,       FLAG,                                   "no",              "allow unauthenticated GET /metrics from loopback (yes or no)") \
    X(may_start_workers,  FLAG,                                   "no",              "allow operators to start workers on this machine (yes or no)") \
    X(tls_cert,           TEXT,                                   "",                "PEM file of the certificate (default: tls/server.pem in the data directory, if it exists)") \
    X(tls_key,            TEXT,                                   "",                "PEM file of its key (default: the file of the certificate)") \
    X(tls_client_ca,      TEXT,                                   "",                "PEM file of the authority of client certificates (default: tls/ca.pem next to tls/server.pem)") \
    X(tls_require,        WORD("nobody", "workers", "everyone"),  "nobody",          "clients that must present a certificate: nobody, workers or everyone") \
    X(listen_without_tls, FLAG,                                   "no",              "listen beyond this machine without TLS, although tokens and output can be intercepted (yes or no)") \
    X(public_url,         TEXT,                                   "",                "public HTTP address of this server, like https://jobs.example.org (default: the address it listens on)") \
    X(oidc,               TEXT,                                   "",                "YAML or JSON file with the identity providers (OpenID Connect) whose users may log in (default: none); read again on SIGHUP") \
    X(orion_listen,       TEXT,                                   "",                "address of a listener for Orion's interface, like 127.0.0.1:8080 (default: none)") \
    X(orion_guests,       WORD("nobody", "loopback", "everyone"), "loopback",        "clients of Orion's interface that need no token and act as orion: nobody, loopback (this machine) or everyone") \
    X(orion_tenant,       NAME,                                   "default",         "tenant of DAGs sent by Orion's interface") \
    X(orion_work_ms,      TEXT,                                   "50..199",         "duration of a task of Orion's interface in ms; 2000..4999 is slow enough to watch") \
    X(cors_origin,        TEXT,                                   "",                "origins of web pages that may use Orion's interface, separated by commas, like http://localhost:3000") \
    X(titan_listen,       TEXT,                                   "",                "address of a listener for Titan's protocol, like 127.0.0.1:9090 (default: none)") \
    X(titan_http_listen,  TEXT,                                   "",                "address of a listener for the HTTP interface of Titan's dashboard, like 127.0.0.1:5000 (default: none)") \
    X(titan_open,         FLAG,                                   "no",              "allow other machines to reach Titan's listeners, although they require no authentication and run any program (yes or no)") \
    X(titan_tenant,       NAME,                                   "default",         "tenant of jobs sent by Titan's protocol") \
    X(titan_dead_status,  WORD("DEAD", "FAILED"),                 "DEAD",            "status of a failed job in Titan's protocol: DEAD, or FAILED for clients that expect it") \
    X(titan_retry_backoff, FLAG,                                   "no",              "retry Titan's jobs with the usual backoff instead of at once (yes or no)") \
    X(titan_gates,        FLAG,                                   "yes",             "treat Titan's gates (hitl_gate.py) as approval gates; no: run them as scripts on a worker") \
    X(titan_dag_seconds,  NUMBER(1, SECONDS_MAX),                 "86400",           "longest attempt of a job of Titan's DAGs, in seconds") \
    X(titan_job_seconds,  NUMBER(1, SECONDS_MAX),                 "60",              "longest attempt of a single job of Titan's protocol, in seconds") \
    X(resp_listen,        TEXT,                                   "",                "address of a listener for Redis clients without a token, like 127.0.0.1:6379 (default: none)") \
    X(resp_tenant,        NAME,                                   "default",         "tenant of Redis clients without a token, which act as resp") \
    X(resp_open,          FLAG,                                   "no",              "allow other machines to reach the listener for Redis clients, without authentication (yes or no)") \
    X(log_level,          WORD("debug", "info", "warn", "error"), "info",            "least severity of logged messages: debug, info, warn or error") \
    X(log_format,         WORD("text", "json"),                   "text",            "format of the log: text or json") \
    X(shard,              NUMBER(0, UINT32_MAX),                  "0",               "shard number of this server") \
    X(journal,            WORD("file"),                           "file",            "engine of the journal: file (in the data directory)") \
    X(archive_days,       NUMBER(0, 36500),                       "30",              "days for which trimmed journal segments are kept in the archive") \
    X(audit_checkpoint_s, NUMBER(0, SECONDS_MAX),                 "600",             "seconds between two signed checkpoints of the journal (reeve audit verify); 0 = make none") \
    X(audit_forward,      TEXT,                                   "",                "where the audit trail is handed on: file:/PATH, or https://HOST/PATH (default: nowhere)") \
    X(audit_forward_format, WORD("jsonl", "ocsf"),                "jsonl",           "lines that are handed on: jsonl (they prove themselves) or ocsf (events of OCSF 1.3)") \
    X(audit_forward_all,  FLAG,                                   "no",              "also hand on what the server and its workers do by themselves (yes or no)") \
    X(audit_forward_headers, TEXT,                                "",                "file with headers for requests of audit_forward, one NAME: VALUE per line, readable by its owner only") \
    X(history_days,       NUMBER(0, 36500),                       "365",             "days for which finished flows are kept in the history; 0 = for ever") \
    X(history_bytes,      NUMBER(0, INT64_MAX),                   "10737418240",     "approximate size limit of the history; 0 = no limit") \
    X(segment_bytes,      NUMBER(0, SEGMENT_BYTES_MAX),           "0",               "size of a journal segment, at least one batch; 0 = the default") \
    X(compact_bytes,      NUMBER(0, INT64_MAX),                   "268435456",       "bytes appended to the journal between two compactions; 0 = never") \
    X(connections_max,    NUMBER(1, 100000),                      "10000",           "most connections at a time; a principal other than a worker may use half of them, and some are reserved for the Unix socket")
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
    bool json, help, man;        /* --json, --help, --man */
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
void settings_man(FILE *to, const char *build); /* the manual page reeve-serve(8) */

#endif
