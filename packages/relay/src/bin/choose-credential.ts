import { AWS_SECRET_VARIABLES, awsCredential } from "../credentials/aws-credential.ts";
import type { RelayCredential } from "../credentials/credential.ts";
import { findCredential, removeSecrets } from "../credentials/find-credential.ts";
import { StdinCredential } from "../credentials/stdin-credential.ts";
import { RelayError } from "../errors.ts";
import type { ExecutorFlags, ForwardFlags } from "./executor-flags.ts";

/** Returns the credential that the flags and the environment specify. Tokens and AWS keys are removed from the environment of commands. */
export function chooseCredential(flags: ExecutorFlags | ForwardFlags): RelayCredential {
  assertCombination(flags);
  try {
    if ("awsSigv4" in flags && flags.awsSigv4) {
      const { awsProfile: profile, awsRegion: region, awsService: service } = flags;
      const credential = awsCredential(
        {
          ...(profile === undefined ? {} : { profile }),
          ...(region === undefined ? {} : { region }),
          ...(service === undefined ? {} : { service }),
        },
        process.env,
      );
      removeSecrets(process.env, AWS_SECRET_VARIABLES);
      return credential;
    }
    if (flags.executorCredentialStdin === true)
      return new StdinCredential(process.stdin, flags.environmentId);
    const { remote: url, tokenFile } = flags;
    return findCredential({ url, ...(tokenFile === undefined ? {} : { tokenFile }) });
  } finally {
    removeSecrets(process.env);
  }
}

function assertCombination(flags: ExecutorFlags | ForwardFlags): void {
  if (flags.useAgentIdentityAuth === true) {
    throw new RelayError(
      "bad_option",
      "--use-agent-identity-auth is not supported: its tokens can only be used by Codex's own executor. " +
        "Use --token-file, CODEX_API_KEY, `codex login` or --executor-credential-stdin.",
    );
  }
  if (flags.executorCredentialStdin === true && flags.tokenFile !== undefined) {
    throw new RelayError("bad_option", "--executor-credential-stdin and --token-file exclude each other.");
  }
  if (!("remoteTransport" in flags)) return;
  const isSigned = flags.awsSigv4 === true;
  if (!isSigned && (flags.awsProfile ?? flags.awsRegion ?? flags.awsService) !== undefined) {
    throw new RelayError("bad_option", "--aws-profile, --aws-region and --aws-service are for --aws-sigv4.");
  }
  if (isSigned && flags.remoteTransport !== "direct") {
    throw new RelayError("bad_option", "--aws-sigv4 is for --remote-transport direct.");
  }
  if (flags.executorCredentialStdin === true && flags.remoteTransport === "direct") {
    throw new RelayError("bad_option", "--executor-credential-stdin is not for --remote-transport direct.");
  }
}
