import type { Script } from "@codexkit/scripted-model";
import type { CodexFolders } from "@codexkit/testing";
import type * as compat from "../../src/compat/index.ts";

/** The inputs of a program of the differential test. */
export interface Stage extends CodexFolders {
  /** Makes a `Codex` of the package under test. */
  readonly codex: (options?: compat.CodexOptions) => compat.Codex;
  /** The options that `codex` starts from. */
  readonly base: { readonly codexPathOverride: string; readonly env: Record<string, string> };
  /** The module specifier of the package under test, for programs in their own process. */
  readonly sdkUrl: string;
}

/** A program for `@openai/codex-sdk`. It must return the same value with both packages. */
export interface Program {
  readonly script: Script;
  readonly modelName?: string;
  readonly run: (stage: Stage) => Promise<unknown>;
}

export type Programs = Readonly<Record<string, Program>>;

/** The events of a turn, and the error of reading them. */
export async function watch(
  thread: compat.Thread,
  input: compat.Input,
  options: compat.TurnOptions = {},
  onEvent: (event: compat.ThreadEvent) => void = () => {},
): Promise<{ events: compat.ThreadEvent[]; end: unknown }> {
  const events: compat.ThreadEvent[] = [];
  const reading = async (): Promise<string> => {
    for await (const event of (await thread.runStreamed(input, options)).events) {
      events.push(event);
      onEvent(event);
    }
    return "ended";
  };
  return { end: await outcome(reading()), events };
}

/** The value of a promise, or the visible parts of its error. */
export async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    const { code, name, cause } = error as Error & { code?: string };
    // The original has a cause only for an abort.
    const why = name === "AbortError" ? String(cause) : undefined;
    return { thrown: String(error), isError: error instanceof Error, name, code, cause: why };
  }
}

/** The messages of a turn's error items, which contain the warnings. */
export async function warnings(
  thread: compat.Thread,
  input: compat.Input = "hi",
): Promise<readonly string[]> {
  const { items } = await thread.run(input);
  return items.flatMap((item) => (item.type === "error" ? [item.message] : []));
}

export interface Request {
  readonly input: readonly { readonly [key: string]: unknown }[];
  readonly body: { readonly [key: string]: unknown };
  readonly headers: { readonly [name: string]: unknown };
}

/** The settings of a thread, as sent to the model. */
export function setting(request: Request | undefined): unknown {
  const { model, reasoning, tools } = request?.body ?? {};
  const metadata = JSON.parse(String(request?.headers["x-codex-turn-metadata"])) as Record<string, unknown>;
  const { sandbox, sandbox_mode, thread_source, turn_trigger } = metadata;
  const context = request?.input.find((part) => JSON.stringify(part).includes("<environment_context>"));
  const offered = (tools as { type: string; name?: string }[]).map((tool) => tool.name ?? tool);
  return { model, reasoning, offered, sandbox, sandbox_mode, thread_source, turn_trigger, context };
}

/** The texts of the user's messages in a request, including those that Codex adds. */
export function userTexts(request: Request | undefined): unknown[] {
  return (request?.input ?? []).filter(({ role }) => role === "user").map(({ content }) => content);
}

/** The outputs of the calls in a request. */
export function outputs(request: Request | undefined): unknown[] {
  return (request?.input ?? []).flatMap((part) =>
    part["type"] === "function_call_output" ? [part["output"]] : [],
  );
}

/**
 * An environment with the certificates of the machine, for Codex's own provider. It asks for a WebSocket first, and without
 * certificates retries that for six seconds.
 */
export function withCertificates({
  SSL_CERT_FILE: _none,
  ...env
}: Record<string, string>): Record<string, string> {
  return env;
}
