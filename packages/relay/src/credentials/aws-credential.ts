import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { RelayError } from "../errors.ts";
import type { RelayCredential } from "./credential.ts";

/** Variables with keys. Commands of an executor that signs with them must not inherit them. */
export const AWS_SECRET_VARIABLES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
] as const;

export interface AwsOptions {
  /** A profile of `~/.aws`. Default: `AWS_PROFILE`, then the keys in the environment, then the profile `default`. */
  readonly profile?: string;
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, or the region of the profile. */
  readonly region?: string;
  /** Default: `execute-api`. */
  readonly service?: string;
}

interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Signs requests with AWS Signature Version 4. Keys are read for each request, because they may be rotated. */
export function awsCredential(options: AwsOptions, env: NodeJS.ProcessEnv): RelayCredential {
  // Kept, so that the caller can remove them from the environment of its children.
  const kept = { ...env };
  return {
    authorize: async ({ method, url, headers, body }) => {
      const profile = await readProfile(options.profile ?? kept["AWS_PROFILE"] ?? "default", kept);
      const region = options.region ?? kept["AWS_REGION"] ?? kept["AWS_DEFAULT_REGION"] ?? profile["region"];
      if (region === undefined) {
        throw new RelayError("bad_option", "No AWS region was found. Set --aws-region, or AWS_REGION.");
      }
      const { AwsV4Signer } = await import("aws4fetch");
      const signer = new AwsV4Signer({
        method,
        // The signature covers the host and the path, which are the same for a WebSocket as for HTTP.
        url: url.replace(/^ws/, "http"),
        headers: { ...headers },
        ...(body === "" ? {} : { body }),
        ...findKeys(options, kept, profile),
        region,
        service: options.service ?? "execute-api",
        // `content-type` is signed, as Codex does.
        allHeaders: true,
      });
      const signed = await signer.sign();
      const added = new Set(["authorization", "x-amz-date", "x-amz-security-token"]);
      return Object.fromEntries([...signed.headers].filter(([name]) => added.has(name)));
    },
  };
}

function findKeys(
  { profile: named }: AwsOptions,
  env: NodeJS.ProcessEnv,
  profile: Readonly<Record<string, string>>,
): AwsKeys {
  const source = named === undefined && env["AWS_ACCESS_KEY_ID"] !== undefined ? env : profile;
  const read = (name: string): string | undefined => source[name.toUpperCase()] ?? source[name];
  const accessKeyId = read("aws_access_key_id");
  const secretAccessKey = read("aws_secret_access_key");
  const sessionToken = read("aws_session_token");
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new RelayError(
      "unauthorized",
      "No AWS keys were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --aws-profile.",
    );
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/** Reads the settings of a profile from both files of the AWS tools. Empty for a missing file or profile. */
async function readProfile(name: string, env: NodeJS.ProcessEnv): Promise<Readonly<Record<string, string>>> {
  const folder = join(env["HOME"] ?? homedir(), ".aws");
  const files = [
    {
      path: env["AWS_CONFIG_FILE"] ?? join(folder, "config"),
      section: name === "default" ? name : `profile ${name}`,
    },
    { path: env["AWS_SHARED_CREDENTIALS_FILE"] ?? join(folder, "credentials"), section: name },
  ];
  const found = files.map(async ({ path, section }) =>
    sectionOf(await readFile(path, "utf8").catch(() => ""), section),
  );
  return Object.assign({}, ...(await Promise.all(found))) as Record<string, string>;
}

function sectionOf(text: string, section: string): Record<string, string> {
  const settings: Record<string, string> = {};
  let isInside = false;
  for (const line of text.split("\n")) {
    const header = /^\s*\[\s*(?<name>[^\]]*?)\s*\]/.exec(line)?.groups?.["name"];
    if (header !== undefined) isInside = header === section;
    const { key, value } = /^(?<key>\w+)\s*=\s*(?<value>.*?)\s*$/.exec(line)?.groups ?? {};
    if (isInside && key !== undefined && value !== undefined) settings[key] = value;
  }
  return settings;
}
