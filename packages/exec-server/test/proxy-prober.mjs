// Runs in a sandbox: asks its proxy for the same port under many spellings, in every way that clients have.
// Arguments: a port, and a JSON list of hosts. Prints one JSON line per attempt whose answer contains "200".
import { connect } from "node:net";
import { domainToASCII } from "node:url";

const port = Number(process.argv[2]);
const hosts = JSON.parse(process.argv[3]);
const proxies = { http: process.env.HTTP_PROXY, socks: process.env.ALL_PROXY };
const request = "GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/** Sends each part when something came back for the one before. */
function talk(proxy, parts) {
  return new Promise((resolve) => {
    const { hostname, port: proxyPort } = new URL(proxy);
    const socket = connect(Number(proxyPort), hostname);
    let received = "";
    const next = () => {
      const part = parts.shift();
      if (part !== undefined) socket.write(part);
    };
    socket.on("connect", next);
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      next();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    socket.setTimeout(10_000, () => socket.destroy());
  });
}

function socksName(host) {
  const name = Buffer.from(host);
  return Buffer.concat([Buffer.of(5, 1, 0, 3, name.length), name, Buffer.of(port >> 8, port & 255)]);
}

for (const host of hosts) {
  const attempts = {
    absolute: [proxies.http, [`GET http://${host}:${port}/readyz HTTP/1.1\r\nHost: x\r\n\r\n`]],
    userinfo: [proxies.http, [`GET http://example.com@${host}:${port}/readyz HTTP/1.1\r\nHost: x\r\n\r\n`]],
    header: [proxies.http, [`GET /readyz HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`]],
    connect: [proxies.http, [`CONNECT ${host}:${port} HTTP/1.1\r\nHost: x\r\n\r\n`, request]],
    ascii: [proxies.http, [`CONNECT ${domainToASCII(host)}:${port} HTTP/1.1\r\nHost: x\r\n\r\n`, request]],
    socks: [proxies.socks, [Buffer.of(5, 1, 0), socksName(host.replace(/^\[(.*)\]$/, "$1")), request]],
  };
  for (const [way, [proxy, parts]] of Object.entries(attempts)) {
    const answer = await talk(proxy, parts);
    if (/^HTTP\/1\.1 200|HTTP\/1\.1 200 OK/m.test(answer))
      process.stdout.write(`${JSON.stringify({ way, host })}\n`);
  }
}
process.stdout.write("done\n");
