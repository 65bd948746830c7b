// The licences of the packages that are bundled into the command and the page: their authors want them to go along.
import { readdirSync, readFileSync } from 'node:fs';

/** Folders of packages, relative to the root, from what esbuild says it has read. */
export function bundledPackages(metafiles) {
  const outputs = metafiles.flatMap(({ outputs }) => Object.values(outputs));
  const files = outputs.flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput),
  );
  const folders = files.map(([file]) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter(Boolean))].sort();
}

export function licenceText(root, folders) {
  const parts = folders.map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'));
    const files = readdirSync(`${root}${folder}`).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
    if (!license || (files.length === 0 && !author)) throw new Error(`${name} does not say what its licence is`);
    const texts = files.sort().map((file) => readFileSync(`${root}${folder}/${file}`, 'utf8').trim());
    const said = texts.length > 0 ? texts : [`${license}, by ${author.name ?? author}`];
    return `${name} ${version} (${license})\n\n${said.join('\n\n')}\n`;
  });
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return `What taskflow brings along of others, each under its own licence.\n${rule}${parts.join(rule)}`;
}
