import type { JsonValue } from "codexkit";
import { isAbsolute } from "node:path";
import { z } from "zod";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { ProviderError } from "../../contract/provider-error.ts";

const schema = z.object({
  /** Codex settings as in `config.toml`, for this session only. */
  config: z.record(z.string(), z.json()).optional(),
  /** Whether sandboxed commands have network access. Default: depends on `sandboxLevel`. */
  networkAccess: z.boolean().optional(),
  /** Writable folders in addition to `cwd`. */
  writableRoots: z.array(z.string().refine(isAbsolute, { error: "must be an absolute path" })).optional(),
  modelProvider: z.string().min(1).optional(),
  serviceTier: z.string().min(1).optional(),
  summary: z.enum(["auto", "concise", "detailed", "none"]).optional(),
  /** JSON Schema for the last message. */
  outputSchema: z.record(z.string(), z.json()).optional(),
});

/** `providerConfig` of Codex. */
export interface CodexProviderConfig {
  readonly config: Readonly<Record<string, JsonValue>>;
  readonly networkAccess?: boolean | undefined;
  readonly writableRoots?: readonly string[] | undefined;
  readonly modelProvider?: string | undefined;
  readonly serviceTier?: string | undefined;
  readonly summary?: "auto" | "concise" | "detailed" | "none" | undefined;
  readonly outputSchema?: Record<string, JsonValue> | undefined;
}

/** A spec may be written for several providers: unknown settings are listed as ignored. */
export function readProviderConfig(input: Readonly<Record<string, unknown>> = {}): {
  readonly settings: CodexProviderConfig;
  readonly ignored: readonly IgnoredField[];
} {
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    throw new ProviderError(
      "invalid_spec",
      `This providerConfig is not valid for Codex. ${z.prettifyError(parsed.error)}`,
      {
        cause: parsed.error,
      },
    );
  }
  const strangers = Object.keys(input).filter((key) => !(key in schema.shape));
  const reason = `Codex has no settings named ${strangers.join(", ")}; the others apply`;
  return {
    settings: { ...parsed.data, config: parsed.data.config ?? {} },
    ignored: strangers.length === 0 ? [] : [{ field: "providerConfig", reason }],
  };
}
