import { describeMachine } from './machine.mjs';

/**
 * @param {import('./results.mjs').Results} results
 * @param {{ name: string, limit: string, value: string, verdict: string }[]} targets
 */
export function renderReport(results, targets) {
  const parts = [
    `# taskflow bench\n\n${describeMachine()}.`,
    'Each cell: median (minimum), and how many times the row that the table is compared with. Samples are interleaved.',
    ...results.tables.map((table) => renderTable(table, results.of(table.id))),
    renderList(
      'Not measured',
      results.absent.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    renderList(
      'Notes',
      results.notes.map(({ name, note }) => `${name}: ${note}`),
    ),
    renderTargets(targets),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** @param {import('./results.mjs').Table} table @param {import('./results.mjs').Measure[]} measures */
function renderTable({ title, base, unit }, measures) {
  if (measures.length === 0) return '';
  const columns = [...new Set(measures.map(({ column }) => column))];
  const rows = [...new Set(measures.map(({ row }) => row))];
  const find = (row, column) => measures.find((one) => one.row === row && one.column === column)?.summary;
  const cell = (row, column) => {
    const summary = find(row, column);
    const reference = find(base, column);
    if (!summary) return '';
    const ratio = reference && row !== base ? ` · ${ratioText(summary.median / reference.median)} ×` : '';
    const least = summary.n > 1 ? ` (${number(summary.min)})` : '';
    return `${number(summary.median)}${least}${ratio}`;
  };
  const lines = rows.map((row) => `| ${row} | ${columns.map((column) => cell(row, column)).join(' | ')} |`);
  const head = `| ${unit} | ${columns.join(' | ')} |\n|---|${columns.map(() => '---|').join('')}`;
  return `## ${title}\n\n${head}\n${lines.join('\n')}`;
}

function renderTargets(targets) {
  if (targets.length === 0) return '';
  const lines = targets.map(({ name, limit, value, verdict }) => `| ${name} | ${limit} | ${value} | ${verdict} |`);
  return `## Targets\n\n| target | at most | measured | |\n|---|---|---|---|\n${lines.join('\n')}`;
}

function renderList(title, lines) {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

/** Three significant digits are all that a measurement carries. @param {number} value */
export function number(value) {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** @param {number} value */
export function ratioText(value) {
  return value >= 10 ? value.toFixed(0) : value.toFixed(2);
}
