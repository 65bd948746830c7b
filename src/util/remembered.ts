/** The same for the same argument, made when it is first asked for. */
export function remembered<K, V>(make: (of: K) => V): (of: K) => V {
  const known = new Map<K, V>();
  return (of) => {
    let value = known.get(of);
    if (value === undefined) {
      value = make(of);
      known.set(of, value);
    }
    return value;
  };
}
