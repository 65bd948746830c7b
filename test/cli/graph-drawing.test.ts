import { describe, expect, it } from 'vitest';
import { toDot, toJson, toMermaid } from '../../src/cli/graph/formats.js';
import type { Graph } from '../../src/cli/graph/graph.js';
import { toSvg } from '../../src/cli/graph/svg.js';
import { drawGraph } from '../../src/cli/graph/terminal.js';
import { createStyle } from '../../src/cli/terminal/style.js';
import { layoutGraph } from '../../src/plan/layout.js';

function graphOf(needs: Record<string, string[]>): Graph {
  return {
    name: 'release',
    nodes: Object.keys(needs).map((id) => ({ id, kind: 'script', marks: [] })),
    edges: Object.entries(needs).flatMap(([to, list]) => list.map((from) => ({ from, to }))),
  };
}

const draw = (needs: Record<string, string[]>, columns = 80) =>
  drawGraph(graphOf(needs), { style: createStyle(false), columns });

const diamond = { collect: [], lint: ['collect'], test: ['collect'], report: ['lint', 'test'] };

describe('a graph in the terminal', () => {
  it('is a line per phase with rails', () => {
    expect(draw(diamond)).toEqual([
      '●    collect  script',
      '├─●  lint     script  ← collect',
      '● │  test     script  ← collect',
      '╰─●  report   script  ← lint, test',
    ]);
  });

  it('draws a chain straight down, and never puts an unrelated phase straight under another', () => {
    expect(draw({ a: [], b: ['a'], c: [], d: [] })).toEqual([
      '●    a     script',
      '●    b     script  ← a',
      expect.stringMatching(/^ +● +c/),
      expect.stringMatching(/^● +d/),
    ]);
  });

  it('lists by layer when there are too many rails to follow', () => {
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`w${index}`, ['root']]));
    const lines = draw({ root: [], ...wide, end: Object.keys(wide) });
    expect(lines.slice(0, 4)).toEqual(['layer 1 (1)', '  ● root  script', 'layer 2 (40)', '  ● w0    script  ← root']);
    expect(lines.at(-1)).toBe('  ● end   script  ← w0, w1, w2, w3 and 36 more');
  });

  it('names all needs even where the file has them in another order', () => {
    expect(draw({ last: ['first'], first: [] })).toEqual(['●  first  script', '●  last   script  ← first']);
  });
});

describe('a graph for programs', () => {
  it('json has nodes and edges and nothing else', () => {
    expect(JSON.parse(toJson(graphOf({ a: [], b: ['a'] })))).toEqual({
      nodes: [
        { id: 'a', kind: 'script' },
        { id: 'b', kind: 'script' },
      ],
      edges: [{ from: 'a', to: 'b' }],
    });
  });

  it('mermaid survives ids that are words of its own', () => {
    expect(toMermaid(graphOf({ end: [], subgraph: ['end'] }))).toContain('  n0 --> n1');
  });

  it('dot quotes names', () => {
    expect(toDot({ ...graphOf({ 'a-b': [] }), name: 'my "flow"' })).toContain('digraph "my \\"flow\\""');
  });
});

describe('the layout', () => {
  const layout = (needs: Record<string, string[]>) =>
    layoutGraph(
      Object.entries(needs).map(([id, list]) => ({ id, needs: list })),
      { boxWidth: () => 100, boxHeight: 44, layerGap: 44 },
    );
  const random = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => {
        const needs = Array.from({ length: index % 4 }, (_, n) => `p${(index * 7 + n * 13) % index}`);
        return [`p${index}`, [...new Set(needs)]];
      }),
    );

  it('puts every phase below what it needs, and no box over another', () => {
    const needs = random(60);
    const { boxes, width, height } = layout(needs);
    for (const [id, list] of Object.entries(needs)) {
      for (const need of list) expect(boxes.get(id)!.y).toBeGreaterThan(boxes.get(need)!.y);
    }
    const all = [...boxes.values()];
    for (const [index, a] of all.entries()) {
      expect(a.x >= 0 && a.x + a.width <= width && a.y + a.height <= height).toBe(true);
      for (const b of all.slice(index + 1)) {
        expect(a.y !== b.y || a.x + a.width <= b.x + 0.01 || b.x + b.width <= a.x + 0.01).toBe(true);
      }
    }
  });

  it('centres a parent over its children', () => {
    const { boxes } = layout({ top: [], a: ['top'], b: ['top'], c: ['top'] });
    expect(boxes.get('top')!.x).toBeCloseTo(boxes.get('b')!.x, 0);
  });

  it('copes with a thousand phases that all need the first', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `p${index}`);
    const needs = Object.fromEntries(
      ids.map((id, index) => [id, index === 0 ? [] : [...new Set(['p0', `p${index - 1}`])]]),
    );
    expect(layout(needs).boxes.size).toBe(1_000);
  });
});

describe('svg', () => {
  it('is one well-formed document that refers to nothing outside', () => {
    const graph = graphOf(diamond);
    const nodes = graph.nodes.map((node) => ({ ...node, description: 'a < b & "c"' }));
    const svg = toSvg({ ...graph, nodes });
    expect(svg).toContain('a &lt; b &amp; &quot;c&quot;');
    expect(svg.match(/https?:[^"]+/g)).toEqual(['http://www.w3.org/2000/svg']);
    expect(svg.match(/<path class="edge"/g)).toHaveLength(4);
    expect(svg.match(/<g /g)).toHaveLength(svg.match(/<\/g>/g)!.length);
  });
});
