/** A conversation message, reduced to the parts that scripts read. */
export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Number of tool results in the message. */
  readonly toolResults: number;
}

/** A model request, independent of its API. */
export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** The names of the tools that the agent offers. */
  readonly tools: readonly string[];
}

/** The model's reply: text, a tool call, or text after which the reply never ends. */
export type ModelReply =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly type: "hang"; readonly text: string };

/** Every reply reports these tokens, so that usage can be checked. */
export const REPLY_USAGE = { inputTokens: 120, cachedInputTokens: 20, outputTokens: 30 } as const;

/** The tool calls for testing an agent, in the agent's own format. */
export interface AgentTools {
  /** Runs a shell command that is not known to be harmless. */
  readonly command: (command: string) => ModelReply;
}

const ORDER = /\[\[(?<verb>[a-z-]+)(?: (?<text>[^\]]*))?\]\]/g;

/** Formats an order for a prompt. Brackets mark it, because agents add context around the user's text. */
export function order(verb: string, text = ""): string {
  return text === "" ? `[[${verb}]]` : `[[${verb} ${text}]]`;
}

/** Part of every text that the conformance suite injects. */
const INJECTION = "nonce-";

/** The command that the `tool` order runs: prints a word, and writes it to a file in the current folder. */
export const PROBE_FILE = "interop-probe.txt";

export const PROBE_COMMAND = `echo interop | tee ${PROBE_FILE}`;

/** The command that the `read` order runs. Agents recognise it as read-only. */
const HARMLESS_COMMAND = "ls";

/** Executes the last order in the conversation. */
export function playOrder({ messages, tools }: ModelRequest, agent: AgentTools): ModelReply {
  const text = (content: string): ModelReply => ({ type: "text", text: content });
  // Requests without tools are side jobs, such as writing a title.
  if (tools.length === 0) return text("Side job");
  const at = messages.findLastIndex(({ role, text: content }) => role === "user" && content.match(ORDER));
  const last = messages[at];
  const match = last && [...last.text.matchAll(ORDER)].at(-1);
  const found = match?.groups;
  if (!last || !found) return text("No order found.");
  const hasResult = messages.slice(at).some(({ toolResults }) => toolResults > 0);
  switch (found["verb"]) {
    case "say":
      return text(found["text"] ?? "");
    case "work":
      return { type: "hang", text: "Working" };
    case "recall":
      return text(
        messages
          .filter(({ role }) => role === "user")
          .map((message) => message.text)
          .join(" "),
      );
    case "tool":
      return hasResult ? text("Done.") : agent.command(PROBE_COMMAND);
    case "read":
      return hasResult ? text("Done.") : agent.command(HARMLESS_COMMAND);
    case "steps": {
      // Agents add injected text after a tool call, or to the prompt if they have not sent it yet.
      const rest = last.text.slice(match.index + match[0].length);
      const later = messages.slice(at + 1).filter(({ role }) => role === "user");
      const injected = [rest, ...later.map((message) => message.text)].findLast((content) =>
        content.includes(INJECTION),
      );
      return injected === undefined ? agent.command("true") : text(injected);
    }
    case "server": {
      const echo = tools.find((name) => /tests.*echo|^echo$/.test(name));
      if (echo === undefined) return text(`No tool of the server is offered: ${tools.join(", ")}`);
      return hasResult ? text("Done.") : { type: "call", tool: echo, input: { text: "hello" } };
    }
    default:
      return text(`Unknown order ${found["verb"]}.`);
  }
}
