import type { OperationResponse, Scope } from "@codexkit/daemon/client";
import { createSignal, For, type JSX, lazy, Show, Suspense } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { loginLink } from "./login-input.ts";
import { ProblemText } from "../ui/index.ts";
import "./login.css";

const QrCode = lazy(async () => import("./qr-code.tsx"));

type LoginCode = OperationResponse<"POST /login-codes">;

const SCOPES: readonly { readonly scope: Scope; readonly label: string }[] = [
  { scope: "read", label: "Read sessions and files" },
  { scope: "approve", label: "Answer approvals" },
  { scope: "write", label: "Send messages and run commands" },
  { scope: "admin", label: "Manage tokens, exports and diagnostics" },
];

const LOOPBACK = /^(?:localhost|127\.|\[::1\])/;

/** Creates a code that logs another device in, such as a phone. */
export default function PairScreen(): JSX.Element {
  const daemon = useDaemon();
  const [chosen, setChosen] = createSignal<ReadonlySet<Scope>>(new Set(["read", "approve"]));
  const [code, setCode] = createSignal<LoginCode>();
  const [problem, setProblem] = createSignal<string>();
  const [wasCopied, setCopied] = createSignal(false);
  const offered = (): typeof SCOPES => SCOPES.filter(({ scope }) => daemon.can(scope));

  const create = async (): Promise<void> => {
    setProblem(undefined);
    setCopied(false);
    try {
      const scopes = offered().flatMap(({ scope }) => (chosen().has(scope) ? [scope] : []));
      setCode(await daemon.client.request("POST /login-codes", { body: { scopes } }));
    } catch (error) {
      setProblem(explainError(error));
    }
  };

  const toggle = (scope: Scope): void => {
    const next = new Set(chosen());
    if (!next.delete(scope)) next.add(scope);
    setChosen(next);
    setCode(undefined);
  };

  const link = (): string => loginLink(location.origin, code()?.code ?? "");
  const remaining = (): number => Math.max(0, Math.ceil(((code()?.expiresAt ?? 0) - daemon.clock()) / 1000));

  return (
    <section class="screen pair">
      <h1>Pair a device</h1>
      <p>The device gets its own login, which you can end under Settings. The code works once.</p>
      <Show when={LOOPBACK.test(location.host)}>
        <p class="pair-note">
          This page was opened at {location.host}, which other devices can't reach. Start the daemon with{" "}
          <code>--listen</code> and an address of your network, and open the console there.
        </p>
      </Show>
      <fieldset class="choices">
        <legend>The device may</legend>
        <For each={offered()}>
          {({ scope, label }) => (
            <label>
              <input type="checkbox" checked={chosen().has(scope)} onChange={() => toggle(scope)} />
              {label}
            </label>
          )}
        </For>
      </fieldset>
      <div>
        <button
          type="button"
          class="button button-primary"
          disabled={!offered().some(({ scope }) => chosen().has(scope))}
          onClick={() => void create()}
        >
          {code() ? "New code" : "Show code"}
        </button>
      </div>
      <ProblemText text={problem()} />
      <Show when={code()}>
        {(shown) => (
          <Show when={remaining() > 0} fallback={<p role="status">The code has expired.</p>}>
            <div class="pair-code">
              <Suspense>
                <QrCode text={link()} label="QR code of the login link" />
              </Suspense>
              <div class="pair-text">
                <p>Scan it with the camera of the phone, or enter the code on its login page:</p>
                <p>
                  <code>{shown().code}</code>
                </p>
                <button
                  type="button"
                  class="button"
                  onClick={() => void navigator.clipboard?.writeText(link()).then(() => setCopied(true))}
                >
                  {wasCopied() ? "Copied" : "Copy link"}
                </button>
                <p class="muted">
                  Expires in {Math.floor(remaining() / 60)}:{String(remaining() % 60).padStart(2, "0")}
                </p>
              </div>
            </div>
          </Show>
        )}
      </Show>
    </section>
  );
}
