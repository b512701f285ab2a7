import { describe, expect, it } from "vitest";
import { runListener } from "./run-listener.ts";

describe("runListener", () => {
  it("reports a thrown error", () => {
    const failures: Error[] = [];
    const thrown = new Error("no");
    runListener(
      () => {
        throw thrown;
      },
      (error) => failures.push(error),
    );
    expect(failures).toEqual([thrown]);
  });

  it("reports a later rejection", async () => {
    const { promise, resolve } = Promise.withResolvers<Error>();
    runListener(() => Promise.reject(new Error("later")), resolve);
    expect(await promise).toMatchObject({ message: "later" });
  });

  it("reports nothing if the listener succeeds", async () => {
    runListener(
      () => Promise.resolve(1),
      () => expect.unreachable(),
    );
    await Promise.resolve();
  });
});
