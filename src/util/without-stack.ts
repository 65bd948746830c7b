/** For a call whose usual answer is an error: its stack is most of the price. */
export function withoutStack<T>(call: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return call();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
