import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";

test("writes JSON without secrets", () => {
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => lines.push(line) });
  logger.info({ token: "s1", request: { headers: { authorization: "Bearer s2" } } }, "one");
  logger.info({ session: { setup: { environment: { token: "s3" } }, cwd: "/srv" } }, "two");
  logger.debug("three");
  expect(lines).toHaveLength(2);
  expect(lines.join("")).not.toMatch(/s[123]/);
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({
    msg: "two",
    session: { cwd: "/srv", setup: "[secret]" },
  });
});
