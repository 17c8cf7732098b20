/* server_address.c: see server_address.h. */
#include "server_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define EXPECTED "expected HOST, HOST:PORT, or tls://HOST:PORT for a server with TLS"
#define PORT_MAX 65535u

struct parts {
    const char *host, *port; /* port NULL: it was not given */
    int host_len, port_len;
    bool is_bracketed;
};

const char *server_address_tls(const char *address) {
    if (strncmp(address, "tls:", 4) != 0) return NULL;
    return address + 4 + strspn(address + 4, "/");
}

/* Also with a zone: fe80::1%eth0. */
static bool is_ipv6(const char *text) {
    char plain[INET6_ADDRSTRLEN];
    struct in6_addr unused;
    size_t len = strcspn(text, "%");
    if (len >= sizeof plain) return false;
    snprintf(plain, sizeof plain, "%.*s", (int)len, text);
    return inet_pton(AF_INET6, plain, &unused) == 1;
}

/* An address of IPv6 has colons of its own: without brackets it has no port. */
static struct parts parts_of(const char *text) {
    const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
    if (is_ipv6(text)) return (struct parts){.host = text, .host_len = (int)strlen(text)};
    struct parts p = {.host = text, .host_len = (int)strcspn(text, ":")};
    if (end != NULL) p = (struct parts){.host = text + 1, .host_len = (int)(end - text) - 1, .is_bracketed = true};
    const char *rest = end != NULL ? end + 1 : text + p.host_len;
    if (*rest == 0) return p;
    p.port = rest + (*rest == ':');
    p.port_len = *rest == ':' ? (int)strlen(p.port) : -1;
    return p;
}

static bool is_good(const struct parts *p) {
    char host[SERVER_ADDRESS_BYTES_MAX];
    snprintf(host, sizeof host, "%.*s", p->host_len, p->host);
    if (p->host_len <= 0 || host[strcspn(host, "/?#@[] \t")] != 0) return false;
    if ((p->is_bracketed || strchr(host, ':') != NULL) && !is_ipv6(host)) return false;
    if (p->port == NULL) return true;
    uint32_t port = 0;
    for (int i = 0; i < p->port_len && port <= PORT_MAX; i++) {
        if (p->port[i] < '0' || p->port[i] > '9') return false;
        port = port * 10 + (uint32_t)(p->port[i] - '0');
    }
    return port > 0 && port <= PORT_MAX;
}

static bool write_parts(const struct parts *p, bool tls, char ret[SERVER_ADDRESS_BYTES_MAX]) {
    bool is_v6 = memchr(p->host, ':', (size_t)p->host_len) != NULL;
    int len = snprintf(ret, SERVER_ADDRESS_BYTES_MAX, "%s%s%.*s%s:%s", tls ? "tls://" : "", is_v6 ? "[" : "",
                       p->host_len, p->host, is_v6 ? "]" : "", p->port != NULL ? p->port : SERVER_PORT_STANDARD);
    return len > 0 && (size_t)len < SERVER_ADDRESS_BYTES_MAX;
}

/* The address of the console, or of an API, copied from elsewhere: its host is the right one. */
static enum err refuse_scheme(const char *text, const char *host, struct why *why) {
    char part[SERVER_ADDRESS_BYTES_MAX], plain[SERVER_ADDRESS_BYTES_MAX];
    snprintf(part, sizeof part, "%.*s", (int)strcspn(host, "/?#"), host);
    struct parts p = parts_of(part);
    if (strlen(host) >= sizeof part || !is_good(&p) || !write_parts(&p, false, plain))
        return why_set(why, ERR_INVALID, "invalid server address %s: " EXPECTED, text);
    return why_set(why, ERR_INVALID, "invalid server address %s: write %s, or tls://%s for a server with TLS", text,
                   plain, plain);
}

enum err server_address_read(const char *text, char ret[SERVER_ADDRESS_BYTES_MAX], struct why *why) {
    const char *tls = server_address_tls(text), *host = tls != NULL ? tls : text;
    const char *scheme = strstr(host, "://");
    char own[SERVER_ADDRESS_BYTES_MAX];
    if (strncmp(text, "unix:", 5) == 0 && strlen(text) < sizeof own) {
        memcpy(ret, text, strlen(text) + 1);
        return ERR_OK;
    }
    if (scheme != NULL) return refuse_scheme(text, scheme + 3, why);
    struct parts p = parts_of(host);
    if (strlen(text) >= sizeof own || !is_good(&p) || !write_parts(&p, tls != NULL, own))
        return why_set(why, ERR_INVALID, "invalid server address %s: " EXPECTED, text);
    memcpy(ret, own, sizeof own);
    return ERR_OK;
}
