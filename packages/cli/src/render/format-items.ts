import { splitShell } from "@codexkit/approvals/shell";
import type { v2 } from "codexkit";
import { revealLine, revealText, sanitizeText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { formatDuration } from "./format-values.ts";

type Item<Type extends v2.ThreadItem["type"]> = Extract<v2.ThreadItem, { type: Type }>;

/** Maximum number of output lines that are printed below a command of the agent. */
const OUTPUT_LINES = 5;

/** The same limit for the user's own commands, whose output the user wants to read. */
const OWN_OUTPUT_LINES = 500;

/** Maximum number of characters that are printed per line of output. */
const LINE_CHARACTERS = 2_000;

/** Maximum number of characters of output to process: a command may print many megabytes. */
const OUTPUT_CHARACTERS = 64 * 1024;

/** Maximum number of lines that are printed of a command; scripts can be long. */
const COMMAND_LINES = 8;

const INDENT = "  ";

/** Formats a command with its exit code and the end of its output. */
export function formatCommand(item: Item<"commandExecution">, style: Style): string[] {
  const [first = "", ...others] = revealText(splitShell(item.command).script).split("\n");
  const rest = others.slice(0, COMMAND_LINES - 1).map((line) => INDENT + line);
  const cut =
    others.length > rest.length ? [style.dim(`${INDENT}… ${others.length - rest.length} more lines`)] : [];
  return [
    `${style.cyan("$")} ${style.bold(first)}`,
    ...rest,
    ...cut,
    ...formatOutput(
      item.aggregatedOutput ?? "",
      item.source === "userShell" ? OWN_OUTPUT_LINES : OUTPUT_LINES,
    ).map((line) => style.dim(INDENT + line)),
    INDENT + formatExit(item, style),
  ];
}

function formatExit({ status, exitCode, durationMs }: Item<"commandExecution">, style: Style): string {
  if (status === "declined") return style.red("declined");
  const time = durationMs !== null && durationMs >= 1_000 ? ` · ${formatDuration(durationMs)}` : "";
  if (exitCode === null) return style.dim(`${status === "inProgress" ? "still running" : status}${time}`);
  return exitCode === 0 ? style.dim(`exit 0${time}`) : style.red(`exit ${exitCode}`) + style.dim(time);
}

/** Formats the last lines of output, with the number of omitted lines before them. */
export function formatOutput(output: string, limit: number): string[] {
  const end = output.trimEnd();
  if (end === "") return [];
  const tail = sanitizeText(end.slice(-OUTPUT_CHARACTERS)).split("\n").slice(-limit);
  const omitted = countLines(end) - tail.length;
  const lines = tail.map((line) =>
    line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS)}…` : line,
  );
  return omitted > 0 ? [`… ${omitted} more lines`, ...lines] : lines;
}

function countLines(text: string): number {
  let count = 1;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count++;
  return count;
}

const PLAN_MARKS: Readonly<Record<v2.TurnPlanStep["status"], string>> = {
  completed: "✓",
  inProgress: "▸",
  pending: "○",
};

/** Formats the plan as a checklist. */
export function formatPlan(
  plan: readonly v2.TurnPlanStep[],
  explanation: string | null,
  style: Style,
): string[] {
  const heading = explanation
    ? `${style.bold("Plan")}: ${sanitizeText(explanation).replaceAll("\n", " ")}`
    : style.bold("Plan");
  const paint = { completed: style.dim, inProgress: style.bold, pending: (text: string) => text };
  return [
    heading,
    ...plan.map(({ step, status }) => {
      const mark = status === "completed" ? style.green(PLAN_MARKS[status]) : PLAN_MARKS[status];
      return `${INDENT}${mark} ${paint[status](sanitizeText(step).replaceAll("\n", " "))}`;
    }),
  ];
}

/** Formats a reasoning summary, without heading marks. */
export function formatReasoning(summary: readonly string[], style: Style): string[] {
  const text = sanitizeText(summary.join("\n\n"))
    .replaceAll(/\*\*([^*\n]+)\*\*/g, "$1")
    .trim();
  if (text === "") return [];
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => style.dim(line));
}

/** Formats an item that has no other format as one line. Undefined if the item is not shown. */
export function formatOtherItem(item: v2.ThreadItem, style: Style): string | undefined {
  const line = (what: string, detail: string): string =>
    `${style.cyan("•")} ${what}${detail === "" ? "" : ` ${style.dim(revealLine(detail))}`}`;
  switch (item.type) {
    case "mcpToolCall":
      return line(
        `${revealLine(item.server)}.${revealLine(item.tool)}`,
        item.error ? `failed: ${item.error.message}` : item.status,
      );
    case "dynamicToolCall":
      return line(revealLine(item.tool), item.success === false ? "failed" : item.status);
    case "webSearch":
      return line("searched the web", item.query);
    case "imageView":
      return line("looked at", item.path);
    case "collabAgentToolCall":
      return line(`agent: ${revealLine(item.tool)}`, item.prompt ?? "");
    case "contextCompaction":
      return line("compacted the history", "");
    case "enteredReviewMode":
      return line("review", item.review);
    default:
      return undefined;
  }
}
