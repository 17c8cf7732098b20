/* issuers.h: the document that says which identity providers this server believes, and who their users are here.
 *
 *     issuers:
 *       - name: corp                              # in names of principals: alice@corp
 *         issuer: https://login.example.com       # as in `iss`, byte for byte
 *         audience: [reeve]                       # of bearer tokens: one of these is in `aud`
 *         client_id: reeve-console                # for logins by browser and command line
 *         map:
 *           - when: {groups: reeve-admins}
 *             account: "{preferred_username}"
 *             roles: [admin]
 *             tenant: "*"
 *
 * The first rule whose `when` fits says who it is; when none does, nobody comes in. Everything is checked when the
 * document is read, and a key that is not known is a mistake: a rule with a typing error must not be a rule that lets
 * everybody in. Immutable once read; one arena holds all of it. */
#ifndef REEVE_ISSUERS_H
#define REEVE_ISSUERS_H

#include "json_tree.h"
#include "signature.h"

#define ISSUERS_MAX 16u
#define ISSUER_NAME_MAX 32u
#define ISSUER_AUDIENCES_MAX 16u
#define ISSUER_RULES_MAX 256u
#define ISSUER_WHENS_MAX 16u
#define ISSUER_PATTERNS_MAX 64u
#define ISSUER_ACCOUNT_MAX 90u /* with "@" and the name of the issuer it fits a principal */
#define ISSUER_URL_MAX 512u
#define ISSUER_SECRET_MAX 512u

enum issuer_kind { ISSUER_PERSON, ISSUER_SERVICE };

struct issuer_when { /* one claim, and what it may be */
    struct slice claim;
    struct slice patterns[ISSUER_PATTERNS_MAX];
    uint32_t pattern_count;
};

struct issuer_rule {
    struct issuer_when *whens;
    uint32_t when_count;
    struct slice account; /* a template: {CLAIM} is the text of a claim */
    struct slice tenant;  /* a template; empty: all tenants */
    enum issuer_kind kind;
    uint32_t roles;
};

struct issuer {
    struct slice name, url, title;
    struct slice audiences[ISSUER_AUDIENCES_MAX];
    uint32_t audience_count;
    uint32_t algs;                     /* SIGNATURE_BITs that its tokens may be signed by */
    struct slice client_id;            /* empty: nobody logs in by browser */
    struct slice cli_client_id;        /* of the command line; empty: as client_id, if that is a public client */
    struct slice secret_file, ca_file; /* paths; the program reads them */
    struct slice secret, ca;           /* what is in them */
    struct slice scopes;               /* with blanks */
    int64_t margin_ms, session_ms;
    const struct issuer_rule *rules;
    uint32_t rule_count;
};

struct issuers {
    struct arena arena; /* holds all of it */
    struct issuer all[ISSUERS_MAX];
    uint32_t count;
};

/* The bit of a role by its word; 0: there is none. */
typedef uint32_t (*issuers_role_fn)(struct slice word);

/* `tree`: the document; its texts are copied. The result is freed by issuers_free. ERR_INVALID says where and what. */
CHECKED enum err issuers_read(const struct json_node *tree, issuers_role_fn role, struct issuers **ret,
                              struct why *why);
void issuers_free(struct issuers *s); /* fine with NULL */
/* A text in its arena, for whoever reads the files that it names. */
struct slice issuers_keep(struct issuers *s, struct slice text);
const struct issuer *issuers_by_url(const struct issuers *s, struct slice url);   /* NULL: it is not believed */
const struct issuer *issuers_by_name(const struct issuers *s, struct slice name); /* NULL: there is none */

/* Whether a URL may be used for what is secret: https, or http on this machine. */
bool issuer_url_is_safe(struct slice url);

#endif
