import { SerialQueue } from "@codexkit/rpc/async";
import type { Codex } from "codexkit";
import { dirname } from "node:path";
import type { PromptSkill } from "../prompt/section.ts";

interface RootsOfCodex {
  /** Root → number of evaluations that need it. */
  readonly users: Map<string, number>;
  readonly updates: SerialQueue;
}

const roots = new WeakMap<Codex, RootsOfCodex>();

/**
 * Adds a prompt's skills to Codex until the result is disposed. Codex has a single list of skill roots, so the roots of all
 * evaluations on a codex are set together.
 */
export async function addSkillRoots(codex: Codex, skills: readonly PromptSkill[]): Promise<AsyncDisposable> {
  const needed = [...new Set(skills.map(({ path }) => dirname(path)))];
  if (needed.length === 0) return { [Symbol.asyncDispose]: async () => {} };
  const state = roots.get(codex) ?? { users: new Map<string, number>(), updates: new SerialQueue() };
  roots.set(codex, state);
  const change = async (by: 1 | -1): Promise<void> => {
    for (const root of needed) {
      const users = (state.users.get(root) ?? 0) + by;
      if (users > 0) state.users.set(root, users);
      else state.users.delete(root);
    }
    await state.updates.run(() => codex.skills.setExtraRoots([...state.users.keys()]));
  };
  await change(1);
  return { [Symbol.asyncDispose]: () => change(-1) };
}
