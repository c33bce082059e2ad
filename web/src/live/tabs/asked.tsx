import type { JSX } from "preact";
import type { Test } from "../../contract";
import type { Seen } from "../moments";
import type { Session } from "../session";
import { Exceptions } from "./exceptions";
import { Failures } from "./failures";
import { useFresh } from "./fresh";
import { Tasks } from "./tasks";

/** Tabs whose data is not in the updates. They fetch it while they are open. */

interface Props {
  session: Session;
  seen: Seen;
  test: Test;
}

export function FailuresTab({ session, seen, test }: Props): JSX.Element {
  const reason = [test.number, test.status, seen.failures, seen.total?.failures].join();
  const fresh = useFresh(() => session.server.failures(), reason);
  return <Failures fresh={fresh} />;
}

export function ExceptionsTab({ session, seen, test }: Props): JSX.Element {
  // The count of exceptions does not show how often each was raised, so time also triggers a request.
  const reason = [test.number, test.status, seen.exceptions, seen.exceptions && Math.floor(test.elapsed)].join();
  const fresh = useFresh(() => session.server.exceptions(), reason);
  return <Exceptions fresh={fresh} />;
}

export function TasksTab({ session, test }: { session: Session; test: Test }): JSX.Element {
  const fresh = useFresh(() => session.server.tasks(), [test.number, test.status, test.load].join());
  return <Tasks fresh={fresh} />;
}
