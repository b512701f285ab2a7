import type { ThreadFrame } from "@codexkit/daemon/client";

type ThreadItem = Extract<ThreadFrame, { readonly type: "item.completed" }>["item"];

/** An item of a followed thread as a line. */
export interface ThreadLine {
  readonly id: string;
  readonly who: "you" | "codex" | "work";
  readonly text: string;
}

const MAX_TEXT = 20_000;

/** Formats an item as a line. Undefined if it has nothing to display. */
export function describeItem(item: ThreadItem): ThreadLine | undefined {
  const line = (who: ThreadLine["who"], text: string): ThreadLine | undefined =>
    text.trim() === ""
      ? undefined
      : { id: item.id, who, text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text };
  switch (item.type) {
    case "userMessage":
      return line(
        "you",
        item.content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n"),
      );
    case "agentMessage":
      return line("codex", item.text);
    case "commandExecution":
      return line(
        "work",
        `$ ${item.command}${item.exitCode === null ? "" : ` (exit code ${item.exitCode})`}`,
      );
    case "fileChange":
      return line("work", `Changed ${item.changes.map(({ path }) => path).join(", ")}`);
    case "reasoning":
      return line("work", item.summary.join("\n"));
    case "webSearch":
      return line("work", `Searched the web: ${item.query}`);
    default:
      return line("work", item.type);
  }
}
