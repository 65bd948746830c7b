/** Conditions: `when`, `until`, `eval`. */
export { type ConditionResult, evaluateCondition, isTruthy } from './condition-evaluate.js';
export {
  type ConditionError,
  type ConditionNode,
  conditionNodes,
  conditionRefs,
  type ParsedCondition,
  parseCondition,
  patternProblem,
} from './condition-parse.js';
