import type { FakeSession } from "../../../packages/console/test/rig/fake-session.ts";
import type { ConsoleBench, Page } from "./open-console.ts";

/**
 * The least work that a page can do with the same stream: it appends the text of deltas to one text node,
 * once per frame, and scrolls to the end. The duration of its frames is the browser's own work on this
 * machine.
 */
const SCRIPT = `(async () => {
  const list = document.querySelector("#list");
  let text = list.querySelector(".last").firstChild;
  let pending = "";
  let seq = 0;
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    text.appendData(pending);
    pending = "";
    list.scrollTop = list.scrollHeight;
    document.body.dataset.seq = String(seq);
  };
  const handle = ({ event }) => {
    if (!event) return;
    seq = event.seq;
    if (event.type === "item.started") {
      if (isScheduled) flush();
      text = document.createTextNode("");
      const line = document.createElement("p");
      line.append(text);
      list.append(line);
    }
    if (event.type === "item.delta") pending += event.delta;
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(flush);
  };
  const response = await fetch("/events?watch=" + new URLSearchParams(location.search).get("watch"));
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + chunk).split("\\n\\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split("\\n").find((line) => line.startsWith("data:"));
      if (data) handle(JSON.parse(data.slice(5)));
    }
  }
})()`;

const STYLE = `body { margin: 0; font: 14px/1.5 sans-serif }
#list { height: 100vh; overflow: auto; overflow-anchor: none }
pre { font: 13px/1.5 monospace; white-space: pre-wrap }`;

/** Opens the bare page, which shows the texts and follows the session from its newest event. */
export async function openFloor(
  { daemon, openBlank }: ConsoleBench,
  session: FakeSession,
  texts: readonly string[] = [],
): Promise<Page> {
  const page = await openBlank();
  const after = await daemon.lastSeq(session);
  const blocks = texts.map((text) => `<pre>${text.replaceAll("<", "&lt;")}</pre>`).join("");
  await page.route("**/floor?*", async (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<!doctype html><title>Floor</title><style>${STYLE}</style><body data-seq="${after}">
        <div id="list">${blocks}<pre class="last">…</pre></div><script>${SCRIPT}</script>`,
    }),
  );
  await page.goto(`/floor?watch=${session.id}:${after}`);
  return page;
}
