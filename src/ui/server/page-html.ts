import { cspHash, type PageFiles } from '../report/html.js';
import type { ServedPage } from './host.js';

/** The page without data, which it requests with its session. */
export function livePage({ script, style }: PageFiles): ServedPage {
  const policy = [
    "default-src 'none'",
    `script-src '${cspHash(script)}'`,
    `style-src '${cspHash(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>taskflow</title>
<style>${style}</style>
</head>
<body>
<div id="page"><noscript>This page needs JavaScript. It talks only to the taskflow that serves it.</noscript></div>
<script>${script}</script>
</body>
</html>
`;
  return { html, policy };
}
