import { readEndpoint, type Endpoint } from "../network/endpoint.ts";
import { hasOption, readOptions, type Options } from "../shell/options.ts";
import type { Value } from "../shell/value.ts";
import type { Effect } from "./effect.ts";

/** Programs that are told a URL or a host: where they go, whether they send, which files they write. */
type Transfer = (args: readonly Value[]) => readonly Effect[];

const CURL_VALUED = "AbcCdDeEFhHKmopPQrtTuUwxXyYz";

const curl: Transfer = (args) => {
  const options = readOptions(args, {
    short: CURL_VALUED,
    long: "--data --data-raw --data-binary --data-urlencode --data-ascii --json --form --form-string --header --request --output --output-dir --user --user-agent --url --upload-file --cookie --cookie-jar --max-time --connect-timeout --retry --retry-delay --proxy --cert --key --cacert --write-out --resolve --referer --config --dump-header --range --limit-rate --interface --unix-socket --connect-to --dns-servers --trace --stderr".split(
      " ",
    ),
  });
  const method = value(options, "X", "--request")?.toUpperCase();
  const sends =
    hasOption(
      options,
      "d",
      "F",
      "T",
      "--data",
      "--data-raw",
      "--data-binary",
      "--data-urlencode",
      "--json",
      "--form",
      "--upload-file",
    ) ||
    (method !== undefined && method !== "GET" && method !== "HEAD");
  const urls = [...options.operands, ...(options.values.get("--url") ?? [])];
  const outputs = [
    "o",
    "--output",
    "c",
    "--cookie-jar",
    "D",
    "--dump-header",
    "--trace",
    "--output-dir",
    "--stderr",
  ].flatMap((name) => options.values.get(name) ?? []);
  const redirected = hasOption(
    options,
    "K",
    "--config",
    "x",
    "--proxy",
    "--resolve",
    "--connect-to",
    "--unix-socket",
    "--dns-servers",
  );
  return [
    network(urls, sends, redirected),
    writes(outputs, hasOption(options, "O", "--remote-name", "--remote-name-all")),
  ];
};

const wget: Transfer = (args) => {
  const options = readOptions(args, {
    short: "OPaoUeitTwQlARDIX",
    long: "--output-document --directory-prefix --header --post-data --post-file --body-data --body-file --method --user-agent --user --password --input-file --timeout --tries --wait --execute --output-file --append-output --level --accept --reject".split(
      " ",
    ),
  });
  const sends = hasOption(options, "--post-data", "--post-file", "--body-data", "--body-file", "--method");
  const outputs = ["O", "--output-document", "P", "--directory-prefix", "o", "a", "--output-file"].flatMap(
    (name) => options.values.get(name) ?? [],
  );
  const redirected = hasOption(options, "i", "--input-file", "e", "--execute");
  return [
    network(options.operands, sends, redirected),
    writes(
      outputs.filter(({ text }) => text !== "-"),
      !hasOption(options, "O", "--output-document", "--spider"),
    ),
  ];
};

/** `http POST host/path key=value`. */
const httpie: Transfer = (args) => {
  const { operands } = readOptions(args, { short: "apos", long: ["--auth", "--output", "--session"] });
  const method = operands[0]?.text ?? "";
  const named = /^[A-Z]+$/.test(method);
  const url = operands[named ? 1 : 0];
  const sends =
    (named && method !== "GET" && method !== "HEAD") ||
    operands.slice(named ? 2 : 1).some(({ text }) => /^[^=:]+(?::=|=(?!=)|@)/.test(text));
  return [network(url === undefined ? [] : [url], sends, false)];
};

const firstOperand =
  (sends: boolean, short = ""): Transfer =>
  (args) => [network(readOptions(args, { short }).operands.slice(0, 1), sends, false)];

const copies: Transfer = (args) => {
  const { operands } = readOptions(args, { short: "cFiJloPSX" });
  return [
    network(
      operands.filter(({ text }) => text.includes(":")),
      true,
      false,
    ),
  ];
};

function network(urls: readonly Value[], sends: boolean, redirected: boolean): Effect {
  const endpoints: (Endpoint | undefined)[] = urls.map(({ text, glob }) =>
    glob && /[*[{]/.test(text.split("?")[0] ?? "") ? undefined : readEndpoint(text),
  );
  return {
    kind: "network",
    endpoints: redirected || endpoints.length === 0 ? [...endpoints, undefined] : endpoints,
    sends,
  };
}

function writes(files: readonly Value[], here: boolean): Effect {
  return {
    kind: "write",
    files: here ? [...files, { text: ".", plain: true, glob: false, splits: false }] : files,
  };
}

function value(options: Options, ...names: readonly string[]): string | undefined {
  return names.flatMap((name) => options.values.get(name) ?? [])[0]?.text;
}

export const TRANSFERS: ReadonlyMap<string, Transfer> = new Map<string, Transfer>([
  ["curl", curl],
  ["curlie", curl],
  ["wget", wget],
  ["wget2", wget],
  ["http", httpie],
  ["https", httpie],
  ["xh", httpie],
  ["ping", firstOperand(false, "cistwW")],
  ["dig", firstOperand(false)],
  ["nslookup", firstOperand(false)],
  ["host", firstOperand(false)],
  ["traceroute", firstOperand(false)],
  ["nc", firstOperand(true, "pwsXx")],
  ["ncat", firstOperand(true, "pw")],
  ["netcat", firstOperand(true, "pw")],
  ["telnet", firstOperand(true)],
  ["ssh", firstOperand(true, "BbcDEeFIiJLlmOoPpQRSWw")],
  ["ssh-keyscan", firstOperand(false, "pTt")],
  ["scp", copies],
  ["sftp", firstOperand(true, "BbcDFiJloPRS")],
  ["ftp", firstOperand(true)],
  ["websocat", firstOperand(true)],
  ["grpcurl", firstOperand(true)],
  ["lynx", firstOperand(false)],
  ["w3m", firstOperand(false)],
  ["aria2c", firstOperand(false, "doxsj")],
]);
