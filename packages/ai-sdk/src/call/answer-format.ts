import type { JSONObject, LanguageModelV4CallOptions, SharedV4Warning } from "@ai-sdk/provider";
import { CodexError, type OutputSchema, outputSchema } from "codexkit";
import { type ReadAnswer, readAnyJson, readObject, readText } from "../stream/answer-reader.ts";
import { withoutAbsent } from "../stream/without-absent.ts";

/** The requested answer format, and how to parse it. */
export interface AnswerFormat {
  readonly isJson: boolean;
  /** The schema that Codex enforces. */
  readonly schema?: OutputSchema<unknown>;
  /** Prompt text that requests the format, if Codex can't enforce it. */
  readonly request?: string;
  readonly readAnswer: ReadAnswer;
  readonly warnings: readonly SharedV4Warning[];
}

/** Reads `responseFormat`. If strict mode does not support the schema, it is requested in the prompt instead. */
export function answerFormat(format: LanguageModelV4CallOptions["responseFormat"]): AnswerFormat {
  if (format?.type !== "json") return { isJson: false, readAnswer: readText, warnings: [] };
  const { schema } = format;
  if (schema === undefined) {
    return inWords("Answer with JSON and nothing else.", {
      type: "compatibility",
      feature: "responseFormat json without a schema",
      details: "Codex has no such mode, so JSON is requested in the prompt.",
    });
  }
  try {
    const made = outputSchema(schema as JSONObject);
    const clean = (): ((delta: string) => string) => withoutAbsent(schema as JSONObject);
    return { isJson: true, schema: made, readAnswer: readObject(clean), warnings: [] };
  } catch (error) {
    if (!(error instanceof CodexError)) throw error;
    return inWords(
      `Answer with JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`,
      {
        type: "compatibility",
        feature: "responseFormat json with this schema",
        details: `${error.message} The format is requested in the prompt instead.`,
      },
    );
  }
}

function inWords(request: string, warning: SharedV4Warning): AnswerFormat {
  return { isJson: true, request, readAnswer: readAnyJson, warnings: [warning] };
}
