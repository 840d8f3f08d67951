// What lets the processes that a test starts share what Node has compiled, where the run of the tests has a place for it.

const { NODE_COMPILE_CACHE } = process.env

/** Part of the environment of a process that would otherwise be given all of its environment by the test. */
export const compileCache: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
