// A cable between browser and server that a spec can cut: connections that go through it end, new ones are refused,
// until it is mended.
import { connect, createServer } from "node:net";

export async function layCable(reeve) {
  const ends = new Set();
  let port = 0;
  const server = createServer((near) => {
    const far = connect(reeve.port, "127.0.0.1");
    for (const end of [near, far]) {
      ends.add(end);
      end.on("close", () => ends.delete(end));
      end.on("error", () => undefined); // the other side hears of it by its end
    }
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  const listen = () => new Promise((done) => server.listen(port, "127.0.0.1", done));
  const close = () => {
    const over = new Promise((done) => server.close(done));
    for (const end of ends) end.destroy();
    return over;
  };
  await listen();
  port = server.address().port;
  return { url: `http://127.0.0.1:${port}`, cut: close, mend: listen, close };
}
