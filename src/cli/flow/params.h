/* params.h: the values of parameters that a command line gives to a flow file, in this order; the first that has one
 * wins:
 *
 *     -p NAME=VALUE, -p NAME=@FILE     of several of one name the last
 *     -p @FILE, --params FILE          of several files the last; YAML, JSON, or NAME=VALUE lines in a file *.env
 *     $REEVE_PARAM_NAME                the name in capitals, `_` for `-`
 *     $VARIABLE                        that the flow file names by `env`, with --allow-env
 *     the default of the flow file
 *
 * A flow file may come from somebody else, and must not read the submitter's environment: hence --allow-env. */
#ifndef REEVE_PARAMS_H
#define REEVE_PARAMS_H

#include "cli.h"
#include "spec.h"

struct params {
    struct cli *cli;
    struct spec_given given[SPEC_PARAMS_MAX];
    uint32_t count;
};

/* From flags and the files that they name; *ret is the caller's, and large. */
CHECKED enum err params_read(struct cli *c, struct params *ret);
/* From the environment, for spec_world.param; one that is there is added to those that were given. */
bool params_from_environment(struct params *p, struct slice name, struct slice env, struct slice *ret);
/* All of them as a JSON object, to be kept with the flow; empty = there are none. */
struct slice params_json(const struct params *p);

#endif
