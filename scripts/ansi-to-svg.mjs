// Text with terminal styles as an SVG picture: fixed cells, so that columns stay columns in every viewer.
const CELL = { width: 8.4, height: 18 };
const PAD = 16;
const BAR = 30;
const COLORS = {
  background: '#161b22',
  text: '#e6edf3',
  dim: '#7d8590',
  30: '#484f58',
  31: '#ff7b72',
  32: '#3fb950',
  33: '#d29922',
  34: '#58a6ff',
  35: '#bc8cff',
  36: '#39c5cf',
  37: '#e6edf3',
  90: '#7d8590',
};

export function ansiToSvg(ansi, { columns, title }) {
  const lines = ansi.replace(/\n+$/, '').split('\n').map(readLine);
  const width = Math.ceil(columns * CELL.width + 2 * PAD);
  const height = Math.ceil(lines.length * CELL.height + 2 * PAD + BAR);
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, index) => `<circle cx="${PAD + 6 + index * 20}" cy="${BAR / 2 + 2}" r="6" fill="${color}"/>`,
  );
  const rows = lines.map((pieces, row) => {
    const y = BAR + PAD + row * CELL.height + 13;
    return pieces.map((piece) => textElement(piece, y)).join('');
  });
  const size = `width="${width}" height="${height}"`;
  const box = `${size} viewBox="0 0 ${width} ${height}"`;
  const middle = `x="${width / 2}" y="${BAR / 2 + 6}" text-anchor="middle"`;
  const small = `font-family="sans-serif" font-size="13" fill="${COLORS.dim}"`;
  const fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="${escapeText(title)}">`,
    `<rect ${size} rx="8" fill="${COLORS.background}"/>`,
    ...dots,
    `<text ${middle} ${small}>${escapeText(title)}</text>`,
    `<g font-family="${fonts}" font-size="14">`,
    ...rows.filter((row) => row !== ''),
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

/** Pieces of one style each, with the column where they begin. */
function readLine(line) {
  const pieces = [];
  let style = {};
  let column = 0;
  for (const part of line.split(/(\x1b\[[0-9;]*m)/)) {
    const codes = /^\x1b\[([0-9;]*)m$/.exec(part)?.[1];
    if (codes !== undefined) {
      for (const code of codes.split(';')) style = applied(style, Number(code || 0));
      continue;
    }
    for (const { text, offset } of wordsOf(part)) pieces.push({ text, column: column + offset, style });
    column += [...part].length;
  }
  return pieces;
}

/** What stands between wide gaps: a browser folds several spaces into one, so each part is placed by itself. */
function wordsOf(text) {
  return [...text.matchAll(/\S+(?: \S+)*/g)].map((found) => ({
    text: found[0],
    offset: [...text.slice(0, found.index)].length,
  }));
}

function applied(style, code) {
  if (code === 0) return {};
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, color: undefined };
  return COLORS[code] === undefined ? style : { ...style, color: COLORS[code] };
}

function textElement({ text, column, style }, y) {
  const x = (PAD + column * CELL.width).toFixed(1);
  const fill = style.color ?? (style.dim ? COLORS.dim : COLORS.text);
  const weight = style.bold ? ' font-weight="bold"' : '';
  // The viewer's font may be narrower or wider than ours: the gaps give, the letters keep their shape.
  const length = `textLength="${([...text].length * CELL.width).toFixed(1)}" lengthAdjust="spacing"`;
  return `<text x="${x}" y="${y}" fill="${fill}"${weight} ${length}>${escapeText(text)}</text>`;
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
