import { expect, test } from "vitest";
import { DESKTOP, FakeDaemon, type FakeSession, PHONE, takeScreenshot, useBrowser } from "./rig/index.ts";

const browser = useBrowser();

const ANSWER = `I found the problem: **\`parse\`** drops the last line. See [the issue](https://example.com/1) and \`src/parse.ts\`.

## What changes

- the splitter keeps its remainder
- a test covers *CRLF*
  1. nested one
  2. nested two

\`\`\`ts
export function split(text: string): string[] {
  // The remainder belongs to the next chunk.
  return text.split("\\n").filter((line) => line.length > 0);
}
\`\`\`

| case | before | after |
|---|---:|---:|
| LF | 12 | 12 |
| CRLF | 11 | 12 |

> Remote images are links: ![chart](https://example.com/chart.png)

<b>HTML stays text</b>`;

async function writeConversation(session: FakeSession): Promise<void> {
  const turn = await session.startTurn("The parser loses the last line of a file. Find out why and fix it.");
  for (const name of ["parse.ts", "split.ts"]) {
    await turn.add({
      type: "commandExecution",
      command: `sed -n 1,80p src/${name}`,
      cwd: "/srv/app",
      processId: null,
      source: "agent",
      status: "completed",
      commandActions: [{ type: "read", command: "sed", name, path: `/srv/app/src/${name}` }],
      aggregatedOutput: "…\n",
      exitCode: 0,
      durationMs: 40,
    });
  }
  await turn.add({
    type: "reasoning",
    summary: ["**Looking at the splitter**\n\nIt drops a remainder."],
    content: [],
  });
  await turn.run(
    "npm test",
    Array.from({ length: 40 }, (_, line) => `ok ${line} parses line ${line}`).join("\n"),
  );
  await turn.run("npm run lint", "src/parse.ts: unused variable\n", 1);
  await turn.patch("src/parse.ts", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n");
  await turn.say(ANSWER);
  await turn.complete(ANSWER);
}

test("shows a conversation with all kinds of rows, in both themes and widths", async () => {
  await using daemon = await FakeDaemon.start();
  const session = await daemon.createSession("Fix the parser");
  await writeConversation(session);
  for (const [width, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.open(daemon, `/s/${session.id}`, { viewport, colorScheme });
      const log = page.getByRole("log");
      await log.getByText("I found the problem").waitFor();
      await log.getByRole("heading", { name: "What changes" }).waitFor();
      await log.getByRole("button", { name: /^Read 2 files/ }).waitFor();
      await log.getByText("exit 1").waitFor();
      await log.getByText("<b>HTML stays text</b>").waitFor();
      expect(await log.getByRole("link", { name: "chart (image on example.com)" }).getAttribute("rel")).toBe(
        "noopener noreferrer",
      );
      await takeScreenshot(page, `session-${width}-${colorScheme}`);
    }
  }
});
