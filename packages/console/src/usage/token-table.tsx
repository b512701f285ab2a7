import type { JSX } from "solid-js";
import { formatCount } from "../ui/index.ts";
import type { TokenUsage } from "./usage-model.ts";

/** The kinds of tokens of a session or a turn. */
export function TokenTable(props: { readonly usage: TokenUsage; readonly caption: string }): JSX.Element {
  return (
    <table class="token-table">
      <caption>{props.caption}</caption>
      <thead>
        <tr>
          <th scope="col">Input</th>
          <th scope="col">of it cached</th>
          <th scope="col">Output</th>
          <th scope="col">of it reasoning</th>
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <td>{formatCount(props.usage.inputTokens)}</td>
          <td>{formatCount(props.usage.cachedInputTokens)}</td>
          <td>{formatCount(props.usage.outputTokens)}</td>
          <td>{formatCount(props.usage.reasoningOutputTokens)}</td>
          <td>{formatCount(props.usage.totalTokens)}</td>
        </tr>
      </tbody>
    </table>
  );
}
