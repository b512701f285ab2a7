import type { ActivityEvent, AgentCost, ErrorSubtype, ToolCategory } from "../contract/agent-event.ts";
import type { StubSettings } from "./stub-settings.ts";

/** One step of a script. */
export type StubStep =
  | { readonly do: "emit"; readonly event: ActivityEvent }
  /** A model call, which `maxTurns` counts. */
  | { readonly do: "callModel"; readonly cost: AgentCost }
  | { readonly do: "wait"; readonly ms: number }
  /** Waits for an injection and repeats it. */
  | { readonly do: "echo" }
  | { readonly do: "hang" }
  | { readonly do: "succeed"; readonly message: string }
  | { readonly do: "fail"; readonly subtype: ErrorSubtype; readonly why: string; readonly reason: string }
  | { readonly do: "break"; readonly message: string };

export interface StubTask {
  readonly prompt: string;
  /** Earlier prompts of a resumed session. */
  readonly earlier: readonly string[];
}

/** The steps of a stub. Deterministic for the same settings and task. */
export function stubScript(settings: StubSettings, task: StubTask): readonly StubStep[] {
  const { behaviour = "succeed-with-pr" } = settings;
  if (behaviour === "silent-fail") return [callModel(settings), { do: "succeed", message: "" }];
  return [callModel(settings), ...greet(task), ...work(behaviour, settings)];
}

function greet({ prompt, earlier }: StubTask): StubStep[] {
  const recalled = earlier.length > 0 ? say("recall", `Before this I was asked: ${earlier.join("; ")}.`) : [];
  return [...recalled, ...say("greeting", `My task: ${prompt}`)];
}

function work(
  behaviour: Exclude<NonNullable<StubSettings["behaviour"]>, "silent-fail">,
  settings: StubSettings,
): StubStep[] {
  switch (behaviour) {
    case "succeed-with-pr": {
      const { pullRequest = "https://example.com/repository/pull/1" } = settings;
      const message = `The pull request is at ${pullRequest}`;
      return [
        ...tool({ id: "pr", name: "open_pull_request", input: { title: "The task" }, content: pullRequest }),
        callModel(settings),
        ...say("end", message),
        { do: "succeed", message },
      ];
    }
    case "fail-on-clone": {
      const why = "fatal: could not read from remote repository";
      const input = { command: "git clone https://example.com/repository" };
      return [
        ...tool({ id: "clone", name: "shell", category: "command", input, content: why, isError: true }),
        { do: "fail", subtype: "execution_failed", why, reason: "clone_failed" },
      ];
    }
    case "hang-then-timeout":
      return [{ do: "hang" }];
    case "slow-tool":
      return slowTool(settings);
    case "cost-overrun": {
      const { modelCalls = 100, usdPerCall = 1 } = settings;
      // The first call was made for the greeting.
      const calls = Array.from({ length: modelCalls - 1 }, () => callModel({ usdPerCall }));
      return [...calls, { do: "succeed", message: `Done, after ${modelCalls} calls of the model.` }];
    }
    case "mid-stream-error":
      return [
        use("edit", "edit_file", "edit", { path: "README.md" }),
        { do: "break", message: "The stub failed during a tool, as configured." },
      ];
    case "inject-test": {
      const { injections = 1 } = settings;
      const echoes = Array.from({ length: injections }, (): StubStep => ({ do: "echo" }));
      return [...echoes, { do: "succeed", message: "I have repeated everything that was injected." }];
    }
  }
}

function slowTool({ toolSeconds = 5 }: StubSettings): StubStep[] {
  const seconds = Array.from({ length: toolSeconds }, (_, index): StubStep[] => [
    { do: "wait", ms: 1_000 },
    {
      do: "emit",
      event: {
        kind: "tool_progress",
        toolUseId: "slow",
        toolName: "shell",
        elapsedSeconds: index + 1,
        output: `${index + 1}\n`,
      },
    },
  ]);
  return [
    use("slow", "shell", "command", { command: `sleep ${toolSeconds}` }),
    ...seconds.flat(),
    { do: "emit", event: result("slow", "shell", "", false) },
    { do: "succeed", message: `It took ${toolSeconds} seconds.` },
  ];
}

function callModel({ behaviour, usdPerCall }: StubSettings): StubStep {
  const usd = usdPerCall ?? (behaviour === "cost-overrun" ? 1 : 0.01);
  return {
    do: "callModel",
    cost: { inputTokens: 1_000, cachedInputTokens: 500, outputTokens: 100, usd, turns: 1 },
  };
}

/** Splits text into words, as agents stream it. */
export function say(messageId: string, text: string): StubStep[] {
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  return words.map((word) => ({ do: "emit", event: { kind: "assistant_text", text: word, messageId } }));
}

interface StubTool {
  readonly id: string;
  readonly name: string;
  readonly category?: ToolCategory;
  readonly input: unknown;
  readonly content: string;
  readonly isError?: boolean;
}

function tool({ id, name, category = "other", input, content, isError = false }: StubTool): StubStep[] {
  return [use(id, name, category, input), { do: "emit", event: result(id, name, content, isError) }];
}

function use(toolUseId: string, toolName: string, toolCategory: ToolCategory, input: unknown): StubStep {
  return { do: "emit", event: { kind: "tool_use", toolUseId, toolName, toolCategory, input } };
}

function result(toolUseId: string, toolName: string, content: string, isError: boolean): ActivityEvent {
  return { kind: "tool_result", toolUseId, toolName, content, isError };
}
