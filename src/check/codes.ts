/**
 * Every code that a check can report, with what it means. Programs match on them, so a code keeps its meaning; messages
 * may change.
 */
export const CODES = {
  // The file itself.
  'no-flow': 'there is no such flow',
  'too-large': 'the file is too large',
  'too-deep': 'nested too deep',
  encoding: 'not UTF-8 text',
  syntax: 'not YAML or JSON',
  'duplicate-key': 'a name is given twice',
  'yaml-tag': 'YAML tags are refused',
  alias: 'YAML aliases that repeat without bound',
  'bad-number': 'a number that JSON cannot say',
  'forbidden-name': 'a name that reaches into JavaScript objects',
  // Structure.
  'unknown-field': 'no such field here',
  'unknown-kind': 'no such kind of phase',
  'wrong-type': 'another type is expected',
  'missing-field': 'something required is not there',
  'out-of-range': 'too small, too large, too many, too few',
  'bad-value': 'a value that means nothing here',
  'bad-id': 'not allowed as an id or a name',
  'duplicate-id': 'two phases or branches with one id',
  'several-finals': 'more than one final phase',
  'no-effect': 'a field that does nothing here',
  // References.
  'unknown-step': 'no such phase',
  'self-reference': 'a phase that waits for itself',
  cycle: 'phases that wait for each other',
  'unknown-agent': 'no such agent, or its file cannot be used',
  'unknown-runner': 'no such runner in the settings',
  'unknown-model': 'a model role that the settings do not define',
  'unknown-arg': 'an argument that is not declared',
  'missing-arg': 'an argument that the used flow needs',
  'bad-arg': 'a value that an argument does not take',
  'unknown-flow': 'a used flow that is not there or has problems',
  'flow-circle': 'flows that use each other',
  // Texts.
  'bad-placeholder': 'a placeholder that cannot have a value',
  'odd-placeholder': 'looks like a placeholder and is text',
  'placeholder-here': 'placeholders do not work in this field',
  'no-item': 'the item of a map outside of one',
  'no-loop': 'a value of a loop outside of one',
  'no-previous': 'no phase comes before this one',
  'not-json': 'reads inside an output that is text',
  'bad-condition': 'a condition that cannot be read',
  'bad-schema': 'a JSON Schema that says nothing sensible',
  'slow-pattern': 'a pattern that may run out of time',
  'shell-placeholder': 'a value that would be read as code',
  'option-like': 'a value that a program may take for an option',
  'stream-name': 'a stream that is opened as if it were a file',
  // The outside.
  'outside-project': 'a path that leads out of the project',
  'outputs-cwd': 'declared files where they cannot be restored',
  'unknown-fingerprint': 'no such kind of fingerprint',
  'matches-nothing': 'a fingerprint that matches no file',
  'cross-run': 'may not be reused across runs',
  'no-declared-input': 'would never run again',
  // Tests of flows.
  'duplicate-case': 'two cases of one name',
  'unknown-case': 'a case that is not there',
  'case-circle': 'cases that follow each other in a circle',
  'no-file': 'a file or folder that is not there',
  'bad-pattern': 'no regular expression',
  'bad-recording': 'a recording that cannot be used',
  'generated-flow': 'not allowed in a generated flow',
} as const;

export type Code = keyof typeof CODES;
