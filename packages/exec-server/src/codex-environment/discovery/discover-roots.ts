import { messageOf } from "@codexkit/rpc/async";
import * as z from "zod";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Method } from "../../session/method.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import { sandboxContext } from "../../wire/sandbox-context.ts";
import { fileCalls, scanRoot } from "./scan-root.ts";

const MAX_ROOTS = 128;

const discoverParams = z.object({
  roots: z.array(z.object({ id: z.string(), path: z.string(), sandbox: sandboxContext.nullish() })),
});

type Root = z.output<typeof discoverParams>["roots"][number];

/** Implements `capabilityRoots/discoverV1`: the plugins and skills below several folders in one response. */
export function capabilityRootsMethod(sandbox: Sandbox): Method {
  return {
    params: discoverParams,
    lane: "ordinary",
    run: async ({ roots }: z.output<typeof discoverParams>) => {
      if (roots.length > MAX_ROOTS) {
        throw new Refusal(
          CODES.invalidRequest,
          `At most ${MAX_ROOTS} capability roots can be discovered per request.`,
        );
      }
      return { roots: await Promise.all(roots.map((root) => discover(root, sandbox))) };
    },
  };
}

/** Reports problems with a root in that root's result. */
async function discover({ id, path, sandbox: context }: Root, sandbox: Sandbox): Promise<object> {
  const warnings: string[] = [];
  const empty = { id, path, plugin: null, skills: [], namespaceManifests: [], warnings };
  try {
    return { ...empty, ...(await scanRoot(path, fileCalls(sandbox, context), warnings)), error: null };
  } catch (error) {
    return { ...empty, error: messageOf(error) };
  }
}
