import { useDaemon } from "../feed/index.ts";
import { formatDuration } from "./format.ts";

/** A relative time, with the exact time as its title. */
export function Ago(props: { readonly at: number }) {
  const { clock } = useDaemon();
  const text = (): string => {
    const age = clock() - props.at;
    if (age < 5_000) return "now";
    return formatDuration(Math.floor(age / 1_000) * 1_000)
      .split(" ")
      .slice(0, age < 60_000 ? 2 : 1)
      .join(" ");
  };
  return (
    <time datetime={new Date(props.at).toISOString()} title={new Date(props.at).toLocaleString()}>
      {text()}
    </time>
  );
}

/** The elapsed time since a start. */
export function Elapsed(props: { readonly since: number }) {
  const { clock } = useDaemon();
  return <>{formatDuration(Math.max(1, Math.floor((clock() - props.since) / 1_000)) * 1_000)}</>;
}
