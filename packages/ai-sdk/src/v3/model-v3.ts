import type {
  LanguageModelV3,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
} from "@ai-sdk/provider";

/** The same type with mutable arrays, because the V3 types of `ai` 6 have no readonly JSON. */
type Writable<T> = T extends string | number | boolean | null | undefined | Date | URL | Uint8Array
  ? T
  : T extends readonly (infer Item)[]
    ? Writable<Item>[]
    : T extends object
      ? { [Key in keyof T]: Writable<T[Key]> }
      : T;

export type GenerateResultV3 = Writable<LanguageModelV3GenerateResult>;
export type StreamPartV3 = Writable<LanguageModelV3StreamPart>;

/** A V3 model whose types are assignable to those of `ai` 6. */
export interface ModelV3 extends Omit<LanguageModelV3, "doGenerate" | "doStream"> {
  doGenerate(...call: Parameters<LanguageModelV3["doGenerate"]>): PromiseLike<GenerateResultV3>;
  doStream(
    ...call: Parameters<LanguageModelV3["doStream"]>
  ): PromiseLike<
    Writable<Omit<LanguageModelV3StreamResult, "stream">> & { stream: ReadableStream<StreamPartV3> }
  >;
}
