// `npm run language` writes, from the published schema, the digest of the language and the tables of
// docs/language.md. Each stands between the comments
// `<!-- table: NAME -->` and `<!-- end -->`; the text around them is written by people.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The page with its tables made anew. A name that the schema does not have is an error. */
export function withTables(page, schema) {
  const tables = languageTables(schema);
  return page.replaceAll(/(<!-- table: (.+?) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`there is no table ${name}; known: ${Object.keys(tables).join(', ')}`);
    return `${begin}${table}\n${end}`;
  });
}

/** Plans that agents made for an older language are made anew: their identity holds this digest. */
export function digestModule(schema) {
  const digest = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
  const remark =
    '/** Of the published schema of flows; written by `npm run language`, so that no call has to compute it. */';
  return `${remark}\nexport const LANGUAGE_DIGEST = '${digest}';\n`;
}

/** `flow file`, `every phase`, `agents`, one per kind, and the parts that are objects of their own. */
export function languageTables(schema) {
  const { phase, ...definitions } = schema.definitions;
  const kinds = Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name.replace(/Phase$/, ''), definition]),
  );
  const all = Object.values(kinds);
  const common = Object.keys(kinds.agent.properties).filter((name) =>
    all.every(({ properties }) => name in properties),
  );
  const agent = Object.keys(kinds.agent.properties).filter((name) => !common.includes(name) && name !== 'task');
  const task = kinds.agent.properties.task.description;
  const own = (definition) =>
    table(definition, (name) => !common.includes(name) && !(agent.includes(name) && 'agent' in definition.properties), {
      [task]: 'The text, with placeholders as in an `agent` phase.',
    });
  return {
    'flow file': table(schema, (name) => !['$schema', 'contextSharing'].includes(name)),
    'every phase': table(kinds.agent, (name) => common.includes(name)),
    agents: table(kinds.agent, (name) => agent.includes(name)),
    args: table(schema.properties.args.patternProperties['^(.*)$'], () => true),
    cache: table(kinds.agent.properties.cache, () => true),
    retry: table(kinds.agent.properties.retry, () => true),
    score: table(kinds.gate.properties.score, () => true),
    branch: table(kinds.parallel.properties.branches.items, (name) => !agent.includes(name)),
    kinds: kindsTable(kinds),
    ...Object.fromEntries(Object.entries(kinds).map(([name, definition]) => [name, own(definition)])),
    agent: table(kinds.agent, (name) => name === 'task'),
  };
}

/** `shorter`: what is said instead of a description that stands elsewhere on the page. */
function table(schema, chosen, shorter = {}) {
  // Of a field that may be one word instead, the table shows the long form.
  const { properties, required = [] } = schema.properties ? schema : schema.anyOf.find((one) => one.properties);
  const rows = Object.entries(properties)
    .filter(([name]) => chosen(name))
    .map(([name, field]) => {
      const needed = required.includes(name) ? ' (needed)' : '';
      const meaning = cell(shorter[field.description] ?? field.description ?? '');
      return `| \`${name}\`${needed} | ${meaning} | ${example(field)} |`;
    });
  return ['| field | meaning | example |', '|---|---|---|', ...rows].join('\n');
}

function kindsTable(kinds) {
  const rows = Object.entries(kinds).map(
    ([name, { title }]) => `| \`${name}\` | ${cell(title.replace(/^\w+: /, ''))} |`,
  );
  return ['| kind | what it is |', '|---|---|', ...rows].join('\n');
}

function example({ examples = [] }) {
  const [first] = examples;
  if (first === undefined) return '';
  return `\`${cell(typeof first === 'string' ? first : JSON.stringify(first))}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const schema = JSON.parse(readFileSync(`${root}dist/schema.json`, 'utf8'));
  const file = `${root}docs/language.md`;
  writeFileSync(file, withTables(readFileSync(file, 'utf8'), schema));
  writeFileSync(`${root}src/assemble/language-digest.ts`, digestModule(schema));
  process.stdout.write('wrote the tables of docs/language.md and the digest of the language\n');
}
