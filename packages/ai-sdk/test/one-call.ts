// A program that makes one call, prints its finish reason, and does not close its provider. Its argument has the launch options.
import { generateText } from "ai";
import type { LaunchOptions } from "codexkit";
import { createCodex } from "../src/index.ts";

const codex = createCodex({ launch: JSON.parse(process.argv[2] ?? "{}") as LaunchOptions });
const { finishReason } = await generateText({ model: codex(), prompt: "hello" });
process.stdout.write(finishReason);
