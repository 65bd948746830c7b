import { escapeXml } from '../../report/xml.js';
import { sha256Hex } from '../../util/digest.js';
import type { ReportData } from '../view/types.js';

/** The page as it was built: one script and one style sheet. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

/**
 * One file that needs nothing else. Its policy allows no network and no script but this one, by its digest. The data
 * are not a script, and nothing in them can end their element.
 */
export function reportHtml(data: ReportData, { script, style }: PageFiles): string {
  const policy = [
    "default-src 'none'",
    `script-src '${cspHash(script)}'`,
    `style-src '${cspHash(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeXml(data.view.flow)} ${escapeXml(data.view.state)} · taskflow</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This report needs JavaScript. It loads nothing and sends nothing.</noscript>
<script type="application/json" id="data">${embeddedJson(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** The form in which a policy names a script or style that it allows. */
export function cspHash(text: string): string {
  return `sha256-${Buffer.from(sha256Hex(text), 'hex').toString('base64')}`;
}

/** Escapes `<`, which the HTML parser would read first. */
function embeddedJson(data: unknown): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}
