import "./form/form.css";
import "./tabs/tabs.css";
import "./watch/watch.css";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Form, State, Test } from "../contract";
import { announce } from "../shared/announce";
import { changed, keep, place } from "../shared/place";
import { useWhen } from "../shared/use_when";
import { errorText, timeOfDay } from "../shared";
import { ENDPOINT, NEW, TAB } from "./addresses";
import { StartForm, forgetDraft } from "./form/start_form";
import { complaintsAbout } from "./form/problems";
import { ScenarioSource } from "./form/scenario_source";
import type { Connection } from "./link";
import type { Session } from "./session";
import { isUnfinished, announcementOf, wordOf } from "./status";
import { Watch } from "./watch/watch";

/** Starts a run, or shows it. */
export function LivePage({ session }: { session: Session }): JSX.Element {
  const seen = session.seen.value;
  const known = session.known.value;
  // Before the first update, the state names the current run.
  const test = seen.sequence === null ? (known?.test ?? seen.test) : seen.test;
  const form = known?.form ?? null;
  const wantsForm = place.value.params.has(NEW);
  useNews(test);
  useWhen(keyOf(test), () => {
    // A run has started, from here or from another window.
    if (isUnfinished(test) && wantsForm) keep({ [NEW]: null });
  });
  const isForm = form !== null && !isUnfinished(test) && (test === null || wantsForm);
  return (
    <div class="live">
      <Banner connection={session.link.connection.value} store={known?.store ?? ""} />
      {isForm && <NewRun session={session} form={form} hasRun={test !== null} />}
      {!isForm && test && (
        <Watch
          session={session}
          seen={seen}
          test={test}
          form={form}
          another={form && changed({ [NEW]: "1", [TAB]: null })}
        />
      )}
      {!isForm && !test && <Nothing known={known} />}
    </div>
  );
}

/** Changes when something must be announced. */
function keyOf(test: Test | null): string {
  return test ? `${test.number} ${test.status} ${test.title}` : "";
}

/** Announces when a run begins or ends, and updates the title of the window. */
function useNews(test: Test | null): void {
  const before = useRef(test);
  useWhen(keyOf(test), () => {
    announce(announcementOf(before.current, test));
    before.current = test;
    document.title = test ? `${test.title} · ${wordOf(test.status).text} – Plimsoll` : "Live – Plimsoll";
  });
}

function NewRun({ session, form, hasRun }: { session: Session; form: Form; hasRun: boolean }): JSX.Element {
  const [problem, setProblem] = useState("");
  const refresh = () => session.refresh().then(() => setProblem(""), (error: unknown) => setProblem(errorText(error))); // prettier-ignore
  const used = () => {
    forgetDraft();
    return refresh();
  };
  useWhen("opened", () => {
    if (hasRun) void refresh();
  });
  const isLost = session.link.connection.value.state === "lost";
  const check = (request: Form["request"]) => session.server.check(request).then(() => [], complaintsAbout);
  const start = async (request: Form["request"]) => {
    try {
      await session.start(request);
    } catch (error) {
      return complaintsAbout(error);
    }
    forgetDraft();
    keep({ [NEW]: null, [TAB]: null, [ENDPOINT]: null });
    return [];
  };
  return (
    <>
      <div class="run-head">
        <div>
          <h1 tabIndex={-1}>New run</h1>
          <p class="soft">{form.source}</p>
        </div>
        {hasRun && <a href={changed({ [NEW]: null })}>Back to the last run</a>}
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <ScenarioSource form={form} server={session.server} onUsed={used} />
      {form.error ? (
        <Broken form={form} refresh={refresh} />
      ) : (
        <StartForm form={form} check={check} start={start} curveOf={session.server.curve} isLost={isLost} />
      )}
    </>
  );
}

/** The form could not be built, so nothing can start: shows the reason. */
function Broken({ form, refresh }: { form: Form; refresh: () => Promise<void> }): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const again = () => {
    setBusy(true);
    void refresh().then(() => setBusy(false));
  };
  return (
    <section role="alert">
      <h2>{form.source} cannot be read</h2>
      <pre tabIndex={0}>{form.error}</pre>
      <button type="button" class="primary" aria-disabled={isBusy} onClick={again}>
        {isBusy ? "Reading…" : "Read it again"}
      </button>
    </section>
  );
}

function Nothing({ known }: { known: State | null }): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>No run yet</h1>
      <p class="soft">
        {known?.form === null ? "It is shown here as soon as it begins." : "Waiting for Plimsoll…"}{" "}
        <a href="#/runs">All runs</a>
      </p>
    </>
  );
}

/** Says that the numbers are old. */
function Banner({ connection, store }: { connection: Connection; store: string }): JSX.Element | null {
  const { state } = connection;
  const text =
    state === "lost"
      ? `The connection is lost. What you see is from ${timeOfDay(connection.since / 1000)}; it reconnects by itself…`
      : "";
  const hadLost = useRef(false);
  useWhen(state, () => {
    if (state === "lost" && !hadLost.current) announce(text);
    if (state === "open" && hadLost.current) announce("Connected again");
    hadLost.current = state === "lost";
  });
  if (state === "ended") {
    return (
      <p class="banner" role="status">
        The process has ended; this is what it said last. What was run is in the store{store && ` (${store})`}: see it
        again with <code>plimsoll serve</code>.
      </p>
    );
  }
  return text ? <p class="banner warning">{text}</p> : null;
}
