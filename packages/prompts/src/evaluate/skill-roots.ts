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
  const add = (count: 1 | -1): void => {
    for (const root of needed) {
      const users = (state.users.get(root) ?? 0) + count;
      if (users > 0) state.users.set(root, users);
      else state.users.delete(root);
    }
  };
  const setRoots = (): Promise<void> => codex.skills.setExtraRoots([...state.users.keys()]);
  await state.updates.run(async () => {
    add(1);
    try {
      await setRoots();
    } catch (error) {
      // Still inside the queued update, so that the next one does not include these roots.
      add(-1);
      throw error;
    }
  });
  return {
    [Symbol.asyncDispose]: async () => {
      add(-1);
      await state.updates.run(setRoots);
    },
  };
}
