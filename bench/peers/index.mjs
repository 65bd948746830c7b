import { doit } from './doit.mjs';
import { lage } from './lage.mjs';
import { langgraph } from './langgraph.mjs';
import { make, makeWithoutRules } from './make.mjs';
import { moon } from './moon.mjs';
import { ninja } from './ninja.mjs';
import { nx } from './nx.mjs';
import { scons } from './scons.mjs';
import { snakemake } from './snakemake.mjs';
import { turborepo } from './turborepo.mjs';
import { wireit } from './wireit.mjs';

/** Everybody taskflow is compared with, in the order of the table. */
export const PEERS = [
  make,
  makeWithoutRules,
  ninja,
  snakemake,
  doit,
  scons,
  turborepo,
  langgraph,
  nx,
  lage,
  wireit,
  moon,
];
