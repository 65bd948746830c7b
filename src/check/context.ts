import type { AgentDefaults, AgentScope, ArgSpec, Flow } from '../model/flow.js';
import type { Kind } from '../model/kind.js';
import type { Path } from '../parse/locate.js';
import type { NamedRoles } from './model-roles.js';
import type { NamedFiles } from './named-files.js';
import type { Problems } from './problem.js';
import type { NamedRunners } from './runners.js';
import type { CheckWorld } from './world.js';

/** A saved flow that a phase uses, as far as it could be loaded. */
export type UsedFlow =
  | { readonly flow: Flow }
  | {
      readonly problem: string;
      readonly hint?: string;
      readonly known?: readonly string[];
      /** It leads back to a flow that uses it. */
      readonly circle?: boolean;
    };

/** What the check of a flow shares with those of the flows that are written inside it. */
export interface SharedContext {
  readonly problems: Problems;
  readonly world: CheckWorld;
  /** `generated`: made by a model at run time, so held to tighter rules. */
  readonly trust: 'file' | 'generated';
  /** Runners that the flow names. Whether they exist is checked once, at the end. */
  readonly runners: NamedRunners;
  /** Model roles that the flow names, checked at the end too. */
  readonly roles: NamedRoles;
  /** Files that fingerprints name, checked at the end too. */
  readonly files: NamedFiles;
  /** Saved flows by the name or path under which they are used. */
  readonly used: ReadonlyMap<string, UsedFlow>;
}

/** Where a flow stands, and what it is given from there. */
export interface Standing {
  /** How many flows this one is nested in. */
  readonly depth?: number;
  /** Arguments that the flow is given by its surroundings. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly mostPhases?: number;
  readonly agentScope?: AgentScope;
  /** Of the flow around this one; its own win. A flow in its own file inherits nothing. */
  readonly inherited?: AgentDefaults;
  /** For a fragment that is grafted into a running flow. */
  readonly around?: Surroundings;
}

/** What every part of one flow's check shares. */
export interface CheckContext extends SharedContext {
  readonly agentScope: AgentScope;
  /** Warnings about placeholders are errors. */
  readonly strict: boolean;
  /** This flow, or one around it, bounds what is spent. */
  readonly hasBudget: boolean;
  /** Declared arguments; a nested flow also knows those that `with` gives it. */
  readonly args: ReadonlySet<string>;
  readonly argSpecs: Readonly<Record<string, ArgSpec>>;
  /** Arguments that are mentioned. Those that are not declared become untyped ones. */
  readonly mentionedArgs: Set<string>;
  /** Every phase of this flow by id. */
  readonly phases: ReadonlyMap<string, PhaseSource>;
  /** Files that the phases of this flow declare as outputs. */
  readonly outputs: readonly string[];
  /** Maps of this flow by the name that they give to their item. */
  readonly itemNames: ReadonlyMap<string, string>;
  /** Phases of the flows around this one: their outputs are not seen here. */
  readonly outer: ReadonlySet<string>;
  /** For a grafted fragment: the flow that it grows in, whose outputs and arguments it sees. */
  readonly around?: Surroundings;
  /** Checks a flow that is written inside this one. */
  readonly checkInline: (def: unknown, path: Path, options: InlineOptions) => Flow | undefined;
}

/** What a grafted fragment sees of the flow around it. */
export interface Surroundings {
  /** Whether that phase's output can be seen; asking makes it a dependency of the phase that grows. */
  seesPhase(id: string): boolean;
  readonly args: ReadonlySet<string>;
}

export interface InlineOptions {
  readonly phase: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly mostPhases: number;
  readonly around?: Surroundings;
}

/** One phase as it is written, after its structure was checked: fields that were wrong are left out. */
export interface PhaseSource {
  readonly id: string;
  /** `agent` where none is known. */
  readonly kind: Kind;
  /** Its `type` is unknown: only the fields that all kinds share are read. */
  readonly unknownKind?: true;
  readonly path: Path;
  /** Fields that have another name in the file: short forms. */
  readonly renamed?: Readonly<Record<string, string>>;
  readonly raw: Readonly<Record<string, unknown>>;
  /** Names of all fields that are there, wrong ones included. */
  readonly written: ReadonlySet<string>;
}
