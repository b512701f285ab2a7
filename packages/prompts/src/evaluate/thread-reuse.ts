import { createHash } from "node:crypto";
import type { StartThreadOptions } from "codexkit";
import { z } from "zod";
import type { RenderedTool } from "../prompt/render-prompt.ts";
import { defineSlice, type Slice } from "../session/slice.ts";

/** The thread that a session used last. Stored in a log slice, so that a failed tool call does not roll it back. */
export interface UsedThread {
  readonly threadId: string;
  readonly cwd: string;
  /** Undefined without a workspace. */
  readonly fingerprint?: string | undefined;
  /** Hash of the tools, which can't change after a thread has started. */
  readonly tools: string;
  /** Hash of the settings, such as the sandbox, which can't change while a thread is loaded. Undefined in older sessions. */
  readonly settings?: string | undefined;
}

export const usedThread: Slice<UsedThread | null> = defineSlice<UsedThread | null>({
  name: "codex.thread",
  kind: "log",
  initial: null,
  schema: z
    .object({
      threadId: z.string(),
      cwd: z.string(),
      fingerprint: z.string().optional(),
      tools: z.string(),
      settings: z.string().optional(),
    })
    .nullable(),
});

export function hashTools(tools: readonly RenderedTool[]): string {
  const specs = tools.map(({ tool, description }) => [tool.name, description, tool.inputSchema]);
  return hashJson(specs);
}

/** Returns a hash of a thread's start options, except handlers, which belong to this process. */
export function hashSettings(options: StartThreadOptions): string {
  const { tools: _tools, handlers: _handlers, ...settings } = options;
  return hashJson(settings);
}

function hashJson(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** Whether a thread can be continued with the same folder, content, tools and settings. */
export function isReusable(
  used: UsedThread | null,
  wanted: Omit<UsedThread, "threadId">,
): used is UsedThread {
  return (
    used !== null &&
    used.cwd === wanted.cwd &&
    used.fingerprint === wanted.fingerprint &&
    used.tools === wanted.tools &&
    used.settings === wanted.settings
  );
}
