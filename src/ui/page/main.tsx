import { render } from 'preact';
import type { ReportData } from '../view/types.js';
import { ReportPage } from './app.js';
import { staticSource } from './source.js';

const root = document.getElementById('page')!;
const embedded = document.getElementById('data');

if (embedded) {
  const data = JSON.parse(embedded.textContent!) as ReportData;
  render(<ReportPage source={staticSource(data)} runId={data.view.runId} />, root);
}
