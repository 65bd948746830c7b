import type { ConditionNode } from '../plan/condition.js';

/** A placeholder whose braces were forgotten. */
const REFERENCE = /^(?:steps\.[\w-]+\.(?:output|json)|args\.\w|previous\.output|loop\.\w)/;

/** Words of a condition that read like placeholders without braces: they compare as themselves. */
export function bareReferences(node: ConditionNode): readonly string[] {
  switch (node.type) {
    case 'or':
    case 'and':
      return node.operands.flatMap(bareReferences);
    case 'not':
      return bareReferences(node.operand);
    case 'compare':
      return [...bareReferences(node.left), ...bareReferences(node.right)];
    case 'matches':
      return bareReferences(node.left);
    case 'literal':
      return typeof node.value === 'string' && REFERENCE.test(node.value) ? [node.value] : [];
    default:
      return [];
  }
}
