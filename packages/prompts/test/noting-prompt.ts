import { callTool, type Script } from "@codexkit/scripted-model";
import { launchCodex, type LaunchedCodex } from "@codexkit/testing";
import { z } from "zod";
import { definePrompt, definePromptTool, defineSlice, ToolFailure } from "../src/index.ts";

export const launch = (model: Script): Promise<LaunchedCodex> =>
  launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });

/** A prompt without tools, and one with a tool that stores notes in the session and in the workspace. */
export const task = { key: "task", title: "Task", render: "Do the task." };
export const plain = definePrompt({ ns: "ack", key: "plain", sections: [task] });

export const notes = defineSlice<readonly string[]>({
  name: "notes",
  schema: z.array(z.string()),
  initial: [],
});
export const note = definePromptTool({
  name: "note",
  description: "Stores a note",
  input: z.strictObject({ text: z.string() }),
  output: z.string(),
  handler: ({ text }, { session, workspace }) => {
    session.update(notes, (all) => [...all, text]);
    workspace?.writeText(`${text}.txt`, text);
    if (text.startsWith("bad")) throw new ToolFailure(`"${text}" is rejected.`);
    return `noted ${text}`;
  },
});
export const noting = definePrompt({ ns: "ack", key: "noting", sections: [task], tools: [note] });
export const callNote = (text: string): ReturnType<typeof callTool> =>
  callTool("note", { text }, { callId: `call-${text}` });
