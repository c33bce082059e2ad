import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Folding } from "../../blocks/folding";
import type { NamedContent } from "../session";
import { Field } from "./fields";
import type { Complaint } from "./request";

/** Fields of the zone: errors are shown at the one through which the scenario came. */
export const FILE = "scenario_file";
export const TEXT = "scenario_text";

const EVENTS = ["dragover", "dragleave", "drop"];

interface Props {
  complaints: readonly Complaint[];
  /** The last file is being read. */
  isBusy: boolean;
  /** field: through which they came. variables: as NAME=VALUE. */
  onContent: (field: string, files: readonly NamedContent[], variables: string[]) => void;
}

/** Takes a recording, or two of the same flow: files that are dropped or chosen, or a text that is pasted. */
export function DropZone({ complaints, isBusy, onContent }: Props): JSX.Element {
  const [text, setText] = useState("");
  const [variables, setVariables] = useState("");
  const take = (field: string, files: NamedContent[]) => onContent(field, files, linesOf(variables));
  const takeText = (field: string, given: string) => take(field, [{ name: "", content: new Blob([given]) }]);
  const takeFiles = (files: Iterable<File>) => take(FILE, [...files].map((file) => ({ name: file.name, content: file }))); // prettier-ignore
  const zone = useRef<HTMLDivElement>(null);
  const isOver = useDropped(zone, (dropped) => {
    if (dropped.files.length) takeFiles(dropped.files);
    else takeText(FILE, dropped.getData("text/plain"));
  });
  return (
    <div class={`drop${isOver ? " over" : ""}`} role="group" aria-label="A recording" aria-busy={isBusy} ref={zone}>
      <Field
        field={FILE}
        label="Drop a HAR, a curl command, an OpenAPI file or another recording here, or choose a file"
        hint={isBusy ? "Reading…" : "two HARs of the same flow, together, are compared"}
        complaints={complaints}
      >
        {(tied) => (
          <input
            type="file"
            multiple
            {...tied}
            onChange={(event) => {
              if (event.currentTarget.files?.length) takeFiles(event.currentTarget.files);
              // So that the same file can be chosen again after a change.
              event.currentTarget.value = "";
            }}
          />
        )}
      </Field>
      <Folding summary="Paste a text, or give values of variables">
        <div class="row">
          <Area
            field={TEXT}
            label="Text"
            hint="commands of curl, a .http file"
            value={text}
            onChange={setText}
            complaints={complaints}
          />
          <Area
            field="scenario_variables"
            label="Variables"
            hint="NAME=VALUE, one in each line, as --set of plimsoll scenario; base is the URL of an API without servers"
            value={variables}
            onChange={setVariables}
            complaints={complaints}
          />
        </div>
        <p class="buttons">
          <button type="button" disabled={!text.trim()} onClick={() => takeText(TEXT, text)}>
            Read the text
          </button>
        </p>
      </Folding>
    </div>
  );
}

/** Whether something is dragged over an element. onDrop: called with what is dropped on it. */
function useDropped(zone: RefObject<HTMLElement | null>, onDrop: (dropped: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const element = zone.current;
    const hover = (event: Event) => {
      event.preventDefault();
      setOver(event.type === "dragover");
      if (event.type === "drop" && event instanceof DragEvent && event.dataTransfer) onDrop(event.dataTransfer);
    };
    for (const type of EVENTS) element?.addEventListener(type, hover);
    return () => EVENTS.forEach((type) => element?.removeEventListener(type, hover));
  });
  return isOver;
}

function Area(props: {
  field: string;
  label: string;
  hint: string;
  complaints: readonly Complaint[];
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  const { value, onChange, ...field } = props;
  return (
    <Field {...field}>
      {(tied) => (
        <textarea
          rows={4}
          spellcheck={false}
          {...tied}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}
