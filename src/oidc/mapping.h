/* mapping.h: who the bearer of a checked token is here: the first rule of its issuer that fits its claims. */
#ifndef REEVE_MAPPING_H
#define REEVE_MAPPING_H

#include "issuers.h"

#define MAPPING_NAME_MAX 129u /* with the zero: as AUTH_NAME_MAX */

struct mapping {
    char name[MAPPING_NAME_MAX];   /* ACCOUNT@ISSUER */
    char tenant[MAPPING_NAME_MAX]; /* empty: all */
    enum issuer_kind kind;
    uint32_t roles;
    uint32_t rule; /* its number, from 1 */
};

/* ERR_FORBIDDEN: no rule fits, or the one that does needs a claim that is not there; `why` names the claims that were
 * looked for. */
CHECKED enum err mapping_of(const struct issuer *is, const struct json_node *claims, struct mapping *ret,
                            struct why *why);
/* A claim by its name; `a.b` is also b of the object a. NULL: there is none. */
const struct json_node *mapping_claim(const struct json_node *claims, struct slice name);

#endif
