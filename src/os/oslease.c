/* oslease.c: see oslease.h. */
#include "oslease.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PORT_MIN 20000u /* below it programs have ports that people know by heart */
#define PORT_MAX 65535u
#define RANGE_FILE "/proc/sys/net/ipv4/ip_local_port_range"

int oslease_take(const char *name) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int len = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "reeve-%s", name); /* a zero before it: abstract */
    if (len < 0 || (size_t)len >= sizeof a.sun_path - 1) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (bind(fd, (const struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) ==
        0)
        return fd;
    int code = errno;
    (void)close(fd);
    errno = code;
    return -1;
}

/* ---- ports ---- */

/* Without SO_REUSEADDR: also a service that does not set it has to get the port. */
static bool can_bind(int family, const struct sockaddr *a, socklen_t len) {
    int only = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno == EAFNOSUPPORT; /* then nobody listens there */
    if (family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    bool good = bind(fd, a, len) == 0 || errno == EADDRNOTAVAIL; /* IPv6 is off */
    (void)close(fd);
    return good;
}

bool oslease_is_free(uint32_t port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    return can_bind(AF_INET, (const struct sockaddr *)&a, sizeof a) &&
           can_bind(AF_INET6, (const struct sockaddr *)&b, sizeof b);
}

/* Those that the kernel gives to outgoing connections: from `low` to `high`. */
static void range_read(uint32_t *low, uint32_t *high) {
    FILE *f = fopen(RANGE_FILE, "re");
    *low = 32768, *high = 60999;
    if (f == NULL) return;
    if (fscanf(f, "%u %u", low, high) != 2) *low = 32768, *high = 60999;
    (void)fclose(f);
    if (*low <= PORT_MIN && *high >= PORT_MAX) *low = *high = 0; /* there are no others */
}

uint32_t oslease_port(int *ret_fd) {
    uint32_t low = 0, high = 0, start = 0, count = PORT_MAX - PORT_MIN + 1;
    char name[24];
    range_read(&low, &high);
    if (getrandom(&start, sizeof start, 0) != (ssize_t)sizeof start) start = (uint32_t)getpid();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t port = PORT_MIN + (start % count + i) % count;
        if (port >= low && port <= high) continue;
        snprintf(name, sizeof name, "port-%u", port);
        int fd = oslease_take(name);
        if (fd < 0 && errno == EMFILE) return 0;
        if (fd >= 0 && oslease_is_free(port)) {
            *ret_fd = fd;
            return port;
        }
        if (fd >= 0) (void)close(fd);
    }
    return 0;
}
