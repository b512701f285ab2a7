import { percentile } from "../../statistics.ts";
import type { ConsoleBench } from "./open-console.ts";

const DIFF_LINES = 100_000;
const TERMINAL_LINES = 50_000;
const ECHOES = 30;

/** Opens the panel of a change of 100,000 lines. */
export async function openLargeDiff({ daemon, open }: ConsoleBench) {
  const session = await daemon.createSession("A large change");
  const turn = await session.startTurn("Change everything");
  const lines = Array.from(
    { length: DIFF_LINES },
    (_, index) => `+line ${index + 1} of a file that is generated\n`,
  );
  const diff = `diff --git a/big.txt b/big.txt\nnew file mode 100644\n--- /dev/null\n+++ b/big.txt\n@@ -0,0 +1,${DIFF_LINES} @@\n${lines.join("")}`;
  await session.append([{ type: "diff.updated", ...turn.ids, diff }]);
  await turn.complete("Done.");
  // The screen is loaded, but the panel and its diff are not.
  await using page = await open(`/s/${session.id}`);
  await page.getByRole("log").getByText("Change everything").first().waitFor();
  const result = (await page.evaluate(`new Promise((resolve) => {
    let longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: "longtask" });
    const start = performance.now();
    const look = () => {
      if (document.querySelector(".diff-row")?.parentElement.textContent.includes("line 1 of")) {
        const time = performance.now() - start;
        // Long tasks are reported after they have ended.
        setTimeout(() => resolve({ time, longest }), 500);
      } else requestAnimationFrame(look);
    };
    [...document.querySelectorAll(".panel-tabs button")].find((each) => each.textContent.includes("Diff")).click();
    look();
  })`)) as { readonly time: number; readonly longest: number };
  return { "first lines": result.time, "longest task": result.longest };
}

/** Opens a shell in the terminal panel that prints 50,000 lines and then echoes keys. */
export async function fillTerminal({ daemon, open }: ConsoleBench) {
  const session = await daemon.createSession("A terminal");
  await using page = await open(`/s/${session.id}?p=terminal`);
  await page.getByRole("button", { name: "New terminal" }).click();
  await page.locator('[data-connection="attached"][data-writer="self"]').waitFor();
  await page.locator(".xterm-helper-textarea").focus();
  // Printed by a program, so that the command line does not contain it.
  await page.keyboard.type(`seq 1 ${TERMINAL_LINES}; echo end-$((6 * 7))`);
  const shown = (text: string): string =>
    `document.querySelector(".xterm-rows").innerText.includes("${text}")`;
  const start = performance.now();
  await page.keyboard.press("Enter");
  await page.evaluate(untilTrue(shown("end-42")));
  const lines = performance.now() - start;
  await page.keyboard.type("# ");
  await page.evaluate(`(() => {
    globalThis.echoes = [];
    const rows = document.querySelector(".xterm-rows");
    addEventListener("keydown", () => {
      const start = performance.now();
      new MutationObserver((_, observer) => {
        observer.disconnect();
        echoes.push(performance.now() - start);
      }).observe(rows, { subtree: true, childList: true, characterData: true });
    }, { capture: true });
  })()`);
  for (let key = 1; key <= ECHOES; key += 1) {
    await page.keyboard.press(String.fromCodePoint(97 + (key % 26)));
    await page.evaluate(untilTrue(`echoes.length >= ${key}`));
  }
  const echoes = (await page.evaluate("echoes")) as number[];
  return { "50,000 lines": lines, echo: percentile(echoes, 0.95) };
}

function untilTrue(condition: string): string {
  return `new Promise((resolve) => {
    const look = () => {
      if (${condition}) resolve();
      else setTimeout(look, 20);
    };
    look();
  })`;
}
