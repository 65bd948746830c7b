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

/** Shared between the check of a flow and those of the flows that are written inside it. */
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

/** The place of a nested flow, and what it gets from its surroundings. */
export interface Standing {
  /** How many flows this one is nested in. */
  readonly depth?: number;
  /** Arguments that the surroundings give to the flow. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly mostPhases?: number;
  readonly agentScope?: AgentScope;
  /** Defaults of the flow around this one; its own override them. A flow in its own file inherits nothing. */
  readonly inherited?: AgentDefaults;
  /** For a fragment that is grafted into a running flow. */
  readonly around?: Surroundings;
}

/** Shared by every part of one flow's check. */
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
  /** Phases of the flows around this one, whose outputs are not visible here. */
  readonly outer: ReadonlySet<string>;
  /** For a grafted fragment: the flow around it, whose outputs and arguments are visible. */
  readonly around?: Surroundings;
  /** Checks a flow that is written inside this one. */
  readonly checkInline: (def: unknown, path: Path, options: InlineOptions) => Flow | undefined;
}

/** The part of the surrounding flow that is visible in a grafted fragment. */
export interface Surroundings {
  /** Whether that phase's output is visible; the call makes it a dependency of the phase that grows. */
  seesPhase(id: string): boolean;
  readonly args: ReadonlySet<string>;
}

interface InlineOptions {
  readonly phase: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly mostPhases: number;
  readonly around?: Surroundings;
}

/** One phase as it is written, after its structure was checked: fields that were wrong are left out. */
export interface PhaseSource {
  readonly id: string;
  /** `agent` if the kind is unknown. */
  readonly kind: Kind;
  /** Its `type` is unknown: only the fields that all kinds share are read. */
  readonly unknownKind?: true;
  readonly path: Path;
  /** Fields with another name in the file, from short forms. */
  readonly renamed?: Readonly<Record<string, string>>;
  readonly raw: Readonly<Record<string, unknown>>;
  /** Names of all written fields, including wrong ones. */
  readonly written: ReadonlySet<string>;
}
