import { DaemonClientError } from "@codexkit/daemon/client";
import { createSignal, type JSX, onMount } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { hashTarget, navigate, route } from "../routing/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { deviceName, type LoginInput, readCode, readLogin } from "./login-input.ts";
import { ProblemText } from "../ui/index.ts";
import "./login.css";

/** Logs this browser in, with a token or a one-time code. */
export default function LoginScreen(): JSX.Element {
  const { client, signIn } = useDaemon();
  const [problem, setProblem] = createSignal<string>();
  const [isSending, setSending] = createSignal(false);

  let field!: HTMLInputElement;

  const login = async (input: LoginInput): Promise<void> => {
    setSending(true);
    setProblem(undefined);
    try {
      await client.request("POST /login", { body: { ...input, device: deviceName(navigator.userAgent) } });
      await signIn();
      // If the login is shown in place of another page, the URL does not change.
      if (route()?.name === "login") navigate("/", { replace: true });
    } catch (error) {
      setProblem(explainRefusal(error, input));
    } finally {
      setSending(false);
    }
  };

  onMount(() => {
    const code = readCode(hashTarget());
    if (code === undefined) return;
    // Removes the used code from the browser's history.
    navigate("/login", { replace: true });
    void login({ code });
  });

  return (
    <section class="login">
      <h1>Sign in to codexkit</h1>
      <form
        class="login-form"
        onSubmit={(event) => {
          event.preventDefault();
          const input = readLogin(field.value);
          if (input) void login(input);
          else setProblem("Enter a token or a code.");
        }}
      >
        <label for="login-secret">Token or one-time code</label>
        <input
          class="input"
          id="login-secret"
          name="secret"
          type="password"
          autocomplete="current-password"
          autofocus
          ref={(element) => (field = element)}
          aria-invalid={problem() === undefined ? undefined : "true"}
          aria-describedby={problem() === undefined ? "login-hint" : "login-problem login-hint"}
        />
        <ProblemText text={problem()} id="login-problem" />
        <button type="submit" class="button button-primary" disabled={isSending()}>
          {isSending() ? "Signing in…" : "Sign in"}
        </button>
      </form>
      <div class="login-hint" id="login-hint">
        <p>
          The daemon prints a link with a code when it starts. The first token is in the file that its log
          names, and <code>codexkit token create</code> makes more.
        </p>
        <p>On a browser that is signed in, open “Pair a device” to get a code for this one.</p>
      </div>
    </section>
  );
}

function explainRefusal(error: unknown, input: LoginInput): string {
  if (!DaemonClientError.is(error) || error.code !== "unauthorized") return explainError(error);
  return "code" in input
    ? "The code was used already, has expired, or is not from this daemon. Ask for a new one."
    : "The daemon does not know this token. It may have expired or been revoked.";
}
