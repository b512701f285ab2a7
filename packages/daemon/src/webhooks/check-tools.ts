import type { WebhookTool } from "../api/webhook-tool.ts";
import { DaemonError } from "../errors.ts";
import { requirePublicReceiver } from "./guarded-request.ts";
import type { WebhookSettings } from "./limits.ts";
import { webhookTools } from "./webhook-tools.ts";

/** Rejects with `unprocessable` tools that Codex would accept but never call, and those with a private URL. */
export async function checkTools(tools: readonly WebhookTool[], settings: WebhookSettings): Promise<void> {
  try {
    webhookTools(tools, { sessionId: "", ...settings });
  } catch (error) {
    throw new DaemonError("unprocessable", (error as Error).message, { cause: error });
  }
  const names = tools.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new DaemonError("unprocessable", `There are two tools with the name "${repeated}".`);
  }
  if (settings.allowPrivate) return;
  await Promise.all(tools.map(async ({ url }) => requirePublicReceiver(url)));
}
