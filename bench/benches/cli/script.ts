import { say, type ScriptFunction } from "@codexkit/scripted-model";

/** The whole answer, so that a row measures the startup and exit of a program. */
export const ANSWER = "Done.";

export const script: ScriptFunction = () => say([ANSWER]);
