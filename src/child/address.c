/* address.c: see address.h. */
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_MAX 64u

struct ip { /* IPv4, also when it comes mapped into IPv6, has 4 bytes */
    uint8_t at[16];
    unsigned bytes;
};

static bool ip_of(const struct sockaddr *a, struct ip *ret) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    *ret = (struct ip){.bytes = 4};
    if (a->sa_family == AF_INET) {
        memcpy(ret->at, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
        return true;
    }
    if (a->sa_family != AF_INET6) return false;
    const uint8_t *at = ((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr;
    if (memcmp(at, mapped, sizeof mapped) == 0) {
        memcpy(ret->at, at + 12, 4);
        return true;
    }
    memcpy(ret->at, at, 16);
    ret->bytes = 16;
    return true;
}

static bool ip_is_in(const struct ip *ip, const struct ip *net, unsigned bits) {
    if (ip->bytes != net->bytes) return false;
    for (unsigned i = 0; i < bits; i++) {
        uint8_t bit = (uint8_t)(0x80u >> i % 8);
        if ((ip->at[i / 8] & bit) != (net->at[i / 8] & bit)) return false;
    }
    return true;
}

/* One entry of a list: an address, or ADDRESS/BITS. */
static bool net_read(const char *text, struct ip *ret, unsigned *ret_bits) {
    char address[ENTRY_MAX];
    const char *slash = strchr(text, '/');
    size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (len >= sizeof address) return false;
    memcpy(address, text, len);
    address[len] = 0;
    *ret = (struct ip){.bytes = strchr(address, ':') != NULL ? 16 : 4};
    if (inet_pton(ret->bytes == 16 ? AF_INET6 : AF_INET, address, ret->at) != 1) return false;
    *ret_bits = ret->bytes * 8;
    if (slash == NULL) return true;
    char *end = NULL;
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (slash[1] < '0' || slash[1] > '9' || *end != 0 || bits > *ret_bits) return false;
    *ret_bits = (unsigned)bits;
    return true;
}

/* ---- public or not ---- */

/* The registries of special addresses of IANA, and one address that a cloud serves its machines' secrets from. */
static const char *const special[] = {
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "168.63.129.16",
    /* inside 2000::/3, outside of which nothing of IPv6 is public */
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
};

static bool is_in(const struct ip *ip, const char *text) {
    struct ip net;
    unsigned bits = 0;
    return net_read(text, &net, &bits) && ip_is_in(ip, &net, bits);
}

bool address_is_public(const struct sockaddr *a) {
    struct ip ip;
    if (!ip_of(a, &ip)) return false;
    if (ip.bytes == 16 && !is_in(&ip, "2000::/3")) return false;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (is_in(&ip, special[i])) return false;
    return true;
}

/* ---- lists ---- */

/* The entry at *at, which moves behind it. False: there is none, or it is too long to be one. */
static bool entry_next(const char **at, char ret[ENTRY_MAX]) {
    size_t len = strcspn(*at, ",");
    if (**at == 0 || len >= ENTRY_MAX) return false;
    memcpy(ret, *at, len);
    ret[len] = 0;
    *at += len;
    if (**at == ',') (*at)++;
    return true;
}

bool address_is_listed(const struct sockaddr *a, const char *list) {
    struct ip ip;
    char entry[ENTRY_MAX];
    if (!ip_of(a, &ip)) return false;
    if (strcmp(list, "all") == 0) return true;
    while (entry_next(&list, entry))
        if (is_in(&ip, entry)) return true;
    return false;
}

enum err address_list_check(const char *list, struct why *why) {
    char entry[ENTRY_MAX] = {0};
    struct ip net;
    unsigned bits = 0;
    if (strcmp(list, "all") == 0) return ERR_OK;
    do {
        if (!entry_next(&list, entry) || !net_read(entry, &net, &bits))
            return why_set(why, ERR_INVALID, "expected networks like 10.0.0.0/8,::1, or `all`, found `%s`",
                           entry[0] != 0 ? entry : list);
    } while (*list != 0);
    return ERR_OK;
}
