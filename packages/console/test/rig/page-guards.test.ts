import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Worker } from "playwright-core";
import { expect, test } from "vitest";
import { FakeDaemon, LOST_CONNECTION, useBrowser } from "./index.ts";
import { collectProblems } from "./page-guards.ts";

const rig = useBrowser();

/** Opens a page with a worker. What the guards report fails no test. */
async function openGuarded(url: string) {
  const context = await rig.browser.newContext({ serviceWorkers: "block" });
  const problems = await collectProblems(context, new URL(url).origin);
  const page = await context.newPage();
  const started = page.waitForEvent("worker");
  await page.goto(url);
  return { problems, page, worker: await started, [Symbol.asyncDispose]: async () => context.close() };
}

/** The console of a daemon, with its policy. */
async function openConsole() {
  await using made = new AsyncDisposableStack();
  const daemon = made.use(await FakeDaemon.start({ auth: "none" }));
  const opened = made.use(await openGuarded(`${daemon.url}/console/`));
  await opened.page.getByRole("banner").getByText("Live", { exact: true }).waitFor();
  const owner = made.move();
  return { ...opened, daemon, [Symbol.asyncDispose]: async () => owner.disposeAsync() };
}

/** A page without a policy, and the origin of another server. Requests to `/lost` have no response. */
async function openUnprotected() {
  await using made = new AsyncDisposableStack();
  const listen = async (): Promise<string> => {
    const server = createServer((request, response) => {
      if (request.url === "/lost") return void request.socket.destroy();
      if (request.url === "/slow") return;
      const type = request.url === "/worker.js" ? "text/javascript" : "text/html";
      response.writeHead(200, { "content-type": type, "access-control-allow-origin": "*" });
      response.end(request.url === "/" ? "<script>worker = new Worker('/worker.js')</script>" : "");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    made.defer(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const other = await listen();
  const opened = made.use(await openGuarded(`${await listen()}/`));
  const owner = made.move();
  return { ...opened, other, [Symbol.asyncDispose]: async () => owner.disposeAsync() };
}

interface Offence {
  readonly name: string;
  readonly offend: (page: Page, worker: Worker) => Promise<unknown>;
  readonly report: RegExp;
}

const throwLater = (): void => {
  setTimeout(() => {
    throw new Error("thrown on purpose");
  });
};
const reject = (): void => void Promise.reject(new Error("rejected on purpose"));
// oxlint-disable-next-line no-console
const writeError = (): void => console.error("written on purpose");
const fetchOther = async (): Promise<unknown> => fetch("http://127.0.0.1:1/").catch(() => undefined);
const connectOther = (): void => {
  const socket = new WebSocket("ws://127.0.0.1:1/");
  socket.addEventListener("error", (event) => event.preventDefault());
};

const OFFENCES: readonly Offence[] = [
  {
    name: "an exception",
    offend: async (page) => page.evaluate(throwLater),
    report: /^uncaught: .*thrown on purpose/,
  },
  {
    name: "a rejection",
    offend: async (page) => page.evaluate(reject),
    report: /^uncaught: .*rejected on purpose/,
  },
  {
    name: "an error on the console",
    offend: async (page) => page.evaluate(writeError),
    report: /^console\.error: written on purpose/,
  },
  {
    name: "an inline style",
    offend: async (page) =>
      page.evaluate(() => {
        const style = document.createElement("style");
        style.textContent = "body { color: red }";
        document.head.append(style);
      }),
    report: /^content security policy: style-src-elem blocks inline/,
  },
  {
    name: "a request",
    offend: async (page) => page.evaluate(fetchOther),
    report: /^content security policy: connect-src blocks http:\/\/127\.0\.0\.1:1/,
  },
  {
    name: "a socket",
    offend: async (page) => page.evaluate(connectOther),
    report: /^content security policy: connect-src blocks ws:\/\/127\.0\.0\.1:1/,
  },
  {
    name: "a worker of inline code",
    offend: async (page) => page.evaluate(() => void new Worker(URL.createObjectURL(new Blob(["1"])))),
    report: /^content security policy: worker-src blocks blob/,
  },
  {
    name: "a worker that the guards can't watch",
    offend: async (page, worker) =>
      page.evaluate((url) => void new SharedWorker(url, { type: "module" }), worker.url()),
    report: /^shared worker: .*feed-worker/,
  },
  {
    name: "a response with an error",
    offend: async (page) => page.evaluate(async () => fetch("/sessions/none").then(() => undefined)),
    report: /^console\.error: .*status of 404 .*\/sessions\/none/,
  },
  {
    name: "an exception in a worker",
    offend: async (_page, worker) => worker.evaluate(throwLater),
    report: /^uncaught: .*thrown on purpose/,
  },
  {
    name: "a rejection in a worker",
    offend: async (_page, worker) => worker.evaluate(reject),
    report: /^worker: .*rejected on purpose/,
  },
  {
    name: "an error on the console of a worker",
    offend: async (_page, worker) => worker.evaluate(writeError),
    report: /^worker: written on purpose/,
  },
  {
    name: "a request in a worker",
    offend: async (_page, worker) => worker.evaluate(fetchOther),
    report: /^worker: .*http:\/\/127\.0\.0\.1:1\/.* violates .*connect-src/,
  },
  {
    name: "a socket in a worker",
    offend: async (_page, worker) => worker.evaluate(connectOther),
    report: /^worker: .*ws:\/\/127\.0\.0\.1:1\/.* violates .*connect-src/,
  },
  {
    name: "evaluated code in a worker",
    offend: async (_page, worker) => worker.evaluate(() => void setTimeout("1" as unknown as () => void)),
    report: /^worker: .* violates .*script-src/,
  },
  {
    name: "a worker of inline code in a worker",
    offend: async (_page, worker) => worker.evaluate(() => void new Worker("data:text/javascript,1")),
    report: /^worker: .* violates .*worker-src/,
  },
];

test("report errors and violations of the policy, in the page and in its worker", async () => {
  await using console = await openConsole();
  const { page, worker, problems } = console;
  // The page without an offence.
  expect(problems).toEqual([]);
  for (const { name, offend, report } of OFFENCES) {
    problems.length = 0;
    await offend(page, worker);
    await expect
      .poll(() => problems.join("\n"), { message: name, timeout: 5_000 })
      .toMatch(new RegExp(report, "m"));
  }
});

test("report requests to other origins where no policy blocks them", async () => {
  await using opened = await openUnprotected();
  const { page, worker, problems, other } = opened;
  const request = async (origin: string): Promise<unknown> => fetch(`${origin}/data`).then(() => undefined);
  const connect = (origin: string): void => void new WebSocket(origin.replace("http", "ws"));
  for (const [place, offend] of Object.entries({
    page: async () => page.evaluate(request, other),
    worker: async () => worker.evaluate(request, other),
  })) {
    problems.length = 0;
    await offend();
    await expect
      .poll(() => problems, { message: place, timeout: 5_000 })
      .toEqual([`request to another origin: ${other}/data`]);
  }
  for (const [place, offend] of Object.entries({
    page: async () => page.evaluate(connect, other),
    worker: async () => worker.evaluate(connect, other),
  })) {
    problems.length = 0;
    await offend();
    await expect
      .poll(() => problems, { message: place, timeout: 5_000 })
      .toContain(`request to another origin: ${other.replace("http", "ws")}/`);
  }
});

test("report lost connections, but not requests that the page ends itself", async () => {
  await using opened = await openUnprotected();
  const { page, worker, problems } = opened;
  const cancel = async (): Promise<unknown> => {
    const abort = new AbortController();
    const answered = fetch("/slow", { signal: abort.signal }).catch(() => undefined);
    setTimeout(() => abort.abort(), 50);
    return answered;
  };
  const lose = async (): Promise<unknown> => fetch("/lost").catch(() => undefined);
  for (const evaluate of [page.evaluate.bind(page), worker.evaluate.bind(worker)]) {
    problems.length = 0;
    await evaluate(cancel);
    await evaluate(lose);
    await expect.poll(() => problems, { timeout: 5_000 }).toHaveLength(1);
    expect(problems[0]).toMatch(LOST_CONNECTION);
    expect(problems[0]).toMatch(/net::ERR_EMPTY_RESPONSE .*\/lost/);
  }
});

test("report a stream that is cut, but not the end of the test's server", async () => {
  const { problems, daemon } = await (async () => {
    await using console = await openConsole();
    console.daemon.readers.use({ [Symbol.asyncDispose]: async () => console.page.context().close() });
    expect(console.problems).toEqual([]);
    return console;
  })();
  expect(daemon.faults.openStreams).toBe(0);
  expect(problems).toEqual([]);
  await using console = await openConsole();
  console.daemon.faults.closeStreams();
  await expect.poll(() => console.problems, { timeout: 5_000 }).toHaveLength(1);
  expect(console.problems[0]).toMatch(LOST_CONNECTION);
});
