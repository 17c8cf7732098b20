// For who has no cookie: by the link that `reeve up` and `reeve console` print, or by a token.
import { useEffect, useState } from "preact/hooks";

import { ApiError } from "../api/client";
import { askIssuers, askSession, logIn, type Issuer } from "../api/session";

const AGAIN_MS = 1000;

export function LogIn({ unreachable }: { unreachable: boolean }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState("");
  const [issuers, setIssuers] = useState<Issuer[]>([]);
  useEffect(() => void askIssuers().then(setIssuers), []);
  useEffect(() => {
    if (!unreachable) return;
    const timer = setInterval(() => void askSession(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [unreachable]);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await logIn(token.trim());
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  if (unreachable) return <main class="login"><h1>Reeve</h1><p role="status">The server does not answer. Trying again…</p></main>;
  return (
    <main class="login">
      <h1>Reeve</h1>
      {issuers.map((issuer) => (
        <p key={issuer.name}><a class="button" href={`/login/start/${issuer.name}`}>Log in with {issuer.title}</a></p>
      ))}
      <p>Open the link that <code>reeve console</code> prints, or log in with a token.</p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Token
          <input type="password" autocomplete="current-password" value={token} required onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">Log in</button>
      </form>
      {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
    </main>
  );
}
