/* replica.c: see replica.h.
 *
 * A worked example: web has the replicas 1 to 3, and a file with `replicas: 2` is deployed.
 *
 *      web.1 deployed, healthy      accepted; its old version stops
 *      web.2 deployed, healthy      the same. Its job was behind that of web.1, so one replica at a time was away
 *      barrier `web`                both jobs have succeeded: replica_trim(web, 2) removes web.3
 *
 * Had web.2 not become healthy, its old version would run again, the barrier would have failed, and web.3 would be as
 * it was: a deployment that fails leaves every replica that it had not come to. */
#include "replica.h"

#include "effects.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "service.h"

#define NAME_BYTES_MAX 255u

struct slice replica_name(struct slice set, uint32_t number, uint8_t *ret) {
    uint8_t digits[REPLICA_SUFFIX_BYTES];
    size_t count = 0, at = set.len;
    for (uint32_t rest = number; rest > 0 || count == 0; rest /= 10) digits[count++] = (uint8_t)('0' + rest % 10);
    ENSURE(count < REPLICA_SUFFIX_BYTES);
    if (set.len > 0) memcpy(ret, set.ptr, set.len);
    ret[at++] = '.';
    while (count > 0) ret[at++] = digits[--count];
    return slice_of(ret, at);
}

uint32_t replica_number(struct slice set, struct slice name) {
    uint64_t number = 0;
    if (name.len < set.len + 2 || !slice_begins(name, set) || name.ptr[set.len] != '.') return 0;
    struct slice digits = slice_of(name.ptr + set.len + 1, name.len - set.len - 1);
    if (digits.ptr[0] == '0' || digits.len > 4 || !slice_decimal(digits, &number)) return 0;
    return number <= REPLICAS_MAX ? (uint32_t)number : 0;
}

/* A service by the name of a member, whatever it is. */
static uint32_t find_named(const struct state *s, uint32_t tenant, struct slice set, uint32_t number) {
    uint8_t at[NAME_BYTES_MAX + REPLICA_SUFFIX_BYTES];
    REQUIRE(number >= 1);
    if (set.len > NAME_BYTES_MAX) return 0;
    return service_find(s, tenant, replica_name(set, number, at));
}

uint32_t replica_find(const struct state *s, uint32_t tenant, struct slice set, uint32_t number) {
    uint32_t index = find_named(s, tenant, set, number);
    if (index == 0 || service_at(s, index)->current.flow == 0) return 0;
    return slice_eq(service_options(s, service_at(s, index))->replica_of, set) ? index : 0;
}

static void remove_unless_deployed(struct state *s, uint32_t index) {
    if (index == 0 || service_at(s, index)->deployer != 0) return;
    service_set(s, index, SERVICE_REMOVED);
}

static void remove_above(struct state *s, uint32_t tenant, struct slice set, uint32_t replicas) {
    uint32_t low = 1;
    for (uint32_t n = REPLICAS_MAX; n > replicas; n--) {
        uint32_t index = replica_find(s, tenant, set, n);
        if (index != 0 && MUTANT(scaled_down_low)) index = replica_find(s, tenant, set, low++);
        remove_unless_deployed(s, index);
    }
}

void replica_trim(struct state *s, uint32_t tenant, struct slice set, uint32_t replicas) {
    REQUIRE(replicas > 0);
    remove_above(s, tenant, set, replicas);
    uint32_t alone = service_find(s, tenant, set);
    if (alone == 0 || service_at(s, alone)->current.flow == 0) return;
    if (service_options(s, service_at(s, alone))->replica_of.len == 0) remove_unless_deployed(s, alone);
}

void replica_accepted(struct state *s, const struct service *v) {
    REQUIRE(v->deployer == 0);
    if (service_options(s, v)->replica_of.len == 0) remove_above(s, v->tenant, service_name(v), 0);
}

void replica_scale(struct state *s, uint32_t tenant, const struct rec_scaled *r) {
    REQUIRE(r->replicas > 0);
    REQUIRE(r->replicas <= REPLICAS_MAX);
    uint8_t at[NAME_BYTES_MAX + REPLICA_SUFFIX_BYTES];
    remove_above(s, tenant, r->name, r->replicas);
    for (uint32_t n = 1; r->from && n <= r->replicas; n++) {
        uint32_t index = find_named(s, tenant, r->name, n);
        if (index == 0) index = service_make(s, tenant, replica_name(r->name, n, at));
        if (service_at(s, index)->current.flow != 0) continue;
        uint32_t from = replica_find(s, tenant, r->name, r->from);
        ENSURE(from != 0 && from != index);
        service_copy(s, index, from);
    }
}

enum err replica_check(const struct state *s, const struct rec_scaled *r, struct why *why) {
    uint32_t tenant = tenant_find(s, r->head.tenant);
    bool known = tenant != 0 && r->name.len > 0 && r->name.len + REPLICA_SUFFIX_BYTES <= NAME_BYTES_MAX;
    bool fits = known && r->replicas >= 1 && r->replicas <= REPLICAS_MAX && r->from <= r->replicas &&
                (r->from == 0 || replica_find(s, tenant, r->name, r->from) != 0);
    return fits ? ERR_OK : why_set(why, ERR_CORRUPT, "a record does not fit the state before it: no such replicas");
}
