// A person with a browser that has cookies and no scripts: goes where it is sent, and fills in the pages of the provider.
export class Person {
  jars = new Map(); // host:port -> name -> value
  visited = [];

  /** One request; redirects are answers. */
  async go(url, { method = "GET", form, headers = {} } = {}) {
    const at = new URL(url);
    const jar = this.jars.get(at.host) ?? new Map();
    this.jars.set(at.host, jar);
    this.visited.push(`${method} ${at.pathname}`);
    const answer = await fetch(url, {
      method,
      redirect: "manual",
      body: form === undefined ? undefined : new URLSearchParams(form),
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "), ...headers },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(";");
      const [name, ...value] = pair.split("=");
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value.join("="));
    }
    return { url, status: answer.status, text: await answer.text(), headers: answer.headers, location: answer.headers.get("location") };
  }

  /** Follows from `url` as this account until a page of `home` (host:port) that is no redirect; `accept` false says no. */
  async walk(url, home, { account = "ada", accept = true } = {}) {
    let page = await this.go(url);
    for (let left = 30; left > 0; left--) {
      if (page.location !== null && page.status >= 300 && page.status < 400) {
        const next = new URL(page.location, page.url);
        if (next.host === home && next.hash !== "") return { ...page, landed: next };
        page = await this.go(next.href);
        continue;
      }
      if (new URL(page.url).host === home) return page;
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
      const action = /action="([^"]+)"/.exec(page.text)?.[1];
      const abort = /href="([^"]*abort[^"]*)"/.exec(page.text)?.[1];
      if (!accept && abort !== undefined) {
        page = await this.go(new URL(abort, page.url).href);
        continue;
      }
      if (prompt === undefined || action === undefined) throw new Error(`no way on from ${page.url} (${page.status}):\n${page.text}`);
      page = await this.go(new URL(action, page.url).href, { method: "POST", form: prompt === "login" ? { prompt, login: account, password: "x" } : { prompt } });
    }
    throw new Error(`too many steps: ${this.visited.join(", ")}`);
  }
}
