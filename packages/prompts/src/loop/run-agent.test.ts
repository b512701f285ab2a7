import { fail, gate, say, type Script, waitFor } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { definePrompt } from "../prompt/define-prompt.ts";
import { type AgentRequest, runAgent } from "./run-agent.ts";

const launch = (model: Script) => launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });

const echo = definePrompt({
  ns: "test",
  key: "echo",
  params: z.object({ word: z.string() }),
  sections: [{ key: "task", title: "Task", render: ({ word }) => `Say <${word}>.` }],
});

const answer: Script = ({ lastUserText }) => {
  const word = /<(\w+)>/.exec(lastUserText)?.[1] ?? "";
  return word === "broken" ? fail.http(400) : say(word);
};

async function* queue(...words: readonly string[]): AsyncGenerator<AgentRequest<string>> {
  for (const [index, word] of words.entries()) yield { id: `${index}`, input: word, attempt: index + 1 };
}

describe("runAgent", () => {
  test("evaluates each request in its own session and returns a report", async () => {
    await using setup = await launch(answer);
    const results: string[] = [];
    const sessions = new Set<unknown>();
    const report = await runAgent(queue("one", "two", "three"), {
      codex: setup.codex,
      prompt: ({ input }) => echo.bind({ word: input }),
      evaluation: () => ({ thread: { cwd: setup.workspace } }),
      concurrency: 2,
      onResult: ({ id }, { text, session }) => {
        results.push(`${id} ${text}`);
        sessions.add(session);
      },
    });

    expect(results.toSorted()).toEqual(["0 one", "1 two", "2 three"]);
    expect(sessions.size).toBe(3);
    expect(report).toEqual({ succeeded: 3, failed: 0, deadLetters: 0 });
  });

  test("a request that fails too often becomes a dead letter, and others continue", async () => {
    await using setup = await launch(answer);
    const log: string[] = [];
    const report = await runAgent(queue("broken", "broken", "broken", "fine"), {
      codex: setup.codex,
      prompt: ({ input }) => echo.bind({ word: input }),
      evaluation: () => ({ thread: { cwd: setup.workspace } }),
      maxAttempts: 3,
      onResult: ({ id }) => void log.push(`result ${id}`),
      onFailure: ({ id }) => void log.push(`failure ${id}`),
      onDeadLetter: ({ id }) => void log.push(`dead ${id}`),
    });

    expect(log).toEqual(["failure 0", "failure 1", "dead 2", "result 3"]);
    expect(report).toEqual({ succeeded: 1, failed: 3, deadLetters: 1 });
  });

  test("a shutdown takes no more requests, and ends even if the queue never does", async () => {
    await using setup = await launch(answer);
    const abort = new AbortController();
    async function* endless(): AsyncGenerator<AgentRequest<string>> {
      yield { id: "0", input: "one" };
      await new Promise(() => {});
    }
    const results: string[] = [];
    const report = await runAgent(endless(), {
      codex: setup.codex,
      prompt: ({ input }) => echo.bind({ word: input }),
      evaluation: () => ({ thread: { cwd: setup.workspace } }),
      signal: abort.signal,
      onResult: (_request, { text }) => {
        results.push(text);
        abort.abort();
      },
    });

    expect(results).toEqual(["one"]);
    expect(report.succeeded).toBe(1);
  });

  test("a shutdown ends requests that take too long, even while all capacity is in use", async () => {
    const never = gate();
    await using setup = await launch(() => [say(["one", waitFor(never)])]);
    const abort = new AbortController();
    const failures: unknown[] = [];
    const running = runAgent(queue("one", "two", "three"), {
      codex: setup.codex,
      prompt: ({ input }) => echo.bind({ word: input }),
      evaluation: () => ({ thread: { cwd: setup.workspace } }),
      signal: abort.signal,
      drainMs: 1,
      onResult: () => {},
      onFailure: (_request, error) => void failures.push(error),
    });
    await setup.model.waitForRequests(1);
    abort.abort();

    expect(await running).toEqual({ succeeded: 0, failed: 1, deadLetters: 0 });
    expect(failures).toMatchObject([{ code: "aborted" }]);
    expect(setup.model.requestCount).toBe(1);
  });

  test.for([null, {}, { id: 5, input: "" }, { id: "a", input: "", attempt: "1" }])(
    "a request like %j stops the worker with an error",
    async (request) => {
      await using setup = await launch(answer);
      async function* requests(): AsyncGenerator<AgentRequest<string>> {
        yield { id: "0", input: "one" };
        yield request as never;
        yield { id: "1", input: "two" };
      }
      const results: string[] = [];
      const running = runAgent(requests(), {
        codex: setup.codex,
        prompt: ({ input }) => echo.bind({ word: input }),
        evaluation: () => ({ thread: { cwd: setup.workspace } }),
        onResult: (_request, { text }) => void results.push(text),
      });
      await expect(running).rejects.toMatchObject({ code: "invalid_option" });
      expect(results).toEqual(["one"]);
    },
  );

  test("leases are extended and heartbeats sent while a request is evaluated", async () => {
    const extended = Promise.withResolvers<string>();
    const beat = Promise.withResolvers<number>();
    await using setup = await launch(async () => {
      await Promise.all([extended.promise, beat.promise]);
      return "Done.";
    });
    const report = await runAgent(queue("one"), {
      codex: setup.codex,
      prompt: ({ input }) => echo.bind({ word: input }),
      evaluation: () => ({ thread: { cwd: setup.workspace } }),
      heartbeatIntervalMs: 5,
      extendLease: ({ id }) => extended.resolve(id),
      onHeartbeat: (running) => {
        if (running > 0) beat.resolve(running);
      },
      onResult: () => {},
    });

    expect(await extended.promise).toBe("0");
    expect(await beat.promise).toBe(1);
    expect(report.succeeded).toBe(1);
  });
});

test("a dead-letter callback that throws ends the worker with its error, after running requests have ended", async () => {
  await using setup = await launch(answer);
  const results: string[] = [];
  const running = runAgent(queue("fine", "broken", "fine", "fine", "fine"), {
    codex: setup.codex,
    prompt: ({ input }) => echo.bind({ word: input }),
    evaluation: () => ({ thread: { cwd: setup.workspace } }),
    maxAttempts: 1,
    concurrency: 2,
    onResult: ({ id }) => void results.push(id),
    onDeadLetter: () => {
      throw new Error("the dead-letter queue is down");
    },
  });

  await expect(running).rejects.toThrow("the dead-letter queue is down");
  expect(results).toContain("0");
});

test("heartbeat callbacks that throw are reported and end nothing", async () => {
  await using setup = await launch(answer);
  const warned = Promise.withResolvers<string>();
  const report = await runAgent(queue("fine"), {
    codex: setup.codex,
    prompt: async ({ input }) => {
      await warned.promise;
      return echo.bind({ word: input });
    },
    evaluation: () => ({ thread: { cwd: setup.workspace } }),
    heartbeatIntervalMs: 1,
    extendLease: () => {
      throw new Error("lost");
    },
    onHeartbeat: () => {},
    onWarning: (message) => warned.resolve(message),
    onResult: () => {},
  });

  expect(report.succeeded).toBe(1);
  expect(await warned.promise).toBe("A lease could not be extended.");
});
