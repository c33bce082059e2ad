import type { CellItem, Matrix } from "../contract";
import { duration, markOf, rate } from "../shared";
import { runAddress } from "./addresses";
import { counted, isDoubtful, stateOf } from "./cell_states";
import { cellName, sheetsOf, type Sheet } from "./matrix_layout";

/** A table of variants × levels for each operation. Each cell lists its repeats. */
export function MatrixTable({ matrix }: { matrix: Matrix }) {
  return (
    <div class="matrix table">
      <p class="soft">
        Each line is a {matrix.repeats > 1 ? "repeat" : "cell"}: its state, requests per second, p99. It leads to its
        run.
      </p>
      <ul class="plain-list state-legend" aria-label="States">
        {counted(matrix.experiment.cells).map(([state]) => (
          <li key={state}>
            <span class={`is-at ${stateOf(state).tone}`}>
              <span aria-hidden="true">{stateOf(state).shape} </span>
              {stateOf(state).word}
            </span>
            : {stateOf(state).meaning}
          </li>
        ))}
      </ul>
      {sheetsOf(matrix).map((sheet) => (
        <SheetTable key={sheet.operation} sheet={sheet} matrix={matrix} />
      ))}
      <Doubtful matrix={matrix} />
    </div>
  );
}

function SheetTable({ sheet, matrix }: { sheet: Sheet; matrix: Matrix }) {
  const title = matrix.operations.length > 1 ? sheet.operation : "Cells";
  return (
    // The arrow keys scroll a wide table.
    <div class="region" role="region" aria-label={`${title}: variants by level`} tabIndex={0}>
      <table>
        <caption class={matrix.operations.length > 1 ? undefined : "unseen"}>{title}</caption>
        <thead>
          <tr>
            <th scope="col" class="text">
              Variant
            </th>
            {matrix.levels.map((level) => (
              <th scope="col" class="text" key={level}>
                {level || "as planned"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sheet.rows.map((row) => (
            <tr key={row.variant}>
              <th scope="row" class="text">
                {row.variant}
              </th>
              {row.places.map((cells, place) => (
                <td key={matrix.levels[place]} class="text">
                  {cells.length > 0 ? <Place cells={cells} matrix={matrix} /> : <span class="soft">none</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Place({ cells, matrix }: { cells: readonly CellItem[]; matrix: Matrix }) {
  return (
    <ul class="plain-list">
      {cells.map((cell, place) => (
        <li key={`${String(cell.number)}-${cell.run || String(place)}`}>
          <CellLine cell={cell} matrix={matrix} />
        </li>
      ))}
    </ul>
  );
}

function CellLine({ cell, matrix }: { cell: CellItem; matrix: Matrix }) {
  const state = stateOf(cell.state);
  const line = (
    <>
      <span class="unseen">{cellName(cell, matrix)}: </span>
      <span class="seen">
        {matrix.repeats > 1 && (
          <span class="number" aria-hidden="true">
            {cell.repeat}
          </span>
        )}
        <span class={`is-at ${state.tone}`}>
          <span aria-hidden="true">{state.shape} </span>
          {state.word}
        </span>
        <CellFigures cell={cell} />
      </span>
    </>
  );
  const why = cell.reason || state.meaning;
  return cell.run ? (
    <a class="cell-line" href={runAddress(cell.run)} title={why}>
      {line}
    </a>
  ) : (
    <span class="cell-line" title={why}>
      {line}
    </span>
  );
}

function CellFigures({ cell }: { cell: CellItem }) {
  if (cell.summary === null) return null;
  const text = (
    <>
      <span>{rate(cell.summary.rate)}/s</span>{" "}
      <span>
        <span class="unseen">p99 </span>
        {p99Of(cell)}
      </span>
    </>
  );
  return <span class="values">{text}</span>;
}

function p99Of(cell: CellItem): string {
  const text = duration(cell.summary?.p99 ?? null, cell.summary?.at_least.includes("p99"));
  return `${text}${markOf(cell.summary?.shares.p99)}`;
}

/** Why cells are invalid or failed. */
function Doubtful({ matrix }: { matrix: Matrix }) {
  const cells = matrix.cells.filter(isDoubtful);
  if (cells.length === 0) return null;
  const title = cells.length === 1 ? "1 cell cannot be used" : `${String(cells.length)} cells cannot be used`;
  return (
    <details class="doubtful-cells">
      <summary>{title}: why</summary>
      <ul>
        {cells.map((cell) => (
          <li key={`${String(cell.number)}-${cell.run}`}>
            <span class={`is-at ${stateOf(cell.state).tone}`}>
              <span aria-hidden="true">{stateOf(cell.state).shape} </span>
              {stateOf(cell.state).word}
            </span>{" "}
            {cell.run ? <a href={runAddress(cell.run)}>{cellName(cell, matrix)}</a> : cellName(cell, matrix)}:{" "}
            {reasonOf(cell)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function reasonOf(cell: CellItem): string {
  return [cell.reason, cell.summary?.reasons.join("; "), "no reason was kept"].find(Boolean) ?? "";
}
