// The heap use of this process, to detect memory leaks.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Used heap bytes after garbage collection. */
export function heapMegabytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed / (1 << 20)
}
