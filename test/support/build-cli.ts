import { build } from '../../scripts/build.mjs';

/** The end-to-end tests run the CLI that users run: the bundle, built once before the suite. */
export default async function setup(): Promise<void> {
  await build();
}
